# SPDX-License-Identifier: Apache-2.0
"""`local.csr_from_coo`, `spmm` and `sddmm` against dense matrices."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from derivatives import check_derivatives
from jax.flatten_util import ravel_pytree
from jaxframes.primitives import local

NUM_ROWS, NUM_COLUMNS, WIDTH, NUM_ENTRIES = 6, 5, 3, 24
rng = np.random.default_rng(0)
ROWS = rng.integers(-1, NUM_ROWS + 1, NUM_ENTRIES).astype(np.int32)
ROWS[ROWS == 2] = 0
COLUMNS = rng.integers(0, NUM_COLUMNS, NUM_ENTRIES).astype(np.int32)
VALUES = rng.integers(-8, 8, NUM_ENTRIES) / 8
LEFT = rng.integers(-8, 8, (NUM_ROWS, WIDTH)) / 8
RIGHT = rng.integers(-8, 8, (NUM_COLUMNS, WIDTH)) / 8


def csr_of(values=VALUES, **at):
    return local.csr_from_coo(ROWS, COLUMNS, NUM_ROWS, values=values, **at)


@pytest.mark.parametrize("valid", [NUM_ENTRIES, 13, 0])
def test_entries_are_in_the_order_of_rows_and_columns(valid):
    csr = jax.jit(lambda valid: csr_of(num_valid=valid))(np.int32(valid))
    is_entry = (ROWS >= 0) & (ROWS < NUM_ROWS) & (np.arange(NUM_ENTRIES) < valid)
    kept = np.flatnonzero(is_entry)
    order = kept[np.lexsort((COLUMNS[kept], ROWS[kept]))]
    counts = np.bincount(ROWS[kept], minlength=NUM_ROWS)
    oracles.assert_same_bits(csr.offsets, np.cumsum([0, *counts]).astype(np.int32))
    columns, values = (np.asarray(leaf)[: len(kept)] for leaf in csr.values)
    oracles.assert_same_bits((columns, values), (COLUMNS[order], VALUES[order]))


def dense_of(values):
    dense = np.zeros((NUM_ROWS, NUM_COLUMNS))
    is_entry = (ROWS >= 0) & (ROWS < NUM_ROWS)
    np.add.at(dense, (ROWS[is_entry], COLUMNS[is_entry]), values[is_entry])
    return dense


def test_products_are_those_of_the_dense_matrix():
    np.testing.assert_array_equal(local.spmm(csr_of(), RIGHT), dense_of(VALUES) @ RIGHT)
    np.testing.assert_array_equal(local.spmm(csr_of(), RIGHT[:, 0]), dense_of(VALUES) @ RIGHT[:, 0])
    ones = dense_of(np.ones(NUM_ENTRIES))
    np.testing.assert_array_equal(local.spmm(csr_of(None), RIGHT), ones @ RIGHT)
    scored = local.sddmm(csr_of(), LEFT, RIGHT)
    rows, count = np.asarray(scored.segment_ids), int(scored.count)
    products = (LEFT @ RIGHT.T)[rows[:count], np.asarray(scored.values[0])[:count]]
    np.testing.assert_array_equal(scored.values[1], [*products, *[0] * (NUM_ENTRIES - count)])


def test_derivatives():
    def loss(arrays):
        values, left, right = arrays
        scored = local.sddmm(csr_of(values), left, right)
        return jnp.sum(jnp.sin(local.spmm(csr_of(values), right)) * left) + jnp.sum(
            scored.values[1] ** 2
        )

    x, unravel = ravel_pytree((jnp.asarray(VALUES), jnp.asarray(LEFT), jnp.asarray(RIGHT)))
    check_derivatives(lambda x: loss(unravel(x)), x)


def test_no_entries_have_sums_of_zero():
    none = np.zeros(0, np.int32)
    csr = local.csr_from_coo(none, none, NUM_ROWS, values=np.zeros(0))
    np.testing.assert_array_equal(local.spmm(csr, RIGHT), np.zeros((NUM_ROWS, WIDTH)))
    assert local.sddmm(csr, LEFT, RIGHT).values[1].shape == (0,)


def test_nan_of_a_dropped_entry_reaches_no_derivative():
    dense = np.array([[np.nan, 1], [2, 3]])

    def total(values, dense):
        csr = local.csr_from_coo(np.array([0, -1]), np.array([1, 0]), 2, values=values)
        return jnp.sum(local.spmm(csr, dense))

    gradients = jax.grad(total, (0, 1))(np.array([1, np.nan]), dense)
    np.testing.assert_array_equal(gradients[0], [5, 0])
    np.testing.assert_array_equal(gradients[1], [[0, 0], [1, 1]])


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.uint32])
def test_columns_of_any_integers(dtype):
    csr = local.csr_from_coo(ROWS, COLUMNS.astype(dtype), NUM_ROWS, values=VALUES)
    np.testing.assert_array_equal(local.spmm(csr, RIGHT), dense_of(VALUES) @ RIGHT)


def test_scores_of_integers_keep_their_dtype():
    scored = local.sddmm(csr_of(), LEFT.astype(np.int8), RIGHT.astype(np.int8))
    assert scored.values[1].dtype == np.int8


def test_names_what_is_wrong():
    with pytest.raises(ValueError, match="spmm: csr must have one number for each of its 24 entr"):
        local.spmm(csr_of(np.zeros((NUM_ENTRIES, 2))), RIGHT)
    with pytest.raises(ValueError, match="sddmm: left and right must have two dimensions and the"):
        local.sddmm(csr_of(), LEFT, RIGHT[:, 1:])
    with pytest.raises(ValueError, match="sddmm: left must have a row for each of the 6 rows of c"):
        local.sddmm(csr_of(), LEFT[1:], RIGHT)
    with pytest.raises(TypeError, match=r"spmm: csr must be a Ragged of \(column_ids, values\)"):
        local.spmm(local.Ragged.from_lengths(COLUMNS, np.array([2])), RIGHT)
    with pytest.raises(TypeError, match="csr_from_coo: row_ids must be integers"):
        local.csr_from_coo(VALUES, COLUMNS, NUM_ROWS)
    with pytest.raises(
        TypeError, match="csr_from_coo: column_ids must be one-dimensional integers"
    ):
        local.csr_from_coo(ROWS, VALUES, NUM_ROWS)
