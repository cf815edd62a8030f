# SPDX-License-Identifier: Apache-2.0
"""Segmented scans: scans that restart at each segment."""

import functools
from typing import Any

from ..contract._arguments import as_flag
from ..contract._scan_operators import Operator, Scan
from ..contract._typing import Array, ArrayLike, Bool, Integer, PyTree
from ..tiers._tiered import tiered
from ._scan_segments import as_scan, as_segments, scan_segments
from ._segment_rows import SegmentIds, as_segment_ids, sort_segments


def segmented_scan(
    x: PyTree,
    op: Operator = "sum",
    *,
    head_flags: Bool[ArrayLike, " rows"] | None = None,
    segment_ids: Integer[ArrayLike, " rows"] | None = None,
    is_sorted: bool = True,
    num_segments: int | None = None,
    exclusive: bool = False,
    reverse: bool = False,
    initial: PyTree | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> PyTree:
    """Combines each row with those before it in its segment.

    Args:
        x: as for `inclusive_scan`.
        op: as for `inclusive_scan`.
        head_flags: True at the first row of each segment, of shape `(rows,)`. The first row always
            starts a segment.
        segment_ids: an alternative to `head_flags`, integers of shape `(rows,)`: a segment is a run
            of equal ids; with `is_sorted=False` all rows of an id, adjacent or not.
        is_sorted: whether the rows of each segment are adjacent. Static.
        num_segments: only with `is_sorted=False`, the number of segments. Static. Rows with an id
            outside `[0, num_segments)` belong to no segment, and their results are zero.
        exclusive: excludes the row itself; the first row of a segment then gets the identity
            element of `op`: zero, one, or the largest or smallest number of the dtype.
        reverse: scan from the last row of each segment to the first.
        initial: the value before the first row of each segment of an exclusive scan: one number, or
            a pytree like `x` of single rows. Required if `op` is a function.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        A pytree like `x`, as for `inclusive_scan`.

    Raises:
        TypeError: as `inclusive_scan`; `head_flags` that are not bool, `segment_ids` that are not
            integers.
        ValueError: as `inclusive_scan`; neither `head_flags` nor `segment_ids`, or both; `initial`
            without `exclusive`; `is_sorted=False` without `segment_ids` and `num_segments`.

    Cost:
        That of `inclusive_scan`, and one read of the flags or ids. With `is_sorted=False` also a
        sort of the ids, a gather and a scatter of the rows. An exclusive sum of ones by ids in any
        order, such as the slot of each token at its expert, is the cheapest way to number rows
        within segments on CPU; `bucket_order` groups them too, and `segment_rank` sorts by values.

    Guarantees:
        As `inclusive_scan`, within each segment.

    References:
        Blelloch (1990), "Prefix sums and their applications" (segmented scans).

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> x, segment_ids = jnp.array([1, 2, 3, 4, 5]), jnp.array([7, 7, 7, 2, 2])
        >>> local.segmented_scan(x, segment_ids=segment_ids).tolist()
        [1, 3, 6, 4, 9]
        >>> local.segmented_scan(x, segment_ids=segment_ids, exclusive=True).tolist()
        [0, 1, 3, 0, 4]
        >>> segments = {"segment_ids": jnp.array([0, 1, 0, 1, 0]), "num_segments": 2}
        >>> local.segmented_scan(x, is_sorted=False, **segments).tolist()
        [1, 2, 4, 6, 9]
    """
    caller = "segmented_scan"
    arguments = as_scan(x, Scan(op, reverse, exclusive), initial, num_valid, caller)
    check_encoding(head_flags, segment_ids, is_sorted, num_segments, caller)
    if is_sorted:
        segments = as_segments(head_flags, segment_ids, arguments.num_rows, caller)
        return scan_segments(arguments, segments)
    segments = as_segment_ids(segment_ids, num_segments, arguments.num_rows, num_valid, caller)
    return _scan_unsorted(arguments.rows, *segments, arguments.initial, arguments.scan)


@functools.partial(tiered, static_argnums=(2, 4))
def _scan_unsorted(rows: Any, ids: Array, num_segments: int, initial: Any, scan: Scan) -> Any:
    sorted_rows = sort_segments(SegmentIds(ids, num_segments), values=rows)
    return scan_sorted(sorted_rows, scan, initial)


def check_encoding(
    head_flags: Any, segment_ids: Any, is_sorted: bool, num_segments: Any, caller: str
) -> None:
    """Checks `is_sorted`, and the arguments that go together with it."""
    as_flag(is_sorted, caller, "is_sorted")
    if is_sorted and num_segments is not None:
        raise ValueError(
            f"{caller}: num_segments is for is_sorted=False only, got {num_segments} for segments "
            "of adjacent rows. Leave it out."
        )
    if is_sorted:
        return
    if head_flags is not None or segment_ids is None:
        given = "no ids" if head_flags is None else "head_flags"
        raise ValueError(
            f"{caller}: is_sorted=False needs segment_ids, got {given}. Flags mark segments of "
            "adjacent rows only."
        )
    if num_segments is None:
        raise ValueError(
            f"{caller}: is_sorted=False needs num_segments, got None. Pass a number greater than "
            "every id."
        )


def scan_sorted(rows: Any, scan: Scan, initial: Any) -> Any:
    """Scans the values of sorted segments; results lie where the rows lay before the sort."""
    return rows.put_back(rows.scan(rows.values, scan, rows.heads(), initial))
