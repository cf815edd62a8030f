# SPDX-License-Identifier: Apache-2.0
"""`collective.quantile_bins` against NumPy, on rows of all shards."""

import numpy as np
import oracles
import pytest
from jaxframes.primitives import collective
from on_shards import SHARD_COUNTS, noting, on_shards, row_counts

NUM_ROWS = 6


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_matches_the_oracle(num_shards):
    rng = np.random.default_rng(num_shards)

    def three(x, ids, valid):
        settings = {"axis_name": "rows", "num_valid": valid}
        return [
            collective.quantile_bins(x, 4, **settings),
            collective.quantile_bins(ids, 3, **settings),
            collective.quantile_bins(x, 1, **settings),
        ]

    call = on_shards(three, num_shards)
    x = rng.integers(-3, 4, (num_shards, NUM_ROWS)).astype(np.float64)
    x[rng.random(x.shape) < 0.3] = np.nan
    ids = rng.integers(0, 255, (num_shards, NUM_ROWS)).astype(np.uint8)
    for name, valid in row_counts(num_shards, NUM_ROWS).items():
        found = call(x, ids, valid.astype(np.int32))
        is_row = np.arange(NUM_ROWS) < valid[:, None]
        with noting(name):
            for binned, rows, num_bins in zip(found, (x, ids, x), (4, 3, 1), strict=True):
                bins, edges = oracles.quantile_bins(rows[is_row], num_bins)
                expected = np.full(rows.shape, num_bins)
                expected[is_row] = bins
                np.testing.assert_array_equal(binned.bin_ids, expected)
                np.testing.assert_array_equal(binned.edges, np.stack([edges] * num_shards))
