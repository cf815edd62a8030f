# SPDX-License-Identifier: Apache-2.0
"""Gathers rows of whole arrays by row id, on one device or over a mesh."""

import functools

import jax
import jax.numpy as jnp

from ...shardings._compat import MeshLike
from .. import collective, local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, as_row_mesh
from ..collective._exchange import Transport, check_transport
from ..collective._gather_rows import marked_ids
from ..contract._arguments import as_row_ids, as_rows, num_rows_of
from ..contract._typing import Array, ArrayLike, Integer, PyTree
from ..tiers._tiered import tiered


@in_shared_memory
def gather_rows(
    rows: PyTree,
    global_ids: Integer[ArrayLike, " ids"],
    mesh: MeshLike | None = None,
    *,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> PyTree:
    """Gathers rows by row id, on one device or over a mesh.

    What `rows[global_ids]` computes. Over a mesh in bounded memory: no device ever holds all rows.

    Args:
        rows: any pytree of arrays with the same leading axis, of any length.
        global_ids: the rows that are wanted, integers of shape `(ids,)`, of any length.
        mesh: mesh of the rows and the ids; one device by default.
        axis: mesh axis or axes that they lie along; all axes of the mesh by default.
        transport: how ids and rows travel; see `collective.partition`.

    Returns:
        The rows in the order of the ids, sharded by rows if the mesh divides their number. An
        id outside `[0, rows)` gives zeros.

    Raises:
        TypeError: `global_ids` are not integers, or `mesh` is not a mesh.
        ValueError: leading axes differ, `transport` is unknown, or `axis` is not an axis of the
            mesh.

    Cost:
        Over a mesh that of `collective.gather_rows`, otherwise that of `local.gather_rows`.

    Guarantees:
        Deterministic; differentiable in `rows`: the cotangent of a row is the sum over all its
        copies.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> rows, ids = jnp.array([10, 11, 12]), jnp.array([2, 0, 7, 2])
        >>> primitives.gather_rows(rows, ids, shardings.make_mesh(1)).tolist()
        [12, 10, 0, 12]
    """
    caller = "gather_rows"
    row_mesh = as_row_mesh(mesh, axis, caller)
    check_transport(transport, caller)
    num_rows = num_rows_of(rows, caller)
    rows = as_rows(rows, num_rows, caller, "rows")
    ids = as_row_ids(global_ids, caller, "global_ids")
    if row_mesh is None:
        return local.gather_rows(rows, ids)
    placed, placed_ids = row_mesh.place((rows, ids))
    return _gather_on_mesh(placed, placed_ids, row_mesh, num_rows, ids.shape[0], transport)


@functools.partial(tiered, static_argnums=(2, 3, 4, 5))
def _gather_on_mesh(
    rows: PyTree,
    ids: Array,
    row_mesh: RowMesh,
    num_rows: int,
    num_ids: int,
    transport: Transport,
) -> PyTree:
    def of_shard(rows: PyTree, ids: Array) -> PyTree:
        is_id = jax.lax.iota(jnp.int32, ids.shape[0]) < row_mesh.num_valid(num_ids)
        return collective.gather_rows(
            rows,
            jnp.where(is_id, marked_ids(ids, num_rows, "gather_rows"), -1),
            axis_name=row_mesh.axes,
            num_valid=row_mesh.num_valid(num_rows),
            transport=transport,
        )

    return row_mesh.trim(row_mesh.map(of_shard, rows, ids), num_ids)
