# SPDX-License-Identifier: Apache-2.0
"""Runs collectives on whole arrays, padded to a multiple of the number of shards."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.sharding import AbstractMesh, Mesh, NamedSharding, PartitionSpec

from ..shardings._compat import MeshLike, shard_map
from ..shardings._mesh import row_axes
from ..shardings._row_axes import RowAxes
from .contract._arguments import as_pair, as_static_int, check_num_valid, type_of
from .contract._custom_jvp import custom_jvp
from .contract._typing import Array, ArrayLike
from .tiers._tiered import tiered


class ValidRows(NamedTuple):
    """The number of valid rows of a whole array: `full_shards` full shards, then `rest` rows.

    Two numbers, so that each fits 32 bits for any number of rows.
    """

    full_shards: ArrayLike
    rest: ArrayLike


ValidSides: TypeAlias = tuple[ValidRows | None, ValidRows | None]


class RowMesh(RowAxes):
    """The row axes of a global call on whole arrays: padding, valid rows and `shard_map`."""

    # Never None here.
    mesh: MeshLike

    def __init__(self, mesh: Any, axis: str | tuple[str, ...] | None, caller: str):
        if not isinstance(mesh, (Mesh, AbstractMesh)):
            raise TypeError(
                f"{caller}: mesh must be a jax.sharding.Mesh, or None for one device, "
                f"got {type_of(mesh)}. Make one with jaxframes.shardings.make_mesh()."
            )
        super().__init__(mesh, row_axes(mesh, axis, caller))

    def shard_rows(self, num_rows: int) -> int:
        """The number of rows of each shard, padding included."""
        return -(-num_rows // self.num_shards)

    def valid_rows(self, num_valid: Any, num_rows: int, caller: str) -> ValidRows | None:
        """Validates `num_valid` of a whole array; None means that all rows are valid."""
        if num_valid is None:
            return None
        capacity = self.shard_rows(num_rows)
        if not isinstance(num_valid, jax.Array):
            count = as_static_int(num_valid, caller, "num_valid", 0, num_rows)
            shares = divmod(count, capacity) if capacity else (0, 0)
            return ValidRows(*(np.array(share, np.int32) for share in shares))
        check_num_valid(num_valid, caller)
        shares = _in_shards(num_valid, num_rows, capacity)
        if isinstance(num_valid, Tracer):
            return shares
        return jax.device_put(shares, NamedSharding(self.mesh, PartitionSpec()))

    def valid_rows_of_sides(
        self, num_valid: Any, lengths: tuple[int, int], caller: str
    ) -> ValidSides:
        """`valid_rows` of both sides of a pair."""
        of_a, of_b = as_pair(num_valid, caller, "num_valid")
        return self.valid_rows(of_a, lengths[0], caller), self.valid_rows(of_b, lengths[1], caller)

    def num_valid(self, num_rows: int, valid: ValidRows | None = None) -> Array:
        """Inside `shard_map`: the number of valid rows of this shard, at its front."""
        capacity = self.shard_rows(num_rows)
        if valid is None:
            full_shards, rest = divmod(num_rows, capacity) if capacity else (0, 0)
        else:
            full_shards, rest = valid
        shard = jax.lax.axis_index(self.axes)
        return jnp.where(
            shard < full_shards, capacity, jnp.where(shard == full_shards, rest, 0)
        ).astype(jnp.int32)

    def num_valid_of_sides(
        self, lengths: tuple[int, int], valid: ValidSides
    ) -> tuple[Array, Array]:
        """`num_valid` of both sides of a pair."""
        return self.num_valid(lengths[0], valid[0]), self.num_valid(lengths[1], valid[1])

    def place(self, rows: Any) -> Any:
        """Pads the leaves to a multiple of the number of shards, and shards them over the mesh."""
        return jax.tree.map(self._place, rows)

    def _place(self, rows: Any) -> Any:
        padding = -rows.shape[0] % self.num_shards
        sharding = NamedSharding(self.mesh, self.spec)
        is_traced = isinstance(rows, Tracer)
        if not is_traced:
            rows = _on_host(rows)
        if isinstance(rows, np.ndarray):
            # The memory of the host is divided without a program.
            rows = np.pad(rows, ((0, padding), *((0, 0),) * (rows.ndim - 1))) if padding else rows
        elif padding:
            if is_traced and self.is_explicit:
                rows = jax.sharding.reshard(rows, NamedSharding(self.mesh, PartitionSpec()))
            rows = self._padded(rows, padding)
        if not is_traced:
            return jax.device_put(rows, sharding)
        if self.is_explicit:
            return jax.sharding.reshard(rows, sharding)
        # Under Auto axes shard_map itself decides the sharding of the rows.
        return rows

    def _padded(self, rows: Array, padding: int) -> Array:
        replicated = NamedSharding(self.mesh, PartitionSpec())

        def pad(leaf: Array) -> Array:
            if rows.dtype == jnp.bfloat16 and isinstance(leaf, Tracer):
                # Otherwise XLA shards the rows before the bitcast, and pads them for it.
                leaf = jax.lax.with_sharding_constraint(leaf, replicated)
            return jnp.pad(leaf, ((0, padding), *((0, 0),) * (leaf.ndim - 1)))

        return _with_bits_kept(pad, rows)

    def trim(self, rows: Any, num_rows: int) -> Any:
        """Keeps the first `num_rows` rows.

        JAX cannot shard a length that is not a multiple of the number of shards; such a result is
        replicated.
        """
        is_sharded = num_rows % self.num_shards == 0
        sharding = NamedSharding(self.mesh, self.spec if is_sharded else PartitionSpec())

        def trim_leaf(leaf: Array) -> Array:
            if self.is_explicit:
                if leaf.shape[0] % self.num_shards:
                    # Replicated, as JAX cannot shard it; its first rows may be sharded.
                    return jax.sharding.reshard(leaf[:num_rows], sharding)
                return jax.sharding.reshard(leaf, sharding)[:num_rows]
            return jax.lax.with_sharding_constraint(leaf[:num_rows], sharding)

        def trim_if_longer(leaf: Array) -> Array:
            return leaf if leaf.shape[0] == num_rows else _with_bits_kept(trim_leaf, leaf)

        return jax.tree.map(trim_if_longer, rows)

    def map(self, function: Callable[..., Any], *rows: Any, replicated: Any = ()) -> Any:
        """Runs a collective on rows that are sharded over the mesh; so are its results."""
        in_specs = (*(self.spec for _ in rows), *(PartitionSpec() for _ in replicated))
        return shard_map(function, self.mesh, in_specs, self.spec)(*rows, *replicated)

    def replicate(self, arrays: Any) -> Any:
        """Places small arrays on every device."""
        sharding = NamedSharding(self.mesh, PartitionSpec())

        def replicate_leaf(leaf: Any) -> Any:
            if not isinstance(leaf, Tracer):
                return jax.device_put(leaf, sharding)
            # Under Auto axes shard_map itself decides the sharding.
            return jax.sharding.reshard(leaf, sharding) if self.is_explicit else leaf

        return jax.tree.map(replicate_leaf, arrays)

    def map_to_all(self, function: Callable[..., Any], *rows: Any, replicated: Any = ()) -> Any:
        """Runs a collective with replicated results."""
        in_specs = (*(self.spec for _ in rows), *(PartitionSpec() for _ in replicated))
        return shard_map(function, self.mesh, in_specs, PartitionSpec())(*rows, *replicated)

    def map_to_segments(
        self,
        function: Callable[..., Any],
        rows: Any,
        replicated: Any,
        num_segments: int,
        scattered: bool,
    ) -> Any:
        """Runs a collective with a result for each segment: on every device, or sharded."""
        if not scattered:
            return self.map_to_all(function, rows, replicated=replicated)
        return self.trim(self.map(function, rows, replicated=replicated), num_segments)


def as_row_mesh(mesh: Any, axis: str | tuple[str, ...] | None, caller: str) -> RowMesh | None:
    """Checks the mesh and axis of a global call; returns None for one device."""
    if mesh is not None:
        return RowMesh(mesh, axis, caller)
    if axis is not None:
        raise ValueError(
            f"{caller}: axis must be None without a mesh, got {axis!r}. Pass the mesh that has "
            "this axis."
        )
    return None


def _on_host(rows: Any) -> Any:
    """An array of one CPU device in the memory of the host, without a copy; others as they are."""
    is_array = isinstance(rows, jax.Array) and not jnp.issubdtype(rows.dtype, jax.dtypes.extended)
    if not is_array or len(devices := rows.devices()) > 1:
        return rows
    return np.asarray(rows) if next(iter(devices)).platform == "cpu" else rows


@functools.partial(tiered, static_argnums=(1, 2))
def _in_shards(num_valid: Array, num_rows: int, capacity: int) -> ValidRows:
    if num_valid.dtype.itemsize < 4:
        # A narrow integer cannot hold the limits.
        num_valid = num_valid.astype(jnp.int32)
    limit = min(num_rows, jnp.iinfo(num_valid.dtype).max)
    count = jnp.clip(num_valid, 0, limit)
    shares = divmod(count, count.dtype.type(max(capacity, 1)))
    return ValidRows(*(share.astype(jnp.int32) for share in shares))


def _with_bits_kept(move: Callable[[Array], Array], rows: Array) -> Array:
    # XLA may assemble the pieces of an array by adding zeros, which turns -0.0 into 0.0 and
    # rewrites NaNs. On CPU it moves bfloat16 through float32, which rewrites NaNs too.
    return _move_bits(move, rows) if jnp.issubdtype(rows.dtype, jnp.inexact) else move(rows)


@functools.partial(custom_jvp, nondiff_argnums=(0,))
def _move_bits(move: Callable[[Array], Array], rows: Array) -> Array:
    if jnp.issubdtype(rows.dtype, jnp.complexfloating):
        return jax.lax.complex(_move_bits(move, rows.real), _move_bits(move, rows.imag))
    words = move(jax.lax.bitcast_convert_type(rows, f"uint{8 * rows.dtype.itemsize}"))
    return jax.lax.bitcast_convert_type(words, rows.dtype)


@_move_bits.defjvp
def _move_tangents(
    move: Callable[[Array], Array], primals: tuple[Array], tangents: tuple[Array], moved: Array
) -> Array:
    del primals, moved
    return move(*tangents)
