# SPDX-License-Identifier: Apache-2.0
"""Keys of two sides meet on one shard with the number of rows of each side, against NumPy."""

import functools

import numpy as np
import pytest
from jaxframes.primitives.collective._meeting import meet
from on_shards import on_shards, valid_rows

NUM_SHARDS, NUM_LEFT, NUM_RIGHT = 3, 8, 5
COUNTS = np.array([8, 2, 5], np.int32), np.array([0, 5, 3], np.int32)


@pytest.mark.parametrize("dtype", [np.int16, np.float64])
def test_counts_of_keys_are_those_of_numpy(dtype):
    rng = np.random.default_rng(6)
    left = rng.integers(-3, 6, (NUM_SHARDS, NUM_LEFT)).astype(dtype)
    right = rng.integers(-3, 6, (NUM_SHARDS, NUM_RIGHT)).astype(dtype)

    @functools.partial(on_shards, num_shards=NUM_SHARDS)
    def met(left, right, num_left, num_right):
        met = meet((left,), (right,), num_left, num_right, "rows", "auto", "isin")
        of_left = met.of_left_rows(met.counts.num_right, NUM_LEFT, "rows", "auto")
        return met.columns[0], met.num_keys, met.counts, of_left

    keys, num_keys, counts, of_left = met(left, right, *COUNTS)
    sides = [valid_rows(side, count) for side, count in zip((left, right), COUNTS, strict=True)]
    expected = np.unique(np.concatenate(sides))
    np.testing.assert_array_equal(valid_rows(np.asarray(keys), num_keys), expected)
    for side, total, before in zip(
        sides, (counts.num_left, counts.num_right), (counts.left_before, counts.right_before),
        strict=True,
    ):  # fmt: skip
        own = np.array([(side == key).sum() for key in expected])
        np.testing.assert_array_equal(valid_rows(np.asarray(total), num_keys), own)
        smaller = np.array([(side < key).sum() for key in expected])
        np.testing.assert_array_equal(valid_rows(np.asarray(before), num_keys), smaller)
    matches = [(sides[1] == key).sum() for key in sides[0]]
    np.testing.assert_array_equal(valid_rows(np.asarray(of_left), COUNTS[0]), matches)
