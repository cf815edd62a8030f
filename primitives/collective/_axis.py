# SPDX-License-Identifier: Apache-2.0
"""The mesh axis of the rows, inside `shard_map`."""

import jax

from ...shardings._compat import as_varying
from ..contract._arguments import PyTreeOfArrays, type_of
from ..contract._axis_scope import AxisName


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
