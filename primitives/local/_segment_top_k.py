# SPDX-License-Identifier: Apache-2.0
"""The k first rows of each segment in the order of a sort."""

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..contract._arguments import as_flag, as_key, as_static_int
from ..contract._key_bits import ordered_word
from ..contract._take import take_rows_or_zeros
from ..contract._typing import Array, ArrayLike, Integer
from ..kernels.sort._segment_top_k import segment_top_k_words
from ..tiers._tiered import tiered
from ._segment_rows import as_segment_ids
from ._top_k import TopK


def segment_top_k(
    x: ArrayLike,
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    k: int,
    *,
    largest: bool = True,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> TopK:
    """Finds the k largest (or smallest) elements of each segment, in order.

    They are the first rows of each segment after a stable sort in that direction, so ties go to the
    lowest row id, -0.0 equals 0.0, and NaN comes after every number, in both directions.

    Args:
        x: array of shape `(rows,)`, of any key dtype.
        segment_ids: segment of each row, integers of shape `(rows,)`, in any order. Rows with an id
            outside `[0, num_segments)` belong to no segment.
        num_segments: number of segments. Static.
        k: number of elements of each segment. Static.
        largest: finds the largest elements if True, else the smallest.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        `TopK(values, row_ids)`, each of shape `(num_segments, k)`; row ids are int32. A segment of
        fewer rows has zeros and the row id -1 at its end.

    Raises:
        TypeError: a dtype that is not a key dtype, `segment_ids` that are not integers, or
            `num_segments` or `k` is traced.
        ValueError: arrays of different lengths, a negative `k`, or `num_segments` is less than one.

    Cost:
        Work O(rows + num_segments x k) on CPU if few rows enter the k best of their segment, as in
        random order; two sorts elsewhere, on TPU one. No communication.

    Guarantees:
        Stable; deterministic; differentiable in `x`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> x, segment_ids = jnp.array([5, 9, 9, 1, 7]), jnp.array([0, 0, 2, 0, 0])
        >>> top = local.segment_top_k(x, segment_ids, 3, 2)
        >>> top.values.tolist(), top.row_ids.tolist()
        ([[9, 7], [0, 0], [9, 0]], [[1, 4], [-1, -1], [2, -1]])
    """
    caller = "segment_top_k"
    largest = as_flag(largest, caller, "largest")
    column = as_key(x, caller)
    segments = as_segment_ids(segment_ids, num_segments, column.shape[0], num_valid, caller)
    k = as_static_int(k, caller, "k", 0, 2**31 - 1)
    return _top_k(column, segments.ids, segments.num_segments, k, largest)


@functools.partial(tiered, static_argnums=(2, 3, 4))
def _top_k(column: Array, segment_ids: Any, num_segments: int, k: int, largest: bool) -> TopK:
    word = ordered_word(column, descending=largest)
    row_ids = segment_top_k_words(word, segment_ids, num_segments, k)
    has_row = row_ids >= 0
    return TopK(
        take_rows_or_zeros(column, jnp.where(has_row, row_ids, np.int32(0)), has_row), row_ids
    )
