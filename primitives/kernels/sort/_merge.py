# SPDX-License-Identifier: Apache-2.0
"""Stable merge of two sorted columns of words, as source positions in their concatenation."""

import jax
import jax.numpy as jnp

from ...contract._key_bits import OrderedWord
from ...contract._platform import by_platform
from ...contract._typing import Array
from ..base._foreign import call, word_attribute
from ..base._library import is_native
from ._lower_bound import lower_bound, upper_bound


def merge_words(
    a: tuple[OrderedWord, ...], b: tuple[OrderedWord, ...], num_valid_a: Array, num_valid_b: Array
) -> Array:
    """The source row of each merged row in the concatenation of `a` and `b`, int32.

    Equal words of `a` precede those of `b`. The padding of `a`, then that of `b`, comes last.
    """
    if len(a) != 1 or not is_native():
        return _merge_xla(a, b, num_valid_a, num_valid_b)

    a_column, b_column = a[0], b[0]

    def xla(a_word: Array, b_word: Array, num_valid_a: Array, num_valid_b: Array) -> Array:
        a = (a_column._replace(word=a_word),)
        b = (b_column._replace(word=b_word),)
        return _merge_xla(a, b, num_valid_a, num_valid_b)

    def native(a_word: Array, b_word: Array, num_valid_a: Array, num_valid_b: Array) -> Array:
        num_rows = a_word.shape[0] + b_word.shape[0]
        (source_positions,) = call(
            "jaxframes_merge_v1",
            (a_word[None], b_word[None], num_valid_a[None], num_valid_b[None]),
            (((num_rows,), jnp.int32),),
            flip=word_attribute(a_column.flip),
        )
        return source_positions

    return by_platform(
        a_column.word, b_column.word, num_valid_a, num_valid_b, cpu=native, default=xla
    )


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

    if not is_native():
        return xla(a.word, b.word, num_valid_a, num_valid_b)
    return by_platform(a.word, b.word, num_valid_a, num_valid_b, cpu=native, default=xla)


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
