# SPDX-License-Identifier: Apache-2.0
"""The first k rows and the rows of given ranks, of whole arrays."""

import functools

from ...shardings._compat import MeshLike
from .. import collective, local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidRows, as_row_mesh
from ..contract._arguments import as_flag, as_key, as_static_int
from ..contract._typing import Array, ArrayLike, Integer, Shaped
from ..local import TopK
from ..local.parts import as_ranks
from ..tiers._tiered import tiered


@in_shared_memory(everywhere=True)
def top_k(
    x: ArrayLike,
    k: int,
    mesh: MeshLike | None = None,
    *,
    largest: bool = True,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: str | tuple[str, ...] | None = None,
) -> TopK:
    """Finds the k largest (or smallest) elements, in order, on one device or over a mesh.

    They are the first k rows of a stable sort in that direction, so ties go to the lowest row id,
    -0.0 equals 0.0, and NaN comes after every number, in both directions.

    Args:
        x: array of shape `(rows,)`, of any key dtype and any length.
        k: number of elements. Static.
        mesh: mesh of the rows; one device by default.
        largest: finds the largest elements if True, else the smallest.
        num_valid: number of valid rows, at the front; all rows by default. With fewer than `k`
            valid rows, padding fills the end of the result.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.

    Returns:
        `TopK(values, row_ids)`, each of shape `(k,)`. On a mesh every device gets them.

    Raises:
        ValueError: `k` is not in `[0, rows]`, or `axis` is not an axis of the mesh.
        TypeError: a dtype that is not a key dtype, `k` is traced, or `mesh` is not a mesh.

    Cost:
        Work O(rows) on CPU, a sort elsewhere. Communication: one `all_gather` of `k` elements and
        ids from each shard.

    Guarantees:
        Stable; deterministic; differentiable in `x`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives
        >>> top = primitives.top_k(jnp.array([5, 9, 9, 1]), 3)
        >>> top.values.tolist(), top.row_ids.tolist()
        ([9, 9, 5], [1, 2, 0])
    """
    largest = as_flag(largest, "top_k", "largest")
    row_mesh = as_row_mesh(mesh, axis, "top_k")
    if row_mesh is None:
        return local.top_k(x, k, largest=largest, num_valid=num_valid)
    column = as_key(x, "top_k", num_shards=row_mesh.num_shards)
    num_rows = column.shape[0]
    k = as_static_int(k, "top_k", "k", 0, num_rows)
    valid = row_mesh.valid_rows(num_valid, num_rows, "top_k")
    return _top_k_on_mesh(row_mesh.place(column), valid, row_mesh, k, num_rows, largest)


@functools.partial(tiered, static_argnums=(2, 3, 4, 5))
def _top_k_on_mesh(
    column: Array,
    valid: ValidRows | None,
    row_mesh: RowMesh,
    k: int,
    num_rows: int,
    largest: bool,
) -> TopK:
    def top_k_of_shards(column: Array, valid: ValidRows | None) -> TopK:
        of_shard = row_mesh.num_valid(num_rows, valid)
        return collective.top_k(
            column, k, axis_name=row_mesh.axes, largest=largest, num_valid=of_shard
        )

    return row_mesh.map_to_all(top_k_of_shards, column, replicated=(valid,))


@in_shared_memory(everywhere=True)
def select_rank(
    x: ArrayLike,
    ranks: int | Integer[ArrayLike, " ranks"],
    mesh: MeshLike | None = None,
    *,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: str | tuple[str, ...] | None = None,
) -> Shaped[Array, " ranks"]:
    """Finds the elements of given ranks, rank 0 being the smallest, on one device or over a mesh.

    Args:
        x: array of shape `(rows,)`, of any key dtype and any length.
        ranks: integers of any shape, in `[0, rows)`. Traced ranks are clipped to the valid rows.
        mesh: mesh of the rows; one device by default.
        num_valid: number of valid rows, at the front; all rows by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.

    Returns:
        The elements, in the shape of `ranks`; those at the same positions of a stable sort, bit for
        bit. On a mesh every device gets them.

    Raises:
        TypeError: a dtype that is not a key dtype, `ranks` that are not integers, or `mesh` is not
            a mesh.
        ValueError: a concrete rank is outside `[0, rows)`, `x` is empty, or `axis` is not an axis
            of the mesh.

    Cost:
        A local sort of each shard; no row moves. See `collective.select_rank`.

    Guarantees:
        Deterministic; differentiable in `x`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives
        >>> primitives.select_rank(jnp.array([30, 10, 20]), jnp.array([0, 2])).tolist()
        [10, 30]
    """
    row_mesh = as_row_mesh(mesh, axis, "select_rank")
    if row_mesh is None:
        return local.select_rank(x, ranks, num_valid=num_valid)
    column = as_key(x, "select_rank", num_shards=row_mesh.num_shards)
    num_rows = column.shape[0]
    ranks = as_ranks(ranks, num_rows, "select_rank")
    valid = row_mesh.valid_rows(num_valid, num_rows, "select_rank")
    return _select_rank_on_mesh(row_mesh.place(column), ranks, valid, row_mesh, num_rows)


@functools.partial(tiered, static_argnums=(3, 4))
def _select_rank_on_mesh(
    column: Array, ranks: Array, valid: ValidRows | None, row_mesh: RowMesh, num_rows: int
) -> Array:
    def select(column: Array, ranks: Array, valid: ValidRows | None) -> Array:
        of_shard = row_mesh.num_valid(num_rows, valid)
        return collective.select_rank(column, ranks, axis_name=row_mesh.axes, num_valid=of_shard)

    return row_mesh.map_to_all(select, column, replicated=(ranks, valid))
