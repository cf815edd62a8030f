# SPDX-License-Identifier: Apache-2.0
"""Ragged values: those of segments of different lengths, one segment after the other."""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from ...shardings._compat import explicit_sharding
from ..contract._arguments import (
    MAX_SHARD_ROWS,
    as_capacity,
    as_row_ids,
    as_rows,
    as_static_int,
    as_tree,
    num_rows_of,
    type_of,
)
from ..contract._typing import Array, ArrayLike, Int, Integer, PyTree
from ..tiers._tiered import tiered
from ._bucket import bucket
from ._concatenate import as_pieces, pack_pieces
from ._gather_rows import gather_rows
from ._repeat_rows import as_repeats, repeat_rows


@tiered
def offsets_of(lengths: Array) -> Array:
    """The sum of the lengths before each segment, then that of all.

    There is one more than segments, so they are not divided over an explicit axis.
    """
    if sharding := explicit_sharding(lengths):
        lengths = jax.reshard(lengths, NamedSharding(sharding.mesh, PartitionSpec()))
    ends = jnp.cumsum(lengths, dtype=jnp.int32)
    return jnp.concatenate([jnp.zeros(1, jnp.int32), ends])


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Ragged:
    """Values of segments of different lengths, one segment after the other. A pytree.

    The capacity is static, so ragged values pass `jit`; lengths are traced. Segment ops take
    `values` and `segment_ids`.

    Attributes:
        values: any pytree of arrays with the same leading axis, the capacity.
        offsets: the position of the first value of each segment, then the number of values, int32
            of shape `(segments + 1,)`. More values than the capacity means that some did not fit.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> ragged = local.Ragged.from_lengths(jnp.array([5, 6, 7]), jnp.array([2, 0, 1]))
        >>> ragged.segment_ids.tolist(), ragged.to_padded(2).tolist()
        ([0, 0, 2], [[5, 6], [0, 0], [7, 0]])
    """

    values: PyTree
    offsets: Int[Array, " segments_and_one"]

    @classmethod
    def from_lengths(cls, values: PyTree, lengths: Integer[ArrayLike, " segments"]) -> "Ragged":
        """Ragged values from the number of values of each segment; later values are padding.

        Cost:
            Work O(segments).
        """
        caller = "Ragged.from_lengths"
        values = as_rows(values, num_rows_of(values, caller, "values"), caller)
        return cls(values, offsets_of(as_repeats(lengths, caller, "lengths")))

    @classmethod
    def from_segment_ids(
        cls, values: PyTree, segment_ids: Integer[ArrayLike, " values"], num_segments: int
    ) -> "Ragged":
        """Ragged values from the segment of each value, in any order; see `bucket`.

        Values with an id outside `[0, num_segments)` are padding.
        """
        grouped = bucket(values, segment_ids, num_segments)
        return cls(grouped.rows, grouped.offsets)

    @property
    def num_segments(self) -> int:
        """The number of segments. Static."""
        return self.offsets.shape[0] - 1

    @property
    def capacity(self) -> int:
        """The number of values, padding included. Static."""
        return num_rows_of(self.values, "Ragged", "values")

    @property
    def lengths(self) -> Int[Array, " segments"]:
        """The number of values of each segment."""
        return jnp.diff(self.offsets)

    @property
    def count(self) -> Int[Array, ""]:
        """The number of values of all segments, even past the capacity."""
        return self.offsets[-1]

    @property
    def segment_ids(self) -> Int[Array, " capacity"]:
        """The segment of each value; -1 in padding, which segment ops drop."""
        return repeat_rows(self.lengths, capacity=self.capacity).row_ids

    @property
    def positions(self) -> Int[Array, " capacity"]:
        """The position of each value in its segment; 0 in padding."""
        return repeat_rows(self.lengths, capacity=self.capacity).copies

    def with_values(self, values: PyTree) -> "Ragged":
        """Other values of the same segments, such as embeddings of tokens."""
        caller = "Ragged.with_values"
        return Ragged(as_rows(values, self.capacity, caller), self.offsets)

    def take(
        self, segment_ids: Integer[ArrayLike, " taken"], *, capacity: int | None = None
    ) -> "Ragged":
        """Gathers whole segments; an id out of range gives an empty one.

        Args:
            segment_ids: the segments, integers of shape `(taken,)`.
            capacity: most values of the result. Static; that of these values by default.

        Guarantees:
            Deterministic; differentiable in `values`: the cotangent of a value is the sum over all
            its copies.

        Cost:
            Work O(segments + capacity x value bytes).
        """
        caller = "Ragged.take"
        ids = as_row_ids(segment_ids, caller, "segment_ids")
        most = self.capacity if capacity is None else capacity
        most = as_static_int(most, caller, "capacity", 0, MAX_SHARD_ROWS)
        starts, lengths = gather_rows((self.offsets[:-1], self.lengths), ids)
        repeated = repeat_rows(lengths, capacity=most)
        (first,) = gather_rows((starts,), repeated.row_ids)
        sources = jnp.where(repeated.row_ids < 0, np.int32(-1), first + repeated.copies)
        return Ragged(gather_rows(self.values, sources), offsets_of(lengths))

    def to_padded(self, length: int, *, fill_value: Any = 0) -> PyTree:
        """The values as arrays of shape `(segments, length, ...)`, cut off at the length.

        Guarantees:
            Deterministic; differentiable in `values`.

        Cost:
            Work O(segments x length x value bytes).
        """
        length = as_static_int(length, "Ragged.to_padded", "length", 0, MAX_SHARD_ROWS)
        positions = jnp.arange(length, dtype=jnp.int32)[None, :]
        is_value = positions < self.lengths[:, None]
        sources = jnp.where(is_value, self.offsets[:-1, None] + positions, np.int32(-1))
        rows = gather_rows(self.values, sources.reshape(-1), fill_value=fill_value)
        shape = (self.num_segments, length)
        return jax.tree.map(lambda leaf: leaf.reshape(*shape, *leaf.shape[1:]), rows)

    @classmethod
    def from_padded(
        cls, rows: PyTree, lengths: Integer[ArrayLike, " segments"], *, capacity: int
    ) -> "Ragged":
        """Ragged values from arrays of shape `(segments, length, ...)`; see `to_padded`.

        A segment has the first values of its row.
        """
        caller = "Ragged.from_padded"
        rows = as_tree(rows, caller, "rows")
        leaves = jax.tree.leaves(rows)
        if len({leaf.shape[:2] for leaf in leaves}) != 1 or leaves[0].ndim < 2:
            raise ValueError(
                f"{caller}: rows must be arrays of shape (segments, length, ...), got "
                f"{', '.join(map(type_of, leaves)) or 'none'}."
            )
        num_segments, length = leaves[0].shape[:2]
        lengths = jnp.minimum(as_repeats(lengths, caller, "lengths"), length)
        if lengths.shape[0] != num_segments:
            raise ValueError(
                f"{caller}: lengths must have one entry for each of the {num_segments} segments, "
                f"got {type_of(lengths)}."
            )
        capacity = as_static_int(capacity, caller, "capacity", 0, MAX_SHARD_ROWS)
        repeated = repeat_rows(lengths, capacity=capacity)
        sources = jnp.where(
            repeated.row_ids < 0, np.int32(-1), repeated.row_ids * length + repeated.copies
        )
        flat = jax.tree.map(lambda leaf: leaf.reshape(num_segments * length, *leaf.shape[2:]), rows)
        return cls.from_lengths(gather_rows(flat, sources), lengths)

    def map_segments(
        self, function: Callable[[PyTree, Array], PyTree], length: int, *, fill_value: Any = 0
    ) -> PyTree:
        """Applies a function to each segment by `vmap`; returns its results, stacked.

        Args:
            function: takes the values of a segment, padded to `length`, and their number.
            length: most values of a segment. Static.
            fill_value: the padding.
        """
        padded = self.to_padded(length, fill_value=fill_value)
        return jax.vmap(function)(padded, jnp.minimum(self.lengths, length))

    @classmethod
    def concatenate(cls, pieces: Sequence["Ragged"], *, capacity: int | None = None) -> "Ragged":
        """The segments of several pieces, one piece after the other.

        Args:
            pieces: ragged values of the same structure and dtypes. Values that did not fit a piece
                are zeros.
            capacity: most values of the result. Static; by default those of all pieces.
        """
        caller = "Ragged.concatenate"
        pieces = [as_ragged(piece, caller, "each piece") for piece in pieces]
        values, _ = as_pieces([piece.values for piece in pieces], None, caller)
        most = as_capacity(capacity, sum(piece.capacity for piece in pieces), caller)
        offsets = offsets_of(jnp.concatenate([piece.lengths for piece in pieces]))
        return cls(_packed(values, [piece.count for piece in pieces], most), offsets)


def as_ragged(value: Any, caller: str, name: str) -> Ragged:
    """Checks that an argument is ragged values."""
    if not isinstance(value, Ragged):
        raise TypeError(
            f"{caller}: {name} must be Ragged, got {type_of(value)}. Make one with "
            "Ragged.from_lengths."
        )
    return value


@functools.partial(tiered, static_argnums=2)
def _packed(pieces: list[PyTree], spans: list[Array], capacity: int) -> PyTree:
    """The values of pieces. Each takes as many rows as it counts, with zeros for missing ones."""
    lengths = [jax.tree.leaves(piece)[0].shape[0] for piece in pieces]
    counts = [jnp.minimum(span, length) for span, length in zip(spans, lengths, strict=True)]
    return pack_pieces(pieces, counts, capacity, spans).rows
