# SPDX-License-Identifier: Apache-2.0
"""The k first rows of each segment, in the order of one column of words."""

import jax
import jax.numpy as jnp
import numpy as np

from ....shardings._compat import like_varying
from ...contract._key_bits import OrderedWord
from ...contract._platform import by_platform
from ...contract._typing import Array
from ..base._foreign import call, word_attribute
from ..base._library import is_native
from ._radix_sort import argsort_words


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
    if not is_native():
        return xla(column.word, segment_ids)
    return by_platform(column.word, segment_ids, cpu=native, default=xla)


def _by_sort(column: OrderedWord, segment_ids: Array, num_segments: int, k: int) -> Array:
    """The definition: sorts by word, then stably by segment."""
    num_rows = segment_ids.shape[0]
    is_member = (segment_ids >= 0) & (segment_ids < num_segments)
    ids = jnp.where(is_member, segment_ids, num_segments)
    by_word = argsort_words(column, jnp.int32(num_rows))
    segment_word = OrderedWord(ids[by_word].astype(jnp.uint32), 0, 32)
    row_ids = by_word[argsort_words(segment_word, jnp.int32(num_rows))]
    zeros = like_varying(jnp.zeros((num_segments,), jnp.int32), ids)
    counts = zeros.at[ids].add(1, mode="drop")
    begins = jnp.cumsum(counts, dtype=jnp.int32) - counts
    ranks = jax.lax.broadcasted_iota(jnp.int32, (num_segments, k), 1)
    positions = jnp.minimum(begins[:, None] + ranks, num_rows - 1)
    return jnp.where(ranks < counts[:, None], row_ids[positions], -1)
