# SPDX-License-Identifier: Apache-2.0
"""`collective.random_permutation` and `collective.shuffle` against NumPy."""

import jax
import numpy as np
import oracles
import pytest
from jaxframes.primitives import collective
from on_shards import SHARD_COUNTS, dealt_out, even_shares, noting, on_shards, row_counts, row_ids

NUM_ROWS = 6


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_matches_the_oracle(num_shards):
    key = jax.random.key(num_shards)

    def both(rows, valid):
        shuffled = collective.shuffle(key, rows, axis_name="rows", num_valid=valid)
        return shuffled, collective.random_permutation(key, NUM_ROWS, axis_name="rows")

    call = on_shards(both, num_shards)
    ids = row_ids(num_shards, NUM_ROWS)
    order = oracles.random_permutation(key, num_shards * NUM_ROWS)
    for name, counts in row_counts(num_shards, NUM_ROWS).items():
        is_valid = (np.arange(NUM_ROWS) < counts[:, None]).reshape(-1)
        shares = even_shares(int(counts.sum()), num_shards)
        shuffled, permuted = call(ids, counts.astype(np.int32))
        with noting(name):
            oracles.assert_same_bits(permuted.reshape(-1), order)
            oracles.assert_same_bits(shuffled, dealt_out(order[is_valid[order]], shares, NUM_ROWS))
