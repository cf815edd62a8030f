# SPDX-License-Identifier: Apache-2.0
"""Numbers of distinct rows of segments."""

import functools
from typing import Any

from ..contract._arguments import as_keys
from ..contract._typing import Array, ArrayLike, Int, Integer, Keys
from ..tiers._tiered import tiered
from ._segment_rows import SegmentIds, as_segment_ids, is_missing, sort_segments


def segment_nunique(
    x: Keys,
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    *,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Int[Array, " segments"]:
    """Counts the distinct values of each segment.

    Args:
        x: array of shape `(rows,)`, of any key dtype, or a tuple of them, for distinct rows. Rows
            with a NaN are not counted; -0.0 equals 0.0.
        segment_ids: segment of each row, integers of shape `(rows,)`, in any order. Rows with an id
            outside `[0, num_segments)` belong to no segment.
        num_segments: number of segments. Static.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        The counts, int32 of shape `(num_segments,)`.

    Raises:
        TypeError: a dtype that cannot be sorted by, `segment_ids` that are not integers, or
            `num_segments` is traced.
        ValueError: arrays of different lengths, or `num_segments` is less than one.

    Cost:
        Work O(rows x (id and key bytes) + num_segments): a sort and a count. No communication.

    Guarantees:
        Deterministic and exact.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> x, segment_ids = jnp.array([30, 10, 30, 20, 10]), jnp.array([1, 0, 1, 1, 0])
        >>> local.segment_nunique(x, segment_ids, 3).tolist()
        [1, 2, 0]
    """
    segments, columns = as_nunique_arguments(
        "segment_nunique", x, segment_ids, num_segments, num_valid
    )
    return _count(segments.ids, columns, segments.num_segments)


@functools.partial(tiered, static_argnums=2)
def _count(ids: Array, columns: tuple[Array, ...], num_segments: int) -> Array:
    rows = sort_segments(SegmentIds(ids, num_segments), columns, (False,) * len(columns))
    return rows.counts(rows.tie_heads(), num_segments)


def as_nunique_arguments(
    caller: str,
    x: Any,
    segment_ids: Any,
    num_segments: Any,
    num_valid: Any,
    num_shards: int = 1,
) -> tuple[SegmentIds, tuple[Array, ...]]:
    """Checks the arguments; returns the segments of rows without a NaN, and the keys."""
    columns, _ = as_keys(x, caller, "x", num_shards)
    num_rows = columns[0].shape[0]
    segments = as_segment_ids(segment_ids, num_segments, num_rows, num_valid, caller)
    return segments.without(is_missing(columns)), columns
