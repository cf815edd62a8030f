# SPDX-License-Identifier: Apache-2.0
"""`collective.connected_components` of the edges of all shards."""

import numpy as np
import oracles
import pytest
from jaxframes.primitives import collective
from on_shards import SHARD_COUNTS, noting, on_shards, row_counts

NUM_EDGES, NUM_NODES = 5, 23


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_matches_the_oracle(num_shards):
    rng = np.random.default_rng(num_shards)

    def components(senders, receivers, valid):
        return collective.connected_components(
            senders, receivers, NUM_NODES, axis_name="rows", num_valid=valid
        )

    call = on_shards(components, num_shards)
    # A path over all shards, and edges to nodes that do not exist.
    path = rng.permutation(NUM_NODES)
    ends = rng.integers(-1, NUM_NODES + 1, (2, num_shards * NUM_EDGES))
    cut = min(num_shards * NUM_EDGES, NUM_NODES - 1)
    ends[:, :cut] = path[:cut], path[1 : cut + 1]
    ends = rng.permuted(ends, axis=0).reshape(2, num_shards, NUM_EDGES).astype(np.int32)
    for name, counts in row_counts(num_shards, NUM_EDGES).items():
        found = call(*ends, counts.astype(np.int32))
        is_edge = np.arange(NUM_EDGES) < counts[:, None]
        labels, smallest, count = oracles.connected_components(
            *(np.where(is_edge, side, -1).reshape(-1) for side in ends), NUM_NODES
        )
        with noting(name):
            for shard in range(num_shards):
                np.testing.assert_array_equal(found.labels[shard], labels)
                np.testing.assert_array_equal(found.representatives[shard], smallest)
                assert int(found.count[shard]) == count
