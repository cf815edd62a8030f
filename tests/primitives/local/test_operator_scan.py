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


def affine(left, right):
    return left[0] * right[0], right[0] * left[1] + right[1]


def adjoints(factors, is_head):
    """The derivative of the sum of all states `h = a * h_before + b` in each `b`."""
    result = np.ones(len(factors))
    for i in range(len(factors) - 2, -1, -1):
        if not is_head[i + 1]:
            result[i] += factors[i + 1] * result[i + 1]
    return result


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("has_heads", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_padding_does_not_reach_derivatives(bad, has_heads, reverse):
    factors = np.array([0.5, 2.0, 3.0, 0.25, bad, bad])
    is_head = np.array([True, False, True, False, False, False]) & (has_heads | (np.arange(6) == 0))

    def total(shifts, valid):
        options = {"reverse": reverse, "num_valid": valid}
        if not has_heads:
            return local.inclusive_scan((factors, shifts), affine, **options)[1].sum()
        return local.segmented_scan((factors, shifts), affine, head_flags=is_head, **options)[
            1
        ].sum()

    shifts = np.where(np.arange(6) < 4, np.arange(6.0), bad)
    expected = adjoints(factors[:4], is_head[:4])
    if reverse:
        # Reversed, a segment starts at its last row.
        starts = np.append(is_head[1:4], True)[::-1]
        expected = adjoints(factors[3::-1], starts)[::-1]
    found = jax.jit(jax.grad(total))(shifts, np.int32(4))
    np.testing.assert_allclose(found, [*expected, 0, 0])


@pytest.mark.parametrize("exclusive", [False, True])
def test_segments_do_not_reach_derivatives_of_others(exclusive):
    is_head = np.array([True, False, True, False, True])
    factors = np.array([0.5, 2.0, 3.0, np.inf, 4.0])
    initial = (1.0, 8.0) if exclusive else None

    def total(shifts, initial):
        options = {"head_flags": is_head, "exclusive": exclusive, "initial": initial}
        states = local.segmented_scan((factors, shifts), affine, **options)[1]
        return jnp.where(jnp.isfinite(states), states, 0).sum()

    shifts = np.arange(1.0, 6.0)
    found = jax.grad(total, argnums=(0, 1) if exclusive else 0)(shifts, initial)
    if not exclusive:
        np.testing.assert_allclose(np.asarray(found)[[0, 1, 4]], [3, 1, 1])
        return
    np.testing.assert_allclose(np.asarray(found[0])[[0, 1, 4]], [1, 0, 0])
    # Each state is `factor * initial + shift`, and the first of a segment the initial value.
    np.testing.assert_allclose(found[1], (0, 3 + 0.5 + 3))
