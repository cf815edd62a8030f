# SPDX-License-Identifier: Apache-2.0
"""Partition specs that are checked against shapes and meshes."""

import math
from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from ._arguments import did_you_mean
from ._compat import MeshLike, has_explicit_axes
from ._mesh import check_mesh

SpecEntry = str | tuple[str, ...] | None


def named(mesh: MeshLike, *spec: SpecEntry) -> NamedSharding:
    """Makes a sharding from the mesh axis of each array axis.

    Args:
        mesh: the mesh.
        spec: for each array axis a mesh axis, several, or None; missing ones are None.

    Returns:
        A `NamedSharding`.

    Raises:
        ValueError: an entry is not an axis of the mesh, or an axis is used twice.

    Example:
        >>> from jaxframes import shardings
        >>> shardings.named(shardings.make_mesh(1), None, "rows").shard_shape((4, 6))
        (4, 6)
    """
    partition = PartitionSpec(*spec)
    check_axes(partition, mesh, "named", "spec")
    return NamedSharding(mesh, partition)


def constrain(x: Any, *spec: SpecEntry, mesh: MeshLike | None = None) -> Any:
    """Fixes the sharding of intermediate results, where XLA chooses it otherwise.

    Args:
        x: a pytree of arrays.
        spec: for each array axis a mesh axis, several, or None; missing ones are None.
        mesh: the mesh; by default the one of `jax.set_mesh`.

    Returns:
        `x`, sharded as the spec says.

    Raises:
        ValueError: there is no mesh, an entry is not an axis of the mesh, the spec has more entries
            than a leaf has axes, or a mesh axis does not divide an array axis.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes import shardings
        >>> x = shardings.constrain(jnp.arange(4), "rows", mesh=shardings.make_mesh(1))
        >>> x.sharding.shard_shape(x.shape)
        (4,)
    """
    caller = "constrain"
    if mesh is None:
        mesh = jax.sharding.get_abstract_mesh()
        if mesh.empty:
            raise ValueError(
                f"{caller}: a mesh must be in scope, got none. Pass mesh=, or call it inside "
                "jax.set_mesh(mesh)."
            )
    partition = PartitionSpec(*spec)
    for path, leaf in named_leaves(x):
        check_spec(partition, np.shape(leaf), mesh, caller, path or "x")
    sharding = NamedSharding(mesh, partition)
    if has_explicit_axes(mesh, axes_of(partition)):
        return jax.tree.map(lambda leaf: jax.sharding.reshard(leaf, sharding), x)
    return jax.lax.with_sharding_constraint(x, sharding)


def named_leaves(tree: Any) -> list[tuple[str, Any]]:
    """The leaves of a pytree with their paths, such as `layers/0/w`."""
    return [
        (jax.tree_util.keystr(path, simple=True, separator="/"), leaf)
        for path, leaf in jax.tree_util.tree_leaves_with_path(tree)
    ]


def axes_of(spec: PartitionSpec) -> tuple[str, ...]:
    """The mesh axes that a partition spec names."""
    return tuple(axis for entry in spec for axis in _axes_in(entry))


def shown(spec: PartitionSpec) -> str:
    """A partition spec in an error message, the same for every JAX."""
    return f"P({', '.join(map(repr, spec))})"


def as_spec(spec: Any, caller: str, name: str) -> PartitionSpec:
    """Checks that a rule's spec is a partition spec, or a tuple of its entries."""
    if not isinstance(spec, (PartitionSpec, tuple, list)):
        wanted = f"P({spec!r})" if isinstance(spec, str) else "P() for whole arrays"
        raise TypeError(f"{caller}: {name} must be a partition spec, got {spec!r}. Write {wanted}.")
    return PartitionSpec(*spec)


def check_axes(spec: PartitionSpec, mesh: MeshLike, caller: str, name: str) -> None:
    """Checks that a spec names axes of the mesh, each once."""
    check_mesh(mesh, caller)
    axes = axes_of(spec)
    for axis in axes:
        if isinstance(axis, PartitionSpec):
            raise TypeError(
                f"{caller}: {name} must consist of mesh axes, got a partition spec, {shown(axis)}, "
                "among them. Pass its entries, *spec."
            )
        if axis not in mesh.axis_names:
            raise ValueError(
                f"{caller}: {name} must name axes of the mesh, {tuple(mesh.axis_names)}, got "
                f"{axis!r} in {shown(spec)}.{did_you_mean(axis, mesh.axis_names)}"
            )
        if axes.count(axis) > 1:
            raise ValueError(f"{caller}: {name} must name each mesh axis once, got {shown(spec)}.")


def check_spec(
    spec: PartitionSpec, shape: tuple[int, ...], mesh: MeshLike | None, caller: str, name: str
) -> None:
    """Checks that an array of this shape can have this spec."""
    if len(spec) > len(shape):
        raise ValueError(
            f"{caller}: the spec of {name} must have at most one entry for each of its "
            f"{len(shape)} axes, got {shown(spec)} for shape {shape}."
        )
    if mesh is None:
        return
    check_axes(spec, mesh, caller, f"the spec of {name}")
    for length, entry in zip(shape, spec, strict=False):
        size = math.prod(mesh.shape[axis] for axis in _axes_in(entry))
        if length % size:
            raise ValueError(
                f"{caller}: the mesh must divide each sharded axis of {name}, got shape {shape} "
                f"with {shown(spec)}: {length} is not a multiple of {size}, the size of "
                f"{' x '.join(map(repr, _axes_in(entry)))}. Pad the axis, or shard another."
            )


def _axes_in(entry: Any) -> tuple[str, ...]:
    if entry is None or entry is PartitionSpec.UNCONSTRAINED:
        return ()
    return tuple(entry) if isinstance(entry, (tuple, list)) else (entry,)
