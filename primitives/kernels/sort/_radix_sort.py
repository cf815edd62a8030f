# SPDX-License-Identifier: Apache-2.0
"""Stable sort of one column of words: the portable definition, and the C++ kernel on CPU.

Rows from `num_valid` on are padding: they keep their positions, after the sorted rows.
"""

import jax
import jax.numpy as jnp
import numpy as np

from ....shardings._compat import is_x64_enabled
from ...contract._key_bits import OrderedWord
from ...contract._platform import by_platform
from ...contract._typing import Array
from ..base._foreign import as_words, call, of_words, word_attribute
from ..base._library import is_native, load

_VARIANT_KEYS, _VARIANT_ARGSORT, _VARIANT_PAIRS = 0, 1, 2


def sort_words(column: OrderedWord, num_valid: Array) -> Array:
    """Sorts the words."""

    def xla(word: Array, num_valid: Array) -> Array:
        column_ = column._replace(word=word)
        if _is_invertible(column_):
            ordered = jax.lax.sort(_with_padding_last(column_.ordered(), num_valid))
            return _restored(ordered, column_, num_valid)
        return _take(word, _argsort_xla(column_, num_valid))

    def native(word: Array, num_valid: Array) -> Array:
        scratch = _scratch(word, _VARIANT_KEYS)
        sorted_words, _ = call(
            "jaxframes_radix_sort_keys_v1",
            (word[None], num_valid[None]),
            ((word.shape, word.dtype), scratch),
            **_attributes(column),
        )
        return sorted_words

    return _dispatch(xla, native, column.word, num_valid)


def argsort_words(column: OrderedWord, num_valid: Array) -> Array:
    """Returns the row ids in the order of their words, int32."""

    def xla(word: Array, num_valid: Array) -> Array:
        return _argsort_xla(column._replace(word=word), num_valid)

    def native(word: Array, num_valid: Array) -> Array:
        row_ids, _ = call(
            "jaxframes_radix_argsort_v1",
            (word[None], num_valid[None]),
            ((word.shape, jnp.int32), _scratch(word, _VARIANT_ARGSORT)),
            **_attributes(column),
        )
        return row_ids

    return _dispatch(xla, native, column.word, num_valid)


def sort_words_with_row_ids(
    column: OrderedWord, num_valid: Array, row_ids: Array | None = None
) -> tuple[Array, Array]:
    """Sorts the words and moves the row ids (0, 1, ... by default) with them."""

    def xla(word: Array, num_valid: Array, row_ids: Array) -> tuple[Array, Array]:
        order = _argsort_xla(column._replace(word=word), num_valid)
        return _take(word, order), order if row_ids.size == 0 else _take(row_ids, order)

    def native(word: Array, num_valid: Array, row_ids: Array) -> tuple[Array, Array]:
        sorted_words, sorted_row_ids, _ = call(
            "jaxframes_radix_sort_pairs_v1",
            (word[None], row_ids[None], num_valid[None]),
            (
                (word.shape, word.dtype),
                (word.shape, jnp.int32),
                _scratch(word, _VARIANT_PAIRS),
            ),
            **_attributes(column),
        )
        return sorted_words, sorted_row_ids

    implicit = jnp.zeros((0,), jnp.int32)
    return _dispatch(xla, native, column.word, num_valid, implicit if row_ids is None else row_ids)


def sort_rows(column: OrderedWord, num_valid: Array, rows: tuple[Array, ...]) -> tuple[Array, ...]:
    """Sorts rows by their words, by the kernel on CPU; without derivatives.

    Args:
        column: the words.
        num_valid: number of valid rows, at the front.
        rows: columns that move with the words; not empty, and each satisfies `is_words`. They may
            vary only over mesh axes of the words or of `num_valid`.
    """

    def xla(word: Array, num_valid: Array, *rows: Array) -> tuple[Array, ...]:
        order = _argsort_xla(column._replace(word=word), num_valid)
        return tuple(_take(leaf, order) for leaf in rows)

    def native(word: Array, num_valid: Array, *rows: Array) -> tuple[Array, ...]:
        words = tuple(map(as_words, rows))
        _, *moved = call(
            "jaxframes_radix_sort_rows_v1",
            tuple(array[None] for array in (word, num_valid, *words)),
            (_rows_scratch(word), *((leaf.shape, leaf.dtype) for leaf in words)),
            **_attributes(column),
        )
        return tuple(map(of_words, moved, [leaf.dtype for leaf in rows]))

    def sort(word: Array, num_valid: Array, *rows: Array) -> tuple[Array, ...]:
        return _dispatch(xla, native, word, num_valid, *rows)

    sort_one = jax.custom_batching.custom_vmap(sort)

    @sort_one.def_vmap
    def sort_batch(
        axis_size: int, is_batched: list[bool], word: Array, num_valid: Array, *rows: Array
    ) -> tuple[tuple[Array, ...], tuple[bool, ...]]:
        axes = [0 if flag else None for flag in is_batched]
        if any(is_batched[:2]):
            moved = jax.vmap(sort, axes, axis_size=axis_size)(word, num_valid, *rows)
            return moved, (True,) * len(rows)
        # A batch with one key has one order, so the key is sorted once.
        order = argsort_words(column._replace(word=word), num_valid)
        moved = tuple(
            _take(leaf, order) if axis is None else jax.vmap(_take, (0, None))(leaf, order)
            for leaf, axis in zip(rows, axes[2:], strict=True)
        )
        return moved, tuple(is_batched[2:])

    return sort_one(column.word, num_valid, *rows)


def _dispatch(xla, native, word, num_valid, *rest):
    if word.shape[0] == 0 or not is_native():
        return xla(word, num_valid, *rest)
    return by_platform(word, num_valid, *rest, cpu=native, default=xla)


def _attributes(column: OrderedWord) -> dict[str, np.generic]:
    return {"flip": word_attribute(column.flip), "bits": np.int32(column.bits)}


def _scratch(word: Array, variant: int) -> tuple[tuple[int, ...], type]:
    library, _ = load()
    assert library is not None
    scratch_bytes = library.jaxframes_radix_sort_scratch_bytes
    return (scratch_bytes(1, word.shape[0], word.dtype.itemsize, variant),), jnp.uint8


def _rows_scratch(word: Array) -> tuple[tuple[int, ...], type]:
    library, _ = load()
    assert library is not None
    scratch_bytes = library.jaxframes_radix_sort_rows_scratch_bytes
    return (scratch_bytes(1, word.shape[0], word.dtype.itemsize),), jnp.uint8


def _is_invertible(column: OrderedWord) -> bool:
    # Floats have several NaNs and two zeros that compare equal.
    is_float = jnp.issubdtype(column.word.dtype, jnp.floating)
    return not is_float and column.bits == 8 * column.word.dtype.itemsize


def _take(rows: Array, row_ids: Array) -> Array:
    return rows.at[row_ids].get(mode="promise_in_bounds", unique_indices=True)


def _row_ids(word: Array) -> Array:
    return jax.lax.iota(jnp.int32, word.shape[0])


def _with_padding_last(ordered: Array, num_valid: Array) -> Array:
    # Padding comes after the valid rows, so a stable sort leaves it last even if a key has all
    # ones too.
    largest = jnp.array(np.iinfo(ordered.dtype).max, ordered.dtype)
    return jnp.where(_row_ids(ordered) < num_valid, ordered, largest)


def _restored(ordered: Array, column: OrderedWord, num_valid: Array) -> Array:
    flipped = ordered ^ jnp.array(column.flip, ordered.dtype)
    words = jax.lax.bitcast_convert_type(flipped, column.word.dtype)
    return jnp.where(_row_ids(ordered) < num_valid, words, column.word)


def _argsort_xla(column: OrderedWord, num_valid: Array) -> Array:
    ordered = _with_padding_last(column.ordered(), num_valid)
    if ordered.shape[0] == 0:
        return _row_ids(ordered)
    row_bits = (ordered.shape[0] - 1).bit_length()
    if ordered.dtype == jnp.uint32 and column.bits + row_bits <= 32:
        return _argsort_few_bits(ordered, column.bits, row_bits)
    # XLA's sort on CPU is fast for one operand only; on GPU it is CUB's radix sort for two.
    if is_x64_enabled():
        return by_platform(ordered, cpu=_argsort_one_operand, default=_argsort_two_operands)
    return _argsort_two_operands(ordered)


def _argsort_few_bits(ordered: Array, bits: int, row_bits: int) -> Array:
    """Packs key and row id into one word of 32 bits, which any sort orders stably."""
    # Padding has row ids after those of all valid rows, so the largest key keeps it last.
    keys = jnp.minimum(ordered, np.uint32(2**bits - 1))
    packed = keys << np.uint32(row_bits) | _row_ids(ordered).astype(jnp.uint32)
    row_ids = jax.lax.sort(packed, is_stable=False) & np.uint32(2**row_bits - 1)
    return row_ids.astype(jnp.int32)


def _argsort_two_operands(ordered: Array) -> Array:
    _, row_ids = jax.lax.sort((ordered, _row_ids(ordered)), num_keys=1, is_stable=True)
    return row_ids


def _argsort_one_operand(ordered: Array) -> Array:
    """Packs key and row id into one word of 64 bits; a key of 64 bits needs two passes."""
    if ordered.dtype == jnp.uint32:
        return _argsort_packed(ordered)
    low = ordered.astype(jnp.uint32)
    high = (ordered >> np.uint64(32)).astype(jnp.uint32)
    order = _argsort_packed(low)
    return _take(order, _argsort_packed(_take(high, order)))


def _argsort_packed(ordered: Array) -> Array:
    row_ids = _row_ids(ordered).astype(jnp.uint64)
    packed = ordered.astype(jnp.uint64) << np.uint64(32) | row_ids
    return jax.lax.sort(packed).astype(jnp.int32)
