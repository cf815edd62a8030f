# SPDX-License-Identifier: Apache-2.0
"""Segmented scans of whole arrays."""

import functools
from typing import Any

from ...shardings._compat import MeshLike
from .. import collective, local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidRows, as_row_mesh
from ..collective._exchange import Transport, check_transport
from ..collective._scan_shards import scan_shards
from ..contract._scan_operators import Operator, Scan
from ..contract._typing import Array, ArrayLike, Bool, Integer, PyTree
from ..local.parts import (
    ScanArguments,
    SegmentEncoding,
    as_scan,
    as_segment_ids,
    as_segments,
    check_encoding,
)
from ..tiers._tiered import tiered


@in_shared_memory
def segmented_scan(
    x: PyTree,
    op: Operator = "sum",
    mesh: MeshLike | None = None,
    *,
    head_flags: Bool[ArrayLike, " rows"] | None = None,
    segment_ids: Integer[ArrayLike, " rows"] | None = None,
    is_sorted: bool = True,
    num_segments: int | None = None,
    exclusive: bool = False,
    reverse: bool = False,
    initial: PyTree | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> PyTree:
    """Combines each row with those before it in its segment, on one device or over a mesh.

    Args:
        x: as for `inclusive_scan`.
        op: as for `inclusive_scan`.
        mesh: mesh of the rows; one device by default.
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
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: with `is_sorted=False`, how the rows travel; see `collective.partition`.

    Returns:
        A pytree like `x`, as for `inclusive_scan`.

    Raises:
        TypeError: as `inclusive_scan`; `head_flags` that are not bool, `segment_ids` that are not
            integers.
        ValueError: as `inclusive_scan`; neither `head_flags` nor `segment_ids`, or both; `initial`
            without `exclusive`; `is_sorted=False` without `segment_ids` and `num_segments`.

    Cost:
        See `collective.segmented_scan`.

    Guarantees:
        As `inclusive_scan`, within each segment.

    References:
        Blelloch (1990), "Prefix sums and their applications" (segmented scans).

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> x, segment_ids = jnp.array([1, 2, 3, 4, 5]), jnp.array([7, 7, 7, 2, 2])
        >>> mesh = shardings.make_mesh(1)
        >>> primitives.segmented_scan(x, "sum", mesh, segment_ids=segment_ids).tolist()
        [1, 3, 6, 4, 9]
    """
    caller = "segmented_scan"
    row_mesh = as_row_mesh(mesh, axis, caller)
    check_transport(transport, caller)
    if row_mesh is None:
        return local.segmented_scan(
            x,
            op,
            head_flags=head_flags,
            segment_ids=segment_ids,
            is_sorted=is_sorted,
            num_segments=num_segments,
            exclusive=exclusive,
            reverse=reverse,
            initial=initial,
            num_valid=num_valid,
        )
    arguments = as_scan(x, Scan(op, reverse, exclusive), initial, None, caller)
    check_encoding(head_flags, segment_ids, is_sorted, num_segments, caller)
    valid = row_mesh.valid_rows(num_valid, arguments.num_rows, caller)
    if is_sorted or arguments.num_rows == 0:
        encoding = as_segments(head_flags, segment_ids, arguments.num_rows, caller)
        return scan_mesh(arguments, encoding, valid, row_mesh)
    ids = as_segment_ids(segment_ids, num_segments, arguments.num_rows, None, caller)
    rows = row_mesh.place((arguments.rows, ids.ids))
    settings = (arguments.scan, ids.num_segments, row_mesh, arguments.num_rows, transport)
    return _scan_unsorted_on_mesh(rows, arguments.initial, valid, *settings)


def scan_mesh(
    arguments: ScanArguments,
    encoding: SegmentEncoding,
    valid: ValidRows | None,
    row_mesh: RowMesh,
) -> Any:
    """Scans whole arrays; unsegmented if `encoding` is empty."""
    rows, encoding = row_mesh.place((arguments.rows, encoding))
    return _scan_on_mesh(
        rows, encoding, arguments.initial, valid, arguments.scan, row_mesh, arguments.num_rows
    )


@functools.partial(tiered, static_argnums=(4, 5, 6))
def _scan_on_mesh(
    rows: Any,
    encoding: SegmentEncoding,
    initial: Any,
    valid: ValidRows | None,
    scan: Scan,
    row_mesh: RowMesh,
    num_rows: int,
) -> Any:
    def of_shard(
        rows: Any, encoding: SegmentEncoding, initial: Any, valid: ValidRows | None
    ) -> Any:
        num_valid: Array = row_mesh.num_valid(num_rows, valid)
        is_padded = valid is not None or num_rows % row_mesh.num_shards > 0
        arguments = ScanArguments(rows, scan, initial, num_valid, is_padded)
        return scan_shards(arguments, encoding, row_mesh.axes)

    results = row_mesh.map(of_shard, rows, encoding, replicated=(initial, valid))
    return row_mesh.trim(results, num_rows)


@functools.partial(tiered, static_argnums=(3, 4, 5, 6, 7))
def _scan_unsorted_on_mesh(
    rows: Any,
    initial: Any,
    valid: ValidRows | None,
    scan: Scan,
    num_segments: int,
    row_mesh: RowMesh,
    num_rows: int,
    transport: Transport,
) -> Any:
    def of_shard(rows: Any, initial: Any, valid: ValidRows | None) -> Any:
        x, segment_ids = rows
        return collective.segmented_scan(
            x,
            scan.op,
            segment_ids=segment_ids,
            is_sorted=False,
            num_segments=num_segments,
            axis_name=row_mesh.axes,
            exclusive=scan.exclusive,
            reverse=scan.reverse,
            initial=initial,
            num_valid=row_mesh.num_valid(num_rows, valid),
            transport=transport,
        )

    results = row_mesh.map(of_shard, rows, replicated=(initial, valid))
    return row_mesh.trim(results, num_rows)
