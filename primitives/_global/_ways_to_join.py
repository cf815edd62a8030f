# SPDX-License-Identifier: Apache-2.0
"""The ways to join whole arrays outside `jit`, and the choice of one.

Each way knows the number of pairs before it writes them. A direct join reads the match of each row
from a table; see `_direct_join`. A matched join finds the matches of all rows, and then writes the
pairs. A counted join counts the pairs and joins again: over a mesh, where matches do not stay on
their shards, and for `how="cross"`, where the lengths tell.
"""

import functools
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax.sharding import PartitionSpec

from ...shardings._compat import MeshLike, shard_map
from .. import collective
from .._direct_join import DirectJoin, match_directly
from .._over_mesh import RowMesh, ValidSides, as_row_mesh
from .._packed_sides import pack_sides
from ..collective._exchange import Transport
from ..collective._join import join_shards
from ..collective._sorted_runs import Dealing
from ..contract._typing import Array
from ..kernels.join._join import Matches
from ..kernels.join._pair_counts import MOST_PAIRS
from ..local import Joined
from ..local.parts import (
    How,
    KeyedHow,
    KeySides,
    as_sides,
    join_sides,
    match_sides,
    pairs_of_sides,
    size_of_sides,
)
from ..tiers._tiered import tiered


class BothSides(NamedTuple):
    """The checked arguments of a join, on one device or a mesh."""

    sides: KeySides
    how: How
    row_mesh: RowMesh | None
    valid: Any
    transport: Transport

    @property
    def lengths(self) -> tuple[int, int]:
        """The numbers of rows of both sides, padding included."""
        return self.sides.a[0].shape[0], self.sides.b[0].shape[0]

    def joined(self, capacity: int) -> Joined:
        """The pairs, within a capacity."""
        if self.row_mesh is None:
            return _with_narrow_count(Joined(*join_sides(self.sides, self.how, capacity)))
        placed = self.row_mesh.place((self.sides.a, self.sides.b))
        static = self.row_mesh, self.how, capacity, self.lengths, self.transport
        return _with_narrow_count(_join_on_mesh(*placed, self.valid, *static))

    def size(self) -> Array:
        """The number of pairs."""
        if self.row_mesh is None:
            return size_of_sides(self.sides, self.how)
        placed = self.row_mesh.place((self.sides.a, self.sides.b))
        static = self.row_mesh, self.how, self.lengths, self.transport
        return _join_size_on_mesh(*placed, self.valid, *static)


def both_sides(
    left_keys: Any,
    right_keys: Any,
    how: How,
    num_valid: Any,
    mesh: MeshLike | None,
    axis: Any,
    transport: Transport,
    caller: str,
) -> BothSides:
    """Checks the arguments that joins and their sizes share."""
    row_mesh = as_row_mesh(mesh, axis, caller)
    num_shards = 1 if row_mesh is None else row_mesh.num_shards
    on_device = num_valid if row_mesh is None else None
    sides = as_sides(left_keys, right_keys, how, on_device, caller, num_shards)
    both = BothSides(sides, how, row_mesh, None, transport)
    if row_mesh is None:
        return both
    return both._replace(valid=row_mesh.valid_rows_of_sides(num_valid, both.lengths, caller))


class MatchedJoin(NamedTuple):
    """A join whose matches are found, on one device."""

    matches: Matches
    num_pairs: int
    how: KeyedHow

    def pairs(self, capacity: int) -> Joined:
        """Writes the pairs."""
        return _pairs(self.matches, self.how, capacity)


class CountedJoin(NamedTuple):
    """A join whose pairs are counted."""

    both: BothSides
    num_pairs: int

    def pairs(self, capacity: int) -> Joined:
        """Joins within the capacity."""
        return self.both.joined(capacity)


def way_to_join(both: BothSides) -> DirectJoin | MatchedJoin | CountedJoin:
    """Chooses the way of a join of concrete arrays."""
    how = both.how
    if both.row_mesh is not None or how == "cross":
        return CountedJoin(both, int(both.size()))
    sides = pack_sides(both.sides)
    direct = match_directly(sides, how)
    if direct is not None:
        return direct
    matches = match_sides(sides, how)
    return MatchedJoin(matches, matches.total.item(), how)


def _with_narrow_count(joined: Joined) -> Joined:
    return joined._replace(count=_narrow_count(joined.count))


@tiered
def _narrow_count(count: Array) -> Array:
    return jnp.minimum(count, count.dtype.type(MOST_PAIRS)).astype(jnp.int32)


@functools.partial(tiered, static_argnums=(1, 2))
def _pairs(matches: Matches, how: KeyedHow, capacity: int) -> Joined:
    return Joined(*pairs_of_sides(matches, how, capacity))


@functools.partial(tiered, static_argnums=(3, 4, 5, 6, 7))
def _join_on_mesh(
    left: tuple[Array, ...],
    right: tuple[Array, ...],
    valid: ValidSides,
    row_mesh: RowMesh,
    how: How,
    capacity: int,
    lengths: tuple[int, int],
    transport: Transport,
) -> Joined:
    dealing = Dealing(row_mesh.axes, "full", transport, row_mesh.shard_rows(capacity))

    def of_shard(left: tuple[Array, ...], right: tuple[Array, ...], valid: ValidSides) -> Any:
        sides = KeySides(left, right, *row_mesh.num_valid_of_sides(lengths, valid))
        pairs = join_shards(sides, how, dealing)
        return (pairs.left_rows, pairs.right_rows), (pairs.total, *pairs.num_unmatched)

    in_specs = (row_mesh.spec, row_mesh.spec, PartitionSpec())
    out_specs = (row_mesh.spec, PartitionSpec())
    rows, counts = shard_map(of_shard, row_mesh.mesh, in_specs, out_specs)(left, right, valid)
    left_rows, right_rows = row_mesh.trim(rows, capacity)
    return Joined(left_rows, right_rows, *counts)


@functools.partial(tiered, static_argnums=(3, 4, 5, 6))
def _join_size_on_mesh(
    left: tuple[Array, ...],
    right: tuple[Array, ...],
    valid: ValidSides,
    row_mesh: RowMesh,
    how: How,
    lengths: tuple[int, int],
    transport: Transport,
) -> Array:
    def of_shard(left: tuple[Array, ...], right: tuple[Array, ...], valid: ValidSides) -> Array:
        return collective.join_size(
            left,
            right,
            axis_name=row_mesh.axes,
            how=how,
            num_valid=row_mesh.num_valid_of_sides(lengths, valid),
            transport=transport,
        )

    return row_mesh.map_to_all(of_shard, left, right, replicated=(valid,))
