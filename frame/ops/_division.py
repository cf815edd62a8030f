# SPDX-License-Identifier: Apache-2.0
"""Division, remainder and powers, with the answers that NumPy and pandas give at zeros."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..table._column import Array
from ..table._dtypes import wide


def floordiv_integers(a: Array, b: Array, *, by_zero: bool) -> Array:
    """The quotient rounded down; float64 with infinities where `by_zero`."""
    one = a.dtype.type(1)
    quotient = jnp.floor_divide(a, jnp.where(b == 0, one, b))
    if not by_zero:
        return quotient
    signed_infinity = jnp.where(a > 0, np.inf, jnp.where(a < 0, -np.inf, np.nan))
    return jnp.where(b == 0, signed_infinity, quotient.astype(wide(np.float64)))


def mod_integers(a: Array, b: Array, *, by_zero: bool) -> Array:
    """The rest, of the sign of the divisor; float64 with NaN where `by_zero`."""
    one = a.dtype.type(1)
    rest = jnp.remainder(a, jnp.where(b == 0, one, b))
    return jnp.where(b == 0, np.nan, rest.astype(wide(np.float64))) if by_zero else rest


def floordiv_floats(a: Array, b: Array) -> Array:
    """The quotient rounded down: exact, as it comes from the remainder."""
    rest = jnp.where(b == 0, a.dtype.type(0), jnp.fmod(a, b))
    has_other_sign = (rest != 0) & ((b < 0) != (rest < 0))
    quotient = (a - rest) / b - has_other_sign.astype(a.dtype)
    floor = jnp.floor(quotient)
    floor = floor + (quotient - floor > 0.5).astype(a.dtype)
    zero = jnp.copysign(jnp.zeros((), a.dtype), a / b)
    floor = jnp.where(quotient != 0, floor, zero)
    # pandas: x // 0 is the infinity of x's sign, and 0 // 0 is NaN.
    return jnp.where(b == 0, a / b, jnp.where(jnp.isinf(a), a.dtype.type(np.nan), floor))


def mod_floats(a: Array, b: Array) -> Array:
    """The rest, of the sign of the divisor."""
    rest = jnp.fmod(a, b)
    has_other_sign = (rest != 0) & ((b < 0) != (rest < 0))
    shifted = jnp.where(has_other_sign, rest + b, rest)
    zero = jnp.copysign(jnp.zeros((), a.dtype), b)
    return jnp.where((rest == 0) & (b != 0), zero, shifted)


def divide_complex(a: Array, b: Array) -> Array:
    """The quotient by Smith's algorithm, which is NumPy's: what it gives at zeros and ends too."""
    is_real_larger = jnp.abs(b.real) >= jnp.abs(b.imag)
    # Where the imaginary part is the larger, both are turned by a quarter.
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
    """Powers of integers, which wrap; 0 where the exponent is negative."""
    one = a.dtype.type(1)

    def multiply(_: Any, carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        power, base, exponent = carry
        power = jnp.where(exponent & one == one, power * base, power)
        return power, base * base, exponent >> one

    num_bits = np.iinfo(a.dtype).bits
    power, _, _ = jax.lax.fori_loop(0, num_bits, multiply, (jnp.ones_like(a), a, b))
    return jnp.where(b < 0, a.dtype.type(0), power)


def divided_by_scalar(x: Array, divisor: Any) -> Array:
    """Inside a compiled function: rows divided by one number, as NumPy rounds it.

    XLA multiplies by the rounded inverse of a divisor that is the same for all rows, and so is off
    by one unit in the last place for many of them. It does not see what a barrier hides.
    """
    rows = jnp.broadcast_to(jnp.asarray(divisor).astype(x.dtype), x.shape)
    return x / jax.lax.optimization_barrier(rows)
