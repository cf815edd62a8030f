# SPDX-License-Identifier: Apache-2.0
"""Sorted shards become one sorted sequence: the shares of the shards, and the order of ties."""

import functools

import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives.collective._sorted_runs import (
    Dealing,
    SortOrder,
    deal_out_sorted,
    plan_shares,
)
from on_shards import even_shares, on_shards, row_ids, valid_rows

NUM_SHARDS, NUM_ROWS = 4, 6
COUNTS = np.array([6, 2, 0, 5], np.int32)
KEYS = np.random.default_rng(3).integers(0, 4, (NUM_SHARDS, NUM_ROWS)).astype(np.int32)
ORDER = SortOrder((False,), (None,))


def local_order(keys, num_valid):
    is_row = jnp.arange(NUM_ROWS, dtype=jnp.int32) < num_valid
    return jnp.argsort(jnp.where(is_row, keys, 99), stable=True).astype(jnp.int32)


@pytest.mark.parametrize(("layout", "capacity"), [("even", 6), ("full", 4)])
def test_ties_keep_the_order_of_shards_and_rows(layout, capacity):
    dealing = Dealing("rows", layout, "auto", capacity)

    @functools.partial(on_shards, num_shards=NUM_SHARDS)
    def dealt(keys, values, num_valid):
        order = local_order(keys, num_valid)
        words = ORDER.words((keys[order],))
        rows = ((keys,), values)
        planned = plan_shares(words, num_valid, capacity, dealing).count
        return *deal_out_sorted(rows, order, words, ORDER, num_valid, dealing), planned

    ((keys,), values), counts, planned = dealt(KEYS, row_ids(NUM_SHARDS, NUM_ROWS), COUNTS)
    total = int(COUNTS.sum())
    full = np.diff(np.minimum(np.arange(NUM_SHARDS + 1) * capacity, total))
    shares = np.array(even_shares(total, NUM_SHARDS) if layout == "even" else full)
    np.testing.assert_array_equal(counts, shares)
    np.testing.assert_array_equal(planned, shares)
    sequence = valid_rows(KEYS, COUNTS)
    order = np.argsort(sequence, kind="stable")
    np.testing.assert_array_equal(valid_rows(np.asarray(keys), shares), sequence[order])
    ids = valid_rows(row_ids(NUM_SHARDS, NUM_ROWS), COUNTS)
    np.testing.assert_array_equal(valid_rows(np.asarray(values), shares), ids[order])
