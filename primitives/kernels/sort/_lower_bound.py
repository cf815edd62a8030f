# SPDX-License-Identifier: Apache-2.0
"""Binary search in sorted columns of words, many queries at once, or a sort of both sides.

The sort is for TPU, and for CUDA with the kernels, if it costs less than the steps of the search.
On CUDA a kernel takes all steps at once.

Compiled separately, so that an eager call does not compile its loop each time.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....shardings._compat import like_varying
from ...contract._key_bits import OrderedWord
from ...contract._platform import by_platform
from ...contract._typing import Array
from ..base._cuda import call_on_cuda, on_cuda
from ..base._pallas import on_tpu
from ._number_runs import number_runs
from ._radix_sort import sort_columns

# The rows whose sort costs as much as a step of the search for one query. On TPU a step takes a
# gather; on CUDA it moves about 40 bytes, and a sort about 100 for each row.
_ROWS_OF_A_STEP_ON_TPU = 4
_ROWS_OF_A_STEP_ON_CUDA = 0.4
# So many bytes of searched words fit the level 2 cache of a card.
_MOST_CACHED_BYTES = 1 << 24
# Fewer searches take less time than it takes to compile a sort.
_LEAST_SORTED_QUERIES = 1024


@jax.jit
def lower_bound(sorted_words: tuple[Array, ...], queries: tuple[Array, ...], num_valid: Array):
    """Counts, for each query, the valid rows less than it, int32.

    Several columns compare as one; the first is the most significant.
    """
    return _bound(sorted_words, queries, num_valid, _is_less, comes_first=True)


@jax.jit
def upper_bound(sorted_words: tuple[Array, ...], queries: tuple[Array, ...], num_valid: Array):
    """Counts, for each query, the valid rows less than or equal to it, int32."""

    def is_not_greater(row: tuple[Array, ...], query: tuple[Array, ...]) -> Array:
        return ~_is_less(query, row)

    return _bound(sorted_words, queries, num_valid, is_not_greater, comes_first=False)


def _is_less(left: tuple[Array, ...], right: tuple[Array, ...]) -> Array:
    is_less = left[-1] < right[-1]
    for left_word, right_word in zip(left[-2::-1], right[-2::-1], strict=True):
        is_less = (left_word < right_word) | ((left_word == right_word) & is_less)
    return is_less


def _bound(
    sorted_words: tuple[Array, ...],
    queries: tuple[Array, ...],
    num_valid: Array,
    goes_right: Any,
    *,
    comes_first: bool,
) -> Array:
    """Searches for queries; `comes_first` tells that a query precedes the rows equal to it."""
    if sorted_words[0].shape[0] == 0:
        nothing = jnp.zeros(queries[0].shape, jnp.int32)
        return like_varying(nothing, sorted_words, queries, num_valid)

    def by_steps(
        sorted_words: tuple[Array, ...], queries: tuple[Array, ...], num_valid: Array
    ) -> Array:
        return _search(sorted_words, queries, num_valid, goes_right)

    def by_sort(
        sorted_words: tuple[Array, ...], queries: tuple[Array, ...], num_valid: Array
    ) -> Array:
        ranks = _ranks_by_sort(sorted_words, queries, num_valid, comes_first)
        return like_varying(ranks, sorted_words, queries, num_valid)

    def by_kernel(
        sorted_words: tuple[Array, ...], queries: tuple[Array, ...], num_valid: Array
    ) -> Array:
        (words,), (queried,) = sorted_words, queries
        (positions,) = call_on_cuda(
            "search",
            (words[None], queried[None], num_valid[None]),
            ((queried.shape, jnp.int32),),
            None,
            counts_equal=np.bool_(not comes_first),
        )
        return positions

    kernels: dict[str, Any] = {}
    if _can_sort(sorted_words, queries, _ROWS_OF_A_STEP_ON_TPU):
        kernels |= on_tpu(by_sort)
    has_kernel = len(queries) == 1 and queries[0].ndim == 1 and queries[0].dtype.kind == "u"
    is_cached = sorted_words[0].size * sorted_words[0].dtype.itemsize <= _MOST_CACHED_BYTES
    if _can_sort(sorted_words, queries, _ROWS_OF_A_STEP_ON_CUDA) and not (has_kernel and is_cached):
        kernels |= on_cuda(by_sort)
    elif has_kernel:
        kernels |= on_cuda(by_kernel)
    return by_platform(sorted_words, queries, num_valid, default=by_steps, **kernels)


def _can_sort(
    sorted_words: tuple[Array, ...], queries: tuple[Array, ...], rows_of_a_step: float
) -> bool:
    num_rows, num_queries = sorted_words[0].shape[0], queries[0].size
    is_many = num_queries >= _LEAST_SORTED_QUERIES
    is_many &= num_rows + num_queries <= rows_of_a_step * num_queries * num_rows.bit_length()
    return is_many and queries[0].ndim == 1 and all(word.dtype.kind == "u" for word in sorted_words)


def _ranks_by_sort(
    sorted_words: tuple[Array, ...], queries: tuple[Array, ...], num_valid: Array, comes_first: bool
) -> Array:
    """Counts the valid rows before each query in their common order."""
    num_rows, num_queries = sorted_words[0].shape[0], queries[0].shape[0]
    sides = (queries, sorted_words) if comes_first else (sorted_words, queries)
    words = [jnp.concatenate(pair) for pair in zip(*sides, strict=True)]
    columns = [OrderedWord(word, 0, 8 * word.dtype.itemsize, is_whole=True) for word in words]
    row_ids = sort_columns(columns, None, words="none", with_ids=True).row_ids
    first_row, first_query = (num_queries, 0) if comes_first else (0, num_rows)
    is_row = (row_ids >= first_row) & (row_ids < first_row + num_valid)
    ranks = number_runs(is_row, jnp.int32(num_rows + num_queries), row_ids) + 1
    return ranks[first_query : first_query + num_queries]


def _search(
    sorted_words: tuple[Array, ...], queries: tuple[Array, ...], num_valid: Array, goes_right: Any
) -> Array:
    """The definition."""
    num_rows = sorted_words[0].shape[0]
    shape = queries[0].shape

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
