# SPDX-License-Identifier: Apache-2.0
"""Row-wise functions whose gradient ignores rows without a value.

JAX multiplies the derivative of an unused result by zero, and zero times infinity is NaN. One row
that divides by zero, in the padding or filtered out later, would make a column's gradient NaN.
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
    """Inside a compiled function: calls `function(*operands)`, with a safe derivative.

    Padding, missing results and unused results contribute zero to the gradient, even if the
    derivative is infinite there.

    `safe` is a number with a finite derivative; None if the derivative is finite everywhere.
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
    for position, tangent in enumerate(tangents[1:]):
        if isinstance(tangent, SymbolicZero):
            continue
        if safe is None or any(jnp.iscomplexobj(x) for x in (result, *operands)):
            inner = [jnp.where(has_value, x, jnp.ones((), x.dtype)) for x in operands]
            _, part = jax.jvp(_partial(function, position, inner), (inner[position],), (tangent,))
            change = change + jnp.where(has_value, part, jnp.zeros((), part.dtype))
        else:
            slope = by_row(functools.partial(_slope, function, position), safe, num_rows, *operands)
            change = change + _times(tangent, jnp.where(has_value, slope, jnp.zeros_like(slope)))
    return result, change


def _partial(function: RowFunction, position: int, operands: Sequence[Array]) -> RowFunction:
    return lambda x: function(*operands[:position], x, *operands[position + 1 :])


def _slope(function: RowFunction, position: int, *operands: Array) -> Array:
    """The partial derivative by one operand, row by row."""
    x = operands[position]
    return jax.jvp(_partial(function, position, operands), (x,), (jnp.ones_like(x),))[1]


def _times(tangent: Array, slope: Array) -> Array:
    """The product, where zero times infinity is zero, in both modes of differentiation."""
    # An infinite slope is split into two finite factors, whose product with zero is zero.
    is_finite, most = jnp.isfinite(slope), jnp.finfo(slope.dtype).max
    near = jnp.where(is_finite, slope, jnp.where(slope < 0, -most, most))
    return tangent.astype(slope.dtype) * near * jnp.where(is_finite, jnp.ones_like(slope), most)
