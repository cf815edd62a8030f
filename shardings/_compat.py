# SPDX-License-Identifier: Apache-2.0
"""Differences between JAX versions, and names that recent versions made public."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import jax
from jax.core import eval_context
from jax.extend.core import get_opaque_trace_state
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding, PartitionSpec

MeshLike = Mesh | AbstractMesh
# `jax.Device` is a class, but JAX types it as a variable.
Device: TypeAlias = Any

# Names of JAX's events for one trace of a function and one compilation of a program.
TRACE_EVENT = "/jax/core/compile/jaxpr_trace_duration"
COMPILE_EVENT = "/jax/core/compile/backend_compile_duration"

with eval_context():
    _NOTHING_TRACED = get_opaque_trace_state()


def varying_axes(*arrays: Any) -> frozenset[str]:
    """The mesh axes of the enclosing `shard_map` that any of the arrays varies over."""
    return frozenset().union(*map(varying_axes_of, map(jax.typeof, jax.tree.leaves(arrays))))


def varying_axes_of(aval: Any) -> frozenset[str]:
    """The mesh axes of the enclosing `shard_map` that values of a type vary over."""
    return frozenset(aval.manual_axis_type.varying)


def is_key(leaf: Any) -> bool:
    """Whether a leaf of a tree holds random keys."""
    return hasattr(leaf, "dtype") and jax.numpy.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def result_type_of(shape: Sequence[int], dtype: Any, axes: frozenset[str]) -> jax.ShapeDtypeStruct:
    """Describes the result of a foreign call that varies over the mesh axes `axes`."""
    mesh = jax.sharding.get_abstract_mesh()
    if not (axes or mesh.manual_axes):
        return jax.ShapeDtypeStruct(tuple(shape), dtype)
    # JAX accepts a manual axis type only with a sharding. Inside shard_map nothing is left to
    # shard, so it is the empty sharding on the mesh in scope.
    return jax.ShapeDtypeStruct(
        tuple(shape),
        dtype,
        sharding=NamedSharding(mesh, PartitionSpec()),
        manual_axis_type=jax.sharding.ManualAxisType(varying=axes),
    )


def as_varying(tree: Any, axes: frozenset[str] | Sequence[str]) -> Any:
    """Marks every array of a pytree as varying over `axes`, unless it is marked already."""

    def mark(array: Any) -> Any:
        missing = tuple(sorted(frozenset(axes) - varying_axes(array)))
        return jax.lax.pcast(array, missing, to="varying") if missing else array

    return jax.tree.map(mark, tree)


def like_varying(tree: Any, *arrays: Any) -> Any:
    """Marks every array of a pytree as varying over the same axes as `arrays`."""
    return as_varying(tree, varying_axes(*arrays))


def shard_map(
    function: Callable[..., Any], mesh: MeshLike, in_specs: Any, out_specs: Any
) -> Callable[..., Any]:
    """`jax.shard_map` over every axis of the mesh, with the check of varying axes on."""
    return jax.shard_map(function, mesh=mesh, in_specs=in_specs, out_specs=out_specs)


def trace_state() -> Any:
    """The trace that calls are part of, for comparisons only."""
    return get_opaque_trace_state()


def is_under_trace() -> bool:
    """Whether JAX stages calls, even those of concrete arrays."""
    return get_opaque_trace_state() != _NOTHING_TRACED


def option(name: str) -> Callable[[], Any]:
    """Returns a function that reads an option of `jax.config`.

    `jax.config` looks options up by name, in Python. Most of them are objects of `jax` too, which
    hold their value.
    """
    state = getattr(jax, name.removeprefix("jax_"), None)
    if hasattr(state, "value"):
        return functools.partial(getattr, state, "value")
    return functools.partial(getattr, jax.config, name)


_is_x64 = option("jax_enable_x64")


def is_x64_enabled() -> bool:
    """Whether JAX's x64 mode is on."""
    return bool(_is_x64())


def explicit_sharding(array: Any) -> Any:
    """The explicit sharding in the type of an array, or None.

    A gather from a small table at positions with such a sharding must name it.
    """
    sharding = jax.typeof(array).sharding
    return sharding if any(axis is not None for axis in sharding.spec) else None


def gather_sharding(rows: Any, ids: Any) -> Any:
    """The explicit sharding of rows that are taken by replicated ids, or None.

    Named, JAX divides a batch of ids whose rows are without one.
    """
    sharding = jax.typeof(ids).sharding
    if explicit_sharding(rows) or explicit_sharding(ids) or not has_explicit_axes(sharding.mesh):
        return None
    spec = PartitionSpec(*(None,) * (rows.ndim - 1 + ids.ndim))
    return NamedSharding(sharding.mesh, spec)


def has_explicit_axes(mesh: MeshLike, axes: tuple[str, ...] | None = None) -> bool:
    """Whether any of these mesh axes, by default of all, is Explicit."""
    axes = mesh.axis_names if axes is None else axes
    types = dict(zip(mesh.axis_names, mesh.axis_types, strict=True))
    return any(types[axis] == AxisType.Explicit for axis in axes)


def has_side_effects(effects: Any) -> bool:
    """Whether the effects of a jaxpr are more than collectives over the axes of a mesh."""
    return any(type(effect).__name__ != "NamedAxisEffect" for effect in effects)


def apply_equation(equation: Any, operands: Sequence[Any]) -> Any:
    """The results of an equation of a jaxpr for other operands."""
    given: Any = equation.primitive.get_bind_params(equation.params)
    # Some versions have functions among the parameters, which come apart from the others.
    functions, params = given if isinstance(given, tuple) else ((), given)
    with equation.ctx.manager:
        return equation.primitive.bind(*functions, *operands, **params)


def scan_counts(params: Mapping[str, Any]) -> tuple[int, int]:
    """How many operands of a `scan` in a jaxpr are constants, and how many are carried."""
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    # In later versions the operands are a tree: constants, carried values, rows.
    consts, carried, _ = params["ft_in"].unpack()
    return len(consts), len(carried)
