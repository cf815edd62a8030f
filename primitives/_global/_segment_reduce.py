# SPDX-License-Identifier: Apache-2.0
"""Segment reductions of whole arrays."""

import functools
from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp

from ...shardings._compat import MeshLike
from .. import collective
from .._in_shared_memory import in_shared_memory, unless_scattered
from .._over_mesh import RowMesh, as_row_mesh
from ..contract._arguments import as_flag
from ..contract._segment_forms import documented
from ..contract._typing import Array, ArrayLike, Integer, PyTree
from ..local.parts import as_segment_arguments, reduce_on_one_device
from ..tiers._tiered import tiered

Axis = str | tuple[str, ...]


def segment_reduce(
    x: PyTree,
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    op: str,
    mesh: MeshLike | None = None,
    *,
    fill_value: Any = None,
    ddof: int = 0,
    scattered: bool = False,
    axis: Axis | None = None,
) -> PyTree:
    """Reduces the rows of each segment to one, on one device or over a mesh.

    Args:
        x: array of shape `(rows, ...)`, or a pytree of them; may be None for "count".
        segment_ids: segment of each row, integers of shape `(rows,)`. Rows with an id outside `[0,
            num_segments)`, negative ids included, are dropped.
        num_segments: number of segments. Static.
        op: "sum", "prod", "min", "max", "count", "mean", "var", "std", "logsumexp", "first",
            "last", "any", "all", "argmin" or "argmax"; see the function of that name, such as
            `segment_sum`.
        mesh: mesh of the rows; one device by default.
        fill_value: result of an empty segment, a number of the dtype of the result; by default the
            identity element of `op`: zero for a sum, infinity for a minimum, NaN for a mean, -1 for
            a row id.
        ddof: delta degrees of freedom; "var" and "std" divide by the number of rows minus `ddof`.
            Static.
        scattered: on a mesh, shards the result over the devices, which own ranges of the segments.
            Static.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.

    Returns:
        An array of shape `(num_segments, ...)` for each leaf of `x`; for "count" one of shape
        `(num_segments,)`. On a mesh every device has them; with `scattered` they are sharded by
        segments if the mesh divides their number.

    Raises:
        TypeError: `segment_ids` are not integers, `num_segments` is traced, a dtype that `op` does
            not support, or `mesh` is not a mesh.
        ValueError: lengths differ, `op` is unknown, `num_segments` is less than one, the
            dtype of the result does not hold a known `fill_value`, or `axis` is not an axis of the
            mesh.

    Cost:
        Work O(rows + num_segments) shared out over the mesh. Communication O(num_segments),
        for any number of rows. With `scattered` and more segments than a shard has rows no device
        holds them all; see `collective.segment_reduce`.

    Guarantees:
        Deterministic; integers, minima, maxima and row ids do not depend on the mesh;
        differentiable in `x` if the result is a float.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives
        >>> x, segment_ids = jnp.array([5, 1, 4, 2, 8]), jnp.array([0, 2, 0, 2, 7])
        >>> primitives.segment_reduce(x, segment_ids, 3, "sum").tolist()
        [9, 0, 3]
    """
    return _reduce(
        "segment_reduce", x, segment_ids, num_segments, op, mesh, fill_value, ddof, scattered, axis
    )


@in_shared_memory(everywhere=unless_scattered)
def _reduce(
    caller: str,
    x: Any,
    segment_ids: Any,
    num_segments: Any,
    op: str,
    mesh: Any,
    fill_value: Any,
    ddof: Any,
    scattered: bool,
    axis: Any,
) -> Any:
    scattered = as_flag(scattered, caller, "scattered")
    row_mesh = as_row_mesh(mesh, axis, caller)
    x, ids, num_segments, op, fill_value, ddof = as_segment_arguments(
        caller, x, segment_ids, num_segments, op, fill_value, ddof
    )
    if row_mesh is None:
        return reduce_on_one_device(x, ids, num_segments, op, fill_value, ddof, None, caller)
    if not ids.shape[0]:
        # XLA cannot compile a program over a mesh if all arguments are empty: a row of no segment.
        x = jax.tree.map(lambda leaf: jnp.zeros((1, *leaf.shape[1:]), leaf.dtype), x)
        ids = jnp.full(1, -1, jnp.int32)
    # Every reduction of the same name is one program, under any of its names.
    rows, num_rows = row_mesh.place((x, ids)), ids.shape[0]
    return _reduce_on_mesh(rows, fill_value, row_mesh, num_rows, num_segments, op, ddof, scattered)


@functools.partial(tiered, static_argnums=(2, 3, 4, 5, 6, 7))
def _reduce_on_mesh(
    rows: Any,
    fill_value: Array | None,
    row_mesh: RowMesh,
    num_rows: int,
    num_segments: int,
    op: str,
    ddof: int,
    scattered: bool,
) -> Any:
    def reduce_shards(rows: Any, fill_value: Array | None) -> Any:
        x, segment_ids = rows
        is_padded = num_rows % row_mesh.num_shards != 0
        return collective.segment_reduce(
            x,
            segment_ids,
            num_segments,
            op,
            axis_name=row_mesh.axes,
            num_valid=row_mesh.num_valid(num_rows) if is_padded else None,
            fill_value=fill_value,
            ddof=ddof,
            scattered=scattered,
        )

    return row_mesh.map_to_segments(reduce_shards, rows, (fill_value,), num_segments, scattered)


@runtime_checkable
class SegmentReduction(Protocol):
    """A segment reduction of one name."""

    def __call__(
        self,
        x: PyTree,
        segment_ids: Integer[ArrayLike, " rows"],
        num_segments: int,
        mesh: MeshLike | None = None,
        *,
        fill_value: Any = None,
        scattered: bool = False,
        axis: Axis | None = None,
    ) -> PyTree:
        """Reduces the rows of each segment to one."""
        ...


@runtime_checkable
class SegmentMoment(Protocol):
    """A segment reduction with delta degrees of freedom."""

    def __call__(
        self,
        x: PyTree,
        segment_ids: Integer[ArrayLike, " rows"],
        num_segments: int,
        mesh: MeshLike | None = None,
        *,
        fill_value: Any = None,
        ddof: int = 0,
        scattered: bool = False,
        axis: Axis | None = None,
    ) -> PyTree:
        """Reduces the rows of each segment to one."""
        ...


def _form(op: str) -> SegmentReduction:
    caller = f"segment_{op}"

    def form(
        x: PyTree,
        segment_ids: Integer[ArrayLike, " rows"],
        num_segments: int,
        mesh: MeshLike | None = None,
        *,
        fill_value: Any = None,
        scattered: bool = False,
        axis: Axis | None = None,
    ) -> PyTree:
        return _reduce(
            caller, x, segment_ids, num_segments, op, mesh, fill_value, 0, scattered, axis
        )

    return documented(op, ("mesh", "fill_value", "scattered", "axis"), "global")(form)


def _form_with_ddof(op: str) -> SegmentMoment:
    caller = f"segment_{op}"

    def form(
        x: PyTree,
        segment_ids: Integer[ArrayLike, " rows"],
        num_segments: int,
        mesh: MeshLike | None = None,
        *,
        fill_value: Any = None,
        ddof: int = 0,
        scattered: bool = False,
        axis: Axis | None = None,
    ) -> PyTree:
        return _reduce(
            caller, x, segment_ids, num_segments, op, mesh, fill_value, ddof, scattered, axis
        )

    return documented(op, ("mesh", "fill_value", "ddof", "scattered", "axis"), "global")(form)


@documented("count", ("mesh", "scattered", "axis"), "global")
def segment_count(
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    mesh: MeshLike | None = None,
    *,
    scattered: bool = False,
    axis: Axis | None = None,
) -> Array:
    return _reduce(
        "segment_count", None, segment_ids, num_segments, "count", mesh, None, 0, scattered, axis
    )


segment_sum: SegmentReduction = _form("sum")
segment_prod: SegmentReduction = _form("prod")
segment_min: SegmentReduction = _form("min")
segment_max: SegmentReduction = _form("max")
segment_mean: SegmentReduction = _form("mean")
segment_var: SegmentMoment = _form_with_ddof("var")
segment_std: SegmentMoment = _form_with_ddof("std")
segment_logsumexp: SegmentReduction = _form("logsumexp")
segment_first: SegmentReduction = _form("first")
segment_last: SegmentReduction = _form("last")
segment_any: SegmentReduction = _form("any")
segment_all: SegmentReduction = _form("all")
segment_argmin: SegmentReduction = _form("argmin")
segment_argmax: SegmentReduction = _form("argmax")
