# SPDX-License-Identifier: Apache-2.0
"""Scans by an associative function."""

import numpy as np
from jaxframes.primitives import local


def test_a_function_that_does_not_commute_combines_from_the_left():
    # An affine map is (factor, shift).
    factors, shifts = np.array([2, 3, 1, 2], np.int32), np.array([1, 0, 4, 5], np.int32)

    def then(first, second):
        return second[0] * first[0], second[0] * first[1] + second[1]

    found = local.inclusive_scan((factors, shifts), then)
    states, x = [], 7
    for factor, shift in zip(factors, shifts, strict=True):
        x = factor * x + shift
        states.append(x)
    np.testing.assert_array_equal(found[0] * 7 + found[1], states)
