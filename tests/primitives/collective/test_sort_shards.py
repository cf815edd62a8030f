# SPDX-License-Identifier: Apache-2.0
"""The sort behind all forms of `radix_sort`: keys alone take no row ids, others do."""

import functools

import numpy as np
import pytest
from jaxframes.primitives.collective._sort_shards import sort_shards
from jaxframes.primitives.collective._sorted_runs import Dealing, SortOrder
from on_shards import on_shards, row_ids, sorted_on_shards

NUM_SHARDS, NUM_ROWS = 4, 9
COUNTS = np.array([9, 0, 4, 7], np.int32)
KEYS = np.random.default_rng(7).integers(-4, 5, (NUM_SHARDS, NUM_ROWS)).astype(np.int32)


@pytest.mark.parametrize("has_values", [False, True])
@pytest.mark.parametrize("descending", [False, True])
def test_shards_are_sorted_as_one_sequence(has_values, descending):
    order, dealing = SortOrder((descending,), (None,)), Dealing("rows", "even", "auto")

    @functools.partial(on_shards, num_shards=NUM_SHARDS)
    def sort(keys, values, num_valid):
        return sort_shards((keys,), values if has_values else None, order, num_valid, dealing)

    values = row_ids(NUM_SHARDS, NUM_ROWS)
    (keys,), moved, counts = sort(KEYS, values, COUNTS)
    total, capacity = int(COUNTS.sum()), NUM_ROWS
    assert counts.sum() == total
    assert counts.max() <= capacity
    expected = sorted_on_shards(KEYS, COUNTS, values, descending=descending)
    for shard, count in enumerate(counts):
        np.testing.assert_array_equal(keys[shard, :count], expected[0][shard, :count])
        if has_values:
            np.testing.assert_array_equal(moved[shard, :count], expected[1][shard, :count])
