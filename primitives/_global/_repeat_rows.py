# SPDX-License-Identifier: Apache-2.0
"""Repeats rows of whole arrays, on one device or over a mesh."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer
from jax.sharding import PartitionSpec

from ...shardings._compat import MeshLike, shard_map
from .. import local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidRows, as_row_mesh
from .._sized import capacity_for, first_rows, in_steps, sized
from ..collective._exchange import Transport, check_transport
from ..collective._repeat_rows import repeat_shards
from ..collective._sorted_runs import Dealing
from ..contract._arguments import MAX_SHARD_ROWS, as_static_int
from ..contract._typing import Array, ArrayLike, Integer
from ..kernels.join._pair_counts import MOST_PAIRS
from ..local import Repeated
from ..local.parts import as_repeats
from ..tiers._tiered import tiered

CALLER = "repeat_rows"


@in_shared_memory
def repeat_rows(
    repeats: Integer[ArrayLike, " rows"],
    mesh: MeshLike | None = None,
    *,
    capacity: int | Callable[[int], int] | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> Repeated:
    """Repeats the id of each row a given number of times, on one device or over a mesh.

    What `numpy.repeat(numpy.arange(rows), repeats)` computes. Gather the rows by the ids, over a
    mesh with `gather_rows`.

    Args:
        repeats: number of copies of each row, integers of shape `(rows,)`, of any length. A
            negative number counts as zero.
        mesh: mesh of the rows; one device by default.
        capacity: most copies of the result. Static. By default an eager call counts the copies
            first and returns exactly these; a function computes the capacity from their number. A
            traced call must be given a number.
        num_valid: number of valid rows, at the front; all rows by default.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: transport of the row ids; see `collective.partition`.

    Returns:
        `Repeated(row_ids, copies, count)`: the row of each copy, -1 in padding; the number of the
        copy among those of its row, 0 in padding; and the number of copies, exact below `2**31 -
        1`. On a mesh the first two are sharded by rows if it divides their number. Traced, `count`
        may pass the capacity: copies did not fit then.

    Raises:
        CapacityError: an eager call was given too small a capacity.
        TypeError: `repeats` are not integers, `capacity` is traced, or `mesh` is not a mesh.
        ValueError: `repeats` are not one-dimensional, `capacity` is left out of a traced call,
            there are 2^31 - 1 copies or more, or `axis` is not an axis of the mesh.

    Cost:
        Work O(rows + capacity). Communication: that of `collective.repeat_rows`. An eager call
        reads the count back, and without a capacity counts first.

    Guarantees:
        Deterministic; in the order of (row, copy); independent of the mesh. Values that are
        gathered by the ids are differentiable.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> repeated = primitives.repeat_rows(jnp.array([2, 0, 3]), shardings.make_mesh(1))
        >>> repeated.row_ids.tolist(), repeated.copies.tolist()
        ([0, 0, 2, 2, 2], [0, 1, 0, 1, 2])
    """
    check_transport(transport, CALLER)
    row_mesh = as_row_mesh(mesh, axis, CALLER)
    repeats = as_repeats(repeats, CALLER)
    num_rows = repeats.shape[0]
    if row_mesh is None or num_rows == 0:

        def run(capacity: int) -> Any:
            repeated = local.repeat_rows(repeats, capacity=capacity, num_valid=num_valid)
            return repeated[:2], repeated.count
    else:
        valid = row_mesh.valid_rows(num_valid, num_rows, CALLER)
        placed = row_mesh.place(repeats)

        def run(capacity: int) -> Any:
            return _repeat_on_mesh(placed, valid, row_mesh, capacity, num_rows, transport)

    if capacity is None or callable(capacity):
        if any(isinstance(one, Tracer) for one in (repeats, num_valid)):
            raise ValueError(
                f"{CALLER}: capacity must be given under jit, got {capacity}. Pass a bound of the "
                "number of copies; `count` is the true one."
            )
        # Without copies the program is that of the counts alone.
        count = int(run(row_mesh.num_shards if row_mesh else 0)[1])
        if count >= MOST_PAIRS:
            raise ValueError(
                f"{CALLER}: the result must have fewer than 2**31 - 1 copies, got {count:,} or "
                "more. Repeat the rows in parts."
            )
        room = capacity_for(count, capacity, CALLER)
        rows, total = run(in_steps(room))
        row_ids, copies = first_rows(rows, room, row_mesh)
        return Repeated(row_ids, copies, total)
    most = as_static_int(capacity, CALLER, "capacity", 0, MAX_SHARD_ROWS)
    (row_ids, copies), count = sized(CALLER, run, most, most, row_mesh)
    return Repeated(row_ids, copies, count)


@functools.partial(tiered, static_argnums=(2, 3, 4, 5))
def _repeat_on_mesh(
    repeats: Array,
    valid: ValidRows | None,
    row_mesh: RowMesh,
    capacity: int,
    num_rows: int,
    transport: Transport,
) -> tuple[tuple[Array, Array], Array]:
    dealing = Dealing(row_mesh.axes, "full", transport, row_mesh.shard_rows(capacity))

    def of_shard(repeats: Array, valid: ValidRows | None) -> Any:
        repeated, total = repeat_shards(repeats, row_mesh.num_valid(num_rows, valid), dealing)
        saturated = jnp.minimum(total, total.dtype.type(MOST_PAIRS)).astype(jnp.int32)
        return repeated[:2], saturated

    in_specs = (row_mesh.spec, PartitionSpec())
    out_specs = (row_mesh.spec, PartitionSpec())
    rows, count = shard_map(of_shard, row_mesh.mesh, in_specs, out_specs)(repeats, valid)
    return row_mesh.trim(jax.tree.map(jnp.asarray, rows), capacity), count
