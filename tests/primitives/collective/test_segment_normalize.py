# SPDX-License-Identifier: Apache-2.0
"""`collective.segment_softmax` and `segment_normalize` against NumPy, on rows of all shards."""

import numpy as np
import oracles
import pytest
from jaxframes.primitives import collective
from on_shards import SHARD_COUNTS, noting, on_shards, row_counts

NUM_ROWS, NUM_SEGMENTS = 6, 4


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_matches_the_oracle(num_shards):
    rng = np.random.default_rng(num_shards)

    def both(x, ids, valid):
        settings = {"axis_name": "rows", "num_valid": valid}
        return (
            collective.segment_softmax(x, ids, NUM_SEGMENTS, **settings),
            collective.segment_normalize(x, ids, NUM_SEGMENTS, epsilon=0.5, **settings),
        )

    call = on_shards(both, num_shards)
    x = 20 * rng.standard_normal((num_shards, NUM_ROWS, 2))
    ids = rng.integers(-1, NUM_SEGMENTS + 1, (num_shards, NUM_ROWS)).astype(np.int32)
    ids[:, 0] = 1
    for name, counts in row_counts(num_shards, NUM_ROWS).items():
        softmax, normal = call(x, ids, counts.astype(np.int32))
        own = np.where(np.arange(NUM_ROWS) < counts[:, None], ids, -1).reshape(-1)
        rows = x.reshape(-1, 2)
        with noting(name):
            for actual, expected in (
                (softmax, oracles.segment_softmax(rows, own, NUM_SEGMENTS)),
                (normal, oracles.segment_normalize(rows, own, NUM_SEGMENTS, 0.5)),
            ):
                np.testing.assert_allclose(
                    np.asarray(actual).reshape(-1, 2), expected, rtol=1e-11, atol=1e-12
                )
