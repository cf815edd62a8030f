# SPDX-License-Identifier: Apache-2.0
"""Rows shifted within the segments that they name."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._arguments import as_array, as_rows, fits, num_rows_of, type_of
from ..contract._typing import Array, ArrayLike, Integer, PyTree
from ..tiers._tiered import tiered
from ._segment_rows import SegmentIds, as_segment_ids, sort_segments


def segment_shift(
    x: PyTree,
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    periods: int | Integer[ArrayLike, ""] = 1,
    *,
    fill_value: Any = 0,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> PyTree:
    """Replaces each row with the row `periods` rows before it in its segment.

    Args:
        x: array of shape `(rows, ...)`, or a pytree of them.
        segment_ids: segment of each row, integers of shape `(rows,)`, in any order. Rows with an id
            outside `[0, num_segments)` belong to no segment.
        num_segments: number of segments. Static.
        periods: how far back, in rows of the segment; negative for rows behind.
        fill_value: number in place of rows that do not exist, and for rows of no segment.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        A pytree like `x`.

    Raises:
        TypeError: `segment_ids` or `periods` are not integers, or `num_segments` is traced.
        ValueError: lengths differ, `num_segments` is less than one, or a dtype of `x` does not hold
            a known `fill_value`.

    Cost:
        Work O(rows x (id bytes + row bytes)): a sort of the ids, a gather and a scatter, or on TPU
        two sorts. No communication.

    Guarantees:
        Deterministic; differentiable in `x`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> x, segment_ids = jnp.array([1, 2, 3, 4, 5]), jnp.array([0, 1, 0, 0, 1])
        >>> local.segment_shift(x, segment_ids, 2, fill_value=-1).tolist()
        [-1, -1, 1, 3, 2]
    """
    rows, segments, periods, fill = as_shift_arguments(
        "segment_shift", x, segment_ids, num_segments, periods, fill_value, num_valid
    )
    if segments.ids.shape[0] == 0:
        return rows
    return _shift(rows, segments.ids, periods, fill, segments.num_segments)


@functools.partial(tiered, static_argnums=4)
def _shift(rows: Any, ids: Array, periods: Array, fill_value: Array, num_segments: int) -> Any:
    segments = SegmentIds(ids, num_segments)
    return shifted_in(sort_segments(segments, values=rows), segments, periods, fill_value)


def as_shift_arguments(
    caller: str,
    x: Any,
    segment_ids: Any,
    num_segments: Any,
    periods: Any,
    fill_value: Any,
    num_valid: Any,
) -> tuple[Any, SegmentIds, Array, Array]:
    """Checks the arguments."""
    num_rows = num_rows_of(x, caller, "x")
    rows = as_rows(x, num_rows, caller, "x")
    segments = as_segment_ids(segment_ids, num_segments, num_rows, num_valid, caller)
    periods = as_array(periods, caller, "periods")
    if periods.ndim or not jnp.issubdtype(periods.dtype, jnp.integer):
        raise TypeError(f"{caller}: periods must be one integer, got {type_of(periods)}.")
    known, fill = fill_value, as_array(fill_value, caller, "fill_value")
    if fill.ndim:
        raise ValueError(f"{caller}: fill_value must be one number, got {type_of(fill)}.")
    for leaf in jax.tree.leaves(rows):
        if not isinstance(known, jax.Array) and not fits(known, leaf.dtype):
            raise ValueError(f"{caller}: fill_value must be a number of {leaf.dtype}, got {known}.")
    return rows, segments, periods, fill


def shifted_in(rows: Any, segments: SegmentIds, periods: Array, fill_value: Array) -> Any:
    """The shifted values of sorted segments, at the positions of the rows before the sort."""
    sources, is_source = rows.shifted(rows.values, periods)
    is_member = rows.ids < np.int32(segments.num_segments)

    def fill(leaf: Array) -> Array:
        flags = (is_source & is_member).reshape(-1, *(1,) * (leaf.ndim - 1))
        return jnp.where(flags, leaf, fill_value.astype(leaf.dtype))

    return rows.put_back(jax.tree.map(fill, sources))
