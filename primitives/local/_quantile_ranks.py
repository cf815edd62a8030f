# SPDX-License-Identifier: Apache-2.0
"""Positions of quantiles: the rank below, and the fraction towards the next rank.

A count over a mesh may exceed 2^31, and a float32 cannot hold one beyond 2^24. So counts and ranks
are two words of 32 bits. With x64 mode a position is a float64, which holds every rank below 2^53
and is rounded as in NumPy. Without it a float32 is used while it can hold the ranks; beyond that
the position is a product of integers, with the quantile truncated to 64 fractional bits.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from ...shardings._compat import is_x64_enabled
from ..contract._typing import Array

_HALF = np.uint32(16)
_HALF_MASK = np.uint32(0xFFFF)
# A rank of 64 bits is two words of 32.
_WORD = 2.0**32
# Ranks up to here leave a float32 two bits for the fraction.
_LARGEST_FLOAT32 = np.uint32(2**22)


class RankPosition(NamedTuple):
    """The position `high * 2**32 + low + fraction`, with a fraction in [0, 1)."""

    high: Array
    low: Array
    fraction: Array


def quantile_positions(last_high: Array, last_low: Array, q: Array) -> RankPosition:
    """The position `last * q` of quantiles in [0, 1], given the last rank as two words."""
    if is_x64_enabled():
        last = last_high.astype(jnp.float64) * _WORD + last_low.astype(jnp.float64)
        position = last * q.astype(jnp.float64)
        rank = jnp.floor(position)
        high = jnp.floor(rank / _WORD)
        low = rank - high * _WORD
        return RankPosition(high.astype(jnp.uint32), low.astype(jnp.uint32), position - rank)
    exact = _exact_positions(last_high, last_low, q)
    position = last_low.astype(jnp.float32) * q
    rank = jnp.floor(position)
    is_small = (last_high == 0) & (last_low <= _LARGEST_FLOAT32)
    return RankPosition(
        jnp.where(is_small, np.uint32(0), exact.high),
        jnp.where(is_small, jnp.where(is_small, rank, 0).astype(jnp.uint32), exact.low),
        jnp.where(is_small, position - rank, exact.fraction),
    )


def _exact_positions(last_high: Array, last_low: Array, q: Array) -> RankPosition:
    is_one = q >= 1
    part = jnp.where(is_one, np.float32(0), q)
    # Powers of two and exact differences: nothing is rounded.
    top = jnp.floor(part * _WORD)
    q_high, q_low = top.astype(jnp.uint32), jnp.floor((part * _WORD - top) * _WORD)
    q_low = q_low.astype(jnp.uint32)
    ones = jnp.zeros_like(q_high)
    last_high, last_low = last_high + ones, last_low + ones
    # Fractional words: the products that reach the first one, and their carries into the rank.
    low_high, low_low = _product(last_low, q_high)
    for high, low in (
        _product(last_high, q_low),
        (ones, _product(last_low, q_low)[0]),
    ):
        low_low = low_low + low
        low_high = low_high + high + (low_low < low).astype(jnp.uint32)
    rank_high, rank_low = _product(last_high, q_high)
    rank_low = rank_low + low_high
    rank_high = rank_high + (rank_low < low_high).astype(jnp.uint32)
    fraction = (low_low >> np.uint32(8)).astype(jnp.float32) * np.float32(2.0**-24)
    return RankPosition(
        jnp.where(is_one, last_high, rank_high),
        jnp.where(is_one, last_low, rank_low),
        jnp.where(is_one, np.float32(0), fraction),
    )


def ranks_of_parts(last_high: Array, last_low: Array, num_parts: int) -> tuple[Array, Array]:
    """The ranks `b * last // num_parts` for b from 1 to `num_parts - 1`, exact, as two words.

    `num_parts` has 16 bits.
    """
    divisor = np.uint32(num_parts)
    quotients, rest = [], jnp.zeros_like(last_low)
    # Long division, by digits of 16 bits.
    for word in (last_high, last_low):
        for digit in (word >> _HALF, word & _HALF_MASK):
            part = (rest << _HALF) | digit
            quotients.append(part // divisor)
            rest = part % divisor
    high, low = ((a << _HALF) | b for a, b in (quotients[:2], quotients[2:]))
    factors = jnp.arange(1, num_parts, dtype=jnp.uint32)
    carried, rank = _product(jnp.broadcast_to(low, factors.shape), factors)
    more = factors * rest // divisor
    rank = rank + more
    return high * factors + carried + (rank < more).astype(jnp.uint32), rank


def _product(a: Array, b: Array) -> tuple[Array, Array]:
    """The 64-bit product of two words, computed by halves."""
    a_high, a_low, b_high, b_low = a >> _HALF, a & _HALF_MASK, b >> _HALF, b & _HALF_MASK
    low = a_low * b_low
    middle = a_high * b_low + (low >> _HALF)
    other = a_low * b_high + (middle & _HALF_MASK)
    high = a_high * b_high + (middle >> _HALF) + (other >> _HALF)
    return high, (other << _HALF) | (low & _HALF_MASK)
