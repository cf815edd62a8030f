# SPDX-License-Identifier: Apache-2.0
"""Ranks of rows within the segments that they name."""

import functools
from collections.abc import Sequence
from typing import Any, Literal, get_args

import jax
import jax.numpy as jnp

from ..contract._arguments import as_directions, as_keys
from ..contract._scan_operators import Scan
from ..contract._typing import Array, ArrayLike, Integer, Keys, Shaped
from ..tiers._tiered import tiered
from ._segment_rows import SegmentIds, as_segment_ids, sort_segments

RankMethod = Literal["average", "min", "max", "first", "dense"]


def segment_rank(
    x: Keys,
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    *,
    method: RankMethod = "average",
    descending: bool | Sequence[bool] = False,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Shaped[Array, " rows"]:
    """Ranks the rows of each segment by their values, from 1.

    Args:
        x: array of shape `(rows,)`, of any key dtype, or a tuple of them, most significant first.
            Rows with a NaN have no rank; -0.0 equals 0.0.
        segment_ids: segment of each row, integers of shape `(rows,)`, in any order. Rows with an id
            outside `[0, num_segments)` belong to no segment.
        num_segments: number of segments. Static.
        method: the rank of equal rows: the "average", "min" or "max" of their positions in the
            sorted segment; "first" ranks them in row order; "dense" counts distinct values.
        descending: the direction, or one for each array of `x`.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        The rank of each row, of shape `(rows,)`. For "average" of JAX's default float, NaN for rows
        without a rank; else int32, 0 for rows without a rank.

    Raises:
        TypeError: a dtype that cannot be sorted by, `segment_ids` that are not integers, or
            `num_segments` is traced.
        ValueError: arrays of different lengths, an unknown `method`, or `num_segments` is less than
            one.

    Cost:
        Work O(rows x (id and key bytes)): a sort, at most three scans and a scatter. No
        communication. To number rows in row order, such as the slots of tokens at their experts,
        `segmented_scan` of ones costs less, because no value is sorted by.

    Guarantees:
        Deterministic. Ranks are exact, "average" up to 2^23 rows of a segment without x64 mode.

    References:
        `scipy.stats.rankdata`, for the methods.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> x, segment_ids = jnp.array([30, 10, 30, 20, 10]), jnp.array([1, 0, 1, 1, 0])
        >>> local.segment_rank(x, segment_ids, 2).tolist()
        [2.5, 1.5, 2.5, 1.0, 1.5]
        >>> local.segment_rank(x, segment_ids, 2, method="first").tolist()
        [2, 1, 3, 1, 2]
    """
    caller = "segment_rank"
    segments, columns, directions = as_rank_arguments(
        caller, x, segment_ids, num_segments, method, descending, num_valid
    )
    return _rank(segments.ids, columns, segments.num_segments, directions, method)


@functools.partial(tiered, static_argnums=(2, 3, 4))
def _rank(
    ids: Array,
    columns: tuple[Array, ...],
    num_segments: int,
    descending: tuple[bool, ...],
    method: RankMethod,
) -> Array:
    return ranks_of(sort_segments(SegmentIds(ids, num_segments), columns, descending), method)


def as_rank_arguments(
    caller: str,
    x: Any,
    segment_ids: Any,
    num_segments: Any,
    method: Any,
    descending: Any,
    num_valid: Any,
    num_shards: int = 1,
) -> tuple[SegmentIds, tuple[Array, ...], tuple[bool, ...]]:
    """Checks the arguments; returns the segments of rows without a NaN, keys and directions."""
    columns, _ = as_keys(x, caller, "x", num_shards)
    if method not in get_args(RankMethod):
        names = ", ".join(repr(name) for name in get_args(RankMethod))
        raise ValueError(f"{caller}: method must be one of {names}, got {method!r}.")
    directions = as_directions(descending, len(columns), caller)
    num_rows = columns[0].shape[0]
    segments = as_segment_ids(segment_ids, num_segments, num_rows, num_valid, caller)
    return segments.of_numbers(columns), columns, directions


def ranks_of(rows: Any, method: RankMethod) -> Array:
    """The ranks of sorted segments, at the positions of the rows before the sort."""
    heads = rows.heads()
    if method == "dense":
        is_new = rows.tie_heads().astype(rows.count_dtype)
        return rows.put_back(rows.scan(is_new, Scan("add", False, False), heads))
    ones = jnp.ones(heads.shape, rows.count_dtype)
    positions = rows.scan(ones, Scan("add", False, False), heads)
    if method == "first":
        return rows.put_back(positions)
    ties = rows.tie_heads()
    lowest = highest = positions
    if method != "max":
        lowest = rows.scan(positions, Scan("min", False, False), ties)
    if method != "min":
        highest = rows.scan(positions, Scan("max", True, False), ties)
    if method != "average":
        return rows.put_back(lowest if method == "min" else highest)
    doubled = rows.put_back(lowest + highest)
    average = doubled.astype(rank_dtype(method)) / 2
    return jnp.where(doubled > 0, average, jnp.nan)


def rank_dtype(method: RankMethod) -> Any:
    """The dtype of ranks on one device."""
    return jax.dtypes.canonicalize_dtype(float) if method == "average" else jnp.int32
