# SPDX-License-Identifier: Apache-2.0
"""Skewness and kurtosis from sums of powers of the distances from the mean."""

from collections.abc import Mapping

import jax.numpy as jnp

from ._column import Array

Powers = Mapping[int, Array]


def _over(divisor: Array) -> Array:
    """A divisor, one where it is not positive."""
    return jnp.where(divisor > 0, divisor, divisor.dtype.type(1))


def _spread(n: Array, powers: Powers) -> tuple[Array, Array]:
    """The error of the rounded mean, and the sum of squares about the mean without it."""
    off = powers[1] / _over(n)
    return off, _over(powers[2] - n * off * off)


def skewness(n: Array, powers: Powers) -> Array:
    """The unbiased skewness of `n` values, at least 3.

    Args:
        n: the number of values, of the dtype of the sums.
        powers: sums of the first, second and third powers of the distances.
    """
    off, spread = _spread(n, powers)
    cubes = powers[3] - 3 * off * powers[2] + 2 * n * off**3
    adjusted = n * jnp.sqrt(_over(n - 1)) / _over(n - 2)
    return adjusted * cubes / (spread * jnp.sqrt(spread))


def kurtosis(n: Array, powers: Powers) -> Array:
    """The unbiased excess kurtosis of `n` values, at least 4.

    Args:
        n: the number of values, of the dtype of the sums.
        powers: sums of the first to the fourth powers of the distances.
    """
    off, spread = _spread(n, powers)
    fourths = powers[4] - 4 * off * powers[3] + 6 * off * off * powers[2] - 3 * n * off**4
    adjusted = _over((n - 2) * (n - 3))
    ratio = n * (n + 1) * (n - 1) * fourths / (adjusted * _over(spread * spread))
    return ratio - 3 * (n - 1) * (n - 1) / adjusted
