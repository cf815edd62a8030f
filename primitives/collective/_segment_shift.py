# SPDX-License-Identifier: Apache-2.0
"""Rows shifted within segments that may lie over several shards."""

from typing import Any

from ..contract._typing import ArrayLike, Integer, PyTree
from ..local.parts import as_shift_arguments, shifted_in
from ._axis import AxisName, num_shards_on
from ._exchange import Transport, check_transport
from ._segment_rows import sort_segments


def segment_shift(
    x: PyTree,
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    periods: int | Integer[ArrayLike, ""] = 1,
    *,
    axis_name: AxisName,
    fill_value: Any = 0,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    transport: Transport = "auto",
) -> PyTree:
    """Replaces each row with the row `periods` rows before it in its segment.

    Args:
        x: this shard's rows, an array of shape `(rows, ...)` or a pytree of them.
        segment_ids: segment of each row, integers of shape `(rows,)`, in any order. Rows with an id
            outside `[0, num_segments)` belong to no segment.
        num_segments: number of segments. Static.
        periods: how far back, in rows of the segment; negative for rows behind.
        axis_name: mesh axis of the rows, or a tuple of axes.
        fill_value: number in place of rows that do not exist, and for rows of no segment.
        num_valid: number of valid rows of this shard, at its front; all rows by default.
        transport: how the rows travel; see `partition`.

    Returns:
        A pytree like `x`.

    Raises:
        TypeError: `segment_ids` or `periods` are not integers, or `num_segments` is traced.
        ValueError: lengths differ, `num_segments` is less than one, a dtype of `x` does not hold a
            known `fill_value`, `transport` is unknown, or `axis_name` is not an axis of the
            enclosing `shard_map`.

    Cost:
        Work O(rows x (id bytes + row bytes)). Communication: a `radix_sort` of the rows by their
        ids, a `gather_rows` and a `partition`.

    Guarantees:
        Deterministic; does not depend on the mesh; differentiable in `x`.

    Example:
        Two shards, two segments, with a fill value of -1:

            shard 0   x [1 2 3]   segment ids [0 1 0]
            shard 1   x [4 5 6]   segment ids [0 1 7]
            ->
            shard 0   [-1 -1  1]
            shard 1   [ 3  2 -1]
    """
    caller = "segment_shift"
    num_shards_on(axis_name, caller)
    check_transport(transport, caller)
    rows, segments, periods, fill = as_shift_arguments(
        caller, x, segment_ids, num_segments, periods, fill_value, num_valid
    )
    if segments.ids.shape[0] == 0:
        return rows
    sorted_rows = sort_segments(
        segments, values=rows, axis_name=axis_name, transport=transport, caller=caller
    )
    return shifted_in(sorted_rows, segments, periods, fill)
