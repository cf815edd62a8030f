# SPDX-License-Identifier: Apache-2.0
"""Each row's window of rows of whole arrays reduced to one."""

import functools

import jax

from ...shardings._compat import MeshLike
from .. import local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidRows, as_row_mesh
from ..collective._windowed_reduce import window_shards
from ..contract._typing import ArrayLike, Bool, Integer, PyTree, Shaped
from ..local import WindowBounds, Windowed
from ..local.parts import (
    Reach,
    SegmentEncoding,
    Window,
    WindowedRows,
    WindowPlan,
    as_reach,
    as_window_segments,
    as_windows,
    check_bounds,
)
from ..tiers._tiered import tiered


@in_shared_memory
def windowed_reduce(
    x: PyTree,
    window: Window,
    op: str,
    mesh: MeshLike | None = None,
    *,
    offset: int | Integer[ArrayLike, ""] = 0,
    other: Shaped[ArrayLike, " rows ..."] | None = None,
    where: PyTree | None = None,
    head_flags: Bool[ArrayLike, " rows"] | None = None,
    segment_ids: Integer[ArrayLike, " rows"] | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    ddof: int = 0,
    axis: str | tuple[str, ...] | None = None,
) -> Windowed:
    """Reduces the window of rows of each row, on one device or over a mesh.

    Args:
        x: array of shape `(rows, ...)`, or a pytree of them.
        window: the rows of a window, the row itself the last of them. None for all rows up to the
            row. At most 16 given as a Python integer are part of the program; all larger windows,
            and those given as an array, share one program. Or `local.WindowBounds`, for windows of
            varying numbers of rows.
        op: "sum", "prod", "min", "max", "count", "mean", "var", "std", "skew" or "kurt"; "cov" or
            "corr" of `x` and `other`. Static.
        mesh: mesh of the rows; one device by default.
        offset: number of rows from a row to the end of its window; negative before the row. Zero
            with `WindowBounds`.
        other: the second column of "cov" and "corr", an array that broadcasts against each of `x`.
        where: a flag for each row, bool of shape `(rows,)`: rows without one are excluded from all
            windows. Or a pytree of these, and of None, that is a prefix of `x`.
        head_flags: True at the first row of each segment, bool of shape `(rows,)`; windows stop at
            the ends of their row's segment. All rows are one segment by default. The first row
            always starts a segment.
        segment_ids: an alternative to `head_flags`, integers of shape `(rows,)`: a segment is a run
            of equal ids.
        num_valid: number of valid rows, at the front; all rows by default.
        ddof: delta degrees of freedom; "var" and "std" divide by the number of rows minus `ddof`.
            Static.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.

    Returns:
        `Windowed(values, counts)`: for each array of `x` one of the same shape, and the number of
        rows that each window holds. A window holds only valid rows of its row's segment. If it
        holds none, its value is the identity element of `op`, or NaN for an average. Skewness and
        kurtosis are unbiased, and NaN for equal values. Zeros fill the rows that do not count.

    Raises:
        TypeError: `window` or `offset` is not an integer, `where` or `head_flags` is not bool,
            `segment_ids` are not integers, a dtype that `op` does not support, or `mesh` is not a
            mesh.
        ValueError: as `local.windowed_reduce`, or `axis` is not an axis of the mesh.

    Cost:
        See `collective.windowed_reduce`.

    Guarantees:
        Deterministic; differentiable in `x` if the result is a float. Integers and extremes do
        not depend on the mesh. A value affects only the windows that contain it.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> x = jnp.array([5, 1, 4, 2, 8])
        >>> sums = primitives.windowed_reduce(x, 3, "sum", shardings.make_mesh(1))
        >>> sums.values.tolist(), sums.counts.tolist()
        ([5, 6, 10, 7, 14], [1, 2, 3, 3, 3])
    """
    caller = "windowed_reduce"
    row_mesh = as_row_mesh(mesh, axis, caller)
    if row_mesh is None:
        return local.windowed_reduce(
            x,
            window,
            op,
            offset=offset,
            other=other,
            where=where,
            num_valid=num_valid,
            ddof=ddof,
            head_flags=head_flags,
            segment_ids=segment_ids,
        )
    rows, plan = as_windows(caller, x, window, op, offset, other, where, ddof)
    encoding = as_window_segments(head_flags, segment_ids, rows, caller)
    num_rows = jax.tree.leaves(rows.x)[0].shape[0]
    if not num_rows:
        # XLA cannot compile a program over a mesh if all arguments are empty.
        return local.windowed_reduce(x, window, op, other=other, where=where, ddof=ddof)
    reach = as_reach(window, offset, row_mesh.shard_rows(num_rows) * row_mesh.num_shards, caller)
    bounds = None
    if isinstance(reach, WindowBounds):
        check_bounds(reach, encoding, num_rows, caller)
        bounds, reach = reach, None
    valid = row_mesh.valid_rows(num_valid, num_rows, caller)
    placed = row_mesh.place((rows, encoding, bounds))
    return _window_on_mesh(*placed, reach, valid, row_mesh, num_rows, plan)


@functools.partial(tiered, static_argnums=(5, 6, 7))
def _window_on_mesh(
    rows: WindowedRows,
    encoding: SegmentEncoding,
    bounds: WindowBounds | None,
    reach: Reach | None,
    valid: ValidRows | None,
    row_mesh: RowMesh,
    num_rows: int,
    plan: WindowPlan,
) -> Windowed:
    def of_shard(
        rows: WindowedRows,
        encoding: SegmentEncoding,
        bounds: WindowBounds | None,
        reach: Reach | None,
        valid: ValidRows | None,
    ) -> Windowed:
        num_valid, places = row_mesh.num_valid(num_rows, valid), reach if bounds is None else bounds
        assert places is not None
        return window_shards(rows, encoding, places, num_valid, plan, row_mesh.axes)

    results = row_mesh.map(of_shard, rows, encoding, bounds, replicated=(reach, valid))
    return row_mesh.trim(results, num_rows)
