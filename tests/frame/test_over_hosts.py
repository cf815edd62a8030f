# SPDX-License-Identifier: Apache-2.0
"""Frames on a mesh of hosts and their devices have pandas' answers."""

import numpy as np
import pandas as pd
import pytest
from frame_parity import on_device
from jaxframes.shardings import make_mesh, row_sharded

RNG = np.random.default_rng(0)
# More rows than travel in one hop for any runs.
NUM_ROWS = 5000
FRAME = pd.DataFrame(
    {
        "k": np.where(RNG.random(NUM_ROWS) < 0.5, 3, RNG.integers(0, 400, NUM_ROWS)),
        "x": RNG.integers(-50, 50, NUM_ROWS),
        "s": RNG.choice(["b", "a", "c"], NUM_ROWS),
    }
)
RIGHT = pd.DataFrame({"k": np.arange(0, 400, 3), "y": np.arange(134) * 2})
CALLS = {
    "sort_values": lambda f, right: f.sort_values(["s", "k"], kind="stable"),
    "groupby": lambda f, right: f.groupby("k")[["x"]].sum(),
    "merge": lambda f, right: f.merge(right, on="k", how="left"),
    "filter": lambda f, right: f[f["x"] > 10],
}


@pytest.mark.parametrize(("hosts", "devices"), [(2, 4), (3, 2)])
@pytest.mark.parametrize("call", CALLS)
def test_a_frame_over_hosts(call, hosts, devices):
    sharding = row_sharded(make_mesh(hosts * devices, hosts=hosts))
    ours = CALLS[call](on_device(FRAME, sharding), on_device(RIGHT, sharding))
    pd.testing.assert_frame_equal(ours.to_pandas(), CALLS[call](FRAME, RIGHT))
