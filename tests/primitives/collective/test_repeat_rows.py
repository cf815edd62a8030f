# SPDX-License-Identifier: Apache-2.0
"""`collective.repeat_rows` against NumPy: the copies of all shards in one sequence."""

import numpy as np
import oracles
import pytest
from jaxframes.primitives import collective
from on_shards import SHARD_COUNTS, even_shares, noting, on_shards, row_counts

NUM_ROWS = 6


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_matches_the_oracle(num_shards):
    rng = np.random.default_rng(num_shards)
    capacity = 4 * NUM_ROWS
    call = on_shards(
        lambda repeats, valid: collective.repeat_rows(
            repeats, axis_name="rows", capacity=capacity, num_valid=valid
        ),
        num_shards,
    )
    repeats = rng.integers(0, 4, (num_shards, NUM_ROWS)).astype(np.int32)
    # The copies of one row on many shards.
    repeats[0, 0] = 2 * NUM_ROWS * (num_shards - 1)
    for name, counts in row_counts(num_shards, NUM_ROWS).items():
        is_valid = np.arange(NUM_ROWS) < counts[:, None]
        row_ids, copies, total = oracles.repeat_rows(
            np.where(is_valid, repeats, 0).reshape(-1), num_shards * capacity
        )
        shares = even_shares(int(total), num_shards)
        starts = np.cumsum([0, *shares])
        actual = call(repeats, counts.astype(np.int32))
        with noting(name):
            assert np.asarray(actual.count).tolist() == shares
            for shard, (start, share) in enumerate(zip(starts, shares, strict=False)):
                padding = capacity - share
                own = np.pad(row_ids[start : start + share], (0, padding), constant_values=-1)
                oracles.assert_same_bits(actual.row_ids[shard], own)
                own = np.pad(copies[start : start + share], (0, padding))
                oracles.assert_same_bits(actual.copies[shard], own)
