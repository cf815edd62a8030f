# SPDX-License-Identifier: Apache-2.0
"""Covariance and correlation of columns with another column, in windows."""

import jax.numpy as jnp
import numpy as np

from ..table._column import Array
from ..table._dtypes import wide
from ..table._layout import Layout
from ..table._table import Count
from ._bounds import Bounds, State, combine_windows
from ._reduce_windows import WindowReduction

PAIR_METHODS = ("cov", "corr")


def reduce_pairs(
    data: tuple[Array, ...],
    missing: tuple[Array | None, ...],
    bounds: Bounds,
    num_rows: Count,
    least: Count,
    how: WindowReduction,
    layout: Layout,
) -> tuple[Array, ...]:
    """The covariance or correlation of each column with the last one, in each window. Traced.

    Rows where a value of either is missing or infinite have no part in it.
    """
    dtype = wide(np.float64)
    *columns, other = (x.astype(dtype) for x in data)
    *gaps, gaps_of_other = missing
    one = dtype.type
    results = []
    for x, gap in zip(columns, gaps, strict=True):
        is_value = jnp.isfinite(x) & jnp.isfinite(other)
        for flags in (gap, gaps_of_other):
            is_value = is_value if flags is None else is_value & ~flags
        zeros = jnp.zeros_like(x)
        values = (jnp.where(is_value, x, one(0)), jnp.where(is_value, other, one(0)))
        state = (is_value.astype(dtype), *values, zeros, zeros, zeros)
        moments = combine_windows(state, _merge, (one(0),) * 6, bounds, num_rows, layout)
        count, _, _, squares, squares_of_other, products = moments
        if how.method == "cov":
            divisor = count - one(how.ddof)
            result = jnp.where(divisor > 0, products / jnp.where(divisor > 0, divisor, 1), jnp.nan)
        else:
            result = correlation(products, squares, squares_of_other)
            # As in pandas.
            result = jnp.where(jnp.abs(result) > 1, jnp.sign(result), result)
        fewest = jnp.maximum(least, np.int32(1)).astype(dtype)
        results.append(jnp.where(count >= fewest, result, jnp.nan))
    return tuple(results)


def correlation(products: Array, x_squares: Array, y_squares: Array) -> Array:
    """The correlation from a sum of products and sums of squares; NaN if one of these is zero."""
    is_known = (x_squares > 0) & (y_squares > 0)
    x, y = (jnp.where(is_known, one, 1) for one in (x_squares, y_squares))
    # A column is itself correlated by exactly one.
    scale = jnp.where(x == y, (x + y) / 2, jnp.sqrt(x) * jnp.sqrt(y))
    return jnp.where(is_known, products / scale, jnp.nan)


def _merge(a: State, b: State) -> State:
    """Merges counts, means, sums of squared deviations and of their products (Chan et al. 1979)."""
    total = a[0] + b[0]
    share = b[0] / jnp.maximum(total, 1)
    x, y = b[1] - a[1], b[2] - a[2]
    weight = a[0] * share
    return (
        total,
        a[1] + x * share,
        a[2] + y * share,
        a[3] + b[3] + x * x * weight,
        a[4] + b[4] + y * y * weight,
        a[5] + b[5] + x * y * weight,
    )
