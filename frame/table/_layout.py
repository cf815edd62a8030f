# SPDX-License-Identifier: Apache-2.0
"""Where the rows of a frame lie, and how many there is room for."""

from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ...shardings._row_axes import RowAxes

LEAST_CAPACITY = 64


def in_steps(size: int) -> int:
    """The least positive number, of four for each power of two, that is at least `size`."""
    step = 1 << max((size - 1).bit_length() - 3, 0)
    return max(-(-size // step) * step, 1)


class Layout(RowAxes):
    """The row axes of a frame, with the frame's choice of capacities and shardings.

    Rows are packed to the front: the first `num_rows` rows of an array are valid, on whichever
    shard they lie, and the rest is padding. Every array of a frame has the same capacity.
    """

    # Of devices at hand, never abstract.
    mesh: Mesh | None

    def capacity_for(self, num_rows: int) -> int:
        """The least capacity, of four for each power of two, that holds `num_rows`.

        Frames of nearby lengths have equal capacities, and so share compiled programs.
        """
        capacity = max(in_steps(num_rows), LEAST_CAPACITY)
        return -(-capacity // self.num_shards) * self.num_shards

    def place(self, rows: Any) -> jax.Array:
        """Puts a whole array of a frame's capacity where its rows belong."""
        sharding = self.sharding
        if sharding is None:
            return jax.numpy.asarray(rows)
        if isinstance(rows, np.ndarray):
            return jax.make_array_from_callback(rows.shape, sharding, lambda piece: rows[piece])
        return jax.device_put(rows, sharding)

    def constrain(self, rows: Any) -> Any:
        """Inside a compiled function: says that rows lie on the mesh."""
        sharding = self.sharding
        if sharding is None:
            return rows
        if not self.is_explicit:
            return jax.lax.with_sharding_constraint(rows, sharding)
        return self._reshard(rows, sharding)

    def on_every_device(self, rows: Any) -> Any:
        """Inside a compiled function: says under explicit axes that every device has all rows.

        Under Auto axes XLA finds a place for them.
        """
        if self.mesh is None or not self.is_explicit:
            return rows
        return self._reshard(rows, NamedSharding(self.mesh, PartitionSpec()))

    def trim(self, rows: jax.Array, num_rows: int) -> jax.Array:
        """The first rows of an array, which under explicit axes every device has where the mesh
        does not divide them.
        """
        if not self.is_explicit:
            return rows[:num_rows]
        if num_rows % self.num_shards:
            rows = self.on_every_device(rows)
        return jax.lax.slice_in_dim(rows, 0, num_rows)

    def _reshard(self, rows: Any, sharding: NamedSharding) -> Any:
        everywhere = NamedSharding(sharding.mesh, PartitionSpec())

        def place(leaf: Any) -> Any:
            if jax.typeof(leaf).sharding.mesh.empty:
                # Made here of nothing that lies on the mesh, from which JAX would know the devices.
                leaf = jax.lax.with_sharding_constraint(leaf, everywhere)
            return jax.sharding.reshard(leaf, sharding)

        return jax.tree.map(place, rows)


ONE_DEVICE = Layout()


def layout_of(sharding: Any, caller: str) -> Layout:
    """The layout that a `sharding=` argument asks for."""
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
            f"{caller}: sharding must cut rows and nothing else, got {sharding.spec}. "
            "Make one with jaxframes.shardings.row_sharded(mesh)."
        )
    axis = sharding.spec[0]
    return Layout(sharding.mesh, axis if isinstance(axis, tuple) else (axis,))
