# SPDX-License-Identifier: Apache-2.0
"""Counts of rows over a whole mesh: exact past 2^31, even without x64 mode.

A shard holds fewer than 2^31 rows, a mesh may hold more. A wide count is two unsigned words of 32
bits; sums over shards add halves of 16 bits, which cannot overflow below 2^16 shards.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._typing import Array
from ._axis import AxisName

_HALF = np.uint32(16)
_HALF_MASK = np.uint32(0xFFFF)
_INT32_MAX = np.int32(2**31 - 1)


class WideCount(NamedTuple):
    """The number `high * 2**32 + low`, elementwise."""

    high: Array
    low: Array


def widen(counts: Any) -> WideCount:
    """Converts non-negative integers to wide counts."""
    counts = jnp.asarray(counts)
    if counts.dtype.itemsize == 8:
        words = counts.astype(jnp.uint64)
        return WideCount((words >> np.uint64(32)).astype(jnp.uint32), words.astype(jnp.uint32))
    return WideCount(jnp.zeros(counts.shape, jnp.uint32), counts.astype(jnp.uint32))


def psum_wide(counts: Array, axis_name: AxisName) -> WideCount:
    """Adds int32 counts over the shards."""
    halves = jnp.stack(_halves(counts))
    return _from_halves(*jax.lax.psum(halves, axis_name))


def sum_wide(counts: Array, axis: int) -> WideCount:
    """Adds int32 counts along an array axis."""
    high, low = _halves(counts)
    return _from_halves(jnp.sum(high, axis, dtype=jnp.uint32), jnp.sum(low, axis, dtype=jnp.uint32))


def cumsum_wide(counts: Array, axis: int) -> WideCount:
    """Inclusive running sums of int32 counts along an array axis."""
    high, low = _halves(counts)
    return _from_halves(
        jnp.cumsum(high, axis, dtype=jnp.uint32), jnp.cumsum(low, axis, dtype=jnp.uint32)
    )


def _halves(counts: Array) -> tuple[Array, Array]:
    words = counts.astype(jnp.uint32)
    return words >> _HALF, words & _HALF_MASK


def _from_halves(high_sum: Array, low_sum: Array) -> WideCount:
    carried = high_sum + (low_sum >> _HALF)
    return WideCount(carried >> _HALF, (carried << _HALF) | (low_sum & _HALF_MASK))


def add(a: WideCount, b: WideCount) -> WideCount:
    """`a + b`."""
    low = a.low + b.low
    return WideCount(a.high + b.high + (low < a.low).astype(jnp.uint32), low)


def subtract(a: WideCount, b: WideCount) -> WideCount:
    """`a - b`, or zero if `b` is greater."""
    borrow = (a.low < b.low).astype(jnp.uint32)
    is_positive = is_less_equal(b, a)
    zero = jnp.uint32(0)
    return WideCount(
        jnp.where(is_positive, a.high - b.high - borrow, zero),
        jnp.where(is_positive, a.low - b.low, zero),
    )


def is_less_equal(a: WideCount, b: WideCount) -> Array:
    """`a <= b`."""
    return (a.high < b.high) | ((a.high == b.high) & (a.low <= b.low))


def minimum(a: WideCount, b: WideCount) -> WideCount:
    """The smaller of two counts."""
    is_a = is_less_equal(a, b)
    return WideCount(jnp.where(is_a, a.high, b.high), jnp.where(is_a, a.low, b.low))


def times_small(a: WideCount, factor: Array) -> WideCount:
    """`a * factor` for a factor below 2^16, where the product is below 2^64."""
    factor = factor.astype(jnp.uint32)
    low_half = (a.low & _HALF_MASK) * factor
    high_half = (a.low >> _HALF) * factor + (low_half >> _HALF)
    low = (high_half << _HALF) | (low_half & _HALF_MASK)
    return WideCount(a.high * factor + (high_half >> _HALF), low)


def divide_small(a: WideCount, divisor: int) -> tuple[WideCount, Array]:
    """Quotient and remainder by a static divisor below 2^16, in digits of 16 bits."""
    by = np.uint32(divisor)
    remainder = jnp.zeros_like(a.low)
    digits = []
    for half in (*_halves(a.high), *_halves(a.low)):
        dividend = (remainder << _HALF) | half
        digits.append(dividend // by)
        remainder = dividend % by
    quotient = WideCount((digits[0] << _HALF) | digits[1], (digits[2] << _HALF) | digits[3])
    return quotient, remainder.astype(jnp.int32)


def even_share_of(total: WideCount, num_shards: int, shard: Array) -> Array:
    """A shard's share of `total` in an even distribution, int32."""
    quotient, remainder = divide_small(total, num_shards)
    return saturated(quotient) + (shard < remainder).astype(jnp.int32)


def saturated(a: WideCount) -> Array:
    """Converts a count to int32, saturating."""
    fits = (a.high == 0) & (a.low <= _INT32_MAX.astype(np.uint32))
    return jnp.where(fits, a.low, _INT32_MAX.astype(np.uint32)).astype(jnp.int32)
