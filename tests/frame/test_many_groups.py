# SPDX-License-Identifier: Apache-2.0
"""Groups that no device of a mesh holds all of: pandas' results, in pandas' order.

A few operations; the profile "long" runs every operation of groups.
"""

import numpy as np
import pandas as pd
import pytest
from frame_operations import FAMILIES, OPERATIONS
from frame_parity import on_device
from frame_strategies import special_frame
from jax.sharding import AxisType
from jaxframes.shardings import make_mesh, row_sharded
from operation_parity import IS_LONG, Compared

NUM_ROWS = 7000
CHOSEN = ["group_unsorted", "group_median", "group_idxmax"]
# Keys of few values by their nature, or none to group by.
FEW_KEYS = ("group_by_category", "group_by_float", "group_by_time", "group_by_values")
NAMES = [one.name for one in FAMILIES["groupby"] if one.name not in FEW_KEYS]


def many_groups(columns):
    """Rows of special values; about half of them have a key of their own."""
    rng = np.random.default_rng(7)
    frame = special_frame(columns, NUM_ROWS)
    keys = rng.permutation(np.r_[np.arange(5000), rng.zipf(1.5, NUM_ROWS - 5000) % 5000])
    if "k" in frame:
        frame["k"] = keys * 1_000_003 - 5
    if "s" in frame:
        names = pd.Series(keys).map(lambda key: f"name {key * 7919 % 5003}")
        frame["s"] = names.where(keys % 50 != 3, None).astype("str").to_numpy()
    return frame


@pytest.fixture(scope="module")
def sharding():
    return row_sharded(make_mesh(4))


@pytest.mark.parametrize("name", NAMES if IS_LONG else CHOSEN)
def test_matches_pandas(name, sharding):
    operation = OPERATIONS[name]
    frame = many_groups(operation.columns)
    Compared(operation, lambda inputs: [on_device(one, sharding) for one in inputs]).check([frame])


def test_every_device_has_a_part_of_the_groups(sharding):
    frame = on_device(many_groups(["k", "x"]), sharding)
    sums = frame.groupby("k")["x"].sum()
    rows = [shard.data.shape[0] for shard in sums.to_jax().addressable_shards]
    assert max(rows) < len(sums) / 2


def test_categories_in_order_of_appearance_under_explicit_axes():
    rng = np.random.default_rng(3)
    keys = pd.Categorical.from_codes(rng.integers(-1, 4990, NUM_ROWS), np.arange(5003) * 3)
    frame = pd.DataFrame({"k": keys, "x": rng.integers(0, 9, NUM_ROWS)})

    def sums_of(frame):
        return frame.groupby("k", observed=False, sort=False)["x"].sum()

    sharding = row_sharded(make_mesh(4, axis_type=AxisType.Explicit))
    sums = sums_of(on_device(frame, sharding))
    pd.testing.assert_series_equal(sums.to_pandas(), sums_of(frame))


def test_what_the_host_computes_of_groups(sharding):
    frame = many_groups(["k", "x"]).assign(n=np.arange(NUM_ROWS))
    days = np.random.default_rng(1).integers(0, 90, NUM_ROWS)
    frame["t"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(days, "D")
    groups = on_device(frame, sharding).groupby("k")
    rows = groups["n"].take([0]).to_pandas()
    assert rows.tolist() == frame.groupby("k")["n"].first().tolist()
    drawn = groups["n"].sample(frac=1, random_state=0).to_pandas()
    assert sorted(drawn) == list(range(NUM_ROWS))
    sizes = groups.resample("MS", on="t").size().to_pandas()
    expected = frame.groupby("k").resample("MS", on="t").size()
    pd.testing.assert_series_equal(sizes, expected, check_index_type=False)
    codes = pd.Categorical.from_codes(frame["k"] % 5000, np.arange(5003) * 3)
    frame = frame.assign(k=codes)
    numbers = on_device(frame, sharding).groupby("k", observed=False).ngroup().to_pandas()
    pd.testing.assert_series_equal(numbers, frame.groupby("k", observed=False).ngroup())
