# SPDX-License-Identifier: Apache-2.0
"""Eager reductions by several columns of integers, whose ranges may fit one word."""

import jax
import numpy as np
import pandas as pd
import pytest
from jaxframes import primitives
from jaxframes.primitives._eager_reduction import _as_one_word

NUM_ROWS = 3000
RNG = np.random.default_rng(5)
COLUMNS = {
    "narrow": (
        RNG.integers(-100, 100, NUM_ROWS).astype(np.int8),
        RNG.integers(0, 2, NUM_ROWS).astype(bool),
        RNG.integers(5, 9, NUM_ROWS).astype(np.uint8),
    ),
    "far": tuple(RNG.integers(-(2**30), 2**30, NUM_ROWS).astype(np.int32) for _ in range(2)),
    "wide": (
        RNG.choice(np.array([-(2**63), 0, 2**63 - 1]), NUM_ROWS),
        RNG.integers(0, 3, NUM_ROWS).astype(np.uint64),
    ),
    "of 64 bits": (
        RNG.integers(-(2**40), 2**40, NUM_ROWS),
        RNG.integers(2**63, 2**63 + 5, NUM_ROWS, np.uint64),
        RNG.integers(0, 3, NUM_ROWS).astype(np.int32),
    ),
}
ARE_PACKED = {"narrow": True, "far": True, "wide": False, "of 64 bits": True}


@pytest.mark.parametrize("num_valid", [NUM_ROWS, 1234, 0])
@pytest.mark.parametrize("name", COLUMNS)
def test_groups_are_those_of_pandas_in_the_order_of_the_keys(name, num_valid):
    columns = tuple(map(jax.numpy.asarray, COLUMNS[name]))
    count = np.int32(num_valid)
    if num_valid:
        assert (len(_as_one_word(columns, count)) == 1) == ARE_PACKED[name]
    values = (np.arange(NUM_ROWS, dtype=np.int32), np.full(NUM_ROWS, 2, np.int32))
    found = primitives.reduce_by_key(columns, values, "max", num_valid=num_valid)
    rows = pd.DataFrame(dict(enumerate(column[:num_valid] for column in COLUMNS[name])))
    rows["x"] = values[0][:num_valid]
    expected = rows.groupby(list(range(len(columns))))["x"].max().reset_index()
    num_runs = int(found.num_runs)
    assert num_runs == len(expected)
    for position, keys in enumerate(found.unique_keys):
        assert keys.dtype == columns[position].dtype
        np.testing.assert_array_equal(keys[:num_runs], expected[position])
    np.testing.assert_array_equal(found.values[0][:num_runs], expected["x"])
