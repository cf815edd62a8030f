# SPDX-License-Identifier: Apache-2.0
"""Ragged values in pieces of whole segments, one for each shard of a mesh, and back."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec

from ...shardings._compat import MeshLike, shard_map
from .._over_mesh import RowMesh
from ..collective._exchange import Transport, check_transport
from ..collective._rebalance import deal_out_rows, rows_of_shards_before, send_to_ranks
from ..collective._sorted_runs import Dealing
from ..collective._wide_counts import widen
from ..contract._arguments import MAX_SHARD_ROWS, as_static_int, type_of
from ..contract._typing import Array, Int
from ..local import Ragged
from ..local.parts import as_ragged
from ..tiers._tiered import tiered


class DividedRagged(NamedTuple):
    """Pieces of ragged values, with a leading axis of shards, and the segments of each piece."""

    pieces: Ragged
    first_segments: Int[Array, " shards"]
    num_segments: Int[Array, " shards"]


def divide_ragged(
    ragged: Ragged,
    mesh: MeshLike,
    *,
    capacity: int | None = None,
    segment_capacity: int | None = None,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> DividedRagged:
    """Divides ragged values over a mesh: each shard gets whole segments, with as many values.

    Pieces are a batch: `jax.vmap(function)(divided.pieces)` runs a function of `Ragged` on the
    piece of each shard. `collect_ragged` is the way back.

    Args:
        ragged: the values of segments, of any number and capacity.
        mesh: mesh of the pieces.
        capacity: most values of a piece. Static; by default those of all pieces, which always
            suffice.
        segment_capacity: most segments of a piece. Static; by default those of all pieces.
        axis: mesh axis or axes of the pieces; all axes of the mesh by default.
        transport: transport of the values; see `collective.partition`.

    Returns:
        `DividedRagged(pieces, first_segments, num_segments)`, sharded by piece: the segments of
        each piece in order, then empty ones, with values and offsets of shape `(shards, capacity,
        ...)` and `(shards, segment_capacity + 1)`; the number of its first segment; and how many
        segments it has. A number above `segment_capacity` means that segments did not fit, and a
        last offset above `capacity` that values did not.

    Raises:
        TypeError: `ragged` is not `Ragged`, a capacity is traced, or `mesh` is not a mesh.
        ValueError: a capacity is out of range, `transport` is unknown, or `axis` is not an axis of
            the mesh.

    Cost:
        Work O(capacity x value bytes + shards x log(segments)) on each shard. Communication: that
        of `collective.partition` for the values.

    Guarantees:
        Stable; deterministic; differentiable in the values. The number of values of a piece differs
        from an even share by less than the longest segment has.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> ragged = primitives.Ragged.from_lengths(jnp.array([5, 6, 7]), jnp.array([2, 0, 1]))
        >>> divided = primitives.divide_ragged(ragged, shardings.make_mesh(1), capacity=3)
        >>> divided.pieces.values.tolist(), divided.pieces.offsets.tolist()
        ([[5, 6, 7]], [[0, 2, 2, 3]])
    """
    caller = "divide_ragged"
    row_mesh = RowMesh(mesh, axis, caller)
    check_transport(transport, caller)
    ragged = as_ragged(ragged, caller, "ragged")
    num_values = ragged.capacity
    most = num_values if capacity is None else capacity
    most = as_static_int(most, caller, "capacity", 0, MAX_SHARD_ROWS)
    segments = ragged.num_segments if segment_capacity is None else segment_capacity
    segments = as_static_int(segments, caller, "segment_capacity", 0, MAX_SHARD_ROWS)
    values, offsets = row_mesh.place(ragged.values), row_mesh.replicate(ragged.offsets)
    return _divide(values, offsets, row_mesh, num_values, most, segments, transport)


def collect_ragged(
    divided: DividedRagged,
    mesh: MeshLike,
    num_segments: int,
    *,
    capacity: int | None = None,
    axis: str | tuple[str, ...] | None = None,
    transport: Transport = "auto",
) -> Ragged:
    """Collects pieces of ragged values, such as results of each shard, in the order of segments.

    Args:
        divided: pieces in the form of `divide_ragged`. The values and lengths may be other ones,
            the segments may not.
        mesh: mesh of the pieces.
        num_segments: the number of all segments. Static.
        capacity: most values of the result. Static; by default those of all pieces.
        axis: mesh axis or axes of the pieces; all axes of the mesh by default.
        transport: transport of the values; see `collective.partition`.

    Returns:
        The `Ragged` of all segments: values sharded by rows if the mesh divides the capacity, and
        the same offsets on every device.

    Raises:
        TypeError: `divided` is not `DividedRagged`, `capacity` or `num_segments` is traced, or
            `mesh` is not a mesh.
        ValueError: there is not one piece for each shard, `capacity` is out of range, `transport`
            is unknown, or `axis` is not an axis of the mesh.

    Cost:
        Work O(capacity x value bytes + num_segments) on each shard. Communication: that of
        `collective.rebalance` for the values, and one all-reduce of the lengths.

    Guarantees:
        Stable; deterministic; differentiable in the values. Segments and values that did not fit a
        piece are missing.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import primitives, shardings
        >>> mesh = shardings.make_mesh(1)
        >>> ragged = primitives.Ragged.from_lengths(jnp.array([5, 6, 7]), jnp.array([2, 0, 1]))
        >>> divided = primitives.divide_ragged(ragged, mesh)
        >>> back = primitives.collect_ragged(divided, mesh, 3)
        >>> back.values.tolist(), back.offsets.tolist()
        ([5, 6, 7], [0, 2, 2, 3])
    """
    caller = "collect_ragged"
    row_mesh = RowMesh(mesh, axis, caller)
    check_transport(transport, caller)
    num_segments = as_static_int(num_segments, caller, "num_segments", 0, MAX_SHARD_ROWS)
    if not isinstance(divided, DividedRagged):
        raise TypeError(
            f"{caller}: divided must be pieces of divide_ragged, got {type_of(divided)}."
        )
    pieces = divided.pieces
    num_pieces, *_ = pieces.offsets.shape
    if num_pieces != row_mesh.num_shards:
        raise ValueError(
            f"{caller}: divided must have a piece for each of {row_mesh.num_shards} shards, got "
            f"{num_pieces}."
        )
    of_piece = jax.tree.leaves(pieces.values)[0].shape[1]
    most = num_pieces * of_piece if capacity is None else capacity
    most = as_static_int(most, caller, "capacity", 0, MAX_SHARD_ROWS)
    placed = row_mesh.place((pieces.values, pieces.offsets, divided.first_segments))
    return _collect(placed, row_mesh, num_segments, most, transport)


@functools.partial(tiered, static_argnums=(2, 3, 4, 5, 6))
def _divide(
    values: Any,
    offsets: Array,
    row_mesh: RowMesh,
    num_values: int,
    capacity: int,
    segment_capacity: int,
    transport: Transport,
) -> DividedRagged:
    num_shards, shard_rows = row_mesh.num_shards, row_mesh.shard_rows(num_values)
    # Each piece begins with the first segment at or past an even share of the values.
    shard = jax.lax.iota(jnp.int32, num_shards)
    share, rest = offsets[-1] // num_shards, offsets[-1] % num_shards
    starts = shard * share + jnp.minimum(shard, rest)

    def of_shard(values: Any, offsets: Array, starts: Array) -> DividedRagged:
        last = offsets.shape[0] - 1
        firsts = jnp.searchsorted(offsets, starts, side="left").astype(jnp.int32)
        bounds = jnp.append(firsts, np.int32(last))
        own = jax.lax.axis_index(row_mesh.axes)
        first, num_segments = bounds[own], bounds[own + 1] - bounds[own]
        positions = jax.lax.iota(jnp.int32, segment_capacity + 1)
        own_offsets = offsets[first + jnp.minimum(positions, num_segments)] - offsets[first]
        num_valid = jnp.clip(offsets[-1] - own * shard_rows, 0, shard_rows)
        ranks = widen(jnp.minimum(offsets[firsts[1:]], num_values))
        before = rows_of_shards_before(num_valid, row_mesh.axes)
        dealing = Dealing(row_mesh.axes, "full", transport, capacity)
        own_values, _ = send_to_ranks(values, num_valid, before, ranks, dealing)
        piece = DividedRagged(Ragged(own_values, own_offsets), first, num_segments)
        return jax.tree.map(lambda leaf: leaf[None], piece)

    return row_mesh.map(of_shard, values, replicated=(offsets, starts))


@functools.partial(tiered, static_argnums=(1, 2, 3, 4))
def _collect(
    placed: Any, row_mesh: RowMesh, num_segments: int, capacity: int, transport: Transport
) -> Ragged:
    def of_shard(placed: Any) -> tuple[Any, Array]:
        values, offsets, first = jax.tree.map(lambda leaf: leaf[0], placed)
        # Segments past those of a piece are empty.
        room = jnp.zeros(num_segments, jnp.int32)
        positions = first + jax.lax.iota(jnp.int32, offsets.shape[0] - 1)
        lengths = room.at[positions].add(jnp.diff(offsets), mode="drop")
        lengths = jax.lax.psum(lengths, row_mesh.axes)
        dealing = Dealing(row_mesh.axes, "full", transport, row_mesh.shard_rows(capacity))
        rows, _ = deal_out_rows(values, offsets[-1], dealing)
        return rows, lengths

    out_specs = (row_mesh.spec, PartitionSpec())
    values, lengths = shard_map(of_shard, row_mesh.mesh, (row_mesh.spec,), out_specs)(placed)
    return Ragged.from_lengths(row_mesh.trim(values, capacity), lengths)
