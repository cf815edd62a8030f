# SPDX-License-Identifier: Apache-2.0
"""Functions of rows whose derivative is that of the rows which have a value.

What JAX differentiates, it multiplies by zero where nothing depends on it; but zero times infinity
is NaN, and one row that divides by zero, be it padding or left out later, would spoil the gradient
of a whole column.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero

from ..table._column import Array
from ..table._table import Count, is_row

RowFunction = Callable[..., Array]


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def by_row(function: RowFunction, safe: float | None, num_rows: Count, *operands: Array) -> Array:
    """Inside a compiled function: `function(*operands)`, with a derivative for rows with a value.

    A row that does not count, whose result is missing, or on whose result nothing depends, changes
    no gradient, not even where the derivative is infinite.

    Args:
        function: a function of arrays of rows, row by row, whose result is of floats.
        safe: a number at which the function has a derivative; None if it has a finite one
            everywhere.
        num_rows: how many rows count.
        operands: arrays of the same rows.
    """
    del safe, num_rows
    return function(*operands)


@functools.partial(by_row.defjvp, symbolic_zeros=True)
def _by_row_jvp(
    function: RowFunction, safe: float | None, primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[Array, Array]:
    num_rows, *operands = primals
    result = by_row(function, safe, num_rows, *operands)
    has_value = is_row(result.shape[0], num_rows) & ~jnp.isnan(result)
    change = jnp.zeros_like(result)
    for place, moved in enumerate(tangents[1:]):
        if isinstance(moved, SymbolicZero):
            continue
        if safe is None or any(jnp.iscomplexobj(x) for x in (result, *operands)):
            inner = [jnp.where(has_value, x, jnp.ones((), x.dtype)) for x in operands]
            _, part = jax.jvp(_of_one(function, place, inner), (inner[place],), (moved,))
            change = change + jnp.where(has_value, part, jnp.zeros((), part.dtype))
        else:
            slope = by_row(functools.partial(_slope, function, place), safe, num_rows, *operands)
            change = change + _times(moved, jnp.where(has_value, slope, jnp.zeros_like(slope)))
    return result, change


def _of_one(function: RowFunction, place: int, operands: Sequence[Array]) -> RowFunction:
    return lambda x: function(*operands[:place], x, *operands[place + 1 :])


def _slope(function: RowFunction, place: int, *operands: Array) -> Array:
    """The derivative by one of the operands, which is of rows as the function is."""
    x = operands[place]
    return jax.jvp(_of_one(function, place, operands), (x,), (jnp.ones_like(x),))[1]


def _times(moved: Array, slope: Array) -> Array:
    """The product, in which zero times infinity is zero, whichever way it is differentiated."""
    # An infinity is two finite factors here: of zero they make zero.
    is_finite, most = jnp.isfinite(slope), jnp.finfo(slope.dtype).max
    near = jnp.where(is_finite, slope, jnp.where(slope < 0, -most, most))
    return moved.astype(slope.dtype) * near * jnp.where(is_finite, jnp.ones_like(slope), most)
