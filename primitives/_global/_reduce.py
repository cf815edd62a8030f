# SPDX-License-Identifier: Apache-2.0
"""Rows of whole arrays reduced to one."""

import functools
from typing import Any

import jax
import jax.numpy as jnp

from ...shardings._compat import MeshLike
from .. import local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidRows, as_row_mesh
from ..collective._reduce import reduce_shards
from ..contract._arguments import as_flag
from ..contract._typing import ArrayLike, Integer, PyTree
from ..local import Reduced
from ..local.parts import MaskedRows, ReducePlan, Transform, as_reduce_plan
from ..tiers._tiered import tiered


@in_shared_memory(everywhere=True)
def reduce(
    x: PyTree,
    op: PyTree,
    mesh: MeshLike | None = None,
    *,
    where: PyTree | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    skip_nan: bool = False,
    transform: Transform | None = None,
    operands: tuple[PyTree, ...] = (),
    dtype: Any = None,
    ddof: int = 0,
    axis: str | tuple[str, ...] | None = None,
) -> Reduced:
    """Reduces all rows to one, on one device or over a mesh.

    Args:
        x: array of shape `(rows, ...)`, or a pytree of them.
        op: "sum", "prod", "min", "max", "count", "mean", "var", "std", "any", "all", "argmin" or
            "argmax"; or a pytree of these that is a prefix of `x`, so that one pass over the rows
            serves several. Static.
        mesh: mesh of the rows; one device by default.
        where: a flag for each row, bool of shape `(rows,)`: rows without one are excluded. Or a
            pytree of these, and of None, that is a prefix of `x`.
        num_valid: number of valid rows, at the front; all rows by default.
        skip_nan: excludes NaNs. Static.
        transform: a function that takes a block of the rows of `x`, and returns a pytree of arrays
            with as many rows, and a mask for them as `where`, or None. Those arrays are reduced in
            place of `x`, and are never materialized as a whole. If no rows are excluded, they
            may have fewer rows: a product of matrices has one. Static.
        operands: further arguments of `transform`, pytrees of arrays, the same for each block. On
            Explicit axes `transform` cannot close over traced arrays: pass them here.
        dtype: the dtype of sums, products, means and variances, no narrower than that of their
            rows, which are cast as they are read. By default it is that of the rows; int32
            for sums of bools, and a float for means of integers.
        ddof: delta degrees of freedom; "var" and "std" divide by the number of rows minus `ddof`.
            Static.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.

    Returns:
        `Reduced(values, counts)`: for each array of shape `(rows, ...)` a value of shape `(...)`,
        and the number of rows in it. Of no rows the value is the identity element of `op`: zero for
        a sum, infinity for a minimum, NaN for a mean, -1 for a row id. On a mesh every device has
        them.

    Raises:
        TypeError: a dtype that `op` does not support, `where` is not bool, `dtype` does not hold
            the rows, or `mesh` is not a mesh.
        ValueError: lengths differ, `op` is unknown, or `axis` is not an axis of the mesh.

    Cost:
        Work O(rows) shared out over the mesh, in one pass, or two for "var", "std", "argmin" and
        "argmax". Communication: a few numbers for each value, for any number of rows.

    Guarantees:
        Deterministic; differentiable in `x` if the result is a float. Integers, extremes, row
        ids and counts do not depend on the mesh.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> x = jnp.array([5, 1, 4, 2])
        >>> total = primitives.reduce(x, "sum", shardings.make_mesh(1), where=x > 1)
        >>> total.values.tolist(), total.counts.tolist()
        (11, 3)
    """
    caller = "reduce"
    skip_nan = as_flag(skip_nan, caller, "skip_nan")
    row_mesh = as_row_mesh(mesh, axis, caller)
    if row_mesh is None:
        return local.reduce(
            x,
            op,
            where=where,
            num_valid=num_valid,
            skip_nan=skip_nan,
            transform=transform,
            operands=operands,
            dtype=dtype,
            ddof=ddof,
        )
    rows, plan = as_reduce_plan(caller, x, op, where, transform, dtype, ddof)
    num_rows = rows.num_rows
    valid = row_mesh.valid_rows(num_valid, num_rows, caller)
    if not num_rows:
        # XLA cannot compile a program over a mesh if all arguments are empty: a row that is
        # padding.
        rows = jax.tree.map(lambda leaf: jnp.zeros((1, *leaf.shape[1:]), leaf.dtype), rows)
    plan = plan._replace(skip_nan=skip_nan)
    is_padded = num_valid is not None or not num_rows or num_rows % row_mesh.num_shards != 0
    operands = row_mesh.replicate(operands)
    placed = row_mesh.place(rows)
    return _reduce_on_mesh(placed, operands, valid, row_mesh, num_rows, is_padded, plan)


@functools.partial(tiered, static_argnums=(3, 4, 5, 6))
def _reduce_on_mesh(
    rows: MaskedRows,
    operands: tuple[Any, ...],
    valid: ValidRows | None,
    row_mesh: RowMesh,
    num_rows: int,
    is_padded: bool,
    plan: ReducePlan,
) -> Reduced:
    def of_shard(rows: MaskedRows, operands: tuple[Any, ...], valid: ValidRows | None) -> Reduced:
        num_valid = row_mesh.num_valid(num_rows, valid) if is_padded else None
        axes, num_shards = row_mesh.axes, row_mesh.num_shards
        return Reduced(*reduce_shards(rows, operands, num_valid, plan, axes, num_shards))

    return row_mesh.map_to_all(of_shard, rows, replicated=(operands, valid))
