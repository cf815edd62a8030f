# SPDX-License-Identifier: Apache-2.0
"""Fields of bits that share words of 32 bits, and columns of any dtype as such words."""

import functools
import operator
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ._typing import Array

# TPU and JAX without x64 mode have words of 32 bits.
_WORD_BITS = 32


class Field(NamedTuple):
    """Unsigned integers of `bits` bits, at most 32, in the lowest bits of `uint32[rows]`."""

    values: Array
    bits: int


def pack_fields(fields: Sequence[Field]) -> tuple[Array, ...]:
    """Joins fields, most significant first, to as few words as hold them.

    The words compare as the fields do, most significant first. A field may cross from one word to
    the next.
    """
    total = sum(field.bits for field in fields)
    parts: list[list[Array]] = [[] for _ in range(-(-total // _WORD_BITS))]
    end = total
    for values, bits in fields:
        end -= bits
        word, shift = divmod(end, _WORD_BITS)
        parts[word].append(values << np.uint32(shift) if shift else values)
        if shift + bits > _WORD_BITS:
            parts[word + 1].append(values >> np.uint32(_WORD_BITS - shift))
    return tuple(functools.reduce(operator.or_, part) for part in reversed(parts))


def unpack_fields(words: Sequence[Array], widths: Sequence[int]) -> tuple[Array, ...]:
    """Inverts `pack_fields` for fields of these numbers of bits."""
    fields = []
    end = sum(widths)
    for bits in widths:
        end -= bits
        number, shift = divmod(end, _WORD_BITS)
        values = words[-1 - number]
        if shift:
            values = values >> np.uint32(shift)
        if shift + bits > _WORD_BITS:
            values = values | words[-2 - number] << np.uint32(_WORD_BITS - shift)
        fields.append(values & np.uint32(2**bits - 1) if bits < _WORD_BITS else values)
    return tuple(fields)


def fields_of_word(word: Array, bits: int) -> tuple[Field, ...]:
    """The lowest `bits` bits of unsigned words of 32 or 64 bits, most significant field first."""
    if word.dtype.itemsize == 4:
        return (Field(word, bits),)
    low = Field(word.astype(jnp.uint32), min(bits, _WORD_BITS))
    if bits <= _WORD_BITS:
        return (low,)
    return Field((word >> np.uint64(_WORD_BITS)).astype(jnp.uint32), bits - _WORD_BITS), low


def word_of_fields(fields: Sequence[Array], dtype: np.dtype) -> Array:
    """Inverts `fields_of_word`."""
    word = fields[0].astype(dtype)
    for field in fields[1:]:
        word = word << np.uint64(_WORD_BITS) | field.astype(dtype)
    return word


def fields_of_leaf(leaf: Array) -> tuple[Field, ...]:
    """The bits of one leaf of at most 8 bytes per row, most significant field first."""
    if leaf.dtype == jnp.bool_:
        return (Field(leaf.astype(jnp.uint32), 1),)
    if leaf.dtype == jnp.complex64:
        return *fields_of_leaf(leaf.real), *fields_of_leaf(leaf.imag)
    bits = 8 * leaf.dtype.itemsize
    word = jax.lax.bitcast_convert_type(leaf, np.dtype(f"uint{bits}"))
    return fields_of_word(word if bits >= _WORD_BITS else word.astype(jnp.uint32), bits)


def leaf_of_fields(fields: Sequence[Array], dtype: np.dtype) -> Array:
    """Inverts `fields_of_leaf`."""
    if dtype == jnp.bool_:
        return fields[0] != 0
    if dtype == jnp.complex64:
        real, imag = (leaf_of_fields((field,), np.dtype(np.float32)) for field in fields)
        return jax.lax.complex(real, imag)
    word = word_of_fields(fields, np.dtype(f"uint{8 * dtype.itemsize}"))
    return jax.lax.bitcast_convert_type(word, dtype)


def pack_leaves(leaves: Sequence[Array]) -> tuple[Array, ...]:
    """The bits of all leaves in as few columns of 32 bits as hold them; bools take one bit."""
    return pack_fields([field for leaf in leaves for field in fields_of_leaf(leaf)])


def unpack_leaves(columns: Sequence[Array], like: Sequence[Array]) -> tuple[Array, ...]:
    """Inverts `pack_leaves`: leaves of the dtypes of `like`."""
    widths = [_field_widths(leaf.dtype) for leaf in like]
    in_turn = iter(unpack_fields(columns, [bits for of_leaf in widths for bits in of_leaf]))
    return tuple(
        leaf_of_fields([next(in_turn) for _ in of_leaf], leaf.dtype)
        for leaf, of_leaf in zip(like, widths, strict=True)
    )


def num_packed_bits(leaves: Sequence[Array]) -> int:
    """The number of bits of one row of `pack_leaves`."""
    return sum(sum(_field_widths(leaf.dtype)) for leaf in leaves)


def _field_widths(dtype: np.dtype) -> list[int]:
    if dtype == jnp.bool_:
        return [1]
    bits = 8 * dtype.itemsize
    return [_WORD_BITS] * 2 if bits == 2 * _WORD_BITS else [bits]


def as_word_columns(leaves: Sequence[Array]) -> tuple[Array, ...]:
    """Columns that hold the bits of all leaves, each of shape `(rows,)` and at most 8 bytes wide.

    Leaves of fewer than 32 bits share columns. Leaves of 64 bits keep their dtype: TPUs hold
    their halves apart, and have no bits of float64.
    """
    wide = [leaf for leaf in leaves if _keeps_dtype(leaf)]
    return (*wide, *pack_leaves(_by_width([leaf for leaf in leaves if not _keeps_dtype(leaf)])))


def of_word_columns(columns: Sequence[Array], like: Sequence[Array]) -> tuple[Array, ...]:
    """Inverts `as_word_columns`: leaves of the dtypes of `like`."""
    is_wide = [_keeps_dtype(leaf) for leaf in like]
    wide, others = columns[: sum(is_wide)], columns[sum(is_wide) :]
    packed = [i for i, keeps in enumerate(is_wide) if not keeps]
    packed.sort(key=lambda i: _rank(like[i]))
    leaves = dict(zip(packed, unpack_leaves(others, [like[i] for i in packed]), strict=True))
    in_turn = iter(wide)
    return tuple(next(in_turn) if keeps else leaves[i] for i, keeps in enumerate(is_wide))


def _by_width(leaves: Sequence[Array]) -> list[Array]:
    # Narrow leaves come first: those of 32 bits are words of their own then.
    return sorted(leaves, key=_rank)


def _rank(leaf: Array) -> int:
    return num_packed_bits((leaf,))


def _keeps_dtype(leaf: Array) -> bool:
    return leaf.dtype.itemsize == 8 and leaf.dtype != jnp.complex64
