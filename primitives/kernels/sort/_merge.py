# SPDX-License-Identifier: Apache-2.0
"""Stable merge of two sorted columns of words, as source positions in their concatenation.

On TPU, and of several columns with the kernels on CUDA, a sort of both, which moves fewer bytes
than a search.
"""

from typing import TypeAlias

import jax
import jax.numpy as jnp

from ...contract._key_bits import OrderedWord
from ...contract._platform import by_platform
from ...contract._typing import Array
from ..base._cuda import call_on_cuda, on_cuda
from ..base._foreign import call, word_attribute
from ..base._library import is_native
from ..base._pallas import on_tpu
from ._lower_bound import lower_bound, upper_bound
from ._portable_sort import SortedRows
from ._radix_sort import sort_columns

Columns: TypeAlias = tuple[OrderedWord, ...]
Words: TypeAlias = tuple[Array, ...]


def merge_words(
    a: tuple[OrderedWord, ...], b: tuple[OrderedWord, ...], num_valid_a: Array, num_valid_b: Array
) -> Array:
    """The source row of each merged row in the concatenation of `a` and `b`, int32.

    Equal words of `a` precede those of `b`. The padding of `a`, then that of `b`, comes last.
    """

    def of_words(words: tuple[Array, ...], columns: tuple[OrderedWord, ...]) -> Columns:
        pairs = zip(columns, words, strict=True)
        return tuple(column._replace(word=word) for column, word in pairs)

    def xla(a_words: Words, b_words: Words, num_valid_a: Array, num_valid_b: Array) -> Array:
        return _merge_xla(of_words(a_words, a), of_words(b_words, b), num_valid_a, num_valid_b)

    def by_sort(a_words: Words, b_words: Words, num_valid_a: Array, num_valid_b: Array) -> Array:
        sides = of_words(a_words, a), of_words(b_words, b)
        return _merge_by_sort(*sides, num_valid_a, num_valid_b).row_ids

    def native(a_words: Words, b_words: Words, num_valid_a: Array, num_valid_b: Array) -> Array:
        ((a_word,), (b_word,)) = a_words, b_words
        num_rows = a_word.shape[0] + b_word.shape[0]
        (source_positions,) = call(
            "jaxframes_merge_v1",
            (a_word[None], b_word[None], num_valid_a[None], num_valid_b[None]),
            (((num_rows,), jnp.int32),),
            flip=word_attribute(a[0].flip),
        )
        return source_positions

    def cuda(a_words: Words, b_words: Words, num_valid_a: Array, num_valid_b: Array) -> Array:
        ((a_word,), (b_word,)) = of_words(a_words, a), of_words(b_words, b)
        return _merge_on_cuda(a_word, b_word, num_valid_a, num_valid_b, with_words=False)[1]

    kernels = on_tpu(by_sort) | on_cuda(cuda if len(a) == 1 else by_sort)
    if len(a) == 1 and is_native():
        kernels["cpu"] = native
    words = tuple(column.word for column in a), tuple(column.word for column in b)
    return by_platform(*words, num_valid_a, num_valid_b, default=xla, **kernels)


def merge_words_with_positions(
    a: OrderedWord, b: OrderedWord, num_valid_a: Array, num_valid_b: Array
) -> tuple[Array, Array]:
    """The merged words of one column, and the result of `merge_words`."""

    def xla(
        a_word: Array, b_word: Array, num_valid_a: Array, num_valid_b: Array
    ) -> tuple[Array, Array]:
        columns = (a._replace(word=a_word),), (b._replace(word=b_word),)
        positions = _merge_xla(*columns, num_valid_a, num_valid_b)
        words = jnp.concatenate([a_word, b_word])
        return words.at[positions].get(mode="promise_in_bounds", unique_indices=True), positions

    def native(
        a_word: Array, b_word: Array, num_valid_a: Array, num_valid_b: Array
    ) -> tuple[Array, Array]:
        shape = (a_word.shape[0] + b_word.shape[0],)
        merged, positions = call(
            "jaxframes_merge_keys_v1",
            (a_word[None], b_word[None], num_valid_a[None], num_valid_b[None]),
            ((shape, a_word.dtype), (shape, jnp.int32)),
            flip=word_attribute(a.flip),
        )
        return merged, positions

    def by_sort(
        a_word: Array, b_word: Array, num_valid_a: Array, num_valid_b: Array
    ) -> tuple[Array, Array]:
        sides = (a._replace(word=a_word),), (b._replace(word=b_word),)
        words = jnp.concatenate([a_word, b_word])
        merged = _merge_by_sort(*sides, num_valid_a, num_valid_b, (words,))
        return merged.rows[0], merged.row_ids

    def cuda(
        a_word: Array, b_word: Array, num_valid_a: Array, num_valid_b: Array
    ) -> tuple[Array, Array]:
        sides = a._replace(word=a_word), b._replace(word=b_word)
        return _merge_on_cuda(*sides, num_valid_a, num_valid_b)

    kernels = on_tpu(by_sort) | on_cuda(cuda)
    if is_native():
        kernels["cpu"] = native
    return by_platform(a.word, b.word, num_valid_a, num_valid_b, default=xla, **kernels)


def _merge_on_cuda(
    a: OrderedWord,
    b: OrderedWord,
    num_valid_a: Array,
    num_valid_b: Array,
    *,
    with_words: bool = True,
) -> tuple[Array, Array]:
    """The merged words, if they are wanted, and their source positions."""
    num_rows = a.word.shape[0] + b.word.shape[0]
    merged, positions = call_on_cuda(
        "merge",
        (a.word[None], b.word[None], num_valid_a[None], num_valid_b[None]),
        (((num_rows if with_words else 0,), a.word.dtype), ((num_rows,), jnp.int32)),
        None,
        flip=word_attribute(a.flip),
    )
    return merged, positions


def _merge_by_sort(
    a: Columns, b: Columns, num_valid_a: Array, num_valid_b: Array, rows: Words = ()
) -> SortedRows:
    """The merged order, and rows of both sides in it."""
    counts = (num_valid_a, num_valid_b)
    is_padding = jnp.concatenate(
        [
            jax.lax.iota(jnp.int32, side[0].word.shape[0]) >= count
            for side, count in zip((a, b), counts, strict=True)
        ]
    )
    columns = [OrderedWord(is_padding.astype(jnp.uint32), 0, 1, is_whole=True)]
    for pair in zip(a, b, strict=True):
        ordered = jnp.concatenate([column.ordered() for column in pair])
        # Padding stays in its own order.
        ordered = jnp.where(is_padding, jnp.zeros((), ordered.dtype), ordered)
        columns.append(OrderedWord(ordered, 0, pair[0].bits, is_whole=True))
    return sort_columns(columns, None, rows, words="none", with_ids=True)


def _merge_xla(
    a: tuple[OrderedWord, ...], b: tuple[OrderedWord, ...], num_valid_a: Array, num_valid_b: Array
) -> Array:
    num_a, num_b = a[0].word.shape[0], b[0].word.shape[0]
    a_words = tuple(column.ordered() for column in a)
    b_words = tuple(column.ordered() for column in b)
    a_rows = jax.lax.iota(jnp.int32, num_a)
    b_rows = jax.lax.iota(jnp.int32, num_b)
    # A row's position is its own rank plus its rank in the other sequence; ties go to `a`.
    a_positions = a_rows + lower_bound(b_words, a_words, num_valid_b)
    b_positions = b_rows + upper_bound(a_words, b_words, num_valid_a)
    a_positions = jnp.where(a_rows < num_valid_a, a_positions, a_rows + num_valid_b)
    b_positions = jnp.where(b_rows < num_valid_b, b_positions, b_rows + num_a)
    positions = jnp.concatenate([a_positions, b_positions])
    sources = jax.lax.iota(jnp.int32, num_a + num_b)
    return (
        jnp.zeros_like(positions)
        .at[positions]
        .set(sources, unique_indices=True, mode="promise_in_bounds")
    )
