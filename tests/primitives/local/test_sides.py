# SPDX-License-Identifier: Apache-2.0
"""Key columns of two sides, and their padding."""

import numpy as np
from jaxframes.primitives.local._sides import as_key_sides


def sides_of(num_valid):
    a, b = np.array([1, 2, 9], np.int32), np.array([3, 9], np.int32)
    sides, is_tuple = as_key_sides(a, b, num_valid, "join", ("left_keys", "right_keys"))
    assert not is_tuple
    return sides


def test_stacked_rows_are_the_valid_ones_first():
    (stacked,) = sides_of((2, 1)).stacked()
    np.testing.assert_array_equal(stacked[:3], [1, 2, 3])
    assert stacked.shape == (5,)


def test_sides_are_swapped_with_their_counts():
    swapped = sides_of((2, 1)).swapped()
    np.testing.assert_array_equal(swapped.a[0], [3, 9])
    assert (int(swapped.num_a), int(swapped.num_b)) == (1, 2)
