# SPDX-License-Identifier: Apache-2.0
"""Hashes of rows: 64 bits of several columns, and of strings' bytes."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._arguments import are_columns, as_keys, as_static_int
from ..contract._typing import Array, PyTree, UInt
from ..tiers._tiered import tiered
from ._ragged import Ragged
from ._segment_reduce import segment_sum

# Two lanes of 32 bits, most significant first.
Lanes = tuple[Array, Array]
# Odd multipliers and increments of MurmurHash3.
_FACTORS = (np.uint32(0xCC9E2D51), np.uint32(0x1B873593))
_STEPS = (np.uint32(0x561CCD1B), np.uint32(0x0BCAA747))
_TURNS = (15, 17)


def hash_rows(
    columns: PyTree, *, seed: int = 0
) -> tuple[UInt[Array, " rows"], UInt[Array, " rows"]]:
    """Hashes each row of several columns to 64 bits.

    Equal rows have equal hashes in every program, version and platform, so hashes can be stored,
    and name the shard of a row. They do not resist an adversary.

    Args:
        columns: one column, or a tuple of them: arrays of shape `(rows,)` of any key dtype, or
            `Ragged` of such values, one segment for each row, such as the bytes of strings.
        seed: another seed is another hash function. Static, in `[0, 2**32)`.

    Returns:
        The high and the low 32 bits, uint32: a pair of key columns, as all ops of keys take them.

    Raises:
        TypeError: a dtype that is not a key dtype, or `seed` is traced.
        ValueError: columns of different lengths, or `seed` is out of range.

    Cost:
        Work O(rows x columns), and for ragged columns O(values): two segment sums. No
        communication.

    Guarantees:
        Deterministic, on every platform. Integers of the same value have the same hash in every
        dtype, and so have floats of up to 32 bits; -0.0 is hashed as 0.0, and every NaN alike.
        Different rows share a hash with probability `2**-64`.

    References:
        Appleby (2016), MurmurHash3.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> high, low = local.hash_rows((jnp.array([1, 2, 1]), jnp.array([True, True, True])))
        >>> (high[0] == high[2]).tolist(), (low[0] == low[1]).tolist()
        (True, False)
    """
    caller = "hash_rows"
    seed = as_static_int(seed, caller, "seed", 0, 2**32 - 1)
    given = columns if are_columns(columns) else (columns,)
    # The segments of a ragged column are its rows.
    plain = [one.lengths if isinstance(one, Ragged) else one for one in given]
    arrays, _ = as_keys(tuple(plain), caller, "columns")
    checked = tuple(
        Ragged(as_keys((one.values,), caller, "values")[0][0], one.offsets)
        if isinstance(one, Ragged)
        else array
        for one, array in zip(given, arrays, strict=True)
    )
    return _hash(checked, seed)


@functools.partial(tiered, static_argnums=1)
def _hash(columns: tuple[Any, ...], seed: int) -> Lanes:
    words: list[Array] = []
    for column in columns:
        if isinstance(column, Ragged):
            positions = column.positions.astype(jnp.uint32)
            hashed = hash_words((*words_of(column.values), positions), seed)
            ids, num_rows = column.segment_ids, column.num_segments
            # An op of segments has at least one.
            sums = (segment_sum(lane, ids, max(num_rows, 1)) for lane in hashed)
            words += [lane[:num_rows] for lane in sums]
            words.append(column.lengths.astype(jnp.uint32))
        else:
            words += words_of(column)
    return hash_words(words, seed)


def words_of(column: Array) -> list[Array]:
    """The value of each row as a low and a high word; equal values have equal words."""
    dtype = column.dtype
    if jnp.issubdtype(dtype, jnp.floating):
        column = _float_bits(column)
    if column.dtype.itemsize == 8:
        low = (column & column.dtype.type(0xFFFFFFFF)).astype(jnp.uint32)
        return [low, (column >> 32).astype(jnp.uint32)]
    if jnp.issubdtype(column.dtype, jnp.signedinteger):
        column = column.astype(jnp.int32)
        return [column.astype(jnp.uint32), (column >> 31).astype(jnp.uint32)]
    column = column.astype(jnp.uint32)
    return [column, jnp.zeros_like(column)]


def _float_bits(column: Array) -> Array:
    """The bits of floats of 32 or 64 bits, those of 0.0 for -0.0 and one NaN for all.

    They are compared as integers: some platforms take subnormal numbers for zeros.
    """
    if column.dtype == jnp.bfloat16:
        high = jax.lax.bitcast_convert_type(column, jnp.uint16).astype(jnp.uint32)
        column = jax.lax.bitcast_convert_type(high << np.uint32(16), jnp.float32)
    elif column.dtype.itemsize < 4:
        column = column.astype(jnp.float32)
    dtype = np.dtype(f"uint{8 * column.dtype.itemsize}")
    nan, infinity, sign = np.array([np.nan, np.inf, -0.0], column.dtype).view(dtype)
    bits = jax.lax.bitcast_convert_type(column, dtype)
    magnitude = bits & ~sign
    bits = jnp.where(magnitude == 0, magnitude, bits)
    return jnp.where(magnitude > infinity, nan, bits)


def hash_words(words: Any, seed: int) -> Lanes:
    """Hashes rows of words of 32 bits."""
    first = jnp.full(words[0].shape, seed, jnp.uint32)
    lanes = first, ~first
    for word in words:
        lanes = _absorb(lanes, word)
    length = np.uint32(len(words))
    high, low = lanes[0] ^ length, lanes[1] ^ length
    high += low
    low += high
    high, low = scrambled(high), scrambled(low)
    high += low
    return high, low + high


def _absorb(lanes: Lanes, word: Array) -> Lanes:
    high, low = lanes
    high = _turned(high ^ _turned(word * _FACTORS[0], _TURNS[0]) * _FACTORS[1], 19) + low
    high = high * np.uint32(5) + _STEPS[0]
    low = _turned(low ^ _turned(word * _FACTORS[1], _TURNS[1]) * _FACTORS[0], 13) + high
    return high, low * np.uint32(5) + _STEPS[1]


def _turned(word: Array, bits: int) -> Array:
    """A rotation to the left."""
    return (word << np.uint32(bits)) | (word >> np.uint32(32 - bits))


def scrambled(word: Array) -> Array:
    """A permutation of all words in which each bit depends on each bit."""
    word = (word ^ (word >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    word = (word ^ (word >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return word ^ (word >> np.uint32(16))
