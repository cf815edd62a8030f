# SPDX-License-Identifier: Apache-2.0
"""Binary search in sorted columns of words, many queries at once.

Compiled separately, so that an eager call does not compile its loop each time.
"""

import jax
import jax.numpy as jnp
import numpy as np

from ....shardings._compat import like_varying
from ...contract._typing import Array


@jax.jit
def lower_bound(sorted_words: tuple[Array, ...], queries: tuple[Array, ...], num_valid: Array):
    """Counts, for each query, the valid rows less than it, int32.

    Several columns compare as one; the first is the most significant.
    """
    return _bound(sorted_words, queries, num_valid, _is_less)


@jax.jit
def upper_bound(sorted_words: tuple[Array, ...], queries: tuple[Array, ...], num_valid: Array):
    """Counts, for each query, the valid rows less than or equal to it, int32."""
    return _bound(sorted_words, queries, num_valid, lambda row, query: ~_is_less(query, row))


def _is_less(left: tuple[Array, ...], right: tuple[Array, ...]) -> Array:
    is_less = left[-1] < right[-1]
    for left_word, right_word in zip(left[-2::-1], right[-2::-1], strict=True):
        is_less = (left_word < right_word) | ((left_word == right_word) & is_less)
    return is_less


def _bound(sorted_words, queries, num_valid, goes_right) -> Array:
    num_rows = sorted_words[0].shape[0]
    shape = queries[0].shape
    if num_rows == 0:
        return like_varying(jnp.zeros(shape, jnp.int32), sorted_words, queries, num_valid)

    def step(_: Array, interval: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = interval
        middle = low + ((high - low) >> 1)
        row = tuple(
            word.at[jnp.minimum(middle, num_rows - 1)].get(mode="promise_in_bounds")
            for word in sorted_words
        )
        right = goes_right(row, queries) & (low < high)
        return jnp.where(right, middle + 1, low), jnp.where(right, high, middle)

    low = jnp.zeros(shape, jnp.int32)
    high = jnp.broadcast_to(num_valid, shape).astype(jnp.int32)
    interval = like_varying((low, high), sorted_words, queries, num_valid)
    # An interval of `num_rows` rows has `num_rows + 1` ends; each step halves it.
    low, _ = jax.lax.fori_loop(np.int32(0), np.int32(num_rows.bit_length()), step, interval)
    return low
