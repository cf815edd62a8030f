# SPDX-License-Identifier: Apache-2.0
"""Ranks of rows within segments of whole arrays, on one device or over a mesh."""

import functools
from collections.abc import Sequence
from typing import Any

from ...shardings._compat import MeshLike
from .. import collective, local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidRows, as_row_mesh
from ..collective._exchange import Transport, check_transport
from ..contract._typing import Array, ArrayLike, Integer, Keys, Shaped
from ..local.parts import RankMethod, as_rank_arguments
from ..tiers._tiered import tiered


@in_shared_memory
def segment_rank(
    x: Keys,
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    mesh: MeshLike | None = None,
    *,
    method: RankMethod = "average",
    descending: bool | Sequence[bool] = False,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> Shaped[Array, " rows"]:
    """Ranks the rows of each segment by their values, from 1.

    Args:
        x: array of shape `(rows,)`, of any key dtype, or a tuple of them, most significant first.
            Rows with a NaN have no rank; -0.0 equals 0.0.
        segment_ids: segment of each row, integers of shape `(rows,)`, in any order. Rows with an id
            outside `[0, num_segments)` belong to no segment.
        num_segments: number of segments. Static.
        mesh: mesh of the rows; one device by default.
        method: the rank of equal rows: the "average", "min" or "max" of their positions in the
            sorted segment; "first" ranks them in row order; "dense" counts distinct values.
        descending: the direction, or one for each array of `x`.
        num_valid: number of valid rows, at the front; all rows by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: how the rows travel; see `collective.partition`.

    Returns:
        The rank of each row, of shape `(rows,)`. For "average" of JAX's default float, NaN for rows
        without a rank; else int32, 0 for rows without a rank; int64 if a mesh holds more than 2^31
        rows.

    Raises:
        TypeError: a dtype that cannot be sorted by, `segment_ids` that are not integers, or
            `num_segments` is traced.
        ValueError: arrays of different lengths, an unknown `method`, `num_segments` is less than
            one, `transport` is unknown, or `axis` names no axis of the mesh.

    Cost:
        See `collective.segment_rank`.

    Guarantees:
        Deterministic; does not depend on the mesh. Ranks are exact, "average" up to 2^23 rows of a
        segment without x64 mode.

    References:
        `scipy.stats.rankdata`, for the methods.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives
        >>> x, segment_ids = jnp.array([30, 10, 30, 20, 10]), jnp.array([1, 0, 1, 1, 0])
        >>> primitives.segment_rank(x, segment_ids, 2).tolist()
        [2.5, 1.5, 2.5, 1.0, 1.5]
    """
    caller = "segment_rank"
    row_mesh = as_row_mesh(mesh, axis, caller)
    check_transport(transport, caller)
    if row_mesh is None:
        return local.segment_rank(
            x,
            segment_ids,
            num_segments,
            method=method,
            descending=descending,
            num_valid=num_valid,
        )
    segments, columns, directions = as_rank_arguments(
        caller, x, segment_ids, num_segments, method, descending, None, row_mesh.num_shards
    )
    num_rows = columns[0].shape[0]
    valid = row_mesh.valid_rows(num_valid, num_rows, caller)
    if num_rows == 0:
        return local.segment_rank(columns, segments.ids, num_segments, method=method)
    rows = row_mesh.place((columns, segments.ids))
    settings = (segments.num_segments, method, directions, row_mesh, num_rows, transport)
    return _rank_on_mesh(rows, valid, *settings)


@functools.partial(tiered, static_argnums=(2, 3, 4, 5, 6, 7))
def _rank_on_mesh(
    rows: Any,
    valid: ValidRows | None,
    num_segments: int,
    method: RankMethod,
    descending: tuple[bool, ...],
    row_mesh: RowMesh,
    num_rows: int,
    transport: Transport,
) -> Array:
    def of_shard(rows: Any, valid: ValidRows | None) -> Array:
        columns, segment_ids = rows
        return collective.segment_rank(
            columns,
            segment_ids,
            num_segments,
            axis_name=row_mesh.axes,
            method=method,
            descending=descending,
            num_valid=row_mesh.num_valid(num_rows, valid),
            transport=transport,
        )

    return row_mesh.trim(row_mesh.map(of_shard, rows, replicated=(valid,)), num_rows)
