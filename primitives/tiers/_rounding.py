# SPDX-License-Identifier: Apache-2.0
"""Equations for XLA whose floats are rounded before the next operation, as NumPy rounds them."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...shardings._compat import apply_equation, explicit_sharding
from ..contract._typing import Array
from ._elementwise_rules import Equation, HostArray


def rounded(x: Array, zero: Array) -> Array:
    """The same numbers, rounded before the next operation.

    XLA would contract a product and a sum to one operation, and join quotients. It cannot while
    the bits between them could change.

    Args:
        x: numbers.
        zero: an unsigned integer of 0, as an argument of the program: no compiler knows it.
    """
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return x
    bits = jax.lax.bitcast_convert_type(x, jnp.dtype(f"uint{8 * x.dtype.itemsize}"))
    return jax.lax.bitcast_convert_type(bits ^ zero.astype(bits.dtype), x.dtype)


def as_it_is(equation: Equation, operands: list[Any], zero: Any) -> Any:
    """An equation as it is."""
    del zero
    return apply_equation(equation, operands)


def divided_apart(equation: Equation, operands: list[Any], zero: Any) -> Any:
    """A division by one number, which is hidden from compilers anew for each quotient."""
    x, divisor = operands
    words = jax.lax.bitcast_convert_type(x, np.dtype(f"uint{8 * x.dtype.itemsize}"))
    divisor = jax.lax.broadcast_in_dim(
        divisor, x.shape, range(x.ndim - divisor.ndim, x.ndim), out_sharding=explicit_sharding(x)
    )
    return as_it_is(equation, [x, rounded(divisor, words & zero.astype(words.dtype))], zero)


def constant_for_xla(value: HostArray) -> Any:
    """A constant for XLA, without the elements of an array of one number."""
    if value.size <= 1:
        return value
    first = value.reshape(-1)[0]
    if any(value.strides):
        rows = np.ascontiguousarray(value).reshape(-1, 1).view(np.uint8)
        if (rows != rows[0]).any():
            return value
    return jax.lax.broadcast(first, value.shape)
