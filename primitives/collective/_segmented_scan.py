# SPDX-License-Identifier: Apache-2.0
"""Segmented scans over the shards of a mesh axis."""

from ..contract._scan_operators import Operator, Scan
from ..contract._typing import ArrayLike, Bool, Integer, PyTree
from ..local.parts import (
    SegmentEncoding,
    as_scan,
    as_segment_ids,
    as_segments,
    check_encoding,
    scan_sorted,
)
from ._axis import AxisName, num_shards_on
from ._exchange import Transport, check_transport
from ._scan_shards import scan_shards
from ._segment_rows import sort_segments


def segmented_scan(
    x: PyTree,
    op: Operator = "sum",
    *,
    head_flags: Bool[ArrayLike, " rows"] | None = None,
    segment_ids: Integer[ArrayLike, " rows"] | None = None,
    is_sorted: bool = True,
    num_segments: int | None = None,
    axis_name: AxisName,
    exclusive: bool = False,
    reverse: bool = False,
    initial: PyTree | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    transport: Transport = "auto",
) -> PyTree:
    """Combines each row with those before it in its segment, on any shard.

    A segment may cross any number of shards. The rows are those of shard 0, then those of shard 1,
    and so on; empty shards are skipped.

    Args:
        x: this shard's rows, as for `inclusive_scan`.
        op: as for `inclusive_scan`.
        head_flags: True where a segment begins, of shape `(rows,)`. The first row of all begins
            one anyway, the first row of a shard does not.
        segment_ids: an alternative to `head_flags`, integers of shape `(rows,)`: a segment is a run
            of equal ids, over the ends of shards too; with `is_sorted=False` all rows of an id, on
            any shards, adjacent or not.
        is_sorted: whether the rows of each segment are adjacent. Static.
        num_segments: only with `is_sorted=False`, the number of segments. Static. Rows with an id
            outside `[0, num_segments)` belong to no segment, and their results are zero.
        axis_name: mesh axis of the rows, or a tuple of axes.
        exclusive: excludes the row itself; the first row of a segment then gets the identity
            element of `op`: zero, one, or the largest or smallest number of the dtype.
        reverse: scan from the last row of each segment to the first.
        initial: the value before the first row of each segment of an exclusive scan, the same on
            every shard: one number, or a pytree like `x` of single rows. Required if `op` is a
            function.
        num_valid: number of valid rows of this shard, at its front; all rows by default.
        transport: with `is_sorted=False`, how the rows travel; see `partition`.

    Returns:
        A pytree like `x`, as for `inclusive_scan`.

    Raises:
        TypeError: as `inclusive_scan`; `head_flags` that are not bool, `segment_ids` that are not
            integers.
        ValueError: as `inclusive_scan`; neither `head_flags` nor `segment_ids`, or both; `initial`
            without `exclusive`; `is_sorted=False` without `segment_ids` and `num_segments`.

    Cost:
        That of `inclusive_scan`, and two reads of the flags or ids. With `is_sorted=False` also a
        `radix_sort` of the rows by their ids, and a `partition` of the results.

    Guarantees:
        As `inclusive_scan`, within each segment.

    References:
        Blelloch (1990), "Prefix sums and their applications" (segmented scans).

    Example:
        Three shards; the middle one holds only part of a segment:

            shard 0   x [1 2]   segment ids [7 7]
            shard 1   x [3 4]   segment ids [7 7]
            shard 2   x [5 6]   segment ids [7 2]
            ->
            shard 0   [ 1  3]
            shard 1   [ 6 10]
            shard 2   [15  6]
    """
    caller = "segmented_scan"
    num_shards_on(axis_name, caller)
    arguments = as_scan(x, Scan(op, reverse, exclusive), initial, num_valid, caller)
    check_encoding(head_flags, segment_ids, is_sorted, num_segments, caller)
    check_transport(transport, caller)
    if is_sorted:
        encoding = as_segments(head_flags, segment_ids, arguments.num_rows, caller)
        return scan_shards(arguments, encoding, axis_name)
    segments = as_segment_ids(segment_ids, num_segments, arguments.num_rows, num_valid, caller)
    if arguments.num_rows == 0:
        return scan_shards(arguments, SegmentEncoding(None, segments.ids), axis_name)
    sorted_rows = sort_segments(
        segments,
        values=arguments.rows,
        axis_name=axis_name,
        transport=transport,
        caller=caller,
    )
    return scan_sorted(sorted_rows, arguments.scan, arguments.initial)
