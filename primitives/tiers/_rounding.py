# SPDX-License-Identifier: Apache-2.0
"""Floats that are rounded before the next operation, as Python and NumPy round them."""

import jax
import jax.numpy as jnp

from ..contract._typing import Array


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
