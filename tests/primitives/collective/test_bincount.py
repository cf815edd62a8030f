# SPDX-License-Identifier: Apache-2.0
"""`collective.bincount` against NumPy, on rows of all shards."""

import numpy as np
import oracles
import pytest
from jaxframes.primitives import collective
from on_shards import SHARD_COUNTS, noting, on_shards, row_counts

NUM_ROWS, NUM_BINS = 6, 4


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_matches_the_oracle(num_shards):
    rng = np.random.default_rng(num_shards)

    def both(ids, weights, valid):
        settings = {"axis_name": "rows", "num_valid": valid}
        counts = collective.bincount(ids[:, 0], NUM_BINS, **settings)
        return counts, collective.bincount(ids, NUM_BINS, weights=weights, **settings)

    call = on_shards(both, num_shards)
    ids = rng.integers(-1, NUM_BINS + 1, (num_shards, NUM_ROWS, 3)).astype(np.int32)
    weights = rng.standard_normal((num_shards, NUM_ROWS, 2))
    for name, valid in row_counts(num_shards, NUM_ROWS).items():
        counts, sums = call(ids, weights, valid.astype(np.int32))
        is_row = (np.arange(NUM_ROWS) < valid[:, None])[..., None]
        own = np.where(is_row, ids, -1).reshape(-1, 3)
        with noting(name):
            expected = oracles.bincount(own[:, 0], NUM_BINS)
            np.testing.assert_array_equal(counts, np.stack([expected] * num_shards))
            expected = oracles.bincount(own, NUM_BINS, weights.reshape(-1, 2))
            for shard in range(num_shards):
                np.testing.assert_allclose(sums[shard], expected, rtol=1e-12, atol=1e-12)
