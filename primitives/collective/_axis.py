# SPDX-License-Identifier: Apache-2.0
"""The mesh axis of the rows, inside `shard_map`."""

import difflib
from typing import TypeAlias

import jax

from ...shardings._compat import as_varying
from ..contract._arguments import PyTreeOfArrays, type_of

AxisName: TypeAlias = str | tuple[str, ...]


def num_shards_on(axis_name: AxisName, caller: str) -> int:
    """The number of shards along the axis; raises outside a `shard_map` over it."""
    if not isinstance(axis_name, (str, tuple)):
        raise TypeError(
            f"{caller}: axis_name must be the name of a mesh axis, or a tuple of names, "
            f"got {type_of(axis_name)}."
        )
    try:
        return jax.lax.axis_size(axis_name)
    except NameError:
        raise ValueError(
            f"{caller}: axis_name must name an axis of the enclosing jax.shard_map, "
            f"got {axis_name!r}. Call it inside shard_map over that axis, or use the function of "
            "the same name in jaxframes.primitives, which takes a mesh."
        ) from None


def size_of_axis(axis_name: AxisName, caller: str) -> int:
    """The number of shards along the axis; an error lists the axes in scope."""
    names = axis_name if isinstance(axis_name, tuple) else (axis_name,)
    if not names or not all(isinstance(name, str) for name in names):
        raise TypeError(
            f"{caller}: axis_name must be the name of a mesh axis, or a tuple of names, "
            f"got {axis_name!r}."
        )
    try:
        return jax.lax.axis_size(axis_name)
    except NameError:
        pass
    in_scope = jax.sharding.get_abstract_mesh().manual_axes
    if not in_scope:
        raise ValueError(
            f"{caller}: it must be called inside jax.shard_map, got axis_name={axis_name!r} "
            "without any axis in scope. Map a function that calls it over a mesh with that axis."
        )
    unknown = next(name for name in names if name not in in_scope)
    nearest = difflib.get_close_matches(unknown, in_scope, n=1)
    remedy = f"Did you mean {nearest[0]!r}?" if nearest else "Choose one of them."
    raise ValueError(
        f"{caller}: axis_name must be among the axes of the enclosing jax.shard_map, "
        f"{tuple(in_scope)}, got {axis_name!r}. {remedy}"
    )


def check_mesh_order(axis_name: AxisName, caller: str) -> None:
    """Checks that several axes come in the order of the mesh, as their flattened index does."""
    mesh_axes = jax.sharding.get_abstract_mesh().axis_names
    if isinstance(axis_name, tuple) and set(axis_name) <= set(mesh_axes):
        ordered = tuple(name for name in mesh_axes if name in axis_name)
        if axis_name != ordered:
            # JAX up to 0.11.0 permutes wrongly here, and refuses later.
            raise ValueError(
                f"{caller}: the axes in axis_name must be in the order of the mesh, "
                f"got {axis_name!r}. Pass {ordered!r}."
            )


def as_shards(tree: PyTreeOfArrays, axis_name: AxisName) -> PyTreeOfArrays:
    """Marks arrays as varying over the axis, because replicated arrays may lack the mark."""
    return as_varying(tree, frozenset((axis_name,) if isinstance(axis_name, str) else axis_name))
