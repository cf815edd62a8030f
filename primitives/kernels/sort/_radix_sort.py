# SPDX-License-Identifier: Apache-2.0
"""Stable sort by columns of words: the portable definition, and the kernels on CPU and CUDA.

Rows from `num_valid` on are padding: they keep their positions, after the sorted rows. All rows
are valid if it is None.
"""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....shardings._compat import varying_axes
from ...contract._key_bits import OrderedWord, key_of_word
from ...contract._platform import by_platform
from ...contract._typing import Array
from ..base._cuda import has_cuda_kernels, on_cuda, scratch_of
from ..base._foreign import ResultShape, as_words, call, is_words, of_words, word_attribute
from ..base._library import is_native, load
from ._portable_sort import (
    SortedRows,
    Words,
    argsort_portable,
    exact_word,
    sort_alone,
    sort_by_operands,
    sort_in_pairs,
    take,
    with_padding_last,
)

_VARIANT_KEYS, _VARIANT_ARGSORT, _VARIANT_PAIRS, _VARIANT_ROWS = range(4)


def sort_words(column: OrderedWord, num_valid: Array | None) -> Array:
    """Sorts the words."""

    def xla(word: Array, num_valid: Array | None) -> Array:
        own = column._replace(word=word)
        if not own.is_invertible:
            return sort_columns((own,), num_valid, words="exact").words[0]
        if num_valid is None and word.dtype == jnp.int32 and own.flip == 1 << 31:
            # XLA compares signed integers itself, without a pass that flips their signs.
            return jax.lax.sort(word, is_stable=False)
        return exact_word(own, sort_alone(with_padding_last(own.ordered(), num_valid)), num_valid)

    def native(platform: str, word: Array, num_valid: Array | None) -> Array:
        sorted_words, _ = call(
            _target(platform, "sort_keys"),
            (word[None], _count(word, num_valid)),
            ((word.shape, word.dtype), _scratch(platform, word, column.bits, _VARIANT_KEYS)),
            **_attributes(column),
        )
        return sorted_words

    if num_valid is None and column.is_invertible and column.word.shape[0] > 0:
        return _sort_all(column.word, xla, native)
    return _dispatch(xla, native, column.word, num_valid)


def _sort_all(word: Array, xla: Any, native: Any) -> Array:
    """Sorts words that are all valid and that their unsigned integers determine.

    XLA passes one row of a batch to CUB as it is, without the passes before and after a kernel. 100
    million of uint32 take 2.1 ms in place of 2.9 on an H100. It compares the rows of a batch.
    """

    @jax.custom_batching.custom_vmap
    def on_cuda_one(word: Array) -> Array:
        return xla(word, None)

    @on_cuda_one.def_vmap
    def on_cuda_batch(axis_size: int, is_batched: Any, word: Array) -> tuple[Array, bool]:
        return jax.vmap(lambda word: native("cuda", word, None))(word), True

    kernels = {"cpu": lambda word: native("cpu", word, None)} if is_native() else {}
    kernels |= on_cuda(on_cuda_one)
    return by_platform(word, default=lambda word: xla(word, None), **kernels)


def argsort_words(column: OrderedWord, num_valid: Array | None) -> Array:
    """Returns the row ids in the order of their words, int32."""

    def xla(word: Array, num_valid: Array | None) -> Array:
        return argsort_portable(column._replace(word=word), num_valid)

    def native(platform: str, word: Array, num_valid: Array | None) -> Array:
        row_ids, _ = call(
            _target(platform, "argsort"),
            (word[None], _count(word, num_valid)),
            ((word.shape, jnp.int32), _scratch(platform, word, column.bits, _VARIANT_ARGSORT)),
            **_attributes(column),
        )
        return row_ids

    return _dispatch(xla, native, column.word, num_valid)


def sort_words_with_row_ids(
    column: OrderedWord,
    num_valid: Array | None,
    row_ids: Array | None = None,
    *,
    in_order: bool = False,
) -> tuple[Array, Array]:
    """Sorts the words and moves the row ids (0, 1, ... by default) with them.

    With `in_order` the words are returned as the unsigned integers in their order.
    """

    def as_asked(words: Array) -> Array:
        return column._replace(word=words).ordered() if in_order else words

    def xla(word: Array, num_valid: Array | None, row_ids: Array) -> tuple[Array, Array]:
        order = argsort_portable(column._replace(word=word), num_valid)
        return as_asked(take(word, order)), order if row_ids.size == 0 else take(row_ids, order)

    def native(
        platform: str, word: Array, num_valid: Array | None, row_ids: Array
    ) -> tuple[Array, Array]:
        # The kernel on CUDA sorts these integers, and would turn them back in a pass.
        is_in_order = platform == "cuda" and in_order and column.fills_word
        of_platform = {"in_order": np.bool_(is_in_order)} if platform == "cuda" else {}
        sorted_words, sorted_row_ids, _ = call(
            _target(platform, "sort_pairs"),
            (word[None], row_ids[None], _count(word, num_valid)),
            (
                (word.shape, word.dtype),
                (word.shape, jnp.int32),
                _scratch(platform, word, column.bits, _VARIANT_PAIRS),
            ),
            **_attributes(column),
            **of_platform,
        )
        if is_in_order:
            unsigned = np.dtype(f"uint{8 * word.dtype.itemsize}")
            return jax.lax.bitcast_convert_type(sorted_words, unsigned), sorted_row_ids
        return as_asked(sorted_words), sorted_row_ids

    implicit = jnp.zeros((0,), jnp.int32)
    return _dispatch(xla, native, column.word, num_valid, implicit if row_ids is None else row_ids)


def sort_columns(
    columns: Sequence[OrderedWord],
    num_valid: Array | None,
    rows: Sequence[Array] = (),
    *,
    words: Words,
    with_ids: bool = False,
) -> SortedRows:
    """Sorts rows by several columns of words, the most significant first; without derivatives.

    Args:
        columns: the words.
        num_valid: number of valid rows, at the front.
        rows: arrays of any dtype and row shape, which move with the words.
        words: the sorted words of the result: "exact" ones, their unsigned integers in "order", or
            "none".
        with_ids: whether the row ids are read in any case, not only under differentiation.
    """

    def of_words(given: tuple[Array, ...]) -> list[OrderedWord]:
        return [column._replace(word=word) for column, word in zip(columns, given, strict=True)]

    def on_tpu(given: tuple[Array, ...], num_valid: Array | None, rows: Any) -> SortedRows:
        return sort_by_operands(of_words(given), num_valid, rows, words)

    def on_gpu(given: tuple[Array, ...], num_valid: Array | None, rows: Any) -> SortedRows:
        return sort_in_pairs(of_words(given), num_valid, rows, words, with_ids=with_ids)

    def by_passes(given: tuple[Array, ...], num_valid: Array | None, rows: Any) -> SortedRows:
        return _sort_by_passes(of_words(given), num_valid, rows, words)

    def by_kernel(given: tuple[Array, ...], num_valid: Array | None, rows: Any) -> SortedRows:
        (column,) = of_words(given)
        word, *moved = _move_by_kernel("cuda", column, num_valid, (column.word, *rows))
        in_order = column._replace(word=word).ordered()
        sorted_words = {"none": (), "exact": (word,), "order": (in_order,)}[words]
        # Row ids are read only under differentiation.
        return SortedRows(sorted_words, argsort_words(column, num_valid), tuple(moved))

    def sort(given: tuple[Array, ...], num_valid: Array | None, rows: Any) -> SortedRows:
        if given[0].shape[0] == 0:
            return by_passes(given, num_valid, rows)
        # With kernels each pass is one, on CUDA too.
        cuda = by_passes if has_cuda_kernels() else on_gpu
        if has_cuda_kernels() and not with_ids and _is_moved_at_once(given, num_valid, rows):
            cuda = by_kernel
        return by_platform(
            given, num_valid, rows, tpu=on_tpu, cuda=cuda, rocm=on_gpu, default=by_passes
        )

    sort_one = jax.custom_batching.custom_vmap(sort)

    @sort_one.def_vmap
    def sort_batch(
        axis_size: int, is_batched: Any, given: Any, num_valid: Array | None, rows: Any
    ) -> tuple[SortedRows, Any]:
        if any(jax.tree.leaves(is_batched[:2])):
            axes = jax.tree.map(lambda flag: 0 if flag else None, is_batched)
            batch = jax.vmap(sort, axes, axis_size=axis_size)(given, num_valid, rows)
            return batch, jax.tree.map(lambda _: True, batch)
        # A batch with one key has one order, so the key is sorted once.
        shared = [leaf for leaf, flag in zip(rows, is_batched[2], strict=True) if not flag]
        one = sort(given, num_valid, tuple(shared))
        in_turn = iter(one.rows)
        moved = tuple(
            jax.vmap(take, (0, None))(leaf, one.row_ids) if flag else next(in_turn)
            for leaf, flag in zip(rows, is_batched[2], strict=True)
        )
        flags: Any = jax.tree.map(lambda _: False, one)
        return one._replace(rows=moved), flags._replace(rows=tuple(is_batched[2]))

    return sort_one(tuple(column.word for column in columns), num_valid, tuple(rows))


def _is_moved_at_once(
    words: tuple[Array, ...], num_valid: Array | None, rows: Sequence[Array]
) -> bool:
    """Whether one call of a kernel can sort rows by one word.

    All results of a call vary over the same mesh axes, and words must not gain any.
    """
    axes = varying_axes(*words, num_valid)
    return len(words) == 1 and all(is_words(leaf) and varying_axes(leaf) <= axes for leaf in rows)


def compared_words(columns: Sequence[OrderedWord]) -> Words:
    """The sorted words to ask for where they are compared for equality alone."""
    is_exact = all(column.is_invertible and not column.fills_word for column in columns)
    # The kernels on CUDA turn no number back, and have the words that do not fill theirs.
    return "exact" if is_exact and has_cuda_kernels() else "order"


def argsort_columns(columns: Sequence[OrderedWord], num_valid: Array | None) -> Array:
    """Returns the row ids in the order of several columns of words, int32."""
    return sort_columns(columns, num_valid, words="none", with_ids=True).row_ids


def _sort_by_passes(
    columns: Sequence[OrderedWord], num_valid: Array | None, rows: Sequence[Array], words: Words
) -> SortedRows:
    """One stable pass for each column, least significant first; then rows are gathered."""
    first, in_order = columns[0].word, words == "order"
    if len(columns) > 1 or words == "none":
        row_ids = argsort_words(columns[-1], num_valid)
    else:
        first, row_ids = sort_words_with_row_ids(columns[0], num_valid, in_order=in_order)
    for place in reversed(range(len(columns) - 1)):
        moved = columns[place]._replace(word=take(columns[place].word, row_ids))
        first, row_ids = sort_words_with_row_ids(
            moved, num_valid, row_ids, in_order=in_order and place == 0
        )
    moved = tuple(take(leaf, row_ids) for leaf in rows)
    if words == "none":
        return SortedRows((), row_ids, moved)
    others = [column._replace(word=take(column.word, row_ids)) for column in columns[1:]]
    sorted_words = (first, *(other.ordered() if in_order else other.word for other in others))
    return SortedRows(sorted_words, row_ids, moved)


def sort_rows(
    column: OrderedWord, num_valid: Array | None, rows: tuple[Array, ...], *, key_dtype: Any = None
) -> tuple[Array, ...]:
    """Sorts rows by their words, by the kernel where there is one; without derivatives.

    Args:
        column: the words.
        num_valid: number of valid rows, at the front.
        rows: columns that move with the words; not empty, and each satisfies `is_words`. They may
            vary only over mesh axes of the words or of `num_valid`.
        key_dtype: given if the first of the rows is the key, and the words determine it.
    """

    def xla(word: Array, num_valid: Array | None, *rows: Array) -> tuple[Array, ...]:
        own = column._replace(word=word)
        if key_dtype is None:
            return sort_columns((own,), num_valid, rows, words="none").rows
        (sorted_word,), _, values = sort_columns((own,), num_valid, rows[1:], words="exact")
        return key_of_word(sorted_word, key_dtype), *values

    def native(
        platform: str, word: Array, num_valid: Array | None, *rows: Array
    ) -> tuple[Array, ...]:
        return _move_by_kernel(platform, column._replace(word=word), num_valid, rows)

    def sort(word: Array, num_valid: Array | None, *rows: Array) -> tuple[Array, ...]:
        return _dispatch(xla, native, word, num_valid, *rows)

    sort_one = jax.custom_batching.custom_vmap(sort)

    @sort_one.def_vmap
    def sort_batch(
        axis_size: int, is_batched: list[Any], word: Array, num_valid: Any, *rows: Array
    ) -> tuple[tuple[Array, ...], tuple[bool, ...]]:
        axes = [0 if flag else None for flag in is_batched]
        if any(is_batched[:2]):
            moved = jax.vmap(sort, axes, axis_size=axis_size)(word, num_valid, *rows)
            return moved, (True,) * len(rows)
        # A batch with one key has one order, so the key is sorted once.
        order = argsort_words(column._replace(word=word), num_valid)
        moved = tuple(
            take(leaf, order) if axis is None else jax.vmap(take, (0, None))(leaf, order)
            for leaf, axis in zip(rows, axes[2:], strict=True)
        )
        return moved, tuple(is_batched[2:])

    return sort_one(column.word, num_valid, *rows)


def _move_by_kernel(
    platform: str, column: OrderedWord, num_valid: Array | None, rows: Sequence[Array]
) -> tuple[Array, ...]:
    """Sorts rows by one word in one call of a kernel."""
    word, words = column.word, tuple(map(as_words, rows))
    scratch = _scratch(platform, word, column.bits, _VARIANT_ROWS)
    _, *moved = call(
        _target(platform, "sort_rows"),
        (word[None], _count(word, num_valid), *(array[None] for array in words)),
        (scratch, *((leaf.shape, leaf.dtype) for leaf in words)),
        **_attributes(column),
    )
    return tuple(map(of_words, moved, [leaf.dtype for leaf in rows]))


def has_sort_kernels() -> bool:
    """Whether a kernel sorts words on CPU, or on CUDA."""
    return is_native() or has_cuda_kernels()


def _dispatch(xla, native, word, num_valid, *rest):
    if word.shape[0] == 0:
        return xla(word, num_valid, *rest)
    kernels = {"cpu": functools.partial(native, "cpu")} if is_native() else {}
    kernels |= on_cuda(functools.partial(native, "cuda"))
    return by_platform(word, num_valid, *rest, default=xla, **kernels)


def _count(word: Array, num_valid: Array | None) -> Array:
    """The number of valid rows, as the kernels read it."""
    return (jnp.int32(word.shape[0]) if num_valid is None else num_valid)[None]


def _attributes(column: OrderedWord) -> dict[str, np.generic]:
    return {"flip": word_attribute(column.flip), "bits": np.int32(column.bits)}


def _target(platform: str, name: str) -> str:
    version = 2 if (platform, name) == ("cuda", "sort_pairs") else 1
    return f"jaxframes_{'cuda_' if platform == 'cuda' else ''}radix_{name}_v{version}"


def _scratch(platform: str, word: Array, bits: int, variant: int) -> ResultShape:
    """The scratch memory of a kernel, as a result."""
    num_rows, word_bytes = word.shape[0], word.dtype.itemsize
    if platform == "cuda":
        # What moves with a word has 4 bytes, or up to 8 in a sort of rows.
        moved_bytes = 8 if variant == _VARIANT_ROWS else 4
        return scratch_of("radix_sort", (num_rows, word_bytes, bits, moved_bytes))
    library, _ = load()
    assert library is not None
    if variant == _VARIANT_ROWS:
        num_bytes = library.jaxframes_radix_sort_rows_scratch_bytes(1, num_rows, word_bytes)
    else:
        num_bytes = library.jaxframes_radix_sort_scratch_bytes(1, num_rows, word_bytes, variant)
    return (num_bytes,), jnp.uint8
