# SPDX-License-Identifier: Apache-2.0
"""The k first rows of each segment, in the order of one column of words."""

import jax
import jax.numpy as jnp
import numpy as np

from ....shardings._compat import like_varying
from ...contract._key_bits import OrderedWord
from ...contract._platform import by_platform
from ...contract._take import take_rows
from ...contract._typing import Array
from ..base._foreign import call, word_attribute
from ..base._library import is_native
from ..base._pallas import on_tpu
from ..move._log_shift import place_by_shifts
from ..move._run_ends import first_of_equals
from ._radix_sort import argsort_words, sort_columns


def segment_top_k_words(
    column: OrderedWord, segment_ids: Array, num_segments: int, k: int
) -> Array:
    """Row ids of the `k` smallest words of each segment, smallest first, ties by row id.

    Returns:
        `int32[num_segments, k]`; -1 if a segment has fewer rows. Ids out of range name no segment.
    """
    num_rows = segment_ids.shape[0]

    def xla(word: Array, segment_ids: Array) -> Array:
        return _by_sort(column._replace(word=word), segment_ids, num_segments, k)

    def native(word: Array, segment_ids: Array) -> Array:
        (row_ids,) = call(
            "jaxframes_segment_top_k_v1",
            (word[None], segment_ids[None]),
            (((num_segments * k,), jnp.int32),),
            flip=word_attribute(column.flip),
            k=np.int64(k),
        )
        return row_ids.reshape(num_segments, k)

    if k == 0 or num_segments == 0 or num_rows == 0:
        nothing = jnp.full((num_segments, k), -1, jnp.int32)
        return like_varying(nothing, column.word, segment_ids)

    def by_shifts(word: Array, segment_ids: Array) -> Array:
        return _by_shifts(column._replace(word=word), segment_ids, num_segments, k)

    kernels = ({"cpu": native} if is_native() else {}) | on_tpu(by_shifts)
    return by_platform(column.word, segment_ids, default=xla, **kernels)


def _by_shifts(column: OrderedWord, segment_ids: Array, num_segments: int, k: int) -> Array:
    """One sort by segment and word; the first rows move to their places by shifts."""
    num_rows = segment_ids.shape[0]
    is_member = (segment_ids >= 0) & (segment_ids < num_segments)
    ids = jnp.where(is_member, segment_ids, num_segments).astype(jnp.uint32)
    segment_word = OrderedWord(ids, 0, num_segments.bit_length(), is_whole=True)
    (ids, _), row_ids, _ = sort_columns((segment_word, column), None, words="order", with_ids=True)
    positions = jax.lax.iota(jnp.int32, num_rows)
    is_head = first_of_equals((ids,))
    ranks = positions - jax.lax.cummax(jnp.where(is_head, positions, 0))
    is_kept = (ids < num_segments) & (ranks < k)
    targets = ids.astype(jnp.int32) * k + ranks
    # Ids plus one, so that zero means no row.
    (placed,) = place_by_shifts(is_kept, targets, (row_ids + 1,), num_segments * k)
    return (placed - 1).reshape(num_segments, k)


def _by_sort(column: OrderedWord, segment_ids: Array, num_segments: int, k: int) -> Array:
    """The definition: sorts by word, then stably by segment."""
    num_rows = segment_ids.shape[0]
    is_member = (segment_ids >= 0) & (segment_ids < num_segments)
    ids = jnp.where(is_member, segment_ids, num_segments)
    by_word = argsort_words(column, jnp.int32(num_rows))
    segment_word = OrderedWord(take_rows(ids, by_word).astype(jnp.uint32), 0, 32)
    row_ids = take_rows(by_word, argsort_words(segment_word, jnp.int32(num_rows)))
    zeros = like_varying(jnp.zeros((num_segments,), jnp.int32), ids)
    counts = zeros.at[ids].add(1, mode="drop")
    begins = jnp.cumsum(counts, dtype=jnp.int32) - counts
    ranks = jax.lax.broadcasted_iota(jnp.int32, (num_segments, k), 1)
    positions = jnp.minimum(begins[:, None] + ranks, num_rows - 1)
    taken = take_rows(row_ids, positions, is_unique=False)
    return jnp.where(ranks < counts[:, None], taken, -1)
