# SPDX-License-Identifier: Apache-2.0
"""Equal keys meet on one shard, and answers for them return to where they came from."""

import itertools

import jax.numpy as jnp
import numpy as np
from jaxframes.primitives.collective._key_ranges import (
    send_back,
    send_to_key_ranges,
    total_before,
)
from on_shards import on_shards

NUM_SHARDS, NUM_KEYS = 4, 10
# Sorted and distinct on each shard; many keys are on several.
KEYS = np.stack(
    [np.sort(np.random.default_rng(shard).permutation(25)[:NUM_KEYS]) for shard in range(4)]
).astype(np.int32)
COUNTS = np.array([10, 0, 7, 4], np.int32)
VALID = [KEYS[shard, :count] for shard, count in enumerate(COUNTS)]


def sent_and_back(keys, count):
    (received,), rows, runs = send_to_key_ranges((keys,), keys * 10, count, "rows", "auto")
    back = send_back(received * 3, runs, NUM_KEYS, "rows", "auto")
    return received, rows, runs.count, back


def test_ranges_ascend_and_no_key_is_on_two_shards():
    received, rows, counts, back = on_shards(sent_and_back, NUM_SHARDS)(KEYS, COUNTS)
    of_shards = [np.asarray(received[shard, :count]) for shard, count in enumerate(counts)]
    np.testing.assert_array_equal(np.sort(np.concatenate(of_shards)), np.sort(np.hstack(VALID)))
    for before, after in itertools.pairwise(of_shards):
        assert max(before, default=-1) < min(after, default=99)
    for shard, count in enumerate(counts):
        np.testing.assert_array_equal(rows[shard, :count], received[shard, :count] * 10)
    for shard, keys in enumerate(VALID):
        np.testing.assert_array_equal(back[shard, : len(keys)], keys * 3)


def test_totals_before_are_those_of_the_shards_in_front():
    found = on_shards(lambda count: total_before(count, jnp.int64, "rows"), NUM_SHARDS)(COUNTS)
    assert found.dtype == jnp.int64
    np.testing.assert_array_equal(found, np.cumsum(COUNTS) - COUNTS)
