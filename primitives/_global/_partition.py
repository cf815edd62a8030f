# SPDX-License-Identifier: Apache-2.0
"""Partition of whole arrays' rows by destination shard."""

import functools

import jax
import jax.numpy as jnp
from jax.core import Tracer

from ...shardings._compat import MeshLike
from .. import collective
from .._over_mesh import RowMesh
from ..collective import Partitioned
from ..collective._exchange import Transport, check_transport
from ..contract._arguments import CapacityError, as_rows, as_static_int, num_rows_of
from ..contract._typing import Array, ArrayLike, Integer, PyTree
from ..local.parts import as_bucket_ids
from ..tiers._tiered import tiered


def partition(
    rows: PyTree,
    destination: Integer[ArrayLike, " rows"],
    mesh: MeshLike,
    *,
    capacity: int | None = None,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> Partitioned:
    """Sends each row to the shard of a mesh that its destination names.

    Args:
        rows: any pytree of arrays with the same leading axis, of any length.
        destination: shard of each row, shape `(rows,)`, integers. A row with a destination outside
            `[0, num_shards)` is dropped.
        mesh: mesh of the rows.
        capacity: most rows of each shard. Static. By default an eager call counts first and gives
            every shard the capacity of the fullest; a traced one uses the number of rows that a
            shard sends.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: transport of the rows; see `collective.partition`.

    Returns:
        `Partitioned(rows, count)`: rows of length `num_shards x capacity`, sharded by rows, and the
        number of rows sent to each shard, int32 of shape `(num_shards,)`. The rows that shard `s`
        received start at row `s x capacity`, in the order of the rows; padding is zero.

    Raises:
        CapacityError: an eager call was given too small a capacity.
        TypeError: `destination` are not integers, `capacity` is traced, or `mesh` is not a mesh.
        ValueError: leading axes differ, `transport` is unknown, or `axis` is not an axis of the
            mesh.

    Cost:
        See `collective.partition`. An eager call counts the rows of each destination, and reads
        the largest count back.

    Guarantees:
        Stable; deterministic; differentiable in `rows`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> mesh = shardings.make_mesh(1)
        >>> sent = primitives.partition(jnp.array([1, 2, 3]), jnp.array([0, 0, -1]), mesh)
        >>> sent.rows.tolist(), sent.count.tolist()
        ([1, 2], [2])
    """
    caller = "partition"
    row_mesh = RowMesh(mesh, axis, caller)
    check_transport(transport, caller)
    num_rows = num_rows_of(rows, caller)
    rows = as_rows(rows, num_rows, caller, "rows")
    destination = as_bucket_ids(destination, num_rows, caller, "destination")
    is_traced = any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves((rows, destination)))
    if capacity is not None:
        capacity = as_static_int(capacity, caller, "capacity", 0, 2**31 - 1)
    if is_traced:
        capacity = row_mesh.shard_rows(num_rows) if capacity is None else capacity
    else:
        needed = int(_largest_count(destination, row_mesh.num_shards))
        if capacity is not None and needed > capacity:
            raise CapacityError(caller, needed, capacity)
        capacity = needed if capacity is None else capacity
    rows, destination = row_mesh.place((rows, destination))
    return _partition_on_mesh(rows, destination, row_mesh, capacity, num_rows, transport)


@functools.partial(tiered, static_argnums=1)
def _largest_count(destination: Array, num_shards: int) -> Array:
    # A narrow dtype may not hold the number of shards.
    if destination.dtype.itemsize < 4:
        destination = destination.astype(jnp.int32)
    is_shard = (destination >= 0) & (destination < num_shards)
    shards = jnp.where(is_shard, destination, num_shards).astype(jnp.int32)
    return jnp.max(jnp.bincount(shards, length=num_shards + 1)[:-1])


@functools.partial(tiered, static_argnums=(2, 3, 4, 5))
def _partition_on_mesh(
    rows: PyTree,
    destination: Array,
    row_mesh: RowMesh,
    capacity: int,
    num_rows: int,
    transport: Transport,
) -> Partitioned:
    def send(rows: PyTree, destination: Array) -> Partitioned:
        received = collective.partition(
            rows,
            destination,
            axis_name=row_mesh.axes,
            capacity=capacity,
            num_valid=row_mesh.num_valid(num_rows),
            transport=transport,
        )
        return Partitioned(received.rows, received.count[None])

    return row_mesh.map(send, rows, destination)
