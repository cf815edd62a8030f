# SPDX-License-Identifier: Apache-2.0
"""Rebalancing of whole arrays' rows over a mesh."""

import functools

import jax.numpy as jnp

from ...shardings._compat import MeshLike
from .. import collective
from .._over_mesh import RowMesh
from ..collective import Partitioned
from ..collective._exchange import Transport, check_transport
from ..contract._arguments import as_array, as_rows, num_rows_of, type_of
from ..contract._typing import Array, ArrayLike, Integer, PyTree
from ..tiers._tiered import tiered


def rebalance(
    rows: PyTree,
    num_valid: Integer[ArrayLike, " shards"],
    mesh: MeshLike,
    *,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> Partitioned:
    """Distributes the valid rows evenly over the shards of a mesh, keeping their order.

    It accepts and returns rows in the form of `partition`.

    Args:
        rows: any pytree of arrays with the same leading axis, a multiple of the number of shards.
        num_valid: number of valid rows of each shard, at the front of its piece, integers of
            shape `(num_shards,)`.
        mesh: mesh of the rows.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: transport of the rows; see `collective.partition`.

    Returns:
        `Partitioned(rows, count)`: rows of the same length, sharded by rows, and the number of
        rows of each shard, int32 of shape `(num_shards,)`, which differ by one at most. Zeros fill
        the rest of each shard.

    Raises:
        TypeError: `num_valid` are not integers, or `mesh` is not a mesh.
        ValueError: leading axes differ, the shards do not divide them, `transport` is unknown, or
            `axis` is not an axis of the mesh.

    Cost:
        See `collective.rebalance`.

    Guarantees:
        Stable; deterministic; exactly balanced; differentiable in `rows`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> rows, num_valid = jnp.array([1, 2, 3]), jnp.array([2])
        >>> even = primitives.rebalance(rows, num_valid, shardings.make_mesh(1))
        >>> even.rows.tolist(), even.count.tolist()
        ([1, 2, 0], [2])
    """
    caller = "rebalance"
    row_mesh = RowMesh(mesh, axis, caller)
    check_transport(transport, caller)
    num_rows = num_rows_of(rows, caller)
    rows = as_rows(rows, num_rows, caller, "rows")
    num_valid = as_array(num_valid, caller, "num_valid")
    if not jnp.issubdtype(num_valid.dtype, jnp.integer):
        raise TypeError(f"{caller}: num_valid must be integers, got {type_of(num_valid)}.")
    if num_valid.shape != (row_mesh.num_shards,):
        raise ValueError(
            f"{caller}: num_valid must have one entry for each of the {row_mesh.num_shards} "
            f"shards, got {type_of(num_valid)}."
        )
    if num_rows % row_mesh.num_shards:
        raise ValueError(
            f"{caller}: rows must be cut into {row_mesh.num_shards} shards of one length, got "
            f"{num_rows} rows. Pad them."
        )
    rows, num_valid = row_mesh.place((rows, num_valid))
    return _rebalance_on_mesh(rows, num_valid, row_mesh, transport)


@functools.partial(tiered, static_argnums=(2, 3))
def _rebalance_on_mesh(
    rows: PyTree, num_valid: Array, row_mesh: RowMesh, transport: Transport
) -> Partitioned:
    def even_out(rows: PyTree, num_valid: Array) -> Partitioned:
        even = collective.rebalance(
            rows, num_valid=num_valid[0], axis_name=row_mesh.axes, transport=transport
        )
        return Partitioned(even.rows, even.count[None])

    return row_mesh.map(even_out, rows, num_valid)
