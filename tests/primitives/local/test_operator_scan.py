# SPDX-License-Identifier: Apache-2.0
"""Scans by an associative function."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
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


@pytest.mark.parametrize("flags", [None, np.zeros(3, bool)])
def test_the_first_row_is_combined_with_nothing_in_the_derivative(flags):
    def norm(left, right):
        return jnp.sqrt(left * left + right * right)

    def total(x):
        if flags is None:
            return local.inclusive_scan(x, norm).sum()
        return local.segmented_scan(x, norm, head_flags=flags).sum()

    # The norm has no derivative at (0, 0).
    np.testing.assert_allclose(jax.grad(total)(np.array([0.0, 3, 4])), [1, 1.6, 0.8], rtol=1e-6)
