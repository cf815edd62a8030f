# SPDX-License-Identifier: Apache-2.0
"""Functions of rows whose derivative is that of the rows which have a value.

What JAX differentiates, it multiplies by zero where nothing depends on it; but zero times infinity
is NaN, and one padding row that divides by zero would spoil the gradient of a whole column.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ._column import Array
from ._table import Count, is_row

RowFunction = Callable[..., Array]


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def by_row(function: RowFunction, safe: float, num_rows: Count, *operands: Array) -> Array:
    """Inside a compiled function: `function(*operands)`, with a derivative for rows with a value.

    A row that does not count, or whose result is missing, changes no gradient.

    Args:
        function: a function of arrays of rows, row by row, whose result is of floats.
        safe: a number at which the function has a derivative.
        num_rows: how many rows count.
        operands: arrays of the same rows.
    """
    del safe, num_rows
    return function(*operands)


@by_row.defjvp
def _by_row_jvp(
    function: RowFunction, safe: float, primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[Array, Array]:
    num_rows, *operands = primals
    _, *changes = tangents
    result = by_row(function, safe, num_rows, *operands)
    has_value = is_row(result.shape[0], num_rows) & ~jnp.isnan(result)
    inner = [jnp.where(has_value, x, jnp.asarray(safe).astype(x.dtype)) for x in operands]
    _, change = jax.jvp(function, inner, changes)
    return result, jnp.where(has_value, change, jnp.zeros((), change.dtype))
