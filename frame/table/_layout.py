# SPDX-License-Identifier: Apache-2.0
"""Sharding and capacity of the rows of a frame."""

import functools
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ...primitives._in_shared_memory import runs_on_one_device
from ...primitives._sized import in_steps
from ...primitives.staging import tiered
from ...primitives.tiers._placing import on_device
from ...shardings._row_axes import RowAxes

# Frames of few rows share their programs.
LEAST_CAPACITY = 64

# Every device of a mesh holds the results of at most so many groups, or of a quarter as many as it
# has rows, if that is more: fewer and simpler messages. Results of more groups are sharded.
FEW_GROUPS = 4096


class Layout(RowAxes):
    """The row axes of a frame, with the frame's choice of capacities and shardings.

    Rows are packed to the front: the first `num_rows` rows of an array are valid, on whichever
    shard they lie, and the rest is padding. Every array of a frame has the same capacity.
    """

    # Always concrete, never an abstract mesh.
    mesh: Mesh | None

    def capacity_for(self, num_rows: int) -> int:
        """Rounds a number of rows up to a capacity, four per power of two.

        Frames of similar lengths have equal capacities and share compiled programs.
        """
        capacity = max(in_steps(num_rows, 4), LEAST_CAPACITY)
        return self.divisible(capacity)

    def divisible(self, num_rows: int) -> int:
        """The least capacity of so many rows that the shards divide evenly."""
        return -(-num_rows // self.num_shards) * self.num_shards

    def holds_groups(self, num_groups: int, num_rows: int) -> bool:
        """Whether every device holds an array with an element for each group.

        Otherwise such arrays are sharded like rows. `num_rows` is the capacity of the grouped rows.
        """
        return self.mesh is None or num_groups <= self.most_groups(num_rows)

    def most_groups(self, num_rows: int) -> int:
        """The most groups of so many rows that every device holds."""
        return max(FEW_GROUPS, num_rows // (4 * self.num_shards))

    @property
    def sends_rows(self) -> bool:
        """Whether rows meet by messages: those of a mesh, unless one memory has all of them."""
        return self.mesh is not None and not runs_on_one_device(self.mesh)

    @property
    def spans_processes(self) -> bool:
        """Whether other processes have some of the rows."""
        if self.mesh is None:
            return False
        return any(one.process_index != jax.process_index() for one in self.mesh.devices.flat)

    def place(self, rows: object) -> jax.Array:
        """Places an array of a frame's capacity on the devices of its rows."""
        sharding = self.sharding
        if sharding is None:
            (placed,) = on_device([rows])
            return placed
        if isinstance(rows, np.ndarray):
            return jax.make_array_from_callback(rows.shape, sharding, lambda piece: rows[piece])
        return jax.device_put(rows, sharding)

    def constrain(self, rows: object) -> Any:
        """Constrains traced rows to the sharding of the layout."""
        sharding = self.sharding
        if sharding is None:
            return rows
        if not self.is_explicit:
            return jax.lax.with_sharding_constraint(rows, sharding)
        return self._reshard(rows, sharding)

    def on_every_device(self, rows: object) -> Any:
        """Replicates traced rows under Explicit axes; under Auto axes XLA decides."""
        if self.mesh is None or not self.is_explicit:
            return rows
        return self._reshard(rows, NamedSharding(self.mesh, PartitionSpec()))

    def trim(self, rows: jax.Array, num_rows: int) -> jax.Array:
        """The first rows, sharded if the mesh divides their number, else on every device."""
        if self.mesh is None or num_rows == rows.shape[0]:
            return rows[:num_rows]
        if num_rows % self.num_shards:
            return jax.lax.slice_in_dim(self.on_every_device(rows), 0, num_rows)
        if self.is_explicit:
            return jax.lax.slice_in_dim(rows, 0, num_rows)
        return _first_rows(rows, num_rows, self)

    def _reshard(self, rows: object, sharding: NamedSharding) -> Any:
        everywhere = NamedSharding(sharding.mesh, PartitionSpec())

        def place(leaf: object) -> Any:
            if jax.typeof(leaf).sharding.mesh.empty:
                # Computed from no array on the mesh, so JAX does not know the devices.
                leaf = jax.lax.with_sharding_constraint(leaf, everywhere)
            return jax.sharding.reshard(leaf, sharding)

        return jax.tree.map(place, rows)


@functools.partial(tiered, static_argnums=(1, 2))
def _first_rows(rows: jax.Array, num_rows: int, layout: Layout) -> jax.Array:
    # Unless it is told, XLA gives every device all rows.
    return layout.constrain(jax.lax.slice_in_dim(rows, 0, num_rows))


def padded(values: np.ndarray, capacity: int, fill: Any = 0) -> np.ndarray:
    """A copy of values of the host, padded to a capacity."""
    result = np.empty(capacity, values.dtype)
    result[: len(values)], result[len(values) :] = values, fill
    return result


class _OnHost(Layout):
    """No device: arrays stay on the host, as arguments of a compiled function."""

    def place(self, rows: object) -> Any:
        """The array itself."""
        return rows


ONE_DEVICE, ON_HOST = Layout(), _OnHost()


def layout_of(sharding: object, caller: str) -> Layout:
    """Converts a `sharding=` argument to a layout."""
    if sharding is None:
        return ONE_DEVICE
    if isinstance(sharding, Layout):
        return sharding
    if not isinstance(sharding, NamedSharding) or not isinstance(sharding.mesh, Mesh):
        raise TypeError(
            f"{caller}: sharding must be a jax.sharding.NamedSharding, got {sharding!r}. "
            "Make one with jaxframes.shardings.row_sharded(mesh)."
        )
    if len(sharding.spec) != 1 or sharding.spec[0] is None:
        raise ValueError(
            f"{caller}: sharding must partition the rows only, got {sharding.spec}. "
            "Make one with jaxframes.shardings.row_sharded(mesh)."
        )
    axis = sharding.spec[0]
    return Layout(sharding.mesh, axis if isinstance(axis, tuple) else (axis,))
