# SPDX-License-Identifier: Apache-2.0
"""Meshes of devices, and the two shardings of rows."""

import math

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from ._arguments import as_static_int
from ._compat import MeshLike


def make_mesh(
    num_devices: int | None = None,
    axis_name: str = "rows",
    *,
    axis_type: AxisType = AxisType.Auto,
) -> Mesh:
    """Makes a mesh of the first devices along one axis.

    The devices are those of all processes in JAX's order, so every process builds the same mesh.
    Build a mesh of several axes with `jax.make_mesh`; every call of this library accepts it.

    Args:
        num_devices: number of devices on the mesh; all devices by default.
        axis_name: name of the axis.
        axis_type: `Auto` (XLA chooses unspecified shardings) or `Explicit` (shardings are part of
            array types).

    Returns:
        A mesh of shape `(num_devices,)`.

    Raises:
        ValueError: `num_devices` is not in `[1, number of devices]`.
        TypeError: `num_devices` is not an integer.

    Example:
        >>> from jaxframes import shardings
        >>> dict(shardings.make_mesh(1).shape)
        {'rows': 1}
    """
    devices = jax.devices()
    if num_devices is None:
        num_devices = len(devices)
    num_devices = as_static_int(num_devices, "make_mesh", "num_devices", lowest=None)
    if not 1 <= num_devices <= len(devices):
        raise ValueError(
            f"make_mesh: num_devices must lie in [1, {len(devices)}], the devices that JAX sees, "
            f"got {num_devices}. On CPU, set jax_num_cpu_devices before the first JAX call to have "
            "more."
        )
    return Mesh(np.asarray(devices[:num_devices]), (axis_name,), axis_types=(axis_type,))


def row_axes(mesh: MeshLike, axis: str | tuple[str, ...] | None, caller: str) -> tuple[str, ...]:
    """The mesh axes of the rows: those in `axis`, or all axes."""
    if axis is None:
        return tuple(mesh.axis_names)
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    unknown = [name for name in axes if name not in mesh.axis_names]
    if unknown or not axes or len(set(axes)) < len(axes):
        raise ValueError(
            f"{caller}: axis must name axes of the mesh, got {axis!r}. "
            f"The mesh has the axes {tuple(mesh.axis_names)}."
        )
    return axes


def num_shards(mesh: MeshLike, axes: tuple[str, ...]) -> int:
    """The number of shards along `axes`."""
    return math.prod(mesh.shape[name] for name in axes)


def row_sharded(mesh: MeshLike, axis: str | tuple[str, ...] | None = None) -> NamedSharding:
    """Shards the leading array axis over a mesh.

    Args:
        mesh: the mesh.
        axis: mesh axis or axes of the rows, the slowest first; all axes in the mesh's order by
            default.

    Returns:
        A `NamedSharding` for arrays of any rank.

    Raises:
        ValueError: `axis` is not an axis of the mesh.

    Example:
        >>> from jaxframes import shardings
        >>> shardings.row_sharded(shardings.make_mesh(1)).shard_shape((6, 2))
        (6, 2)
    """
    return NamedSharding(mesh, PartitionSpec(row_axes(mesh, axis, "row_sharded")))


def replicated(mesh: MeshLike) -> NamedSharding:
    """Replicates the whole array on every device of a mesh.

    Args:
        mesh: the mesh.

    Returns:
        A `NamedSharding` for arrays of any rank.

    Example:
        >>> from jaxframes import shardings
        >>> shardings.replicated(shardings.make_mesh(1)).is_fully_replicated
        True
    """
    return NamedSharding(mesh, PartitionSpec())
