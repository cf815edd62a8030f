# SPDX-License-Identifier: Apache-2.0
"""Partial results of segments over the shards, whole and scattered, against NumPy."""

import functools

import numpy as np
import pytest
from jaxframes.primitives.collective._over_shards import OverShards
from on_shards import on_shards

NUM_SHARDS, NUM_SEGMENTS = 4, 8
PARTIAL = np.random.default_rng(0).integers(1, 6, (NUM_SHARDS, NUM_SEGMENTS, 2)).astype(np.float64)
HAS_ROW = np.random.default_rng(1).integers(0, 2, (NUM_SHARDS, NUM_SEGMENTS)).astype(bool)
# A segment without rows on any shard.
HAS_ROW[:, 3] = False


@pytest.mark.parametrize("scattered", [False, True])
def test_partial_results_are_combined_as_by_numpy(scattered):
    @functools.partial(on_shards, num_shards=NUM_SHARDS)
    def combined(partial, has_row):
        over = OverShards("rows", NUM_SHARDS, scattered, "segment_reduce")
        owners = over.is_owner(has_row), over.is_owner(has_row, is_last=True)
        rows = np.zeros(NUM_SEGMENTS, np.int32)
        return {
            "total": over.total(partial),
            "whole": over.whole_total(partial),
            "product": over.product(partial),
            "max": over.piece(over.extreme(partial, True)),
            "selected": over.select(partial[:1], rows, owners[0]),
        }, owners

    found, (firsts, lasts) = combined(PARTIAL, HAS_ROW)
    first = np.where(HAS_ROW.any(0), HAS_ROW.argmax(0), -1)
    last = np.where(HAS_ROW.any(0), NUM_SHARDS - 1 - HAS_ROW[::-1].argmax(0), -1)
    np.testing.assert_array_equal(firsts, first == np.arange(NUM_SHARDS)[:, None])
    np.testing.assert_array_equal(lasts, last == np.arange(NUM_SHARDS)[:, None])
    expected = {
        "total": PARTIAL.sum(0),
        "product": PARTIAL.prod(0),
        "max": PARTIAL.max(0),
        "selected": np.where((first >= 0)[:, None], PARTIAL[first, 0], 0),
    }
    for name, whole in expected.items():
        pieces = np.split(whole, NUM_SHARDS) if scattered else [whole] * NUM_SHARDS
        np.testing.assert_array_equal(found[name], np.stack(pieces), err_msg=name)
    np.testing.assert_array_equal(found["whole"], np.stack([PARTIAL.sum(0)] * NUM_SHARDS))


def test_row_ids_are_those_of_the_rows_of_all_shards():
    over = OverShards("rows", NUM_SHARDS, False, "segment_reduce")
    found = on_shards(lambda rows: over.global_row_ids(rows, 10), NUM_SHARDS)
    rows = np.tile(np.array([0, 9], np.int32), (NUM_SHARDS, 1))
    np.testing.assert_array_equal(found(rows), rows + 10 * np.arange(NUM_SHARDS)[:, None])
