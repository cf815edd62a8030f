# SPDX-License-Identifier: Apache-2.0
"""Linear recurrences of whole arrays, on one device or over a mesh."""

import functools

from ...shardings._compat import MeshLike
from .. import local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidRows, as_row_mesh
from ..collective._linear_recurrence import solve_shards
from ..contract._arguments import as_flag
from ..contract._typing import Array, ArrayLike, Bool, Integer, Shaped
from ..local.parts import Recurrence, SegmentEncoding, as_recurrence
from ..tiers._tiered import tiered


@in_shared_memory
def linear_recurrence(
    a: Shaped[ArrayLike, "rows ..."],
    b: Shaped[ArrayLike, "rows ..."],
    mesh: MeshLike | None = None,
    *,
    initial: Shaped[ArrayLike, "..."] | complex | None = None,
    head_flags: Bool[ArrayLike, " rows"] | None = None,
    segment_ids: Integer[ArrayLike, " rows"] | None = None,
    reverse: bool = False,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: str | tuple[str, ...] | None = None,
) -> Shaped[Array, "rows ..."]:
    """Solves `h[i] = a[i] * h[i - 1] + b[i]` for all rows, on one device or over a mesh.

    State-space models, discounted returns and exponential averages are such recurrences.

    Args:
        a: the factors, of the shape of `b`, or one for each row, of shape `(rows,)`.
        b: the terms: floats, complex numbers or integers, of any shape with a leading axis.
        mesh: mesh of the rows; one device by default.
        initial: the value before the first row of each segment: one number, or an array like a row
            of `b`; zero by default.
        head_flags: True at the first row of each segment, of shape `(rows,)`; one segment by
            default.
        segment_ids: an alternative to `head_flags`, integers of shape `(rows,)`: a segment is a run
            of equal ids.
        reverse: solves `h[i] = a[i] * h[i + 1] + b[i]`, from the last row of each segment.
        num_valid: number of valid rows, at the front; all rows by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.

    Returns:
        An array like `b`. Padding rows are zero. On a mesh it is sharded by rows; if the mesh does
        not divide the number of rows, which JAX cannot shard, it is replicated.

    Raises:
        TypeError: `a` and `b` differ in dtype, or are no numbers; `mesh` is not a mesh.
        ValueError: shapes differ, both `head_flags` and `segment_ids` are given, or `axis` is not
            an axis of the mesh.

    Cost:
        See `local.linear_recurrence` and `collective.linear_recurrence`: no row leaves its shard
        but two of each.

    Guarantees:
        As `local.linear_recurrence`. Floats depend on the mesh within rounding, while no product
        of a shard's factors overflows: one that does gives NaN beside a state of zero.

    References:
        Blelloch (1990), "Prefix sums and their applications" (recurrences).

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives
        >>> rewards, episodes = jnp.array([1.0, 0.0, 2.0, 4.0]), jnp.array([0, 0, 1, 1])
        >>> options = {"segment_ids": episodes, "reverse": True}
        >>> primitives.linear_recurrence(jnp.full(4, 0.5), rewards, **options).tolist()
        [1.0, 0.0, 4.0, 4.0]
    """
    caller = "linear_recurrence"
    reverse = as_flag(reverse, caller, "reverse")
    row_mesh = as_row_mesh(mesh, axis, caller)
    if row_mesh is None:
        return local.linear_recurrence(
            a,
            b,
            initial=initial,
            head_flags=head_flags,
            segment_ids=segment_ids,
            reverse=reverse,
            num_valid=num_valid,
        )
    arguments = as_recurrence(a, b, initial, head_flags, segment_ids, None, caller)
    num_rows = arguments.b.shape[0]
    valid = row_mesh.valid_rows(num_valid, num_rows, caller)
    rows = row_mesh.place((arguments.a, arguments.b, arguments.encoding))
    return _solve_on_mesh(rows, arguments.initial, valid, reverse, row_mesh, num_rows)


@functools.partial(tiered, static_argnums=(3, 4, 5))
def _solve_on_mesh(
    rows: tuple[Array, Array, SegmentEncoding],
    initial: Array | None,
    valid: ValidRows | None,
    reverse: bool,
    row_mesh: RowMesh,
    num_rows: int,
) -> Array:
    def of_shard(
        rows: tuple[Array, Array, SegmentEncoding],
        initial: Array | None,
        valid: ValidRows | None,
    ) -> Array:
        a, b, encoding = rows
        arguments = Recurrence(a, b, initial, encoding, row_mesh.num_valid(num_rows, valid))
        return solve_shards(arguments, reverse, row_mesh.axes)

    results = row_mesh.map(of_shard, rows, replicated=(initial, valid))
    return row_mesh.trim(results, num_rows)
