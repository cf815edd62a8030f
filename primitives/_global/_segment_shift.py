# SPDX-License-Identifier: Apache-2.0
"""Rows shifted within segments of whole arrays, on one device or over a mesh."""

import functools
from typing import Any

from ...shardings._compat import MeshLike
from .. import collective, local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidRows, as_row_mesh
from ..collective._exchange import Transport, check_transport
from ..contract._typing import Array, ArrayLike, Integer, PyTree
from ..local.parts import as_shift_arguments
from ..tiers._tiered import tiered


@in_shared_memory
def segment_shift(
    x: PyTree,
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    periods: int | Integer[ArrayLike, ""] = 1,
    mesh: MeshLike | None = None,
    *,
    fill_value: Any = 0,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> PyTree:
    """Replaces each row with the row `periods` rows before it in its segment.

    Args:
        x: array of shape `(rows, ...)`, or a pytree of them.
        segment_ids: segment of each row, integers of shape `(rows,)`, in any order. Rows with an id
            outside `[0, num_segments)` belong to no segment.
        num_segments: number of segments. Static.
        periods: how far back, in rows of the segment; negative for rows behind.
        mesh: mesh of the rows; one device by default.
        fill_value: number in place of rows that do not exist, and for rows of no segment.
        num_valid: number of valid rows, at the front; all rows by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: how the rows travel; see `collective.partition`.

    Returns:
        A pytree like `x`.

    Raises:
        TypeError: `segment_ids` or `periods` are not integers, or `num_segments` is traced.
        ValueError: lengths differ, `num_segments` is less than one, a dtype of `x` does not hold a
            known `fill_value`, `transport` is unknown, or `axis` names no axis of the mesh.

    Cost:
        See `collective.segment_shift`.

    Guarantees:
        Deterministic; does not depend on the mesh; differentiable in `x`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives
        >>> x, segment_ids = jnp.array([1, 2, 3, 4, 5]), jnp.array([0, 1, 0, 0, 1])
        >>> primitives.segment_shift(x, segment_ids, 2, fill_value=-1).tolist()
        [-1, -1, 1, 3, 2]
    """
    caller = "segment_shift"
    row_mesh = as_row_mesh(mesh, axis, caller)
    check_transport(transport, caller)
    if row_mesh is None:
        return local.segment_shift(
            x, segment_ids, num_segments, periods, fill_value=fill_value, num_valid=num_valid
        )
    rows, segments, periods, fill = as_shift_arguments(
        caller, x, segment_ids, num_segments, periods, fill_value, None
    )
    num_rows = segments.ids.shape[0]
    valid = row_mesh.valid_rows(num_valid, num_rows, caller)
    if num_rows == 0:
        return rows
    placed = row_mesh.place((rows, segments.ids))
    shared = (periods, fill, valid)
    return _shift_on_mesh(placed, shared, segments.num_segments, row_mesh, num_rows, transport)


@functools.partial(tiered, static_argnums=(2, 3, 4, 5))
def _shift_on_mesh(
    rows: tuple[Any, Array],
    shared: tuple[Array, Array, ValidRows | None],
    num_segments: int,
    row_mesh: RowMesh,
    num_rows: int,
    transport: Transport,
) -> Any:
    def of_shard(rows: tuple[Any, Array], shared: tuple[Array, Array, ValidRows | None]) -> Any:
        periods, fill_value, valid = shared
        return collective.segment_shift(
            *rows,
            num_segments,
            periods,
            axis_name=row_mesh.axes,
            fill_value=fill_value,
            num_valid=row_mesh.num_valid(num_rows, valid),
            transport=transport,
        )

    return row_mesh.trim(row_mesh.map(of_shard, rows, replicated=(shared,)), num_rows)
