# SPDX-License-Identifier: Apache-2.0
"""Reductions of the rows between the bounds of windows."""

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...primitives.staging import tiered
from ..table._column import Array
from ..table._dtypes import wide
from ..table._layout import Layout
from ..table._table import Count, is_row
from ._bounds import Bounds, State, bounds_by_row, combine_windows
from ._reduce_windows import Reach, WindowReduction
from ._window_order import ORDER_METHODS, ordered_windows
from ._window_pairs import PAIR_METHODS, reduce_pairs

# Reductions of windows of rows that `reduce_windows` does not have.
BOUNDED_METHODS = ("sem", "skew", "kurt", *ORDER_METHODS)


@functools.partial(tiered, static_argnums=(5, 6, 7))
def reduce_by_row(
    data: tuple[Array, ...],
    missing: tuple[Array | None, ...],
    segment_ids: Array | None,
    reach: Reach,
    numbers: tuple[Count, Count, Any],
    how: WindowReduction,
    moves_ends: bool,
    layout: Layout,
) -> tuple[Array, ...]:
    """Reduces windows of rows; `numbers` are `num_rows`, `least` and `q` of `reduce_bounded`."""
    num_rows, least, q = numbers
    capacity = data[0].shape[0]
    bounds = bounds_by_row(capacity, segment_ids, reach, num_rows, moves_ends, layout)
    return reduce_bounded(data, missing, bounds, num_rows, least, q, how, layout)


def reduce_bounded(
    data: tuple[Array, ...],
    missing: tuple[Array | None, ...],
    bounds: Bounds,
    num_rows: Count,
    least: Count,
    q: Any,
    how: WindowReduction,
    layout: Layout,
) -> tuple[Array, ...]:
    """Reduces the window of each row; NaN for fewer than `least` values. Traced.

    `q` is the quantile. Infinities are missing, except for counts. The last column is the other one
    of a covariance or correlation, and has no result.
    """

    if how.method in PAIR_METHODS:
        return reduce_pairs(data, missing, bounds, num_rows, least, how, layout)

    def windows(state: State, combine: Any, nothing: tuple[Any, ...]) -> State:
        return combine_windows(state, combine, nothing, bounds, num_rows, layout)

    every_row = jnp.ones(bounds.start.shape, jnp.int32)
    zero = np.int32(0)
    results = []
    for values, gaps in zip(data, missing, strict=True):
        x = values.astype(wide(np.float64))
        is_present = ~jnp.isnan(x) if gaps is None else ~(gaps | jnp.isnan(x))
        is_value = is_present if how.method == "count" else is_present & jnp.isfinite(x)
        flags = is_value.astype(jnp.int32)
        one = x.dtype.type
        if how.method == "count":
            counts, rows = windows((flags, every_row), _add, (zero, zero))
            results.append(jnp.where(rows >= least, counts.astype(x.dtype), jnp.nan))
            continue
        if how.method in ORDER_METHODS:
            is_value = is_value & is_row(x.shape[0], num_rows, layout)
            counts, result = ordered_windows(x, is_value, bounds, q, how, layout)
        elif how.method in ("min", "max"):
            limit = one(np.inf if how.method == "min" else -np.inf)
            state = (flags, jnp.where(is_value, x, limit))
            combine = _least if how.method == "min" else _greatest
            counts, result = windows(state, combine, (zero, limit))
        elif how.method in ("sum", "mean"):
            state = (flags, jnp.where(is_value, x, one(0)))
            counts, result = windows(state, _add, (zero, one(0)))
            if how.method == "mean":
                result = result / jnp.maximum(counts, 1).astype(x.dtype)
        elif how.method in ("skew", "kurt"):
            nothing = (one(0),) * 5
            state = (flags.astype(x.dtype), jnp.where(is_value, x, one(0)))
            state = (*state, *(jnp.zeros_like(x),) * 3)
            moments = windows(state, _merge_higher_moments, nothing)
            counts = moments[0].astype(jnp.int32)
            result = _skew(moments) if how.method == "skew" else _kurt(moments)
        else:
            state = (flags, jnp.where(is_value, x, one(0)), jnp.zeros_like(x))
            counts, _, squares = windows(state, _merge_moments, (zero, one(0), one(0)))
            divisor = (counts - np.int32(how.ddof)).astype(x.dtype)
            result = jnp.where(divisor > 0, squares / jnp.maximum(divisor, 1), jnp.nan)
            result = result if how.method == "var" else jnp.sqrt(result)
            if how.method == "sem":
                # As in pandas, infinities are counted.
                (size,) = windows((is_present.astype(x.dtype),), _add, (one(0),))
                result = result / jnp.sqrt(jnp.maximum(size, 1))
        fewest = least if how.method in ("sum", "nunique") else jnp.maximum(least, np.int32(1))
        results.append(jnp.where(counts >= fewest, result, jnp.nan))
    return tuple(results)


def _add(a: State, b: State) -> State:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def _least(a: State, b: State) -> State:
    return a[0] + b[0], jnp.minimum(a[1], b[1])


def _greatest(a: State, b: State) -> State:
    return a[0] + b[0], jnp.maximum(a[1], b[1])


def _merge_moments(a: State, b: State) -> State:
    """Merges counts, means and sums of squared deviations (Chan, Golub, LeVeque 1979)."""
    (n_a, mean_a, squares_a), (n_b, mean_b, squares_b) = a, b
    total = n_a + n_b
    share = n_b.astype(mean_a.dtype) / jnp.maximum(total, 1).astype(mean_a.dtype)
    apart = mean_b - mean_a
    squares = squares_a + squares_b + apart * apart * share * n_a.astype(mean_a.dtype)
    return total, mean_a + apart * share, squares


def _merge_higher_moments(a: State, b: State) -> State:
    """Merges counts, means, and sums of the powers 2 to 4 of deviations (Pebay 2008)."""
    n_a, mean_a, square_a, cube_a, fourth_a = a
    n_b, mean_b, square_b, cube_b, fourth_b = b
    total = n_a + n_b
    divisor = jnp.maximum(total, 1)
    of_a, of_b = n_a / divisor, n_b / divisor
    apart = mean_b - mean_a
    between = apart * apart * n_a * of_b
    square = square_a + square_b + between
    cube = cube_a + cube_b + between * apart * (of_a - of_b)
    cube = cube + 3 * apart * (of_a * square_b - of_b * square_a)
    fourth = fourth_a + fourth_b
    fourth = fourth + between * apart * apart * (of_a * of_a - of_a * of_b + of_b * of_b)
    fourth = fourth + 6 * apart * apart * (of_a * of_a * square_b + of_b * of_b * square_a)
    fourth = fourth + 4 * apart * (of_a * cube_b - of_b * cube_a)
    return total, mean_a + apart * of_b, square, cube, fourth


def _skew(moments: State) -> Array:
    """The unbiased skewness; NaN for equal values, and for fewer than three."""
    n, _, squares, cubes, _ = moments
    is_known = (n > 2) & (squares > 0)
    squares = jnp.where(is_known, squares, 1) / jnp.maximum(n, 1)
    biased = cubes / jnp.maximum(n, 1) / (squares * jnp.sqrt(squares))
    skew = jnp.sqrt(n * (n - 1)) / jnp.maximum(n - 2, 1) * biased
    return jnp.where(is_known, skew, jnp.nan)


def _kurt(moments: State) -> Array:
    """The unbiased excess kurtosis; NaN for equal values, and for fewer than four."""
    n, _, squares, _, fourths = moments
    is_known = (n > 3) & (squares > 0)
    squares = jnp.where(is_known, squares, 1) / jnp.maximum(n, 1)
    biased = fourths / jnp.maximum(n, 1) / (squares * squares)
    excess = (n * n - 1) * biased - 3 * (n - 1) * (n - 1)
    return jnp.where(is_known, excess / jnp.maximum((n - 2) * (n - 3), 1), jnp.nan)
