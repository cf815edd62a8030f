# SPDX-License-Identifier: Apache-2.0
"""A scan of all shards is that of one sequence, by a name and by a function."""

import functools

import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives.collective._scan_shards import scan_shards
from jaxframes.primitives.contract._scan_operators import Scan
from jaxframes.primitives.local._scan_segments import as_scan, as_segments
from on_shards import on_shards, valid_rows

NUM_SHARDS, NUM_ROWS = 4, 5
# An empty shard, and one with some rows.
COUNTS = np.array([5, 0, 3, 5], np.int32)
ROWS = np.random.default_rng(2).integers(-5, 9, (NUM_SHARDS, NUM_ROWS)).astype(np.int64)
# A head in the middle, and one at the front of a shard.
HEADS = np.zeros((NUM_SHARDS, NUM_ROWS), bool)
HEADS[0, 2] = HEADS[3, 0] = True


def add(left, right):
    return left + right


@pytest.mark.parametrize("op", ["add", "max", add])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("has_heads", [False, True])
def test_shards_are_scanned_as_one_sequence(op, reverse, has_heads):
    @functools.partial(on_shards, num_shards=NUM_SHARDS)
    def scan(rows, heads, num_valid):
        found = []
        for exclusive in (False, True):
            initial = 0 if exclusive and callable(op) else None
            arguments = as_scan(rows, Scan(op, reverse, exclusive), initial, num_valid, "scan")
            encoding = as_segments(heads, None, NUM_ROWS, "scan")
            found.append(scan_shards(arguments, encoding, "rows"))
        return found

    heads = HEADS if has_heads else np.zeros_like(HEADS)
    inclusive, exclusive = scan(ROWS, heads, COUNTS)
    rows, starts = valid_rows(ROWS, COUNTS), np.flatnonzero(valid_rows(heads, COUNTS))
    accumulate = np.maximum.accumulate if op == "max" else np.cumsum
    none = np.iinfo(np.int64).min if op == "max" else 0
    expected = []
    for segment in np.split(rows, starts):
        own = segment[::-1] if reverse else segment
        so_far = accumulate(own)
        before = np.concatenate([[none], so_far])[: len(own)]
        expected.append([part[::-1] if reverse else part for part in (so_far, before)])
    for found, number in ((inclusive, 0), (exclusive, 1)):
        whole = np.concatenate([parts[number] for parts in expected])
        np.testing.assert_array_equal(valid_rows(np.asarray(found), COUNTS), whole)
        # Padding is zero.
        assert (np.asarray(jnp.asarray(found))[COUNTS == 0] == 0).all()
