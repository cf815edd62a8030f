# SPDX-License-Identifier: Apache-2.0
"""Even sharding of the rows of whole arrays."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.sharding import NamedSharding

from ._arguments import as_capacity, as_rows
from ._compat import MeshLike, has_explicit_axes
from ._mesh import num_shards, replicated, row_axes, row_sharded
from ._row_layout import RowLayout


class ShardedRows(NamedTuple):
    """Rows on a mesh and their layout."""

    rows: Any
    layout: RowLayout


def shard_rows(
    rows: Any,
    mesh: MeshLike,
    axis: str | tuple[str, ...] | None = None,
    *,
    capacity: int | None = None,
) -> ShardedRows:
    """Shards rows evenly over a mesh, with padding after the last row.

    The rows keep their order: shard 0 gets the first `capacity` rows, shard 1 the next, and the
    last shards may be partly or completely empty. Padding is zero, and the counts give its start.

    Args:
        rows: a pytree of arrays with the same leading axis. A NumPy array is sent to the devices in
            pieces, never as a whole.
        mesh: the mesh.
        axis: mesh axis or axes of the rows; all axes by default.
        capacity: most rows of a shard. Static; by default the smallest number that holds all rows.

    Returns:
        `ShardedRows(rows, layout)`; each leaf has `num_shards * capacity` rows.

    Raises:
        TypeError: an array of anything but numbers, or of 64 bits without x64 mode.
        ValueError: leaves of different lengths, an unknown axis, or too small a capacity.

    Cost:
        Work O(rows). Each row is sent at most once to each device that holds it.

    Guarantees:
        Differentiable in `rows`. No row is dropped, and none is narrowed.

    Example:
        Two shards:

            rows [1 2 3]
            ->
            shard 0   rows [1 2]   count 2
            shard 1   rows [3 0]   count 1

        >>> import numpy as np
        >>> from jaxframes import shardings
        >>> x = np.array([1, 2, 3], np.int32)
        >>> sharded = shardings.shard_rows({"x": x}, shardings.make_mesh(1), capacity=4)
        >>> sharded.rows["x"].tolist(), sharded.layout.counts.tolist()
        ([1, 2, 3, 0], [3])
    """
    caller = "shard_rows"
    axes = row_axes(mesh, axis, caller)
    rows, num_rows = as_rows(rows, caller)
    shards = num_shards(mesh, axes)
    capacity = as_capacity(capacity, num_rows, shards, caller)
    sharding = row_sharded(mesh, axes)
    counts = np.clip(num_rows - np.arange(shards) * capacity, 0, capacity).astype(np.int32)
    placed = jax.tree.map(lambda leaf: _put(_padded(leaf, shards * capacity, mesh), sharding), rows)
    return ShardedRows(placed, RowLayout(mesh, axes, capacity, _put(counts, sharding)))


def _padded(array: jax.Array | np.ndarray, length: int, mesh: MeshLike) -> jax.Array | np.ndarray:
    padding = [(0, length - array.shape[0])] + [(0, 0)] * (array.ndim - 1)
    if array.shape[0] == length:
        return array
    if isinstance(array, np.ndarray):
        return np.pad(array, padding)
    if has_explicit_axes(mesh):
        # An array with an explicit sharding cannot be padded.
        array = jax.device_put(array, replicated(mesh))
    return jnp.pad(array, padding)


def _put(array: jax.Array | np.ndarray, sharding: NamedSharding) -> jax.Array:
    placed = jax.device_put(array, sharding)
    if isinstance(placed, Tracer) and not has_explicit_axes(sharding.mesh):
        # Under jit XLA treats a device_put as advice, and may place the rows differently.
        return jax.lax.with_sharding_constraint(placed, sharding)
    return placed
