# SPDX-License-Identifier: Apache-2.0
"""Sizes of mesh axes and positions of devices along them, on the host."""

import jax
import numpy as np
from jax.sharding import Mesh

from ._compat import Device, MeshLike
from ._mesh import num_shards, row_axes


def axis_size(mesh: MeshLike, axis: str | tuple[str, ...]) -> int:
    """The number of shards along a mesh axis.

    Args:
        mesh: the mesh.
        axis: mesh axis, or several.

    Returns:
        The size of the axis, or the product of several.

    Raises:
        ValueError: `axis` is not an axis of the mesh.

    Example:
        >>> from jaxframes import shardings
        >>> shardings.axis_size(shardings.make_mesh(1), "rows")
        1
    """
    return num_shards(mesh, row_axes(mesh, axis, "axis_size"))


def axis_rank(mesh: Mesh, axis: str | tuple[str, ...], device: Device | None = None) -> int:
    """The position of a device along a mesh axis: its `jax.lax.axis_index`, on the host.

    Args:
        mesh: the mesh.
        axis: mesh axis, or several, the slowest first.
        device: a device of the mesh. By default the devices of this process, which must have one
            position.

    Returns:
        The position, in `[0, axis_size(mesh, axis))`.

    Raises:
        ValueError: `axis` is not an axis of the mesh, `device` is not on the mesh, or the devices
            of this process have several positions.

    Example:
        >>> import jax
        >>> from jaxframes import shardings
        >>> shardings.axis_rank(shardings.make_mesh(1), "rows", jax.devices()[0])
        0
    """
    caller = "axis_rank"
    axes = row_axes(mesh, axis, caller)
    numbers = [mesh.axis_names.index(name) for name in axes]
    ranks = {
        int(np.ravel_multi_index([place[i] for i in numbers], [mesh.shape[name] for name in axes]))
        for place, other in np.ndenumerate(mesh.devices)
        if (other == device if device is not None else other.process_index == jax.process_index())
    }
    if not ranks:
        wanted = f"{device}" if device is not None else f"none of process {jax.process_index()}"
        raise ValueError(f"{caller}: the device must be on the mesh, got {wanted}.")
    if len(ranks) > 1:
        raise ValueError(
            f"{caller}: the devices of this process must have one position along {axis!r}, got "
            f"{sorted(ranks)}. Pass the device."
        )
    return ranks.pop()
