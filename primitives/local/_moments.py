# SPDX-License-Identifier: Apache-2.0
"""Moments: sums of powers of the distances of values from an origin.

Sums about one origin give those about another one, by the binomial theorem. Accumulators merge by
that alone: those of all parts are moved to the mean of the whole, and added up. No large numbers
cancel, as they do in sums of the powers of the values themselves.

References:
    Chan, Golub, LeVeque (1983), "Algorithms for computing the sample variance"; Pebay (2008),
    "Formulas for robust, one-pass parallel computation of covariances and arbitrary-order
    statistical moments".
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp

from ..contract._typing import Array
from ..kernels.scan._merge_scan import MOMENTS, PAIR_MOMENTS, known_to_kernel


class Moments(NamedTuple):
    """Moments of one column.

    Attributes:
        count: the number of values, a float.
        mean: their mean; zero for none.
        sums: of the powers 2, 3, and so on of the distances from the mean.
    """

    count: Array
    mean: Array
    sums: tuple[Array, ...]


class PairMoments(NamedTuple):
    """Moments of two columns.

    Attributes:
        count: the number of rows, a float.
        x_mean: the mean of the first column; zero without rows.
        y_mean: the mean of the second one.
        x_squares: the sum of squared distances from the mean of the first column.
        y_squares: that of the second one.
        products: the sum of the products of both distances.
    """

    count: Array
    x_mean: Array
    y_mean: Array
    x_squares: Array
    y_squares: Array
    products: Array


def positive(divisor: Array) -> Array:
    """A divisor, one where it is not positive."""
    return jnp.where(divisor > 0, divisor, divisor.dtype.type(1))


def moved_products(count: Array, products: Array, x: Array, y: Array) -> Array:
    """The sum of products of distances, about an origin that is `x` and `y` below the means."""
    # No values have no part in it, however far away, where the product overflows.
    return products + jnp.where(count > 0, count * (x * y), count.dtype.type(0))


def moved_sums(
    count: Array, sums: Sequence[Array], distance: Array, first: Array | None = None
) -> tuple[Array, ...]:
    """Sums of the powers 2, 3, and so on, about another origin.

    Args:
        count: the number of values.
        sums: of the powers 2, 3, and so on of the distances from the old origin.
        distance: the old origin minus the new one.
        first: the sum of the distances from the old origin; None for zero, if it is the mean.
    """
    powers = dict(enumerate(sums, 2))
    lower_powers = {0: count, **({} if first is None else {1: first}), **powers}

    def of_power(power: int, total: Array) -> Array:
        if power == 2:
            total = moved_products(count, total, distance, distance)
        for lower, term in lower_powers.items():
            if lower < power and (power, lower) != (2, 0):
                total = total + math.comb(power, lower) * distance ** (power - lower) * term
        return total

    return tuple(of_power(*one) for one in powers.items())


def _mean_of_both(
    counts: tuple[Array, Array], left: Array, right: Array
) -> tuple[Array, Array, Array]:
    """The mean of two parts, and the distances of their own means from it."""
    share = counts[1] / positive(counts[0] + counts[1])
    apart = right - left
    return left + apart * share, -apart * share, apart * (1 - share)


@known_to_kernel(MOMENTS)
def merge_moments(left: Moments, right: Moments) -> Moments:
    """The moments of the values of two parts."""
    mean, of_left, of_right = _mean_of_both((left.count, right.count), left.mean, right.mean)
    moved = zip(
        moved_sums(left.count, left.sums, of_left),
        moved_sums(right.count, right.sums, of_right),
        strict=True,
    )
    return Moments(left.count + right.count, mean, tuple(a + b for a, b in moved))


@known_to_kernel(PAIR_MOMENTS)
def merge_pair_moments(left: PairMoments, right: PairMoments) -> PairMoments:
    """The moments of the rows of two parts."""
    counts = left.count, right.count
    x_mean, *x = _mean_of_both(counts, left.x_mean, right.x_mean)
    y_mean, *y = _mean_of_both(counts, left.y_mean, right.y_mean)

    def merged(left_sum: Array, right_sum: Array, a: list[Array], b: list[Array]) -> Array:
        of_left = moved_products(left.count, left_sum, a[0], b[0])
        return of_left + moved_products(right.count, right_sum, a[1], b[1])

    return PairMoments(
        left.count + right.count,
        x_mean,
        y_mean,
        merged(left.x_squares, right.x_squares, x, x),
        merged(left.y_squares, right.y_squares, y, y),
        merged(left.products, right.products, x, y),
    )


def powers_of(distance: Array, square: Array, op: str) -> tuple[Array, ...]:
    """The powers of distances, from the first on, whose sums give "skew" or "kurt"."""
    powers = distance, square, square * distance
    return powers if op == "skew" else (*powers, square * square)


def _about_mean(count: Array, sums: Sequence[Array | None]) -> tuple[Array, ...]:
    """The sums about the mean itself, without the error of a rounded mean."""
    first, *others = sums
    if first is None:
        return tuple(others)  # pyright: ignore
    return moved_sums(count, others, -first / positive(count), first)  # pyright: ignore


def skewness(count: Array, sums: Sequence[Array | None]) -> Array:
    """The unbiased skewness; NaN for fewer than three values, and for equal ones.

    Args:
        count: the number of values, a float.
        sums: of the powers 1 to 3 of the distances from about the mean; None for a first one of
            zero.
    """
    squares, cubes, *_ = _about_mean(count, sums)
    spread, n = positive(squares), count
    adjusted = n * jnp.sqrt(positive(n - 1)) / positive(n - 2)
    result = adjusted * cubes / (spread * jnp.sqrt(spread))
    return jnp.where((n > 2) & (squares > 0), result, result.dtype.type(jnp.nan))


def kurtosis(count: Array, sums: Sequence[Array | None]) -> Array:
    """The unbiased excess kurtosis; NaN for fewer than four values, and for equal ones.

    Args:
        count: the number of values, a float.
        sums: of the powers 1 to 4 of the distances from about the mean; None for a first one of
            zero.
    """
    squares, _, fourths = _about_mean(count, sums)
    spread, n = positive(squares), count
    adjusted = positive((n - 2) * (n - 3))
    ratio = n * (n + 1) * (n - 1) * fourths / (adjusted * positive(spread * spread))
    result = ratio - 3 * (n - 1) * (n - 1) / adjusted
    return jnp.where((n > 3) & (squares > 0), result, result.dtype.type(jnp.nan))


def correlation(products: Array, x_squares: Array, y_squares: Array) -> Array:
    """The correlation from a sum of products and sums of squares; NaN if one of these is zero."""
    is_known = (x_squares > 0) & (y_squares > 0)
    x, y = (jnp.where(is_known, one, 1) for one in (x_squares, y_squares))
    # A column is itself correlated by exactly one.
    scale = jnp.where(x == y, (x + y) / 2, jnp.sqrt(x) * jnp.sqrt(y))
    return jnp.where(is_known, products / scale, jnp.nan)
