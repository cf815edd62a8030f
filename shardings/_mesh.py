# SPDX-License-Identifier: Apache-2.0
"""Meshes of devices, and the two shardings of rows."""

import math
from typing import Any

import jax
import numpy as np
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding, PartitionSpec

from ._arguments import as_static_int, type_of
from ._compat import Device, MeshLike

# Collectives take a mesh axis of this name as the hosts of its devices.
HOST_AXIS = "hosts"


def make_mesh(
    num_devices: int | None = None,
    axis_name: str = "rows",
    *,
    hosts: int | None = None,
    axis_type: AxisType = AxisType.Auto,
) -> Mesh:
    """Makes a mesh of the first devices along one axis, or along hosts and their devices.

    The devices are those of all processes in JAX's order, so every process builds the same mesh.
    Build a mesh of other axes with `jax.make_mesh`; every call of this library accepts it.

    With `hosts` the mesh has a first axis `"hosts"`. Rows lie along both axes, with the same
    results as along one. Each exchange then has two levels, within the hosts and between them: a
    device has one peer for each device of its host and one for each other host, not one for each
    device of the mesh.

    Args:
        num_devices: number of devices on the mesh; all devices by default.
        axis_name: name of the axis.
        hosts: number of hosts, each with the same number of devices; usually
            `jax.process_count()`. One axis without it.
        axis_type: `Auto` (XLA chooses unspecified shardings) or `Explicit` (shardings are part of
            array types).

    Returns:
        A mesh of shape `(num_devices,)`, or `(hosts, num_devices / hosts)`.

    Raises:
        ValueError: `num_devices` is not in `[1, number of devices]`, `hosts` does not divide it, or
            a host would share a process with another one.
        TypeError: `num_devices` or `hosts` is not an integer, `axis_name` is not a name, or
            `axis_type` not an `AxisType`.

    Example:
        >>> from jaxframes import shardings
        >>> dict(shardings.make_mesh(1).shape)
        {'rows': 1}
        >>> dict(shardings.make_mesh(1, hosts=1).shape)
        {'hosts': 1, 'rows': 1}
    """
    if not isinstance(axis_name, str):
        raise TypeError(
            f"make_mesh: axis_name must be one name, got {axis_name!r}. Make a mesh of several "
            "axes with mesh_spec."
        )
    check_axis_type(axis_type, "make_mesh", "axis_type")
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
    if hosts is None:
        return Mesh(np.asarray(devices[:num_devices]), (axis_name,), axis_types=(axis_type,))
    return _mesh_of_hosts(devices[:num_devices], hosts, axis_name, axis_type)


def _mesh_of_hosts(devices: list[Device], hosts: int, axis_name: str, axis_type: AxisType) -> Mesh:
    caller, num_devices = "make_mesh", len(devices)
    hosts = as_static_int(hosts, caller, "hosts", lowest=1)
    if num_devices % hosts:
        raise ValueError(
            f"{caller}: hosts must divide the number of devices, got hosts={hosts} for "
            f"{num_devices} devices."
        )
    if axis_name == HOST_AXIS:
        raise ValueError(
            f"{caller}: axis_name must differ from {HOST_AXIS!r}, the axis of the hosts, got "
            f"{axis_name!r}."
        )
    # The devices of a process come in one sequence, which JAX's order does not promise.
    by_process = sorted(devices, key=lambda device: device.process_index)
    grid = np.asarray(by_process).reshape(hosts, -1)
    for host, row in enumerate(grid):
        for process in {device.process_index for device in row}:
            num_here = sum(device.process_index == process for device in row)
            num_in_all = sum(device.process_index == process for device in by_process)
            if num_here < min(num_in_all, len(row)):
                raise ValueError(
                    f"{caller}: each process must lie within one host, got hosts={hosts} with "
                    f"{num_here} of {num_in_all} devices of process {process} on host {host}. Pass "
                    "a number of hosts that divides the number of processes."
                )
    return Mesh(grid, (HOST_AXIS, axis_name), axis_types=(axis_type, axis_type))


def check_axis_type(axis_type: Any, caller: str, name: str) -> None:
    """Raises unless an argument is the type of a mesh axis."""
    if not isinstance(axis_type, AxisType):
        raise TypeError(
            f"{caller}: {name} must be a jax.sharding.AxisType, got {axis_type!r}. Pass "
            "AxisType.Auto or AxisType.Explicit."
        )


def check_mesh(mesh: Any, caller: str) -> None:
    """Raises unless an argument is a mesh."""
    if not isinstance(mesh, (Mesh, AbstractMesh)):
        raise TypeError(
            f"{caller}: mesh must be a jax.sharding.Mesh, got {type_of(mesh)}. Make one with "
            "jaxframes.shardings.make_mesh()."
        )


def row_axes(mesh: MeshLike, axis: str | tuple[str, ...] | None, caller: str) -> tuple[str, ...]:
    """The mesh axes of the rows: those in `axis`, or all axes."""
    check_mesh(mesh, caller)
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
    check_mesh(mesh, "replicated")
    return NamedSharding(mesh, PartitionSpec())
