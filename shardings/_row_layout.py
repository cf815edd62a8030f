# SPDX-License-Identifier: Apache-2.0
"""The layout of rows on a mesh: `capacity` rows on each shard, with valid rows first."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding

from ._compat import MeshLike
from ._mesh import replicated, row_axes, row_sharded
from ._row_axes import RowAxes


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class RowLayout:
    """The layout of rows on a mesh.

    An array in this layout has `num_shards * capacity` rows. Shard `i` holds the `capacity` rows
    from `i * capacity` on; the first `counts[i]` of them are valid, the others are padding.

    A pytree: `counts` is data, the other fields are static, so a layout passes through `jax.jit`
    and frames of any length share compiled code if their capacities agree.

    Attributes:
        mesh: the mesh.
        axis: mesh axes of the rows, the slowest first.
        capacity: number of rows of each shard, padding included.
        counts: number of valid rows of each shard, int32 of shape `(num_shards,)`, sharded by rows,
            so that each shard holds its own.

    Raises:
        ValueError: `axis` is not an axis of the mesh.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import shardings
        >>> mesh = shardings.make_mesh(1)
        >>> layout = shardings.RowLayout(mesh, ("rows",), 4, jnp.array([3], jnp.int32))
        >>> layout.num_shards, layout.num_rows
        (1, 3)
        >>> layout.is_valid().tolist()
        [True, True, True, False]
    """

    mesh: MeshLike = dataclasses.field(metadata={"static": True})
    axis: tuple[str, ...] = dataclasses.field(metadata={"static": True})
    capacity: int = dataclasses.field(metadata={"static": True})
    counts: jax.Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", row_axes(self.mesh, self.axis, "RowLayout"))

    @property
    def _row_axes(self) -> RowAxes:
        """The static description that global calls and frames share."""
        return RowAxes(self.mesh, self.axis)

    @property
    def num_shards(self) -> int:
        """The number of shards."""
        return self._row_axes.num_shards

    @property
    def sharding(self) -> NamedSharding:
        """The sharding of arrays in this layout."""
        return row_sharded(self.mesh, self.axis)

    @property
    def num_rows(self) -> int:
        """The number of valid rows on all shards, exact past 2^31.

        Waits for `counts`. With several processes all of them must call it.
        """
        counts = self.counts
        if isinstance(counts, jax.Array) and not counts.is_fully_addressable:
            counts = jax.device_put(counts, replicated(self.mesh))
        return int(np.asarray(counts).astype(np.int64).sum())

    def is_valid(self) -> jax.Array:
        """Flags the valid rows, bool of shape `(num_shards * capacity,)`."""

        def is_valid(counts: jax.Array) -> jax.Array:
            return jax.lax.iota(jnp.int32, self.capacity) < counts

        spec = self._row_axes.spec
        return jax.shard_map(is_valid, mesh=self.mesh, in_specs=spec, out_specs=spec)(self.counts)
