# SPDX-License-Identifier: Apache-2.0
"""Rows by id where no kernel takes them: the given gather does, with its tangents."""

import jax
import numpy as np
from jaxframes.primitives.local._look_up import look_up

COLUMNS = np.arange(5, dtype=np.float32), np.arange(5) * 10
ROW_IDS = np.array([4, -1, 0, 5, 4], np.int32)


def gathered(columns, row_ids):
    is_row = (row_ids >= 0) & (row_ids < 5)
    return tuple(
        jax.numpy.where(is_row, jax.numpy.take(column, row_ids, mode="clip"), 0).astype(
            column.dtype
        )
        for column in columns
    )


def test_ids_out_of_range_take_zeros():
    floats, integers = look_up(COLUMNS, ROW_IDS, gathered)
    np.testing.assert_array_equal(floats, np.float32([4, 0, 0, 0, 4]))
    np.testing.assert_array_equal(integers, [40, 0, 0, 0, 40])


def test_a_row_that_is_taken_twice_gets_both_cotangents():
    def taken(floats):
        return look_up((floats,), ROW_IDS, gathered)[0]

    _, transposed = jax.vjp(taken, COLUMNS[0])
    (cotangent,) = transposed(np.float32([1, 2, 4, 8, 16]))
    np.testing.assert_array_equal(cotangent, np.float32([4, 0, 0, 0, 17]))
