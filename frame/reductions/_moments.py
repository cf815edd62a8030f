# SPDX-License-Identifier: Apache-2.0
"""Skewness and kurtosis from sums of powers of the distances from the mean."""

from collections.abc import Mapping

import jax.numpy as jnp

from ..table._column import Array

Powers = Mapping[int, Array]


def positive(divisor: Array) -> Array:
    """A divisor, one where it is not positive."""
    return jnp.where(divisor > 0, divisor, divisor.dtype.type(1))


def _spread(n: Array, powers: Powers) -> tuple[Array, Array]:
    """The error of the rounded mean, and the sum of squares about the mean without it."""
    off = powers[1] / positive(n)
    return off, positive(powers[2] - n * off * off)


def powers_of(distance: Array, square: Array, op: str) -> dict[int, Array]:
    """The powers of distances from the mean that "skew" or "kurt" sums."""
    powers = {1: distance, 2: square, 3: square * distance}
    return powers if op == "skew" else {**powers, 4: square * square}


def skewness(n: Array, powers: Powers) -> Array:
    """The unbiased skewness of `n` values, at least 3, from the sums of three powers."""
    off, spread = _spread(n, powers)
    cubes = powers[3] - 3 * off * powers[2] + 2 * n * off**3
    adjusted = n * jnp.sqrt(positive(n - 1)) / positive(n - 2)
    return adjusted * cubes / (spread * jnp.sqrt(spread))


def kurtosis(n: Array, powers: Powers) -> Array:
    """The unbiased excess kurtosis of `n` values, at least 4, from the sums of four powers."""
    off, spread = _spread(n, powers)
    fourths = powers[4] - 4 * off * powers[3] + 6 * off * off * powers[2] - 3 * n * off**4
    adjusted = positive((n - 2) * (n - 3))
    ratio = n * (n + 1) * (n - 1) * fourths / (adjusted * positive(spread * spread))
    return ratio - 3 * (n - 1) * (n - 1) / adjusted
