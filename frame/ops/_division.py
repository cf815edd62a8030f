# SPDX-License-Identifier: Apache-2.0
"""Division, remainder and powers, with the results of NumPy and pandas at zeros."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..table._column import Array
from ..table._dtypes import wide


def floordiv_integers(a: Array, b: Array, *, by_zero: bool) -> Array:
    """The quotient rounded down; float64 with infinities if `by_zero`."""
    one = a.dtype.type(1)
    quotient = jnp.floor_divide(a, jnp.where(b == 0, one, b))
    if not by_zero:
        return quotient
    signed_infinity = jnp.where(a > 0, np.inf, jnp.where(a < 0, -np.inf, np.nan))
    return jnp.where(b == 0, signed_infinity, quotient.astype(wide(np.float64)))


def mod_integers(a: Array, b: Array, *, by_zero: bool) -> Array:
    """The remainder with the sign of the divisor; float64 with NaN if `by_zero`."""
    one = a.dtype.type(1)
    remainder = jnp.remainder(a, jnp.where(b == 0, one, b))
    return jnp.where(b == 0, np.nan, remainder.astype(wide(np.float64))) if by_zero else remainder


def floordiv_floats(a: Array, b: Array) -> Array:
    """The quotient rounded down, exact because it is computed from the remainder."""
    remainder = jnp.where(b == 0, a.dtype.type(0), jnp.fmod(a, b))
    has_other_sign = (remainder != 0) & ((b < 0) != (remainder < 0))
    quotient = (a - remainder) / b - has_other_sign.astype(a.dtype)
    floor = jnp.floor(quotient)
    floor = floor + (quotient - floor > 0.5).astype(a.dtype)
    zero = jnp.copysign(jnp.zeros((), a.dtype), a / b)
    floor = jnp.where(quotient != 0, floor, zero)
    # pandas: x // 0 is the infinity of x's sign, and 0 // 0 is NaN.
    return jnp.where(b == 0, a / b, jnp.where(jnp.isinf(a), a.dtype.type(np.nan), floor))


def mod_floats(a: Array, b: Array) -> Array:
    """The remainder with the sign of the divisor."""
    remainder = jnp.fmod(a, b)
    has_other_sign = (remainder != 0) & ((b < 0) != (remainder < 0))
    shifted = jnp.where(has_other_sign, remainder + b, remainder)
    zero = jnp.copysign(jnp.zeros((), a.dtype), b)
    return jnp.where((remainder == 0) & (b != 0), zero, shifted)


def divide_complex(a: Array, b: Array) -> Array:
    """The quotient by Smith's algorithm, with NumPy's results at zeros and infinities."""
    is_real_larger = jnp.abs(b.real) >= jnp.abs(b.imag)
    # If the imaginary part is larger, both operands are rotated by 90 degrees.
    a_real = jnp.where(is_real_larger, a.real, a.imag)
    a_imag = jnp.where(is_real_larger, a.imag, -a.real)
    large = jnp.where(is_real_larger, b.real, b.imag)
    small = jnp.where(is_real_larger, b.imag, -b.real)
    is_zero = (large == 0) & (small == 0)
    ratio = jnp.where(is_zero, large.dtype.type(0), small / large)
    scale = 1 / (large + small * ratio)
    quotient = jax.lax.complex((a_real + a_imag * ratio) * scale, (a_imag - a_real * ratio) * scale)
    by_zero = jax.lax.complex(a.real / jnp.abs(large), a.imag / jnp.abs(large))
    return jnp.where(is_zero, by_zero, quotient)


def integer_power(a: Array, b: Array) -> Array:
    """Integer powers with wraparound; 0 for a negative exponent."""
    one = a.dtype.type(1)
    power, base, exponent = jnp.ones_like(a), a, b
    # One squaring for each bit of the exponent, which the compiler makes one pass over the rows.
    for _ in range(np.iinfo(a.dtype).bits):
        power = jnp.where(exponent & one == one, power * base, power)
        base, exponent = base * base, exponent >> one
    return jnp.where(b < 0, a.dtype.type(0), power)


def divided_by_scalar(x: Array, divisor: Any) -> Array:
    """Inside a compiled function: divides rows by one number, rounded as NumPy does.

    XLA multiplies by the rounded reciprocal of a uniform divisor, an error of one unit in the last
    place for many rows. The barrier hides that the divisor is uniform.
    """
    rows = jnp.broadcast_to(jnp.asarray(divisor).astype(x.dtype), x.shape)
    return x / jax.lax.optimization_barrier(rows)
