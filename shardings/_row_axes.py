# SPDX-License-Identifier: Apache-2.0
"""The mesh axes that rows are sharded along: the static half of a row layout."""

import dataclasses
from typing import Any

from jax.sharding import NamedSharding, PartitionSpec

from ._compat import MeshLike, has_explicit_axes
from ._mesh import num_shards, row_sharded


@dataclasses.dataclass(frozen=True)
class RowAxes:
    """A mesh and the mesh axes of the rows, or one device. Hashable: static under `jit`.

    `RowLayout` adds a capacity and counts. Global calls and frames add methods to it, but no data,
    so that rows on a mesh are described in one way.

    Attributes:
        mesh: the mesh; None for one device.
        axes: mesh axes of the rows, the slowest first.
    """

    mesh: MeshLike | None = None
    axes: tuple[str, ...] = ()

    @property
    def num_shards(self) -> int:
        """The number of shards of the rows."""
        return 1 if self.mesh is None else num_shards(self.mesh, self.axes)

    @property
    def spec(self) -> PartitionSpec:
        """The partition spec of rows that are sharded along the axes."""
        return PartitionSpec(self.axes)

    @property
    def sharding(self) -> NamedSharding | None:
        """The sharding of rows; None on one device."""
        return None if self.mesh is None else row_sharded(self.mesh, self.axes)

    @property
    def is_explicit(self) -> bool:
        """Whether array types contain the sharding of the rows."""
        return self.mesh is not None and has_explicit_axes(self.mesh, self.axes)

    @property
    def on_mesh(self) -> dict[str, Any]:
        """The arguments `mesh` and `axis` of a global call; none on one device."""
        return {} if self.mesh is None else {"mesh": self.mesh, "axis": self.axes}
