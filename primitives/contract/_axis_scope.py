# SPDX-License-Identifier: Apache-2.0
"""The mesh axes in scope where a function is called."""

from typing import TypeAlias

import jax

from ...shardings._arguments import did_you_mean

AxisName: TypeAlias = str | tuple[str, ...]


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
    remedy = did_you_mean(unknown, in_scope) or " Choose one of them."
    raise ValueError(
        f"{caller}: axis_name must be among the axes of the enclosing jax.shard_map, "
        f"{tuple(in_scope)}, got {axis_name!r}.{remedy}"
    )
