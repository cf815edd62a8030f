# SPDX-License-Identifier: Apache-2.0
"""Quantiles of segments of whole arrays, on one device or over a mesh."""

import functools
from typing import Any

import numpy as np

from ...shardings._compat import MeshLike
from .. import collective, local
from .._in_shared_memory import in_shared_memory, unless_scattered
from .._over_mesh import RowMesh, ValidRows, as_row_mesh
from ..collective._exchange import Transport, check_transport
from ..contract._arguments import as_flag
from ..contract._typing import Array, ArrayLike, Integer, Shaped
from ..local.parts import Interpolation, as_segment_quantile_arguments
from ..tiers._tiered import tiered


@in_shared_memory(everywhere=unless_scattered)
def segment_quantile(
    x: Shaped[ArrayLike, " rows"],
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    q: Any = 0.5,
    mesh: MeshLike | None = None,
    *,
    interpolation: Interpolation = "linear",
    dtype: Any = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    scattered: bool = False,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> Shaped[Array, "segments ..."]:
    """Finds the quantiles of each segment; the median by default.

    Args:
        x: array of shape `(rows,)`, of any key dtype. NaN rows are skipped.
        segment_ids: segment of each row, integers of shape `(rows,)`, in any order. Rows with an id
            outside `[0, num_segments)` belong to no segment.
        num_segments: number of segments. Static.
        q: numbers of any shape, in [0, 1]. Those that are not known while tracing are clipped.
        mesh: mesh of the rows; one device by default.
        interpolation: the value between two order statistics, as for `quantile`. "linear" is
            `low + (high - low) * fraction`, and "midpoint" is `(low + high) / 2`. Beside an
            infinity both are infinite, and NaN between infinities of both signs.
        dtype: float dtype of the interpolation and of the result; by default that of a float `x`,
            else JAX's default float.
        num_valid: number of valid rows, at the front; all rows by default.
        scattered: shard the result by segments, as in `segment_reduce`. Static.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: how the rows travel; see `collective.partition`.

    Returns:
        The quantiles, of shape `(num_segments, *q.shape)`; on a mesh every device has them, unless
        `scattered`. NaN for a segment without values.

    Raises:
        TypeError: a dtype that cannot be sorted by, `segment_ids` that are not integers, `q` that
            are not numbers, `dtype` that is not a float, or `num_segments` is traced.
        ValueError: arrays of different lengths, a known `q` outside [0, 1], an unknown
            `interpolation`, `num_segments` is less than one, `transport` is unknown, or `axis`
            names no axis of the mesh.

    Cost:
        See `collective.segment_quantile`.

    Guarantees:
        Deterministic; does not depend on the mesh; the order statistics are exact. Differentiable
        in `x`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives
        >>> x, segment_ids = jnp.array([5.0, 1.0, 4.0, 2.0, 9.0]), jnp.array([0, 1, 0, 1, 0])
        >>> primitives.segment_quantile(x, segment_ids, 2).tolist()
        [5.0, 1.5]
    """
    caller = "segment_quantile"
    scattered = as_flag(scattered, caller, "scattered")
    row_mesh = as_row_mesh(mesh, axis, caller)
    check_transport(transport, caller)
    if row_mesh is None:
        return local.segment_quantile(
            x,
            segment_ids,
            num_segments,
            q,
            interpolation=interpolation,
            dtype=dtype,
            num_valid=num_valid,
        )
    segments, column, quantiles, dtype = as_segment_quantile_arguments(
        caller, x, segment_ids, num_segments, q, interpolation, dtype, None, row_mesh.num_shards
    )
    num_rows = column.shape[0]
    valid = row_mesh.valid_rows(num_valid, num_rows, caller)
    if num_rows == 0:
        return local.segment_quantile(column, segments.ids, num_segments, quantiles, dtype=dtype)
    rows = row_mesh.place((column, segments.ids))
    return _find_on_mesh(
        rows, quantiles, valid, segments.num_segments, interpolation, dtype, row_mesh, num_rows,
        scattered, transport,
    )  # fmt: skip


@functools.partial(tiered, static_argnums=(3, 4, 5, 6, 7, 8, 9))
def _find_on_mesh(
    rows: tuple[Array, Array],
    q: Array,
    valid: ValidRows | None,
    num_segments: int,
    interpolation: Interpolation,
    dtype: np.dtype,
    row_mesh: RowMesh,
    num_rows: int,
    scattered: bool,
    transport: Transport,
) -> Array:
    def of_shard(rows: tuple[Array, Array], q: Array, valid: ValidRows | None) -> Array:
        return collective.segment_quantile(
            *rows,
            num_segments,
            q,
            axis_name=row_mesh.axes,
            interpolation=interpolation,
            dtype=dtype,
            num_valid=row_mesh.num_valid(num_rows, valid),
            scattered=scattered,
            transport=transport,
        )

    return row_mesh.map_to_segments(of_shard, rows, (q, valid), num_segments, scattered)
