# SPDX-License-Identifier: Apache-2.0
"""The mesh axis of the rows, inside `shard_map`."""

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


def as_shards(tree: PyTreeOfArrays, axis_name: AxisName) -> PyTreeOfArrays:
    """Marks arrays as varying over the axis, because replicated arrays may lack the mark."""
    return as_varying(tree, frozenset((axis_name,) if isinstance(axis_name, str) else axis_name))
