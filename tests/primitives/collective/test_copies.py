# SPDX-License-Identifier: Apache-2.0
"""Copies of rows dealt out over the shards, against NumPy's `repeat`."""

import functools

import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives.collective._copies import bounds_of_shares, deal_out_copies
from jaxframes.primitives.collective._sorted_runs import Dealing
from on_shards import even_shares, on_shards, row_ids, valid_rows

NUM_SHARDS, NUM_ROWS, CAPACITY = 4, 6, 16


@pytest.mark.parametrize("layout", ["even", "full"])
def test_copies_are_those_of_numpy(layout):
    rng = np.random.default_rng(4)
    rows, copies = row_ids(NUM_SHARDS, NUM_ROWS), rng.integers(0, 4, (NUM_SHARDS, NUM_ROWS))
    # A row with copies on several shards.
    copies[1, 2] = 13
    dealing = Dealing("rows", layout, "auto", CAPACITY)
    found = on_shards(functools.partial(deal_out_copies, dealing=dealing), NUM_SHARDS)(rows, copies)
    total = int(copies.sum())
    assert total < NUM_SHARDS * CAPACITY
    full = np.diff(np.minimum(np.arange(NUM_SHARDS + 1) * CAPACITY, total))
    shares = np.array(even_shares(total, NUM_SHARDS) if layout == "even" else full)
    np.testing.assert_array_equal(found.count, shares)
    np.testing.assert_array_equal(found.total, np.full(NUM_SHARDS, total))
    expected = np.repeat(rows.ravel(), copies.ravel())
    np.testing.assert_array_equal(valid_rows(np.asarray(found.rows), shares), expected)
    numbers = np.concatenate([np.arange(count) for count in copies.ravel()])
    np.testing.assert_array_equal(valid_rows(np.asarray(found.copy), shares), numbers)


@pytest.mark.parametrize(
    ("layout", "expected"), [("even", [0, 4, 8, 11, 14]), ("full", [0, 3, 6, 9, 14])]
)
def test_the_last_full_share_counts_what_does_not_fit(layout, expected):
    dealing = Dealing("rows", layout, "auto", 3)
    found = on_shards(lambda total: bounds_of_shares(total, dealing), NUM_SHARDS)
    assert found(jnp.full(NUM_SHARDS, 14))[0].tolist() == expected
