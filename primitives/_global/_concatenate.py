# SPDX-License-Identifier: Apache-2.0
"""The rows of several padded pieces of whole arrays in one."""

import functools
from collections.abc import Sequence
from typing import Any

from jax.sharding import PartitionSpec

from ...shardings._compat import MeshLike, shard_map
from .. import local
from .._in_shared_memory import in_shared_memory
from .._over_mesh import RowMesh, ValidRows, as_row_mesh
from .._sized import sized
from ..collective._concatenate import concatenate_shards
from ..collective._exchange import Transport, check_transport
from ..collective._sorted_runs import Dealing
from ..collective._wide_counts import psum_wide, saturated
from ..contract._arguments import num_rows_of
from ..contract._typing import Array, PyTree
from ..local import Concatenated
from ..local.parts import PieceCounts, as_pieces
from ..tiers._tiered import tiered


@in_shared_memory
def concatenate(
    pieces: Sequence[PyTree],
    num_valid: PieceCounts | None = None,
    mesh: MeshLike | None = None,
    *,
    capacity: int | None = None,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> Concatenated:
    """Packs the rows of several pieces that count into one array, on one device or over a mesh.

    Args:
        pieces: pytrees of the same structure, of arrays of the same dtypes, and of the same shapes
            but for their leading axes, which may have any length.
        num_valid: number of valid rows of each piece, at its front, or None for all of its rows;
            all rows of all pieces by default.
        mesh: mesh of the rows; one device by default.
        capacity: rows of the result. Static. Left out, an eager call returns the valid rows
            exactly; a traced one has a capacity of all rows.
        axis: mesh axis or axes of the rows; all axes of the mesh by default.
        transport: transport of the rows; see `collective.partition`.

    Returns:
        `Concatenated(rows, count)`; the first `count` rows are those of the pieces, in their order,
        and padding is zero. On a mesh they are sharded by rows if it divides their number.
        Traced, `count` may pass the capacity: rows did not fit then.

    Raises:
        CapacityError: an eager call was given too small a capacity.
        TypeError: dtypes differ, `num_valid` holds no integer, `capacity` is traced, or `mesh` is
            not a mesh.
        ValueError: there is no piece, structures or shapes differ, `num_valid` has another length,
            `transport` is unknown, or `axis` is not an axis of the mesh.

    Cost:
        Work O(rows x row bytes) shared out over the mesh. Communication: that of
        `collective.rebalance`, once for each piece. An eager call reads the count back.

    Guarantees:
        Stable, in the order of (piece, row); deterministic; independent of the mesh;
        differentiable in `pieces`. NaNs of 16 bits may change their payload.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> pieces = [jnp.array([1, 2, 0]), jnp.array([3, 0])]
        >>> packed = primitives.concatenate(pieces, [2, 1], shardings.make_mesh(1))
        >>> packed.rows.tolist(), packed.count.tolist()
        ([1, 2, 3], 3)
    """
    caller = "concatenate"
    check_transport(transport, caller)
    pieces, num_valid = as_pieces(pieces, num_valid, caller)
    lengths = tuple(num_rows_of(piece, caller, "pieces") for piece in pieces)
    row_mesh = as_row_mesh(mesh, axis, caller)
    if row_mesh is None or not sum(lengths):

        def run_locally(capacity: int) -> Any:
            return local.concatenate(pieces, num_valid, capacity=capacity)

        return Concatenated(*sized(caller, run_locally, capacity, sum(lengths)))
    valid = [
        row_mesh.valid_rows(count, length, caller)
        for count, length in zip(num_valid, lengths, strict=True)
    ]
    placed = row_mesh.place(pieces)

    def run(capacity: int) -> Any:
        return _concatenate_on_mesh(placed, valid, row_mesh, capacity, lengths, transport)

    return Concatenated(*sized(caller, run, capacity, sum(lengths), row_mesh))


@functools.partial(tiered, static_argnums=(2, 3, 4, 5))
def _concatenate_on_mesh(
    pieces: list[Any],
    valid: list[ValidRows | None],
    row_mesh: RowMesh,
    capacity: int,
    lengths: tuple[int, ...],
    transport: Transport,
) -> tuple[Any, Array]:
    dealing = Dealing(row_mesh.axes, "full", transport, row_mesh.shard_rows(capacity))

    def of_shard(pieces: list[Any], valid: list[ValidRows | None]) -> tuple[Any, Array]:
        counts = [
            row_mesh.num_valid(length, count) for length, count in zip(lengths, valid, strict=True)
        ]
        rows, count = concatenate_shards(pieces, counts, dealing)
        return rows, saturated(psum_wide(count, row_mesh.axes))

    specs = (row_mesh.spec, PartitionSpec())
    rows, count = shard_map(of_shard, row_mesh.mesh, specs, specs)(pieces, valid)
    return row_mesh.trim(rows, capacity), count
