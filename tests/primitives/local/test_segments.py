# SPDX-License-Identifier: Apache-2.0
"""Segment ids as callers give them, and sums by a scatter, a sort or the kernel."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives.local._segments import (
    add,
    add_given,
    as_given_ids,
    count_given,
    count_rows,
    multiply_floats,
    place_segment_ids,
    reduce_sorted,
    rows_of_segments,
    scatter,
)

IDS = np.array([1, 3, 1, -1, 0, 5, 3, 1], np.int32)
ROWS = np.array([1.5, 2.0, -4.0, 8.0, 0.25, 16.0, 3.0, 0.5])
NUM_SEGMENTS = 4
IS_ROW = (IDS >= 0) & (IDS < NUM_SEGMENTS)


def of_segments(reduce, rows):
    return [reduce(rows[segment == IDS]) for segment in range(NUM_SEGMENTS)]


@pytest.mark.parametrize("dtype", [np.int8, np.uint32, np.int64])
@pytest.mark.parametrize("num_valid", [None, 5])
def test_ids_of_each_dtype_are_placed(dtype, num_valid):
    given = np.array([100, 103, 7, 101, 99, 127, 100], dtype)
    expected = given.astype(np.int64) - 100
    expected = np.where((expected >= 0) & (expected < NUM_SEGMENTS), expected, -1)
    expected[num_valid if num_valid else len(given) :] = -1
    count = None if num_valid is None else jnp.int32(num_valid)
    placed = place_segment_ids(
        jnp.asarray(given), NUM_SEGMENTS, count, False, jnp.asarray(100, given.dtype)
    )
    assert placed.dtype == np.int32
    np.testing.assert_array_equal(placed, expected)


def test_sums_and_counts_are_those_of_numpy_in_each_way():
    ids, rows = jnp.asarray(IDS), jnp.asarray(ROWS)
    given = as_given_ids(ids, jnp.int32(0), jnp.int32(len(IDS)), NUM_SEGMENTS)
    assert as_given_ids(ids, None, None, NUM_SEGMENTS) is None
    assert given is not None

    def sums(rows):
        by_sort = reduce_sorted(jax.lax.add, 0, rows, ids, NUM_SEGMENTS)
        by_ids = add(rows, ids, NUM_SEGMENTS), add_given(rows, given, ids, NUM_SEGMENTS)
        counts = count_rows(ids, NUM_SEGMENTS), count_given(given, ids, NUM_SEGMENTS)
        return (by_sort, *by_ids), counts

    found, counts = jax.jit(sums)(rows)
    for one in found:
        np.testing.assert_array_equal(one, of_segments(np.sum, ROWS))
    for one in counts:
        np.testing.assert_array_equal(one, of_segments(len, ROWS))


def test_other_reductions_and_lookups_are_those_of_numpy():
    ids, rows = jnp.asarray(IDS), jnp.asarray(ROWS)

    def reduced(rows):
        least = scatter("min", rows, ids, NUM_SEGMENTS, jnp.inf)
        return least, multiply_floats(rows, ids, NUM_SEGMENTS), rows_of_segments(rows[:4], ids)

    least, products, looked_up = jax.jit(reduced)(rows)
    np.testing.assert_array_equal(least, of_segments(lambda x: min(x, default=np.inf), ROWS))
    np.testing.assert_array_equal(products, of_segments(np.prod, ROWS))
    np.testing.assert_array_equal(looked_up, np.where(IS_ROW, ROWS[np.clip(IDS, 0, 3)], 0))


def test_the_derivative_of_a_product_with_a_zero_is_that_of_the_others():
    rows = jnp.array([0.0, 3.0, 2.0, jnp.nan])
    ids = jnp.array([0, 0, 1, -1], jnp.int32)
    derivative = jax.grad(lambda rows: multiply_floats(rows, ids, 2).sum())(rows)
    assert derivative.tolist() == [3.0, 0.0, 1.0, 0.0]
