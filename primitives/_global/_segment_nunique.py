# SPDX-License-Identifier: Apache-2.0
"""Numbers of distinct rows of segments of whole arrays, on one device or over a mesh."""

import functools

from ...shardings._compat import MeshLike
from .. import collective, local
from .._in_shared_memory import in_shared_memory, unless_scattered
from .._over_mesh import RowMesh, ValidRows, as_row_mesh
from ..collective._exchange import Transport, check_transport
from ..contract._arguments import as_flag
from ..contract._typing import Array, ArrayLike, Int, Integer, Keys
from ..local.parts import as_nunique_arguments
from ..tiers._tiered import tiered


@in_shared_memory(everywhere=unless_scattered)
def segment_nunique(
    x: Keys,
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    mesh: MeshLike | None = None,
    *,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    scattered: bool = False,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> Int[Array, " segments"]:
    """Counts the distinct values of each segment.

    Args:
        x: array of shape `(rows,)`, of any key dtype, or a tuple of them, for distinct rows. Rows
            with a NaN are not counted; -0.0 equals 0.0.
        segment_ids: segment of each row, integers of shape `(rows,)`, in any order. Rows with an id
            outside `[0, num_segments)` belong to no segment.
        num_segments: number of segments. Static.
        mesh: mesh of the rows; one device by default.
        num_valid: number of valid rows, at the front; all rows by default.
        scattered: shard the result by segments, as in `segment_reduce`. Static.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: how the rows travel; see `collective.partition`.

    Returns:
        The counts, int32 of shape `(num_segments,)`; on a mesh every device has them, unless
        `scattered`.

    Raises:
        TypeError: a dtype that cannot be sorted by, `segment_ids` that are not integers, or
            `num_segments` is traced.
        ValueError: arrays of different lengths, `num_segments` is less than one, `transport` is
            unknown, or `axis` names no axis of the mesh.

    Cost:
        See `collective.segment_nunique`.

    Guarantees:
        Deterministic and exact; does not depend on the mesh.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives
        >>> x, segment_ids = jnp.array([30, 10, 30, 20, 10]), jnp.array([1, 0, 1, 1, 0])
        >>> primitives.segment_nunique(x, segment_ids, 3).tolist()
        [1, 2, 0]
    """
    caller = "segment_nunique"
    scattered = as_flag(scattered, caller, "scattered")
    row_mesh = as_row_mesh(mesh, axis, caller)
    check_transport(transport, caller)
    if row_mesh is None:
        return local.segment_nunique(x, segment_ids, num_segments, num_valid=num_valid)
    segments, columns = as_nunique_arguments(
        caller, x, segment_ids, num_segments, None, row_mesh.num_shards
    )
    num_rows = columns[0].shape[0]
    valid = row_mesh.valid_rows(num_valid, num_rows, caller)
    if num_rows == 0:
        return local.segment_nunique(columns, segments.ids, num_segments)
    rows = row_mesh.place((columns, segments.ids))
    settings = (segments.num_segments, row_mesh, num_rows, scattered, transport)
    return _count_on_mesh(rows, valid, *settings)


@functools.partial(tiered, static_argnums=(2, 3, 4, 5, 6))
def _count_on_mesh(
    rows: tuple[tuple[Array, ...], Array],
    valid: ValidRows | None,
    num_segments: int,
    row_mesh: RowMesh,
    num_rows: int,
    scattered: bool,
    transport: Transport,
) -> Array:
    def of_shard(rows: tuple[tuple[Array, ...], Array], valid: ValidRows | None) -> Array:
        return collective.segment_nunique(
            *rows,
            num_segments,
            axis_name=row_mesh.axes,
            num_valid=row_mesh.num_valid(num_rows, valid),
            scattered=scattered,
            transport=transport,
        )

    return row_mesh.map_to_segments(of_shard, rows, (valid,), num_segments, scattered)
