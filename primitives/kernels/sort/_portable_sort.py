# SPDX-License-Identifier: Apache-2.0
"""The portable stable sort by columns of words, in the form that each platform is fast at.

- XLA on CPU is fast for one operand: key and row id share it, and rows are gathered.
- XLA on GPU calls CUB's radix sort for a key of 32 bits and one value of up to 64 bits, and for a
  key of 64 bits alone. It compares rows for others: more operands on every card, and pairs with
  keys of 64 bits on some.
- XLA on TPU sorts any number of operands; each costs a 20th of a gather. All columns are operands
  of one sort.

Row ids after the words of the keys make all rows distinct, so these sorts need not be stable.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from ....shardings._compat import is_x64_enabled, varying_axes
from ...contract._bit_fields import (
    Field,
    as_word_columns,
    fields_of_word,
    num_packed_bits,
    of_word_columns,
    pack_fields,
    pack_leaves,
    unpack_fields,
    unpack_leaves,
    word_of_fields,
)
from ...contract._key_bits import OrderedWord
from ...contract._platform import by_platform
from ...contract._typing import Array
from ..base._foreign import is_words

# XLA compiles sorts of more operands slowly.
_MOST_CARRIED_WORDS = 8


# Which words a sort returns.
Words: TypeAlias = Literal["exact", "order", "none"]


class SortedRows(NamedTuple):
    """Rows in the order of their words, padding last in its own order.

    Attributes:
        words: the sorted words of each column, or the unsigned integers in their order, which are
            arbitrary in padding.
        row_ids: the position of each row before the sort, int32.
        rows: the rows of the given arrays.
    """

    words: tuple[Array, ...]
    row_ids: Array
    rows: tuple[Array, ...]


def sort_alone(ordered: Array) -> Array:
    """Sorts unsigned integers. Equal ones are the same, so the sort need not be stable."""

    def whole(ordered: Array) -> Array:
        return jax.lax.sort(ordered, is_stable=False)

    def halves(ordered: Array) -> Array:
        words = [field.values for field in fields_of_word(ordered, 64)]
        return word_of_fields(_sort_operands(words, 2), ordered.dtype)

    if ordered.dtype == jnp.uint32:
        return whole(ordered)
    return by_platform(ordered, tpu=halves, default=whole)


def argsort_portable(column: OrderedWord, num_valid: Array | None) -> Array:
    """Returns the row ids in the order of their words, int32."""

    def on_tpu(word: Array, num_valid: Array | None) -> Array:
        return sort_by_operands((column._replace(word=word),), num_valid, (), "none").row_ids

    def on_gpu(word: Array, num_valid: Array | None) -> Array:
        own = column._replace(word=word)
        return sort_in_pairs((own,), num_valid, (), "none", with_ids=True).row_ids

    def elsewhere(word: Array, num_valid: Array | None) -> Array:
        ordered = with_padding_last(column._replace(word=word).ordered(), num_valid)
        return _argsort_one_operand(ordered, column.bits)

    if column.word.shape[0] == 0:
        return _row_ids(column.word)
    return by_platform(
        column.word, num_valid, tpu=on_tpu, cuda=on_gpu, rocm=on_gpu, default=elsewhere
    )


def with_padding_last(ordered: Array, num_valid: Array | None) -> Array:
    """Gives padding the largest integer; it follows the valid rows in a stable sort."""
    if num_valid is None:
        return ordered
    largest = jnp.array(np.iinfo(ordered.dtype).max, ordered.dtype)
    return jnp.where(_row_ids(ordered) < num_valid, ordered, largest)


def exact_word(column: OrderedWord, ordered: Array, num_valid: Array | None) -> Array:
    """The sorted words, given their unsigned integers; padding as it is. `column` is invertible."""
    words = column.of_ordered(ordered)
    if num_valid is None:
        return words
    return jnp.where(_row_ids(words) < num_valid, words, column.word)


def take(rows: Array, row_ids: Array) -> Array:
    """Takes rows by unique ids in range."""
    return rows.at[row_ids].get(mode="promise_in_bounds", unique_indices=True)


# TPU: one sort of all columns.


def sort_by_operands(
    columns: Sequence[OrderedWord], num_valid: Array | None, rows: Sequence[Array], words: Words
) -> SortedRows:
    """Sorts rows as operands of one sort. XLA leaves out operands that nobody reads."""
    fields = _key_fields(columns, num_valid)
    num_rows = columns[0].word.shape[0]
    row_bits = _row_bits(num_rows)
    key_bits = sum(field.bits for field in fields)
    # A whole word for the row ids, unless they fill up one of the keys.
    if -(-(key_bits + row_bits) // 32) == -(-(key_bits + 32) // 32):
        row_bits = 32
    row_ids = jax.lax.iota(jnp.uint32, num_rows)
    keys = pack_fields([*fields, Field(row_ids, row_bits)])
    rows = (*rows, *_words_to_move(columns, words))
    sorted_keys, moved = carry_rows(keys, rows)
    *sorted_fields, sorted_ids = unpack_fields(
        sorted_keys, [*(field.bits for field in fields), row_bits]
    )
    row_ids = sorted_ids.astype(jnp.int32)
    rows = [
        take(leaf, row_ids) if carried is None else carried
        for leaf, carried in zip(rows, moved, strict=True)
    ]
    return _sorted_rows(columns, num_valid, words, sorted_fields, row_ids, rows)


def carry_rows(
    keys: tuple[Array, ...], rows: Sequence[Array]
) -> tuple[tuple[Array, ...], list[Array | None]]:
    """Sorts rows by distinct keys; None for those that cannot be operands of the sort."""
    axes = varying_axes(*keys)
    is_carried = [is_words(leaf) and varying_axes(leaf) <= axes for leaf in rows]
    carried = [leaf for leaf, flag in zip(rows, is_carried, strict=True) if flag]
    sorted_keys, moved = _sort_with_columns(keys, as_word_columns(carried))
    in_turn = iter(of_word_columns(moved, carried))
    return sorted_keys, [next(in_turn) if flag else None for flag in is_carried]


def _sort_with_columns(
    keys: tuple[Array, ...], columns: tuple[Array, ...]
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """Sorts columns by distinct keys, several at a time."""
    moved: list[Array] = []
    sorted_keys = keys
    while True:
        chunk, words = [], 0
        for column in columns[len(moved) :]:
            words += column.dtype.itemsize // 4
            if words > _MOST_CARRIED_WORDS:
                break
            chunk.append(column)
        operands = _sort_operands((*keys, *chunk), len(keys))
        if not moved:
            sorted_keys = operands[: len(keys)]
        moved += operands[len(keys) :]
        if len(moved) == len(columns):
            return sorted_keys, tuple(moved)


def _sort_operands(operands: Sequence[Array], num_keys: int) -> tuple[Array, ...]:
    return tuple(jax.lax.sort(tuple(operands), num_keys=num_keys, is_stable=False))


# GPU: sorts of a key with one value.


def sort_in_pairs(
    columns: Sequence[OrderedWord],
    num_valid: Array | None,
    rows: Sequence[Array],
    words: Words,
    *,
    with_ids: bool,
) -> SortedRows:
    """Sorts rows by keys of 32 bits with one value: few columns, or the row ids.

    `with_ids` tells that the row ids are read, so that rows are gathered by them.
    """
    fields = _key_fields(columns, num_valid)
    widths = [field.bits for field in fields]
    keys = pack_fields(fields)
    sorted_keys, row_ids = _sort_words_and_ids(keys, sum(widths))
    rows = (*rows, *_words_to_move(columns, words))
    axes = varying_axes(*keys)
    most_bits = 64 if is_x64_enabled() else 32
    fits = all(is_words(leaf) and varying_axes(leaf) <= axes for leaf in rows)
    if rows and not with_ids and fits and len(keys) == 1 and num_packed_bits(rows) <= most_bits:
        sorted_keys, moved = _sort_word_with_rows(keys[0], rows)
    else:
        moved = tuple(take(leaf, row_ids) for leaf in rows)
    sorted_fields = unpack_fields(sorted_keys, widths)
    return _sorted_rows(columns, num_valid, words, sorted_fields, row_ids, moved)


def _sort_word_with_rows(
    word: Array, rows: Sequence[Array]
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    packed = pack_leaves(rows)
    value = packed[0] if len(packed) == 1 else word_of_fields(packed, np.dtype(np.uint64))
    ordered, value = jax.lax.sort((word, value), num_keys=1, is_stable=True)
    packed = [field.values for field in fields_of_word(value, 32 * len(packed))]
    return (ordered,), unpack_leaves(packed, rows)


def _sort_words_and_ids(words: tuple[Array, ...], bits: int) -> tuple[tuple[Array, ...], Array]:
    """The sorted words, and the row ids in their order."""
    row_ids = _row_ids(words[0])
    row_bits = _row_bits(row_ids.shape[0])
    if bits + row_bits <= 32 or (bits + row_bits <= 64 and len(words) > 1 and is_x64_enabled()):
        # One operand of distinct words.
        widths = [bits - 32 * (len(words) - 1), *[32] * (len(words) - 1), row_bits]
        values = (*words, row_ids.astype(jnp.uint32))
        packed = pack_fields(list(map(Field, values, widths)))
        dtype = np.dtype(np.uint32 if len(packed) == 1 else np.uint64)
        whole = jax.lax.sort(word_of_fields(packed, dtype), is_stable=False)
        packed = [field.values for field in fields_of_word(whole, 32 * len(packed))]
        *sorted_words, sorted_ids = unpack_fields(packed, widths)
        return tuple(sorted_words), sorted_ids.astype(jnp.int32)
    # Stable passes, least significant word first.
    passes = list(reversed(words))
    first, row_ids = jax.lax.sort((passes[0], row_ids), num_keys=1, is_stable=True)
    for word in passes[1:]:
        first, row_ids = jax.lax.sort((take(word, row_ids), row_ids), num_keys=1, is_stable=True)
    return (first, *(take(word, row_ids) for word in words[1:])), row_ids


# CPU: sorts of one operand.


def _argsort_one_operand(ordered: Array, bits: int) -> Array:
    """Packs key and row id into one word; a key of 64 bits needs two passes."""
    row_bits = _row_bits(ordered.shape[0])
    if ordered.dtype == jnp.uint32 and bits + row_bits <= 32:
        # Padding has row ids after those of all valid rows, so the largest key keeps it last.
        keys = jnp.minimum(ordered, np.uint32(2**bits - 1))
        (packed,) = pack_fields(
            [Field(keys, bits), Field(_row_ids(ordered).astype(jnp.uint32), row_bits)]
        )
        row_ids = jax.lax.sort(packed, is_stable=False) & np.uint32(2**row_bits - 1)
        return row_ids.astype(jnp.int32)
    if not is_x64_enabled():
        return jax.lax.sort((ordered, _row_ids(ordered)), num_keys=1, is_stable=True)[1]
    if ordered.dtype == jnp.uint32:
        return _argsort_packed(ordered)
    low = ordered.astype(jnp.uint32)
    high = (ordered >> np.uint64(32)).astype(jnp.uint32)
    order = _argsort_packed(low)
    return take(order, _argsort_packed(take(high, order)))


def _argsort_packed(ordered: Array) -> Array:
    row_ids = _row_ids(ordered).astype(jnp.uint64)
    packed = ordered.astype(jnp.uint64) << np.uint64(32) | row_ids
    return jax.lax.sort(packed, is_stable=False).astype(jnp.int32)


def _key_fields(columns: Sequence[OrderedWord], num_valid: Array | None) -> list[Field]:
    """The bits of the words, most significant first; ones in padding."""
    fields = [
        field for column in columns for field in fields_of_word(column.ordered(), column.bits)
    ]
    if num_valid is None:
        return fields
    is_valid = _row_ids(fields[0].values) < num_valid
    return [
        Field(jnp.where(is_valid, values, np.uint32(2**bits - 1)), bits) for values, bits in fields
    ]


def _words_to_move(columns: Sequence[OrderedWord], words: Words) -> list[Array]:
    """The words that are wanted and that their unsigned integers do not determine."""
    if words != "exact":
        return []
    return [column.word for column in columns if not column.is_invertible]


def _sorted_rows(
    columns: Sequence[OrderedWord],
    num_valid: Array | None,
    words: Words,
    fields: Sequence[Array],
    row_ids: Array,
    rows: Sequence[Array],
) -> SortedRows:
    """The result of a sort, from the sorted bits and from rows that end with `_words_to_move`."""
    num_rows = len(rows) - len(_words_to_move(columns, words))
    moved = iter(rows[num_rows:])
    in_turn = iter(fields)
    results: list[Array] = []
    for column in columns if words != "none" else ():
        dtype = np.dtype(f"uint{8 * column.word.dtype.itemsize}")
        of_word = [next(in_turn) for _ in range(-(-column.bits // 32))]
        ordered = word_of_fields(of_word, dtype)
        if words == "exact" and column.is_invertible:
            results.append(exact_word(column, ordered, num_valid))
        else:
            results.append(ordered if words == "order" else next(moved))
    return SortedRows(tuple(results), row_ids, tuple(rows[:num_rows]))


def _row_ids(word: Array) -> Array:
    return jax.lax.iota(jnp.int32, word.shape[0])


def _row_bits(num_rows: int) -> int:
    return (num_rows - 1).bit_length()
