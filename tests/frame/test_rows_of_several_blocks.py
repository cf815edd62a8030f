# SPDX-License-Identifier: Apache-2.0
"""Operations on more rows than blocks and the paths for few rows have: pandas' results.

All but joins, whose keys repeat too often here.
"""

import numpy as np
import pytest
from frame_operations import OPERATIONS
from frame_parity import on_device
from frame_strategies import special_frame
from operation_parity import Compared

NUM_ROWS = 70_000
# One of each way to read all rows, whatever the budget of the file says.
CHOSEN = ("count", "agg", "describe", "cumsum", "sort_values", "group_agg", "unique")
NAMES = [one.name for one in OPERATIONS.values() if one.family != "merge"]


def many_rows(columns, seed):
    """Rows of special values in another order for each seed."""
    frame = special_frame(columns)
    rows = np.random.default_rng(seed).integers(0, len(frame), NUM_ROWS)
    return frame.take(rows).reset_index(drop=True)


def marked(name):
    return pytest.param(name, marks=pytest.mark.runs_always) if name in CHOSEN else name


@pytest.mark.parametrize("name", [marked(name) for name in NAMES])
def test_matches_pandas(name):
    operation = OPERATIONS[name]
    inputs = [many_rows(operation.columns, seed) for seed in range(operation.num_frames)]
    Compared(operation, lambda frames: list(map(on_device, frames))).check(inputs)
