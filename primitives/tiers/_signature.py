# SPDX-License-Identifier: Apache-2.0
"""The signature of arguments: what a function is traced for, and where its arguments are."""

import contextlib
import functools
import operator
import os
from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from ...shardings._compat import MeshLike, option

# The classes of concrete arrays that were seen, and those of numbers, which have one dtype.
array_types: set[type] = set()
_number_types: set[type] = {int, float, bool}

# The options that change a trace, and how to set each for a block.
_OPTIONS = {
    "jax_enable_x64": jax.enable_x64,
    "jax_default_device": jax.default_device,
    "jax_numpy_dtype_promotion": jax.numpy_dtype_promotion,
    "jax_numpy_rank_promotion": jax.numpy_rank_promotion,
    "jax_default_matmul_precision": jax.default_matmul_precision,
}
# How arrays of a mesh in one memory meet: "auto", as whole arrays, or "off", by messages. None for
# what the environment says. JAX's caches tell its values apart.
shared_memory = jax.make_user_context(None)


@functools.cache
def _shared_memory_by_default() -> str:
    """The variable JAXFRAMES_SHARED_MEMORY, "auto" by default."""
    name = os.environ.get("JAXFRAMES_SHARED_MEMORY", "auto")
    if name not in ("auto", "off"):
        raise ValueError(f"JAXFRAMES_SHARED_MEMORY must be 'auto' or 'off', got {name!r}.")
    return name


def _shared_memory() -> str:
    return shared_memory.value or _shared_memory_by_default()


_VALUES = (*map(option, _OPTIONS), _shared_memory)
_SETTERS = (*_OPTIONS.values(), shared_memory)
# The first parts of a signature.
NUM_OPTIONS = len(_VALUES)


_is_jit_disabled = option("jax_disable_jit")
_debugs_nans, _debugs_infs = option("jax_debug_nans"), option("jax_debug_infs")


def is_left_to_jit() -> bool:
    """Whether all calls are those of `jax.jit`, whatever they are given."""
    return is_debugging() or not jax.sharding.get_abstract_mesh().empty


def is_debugging() -> bool:
    """Whether JAX must call each function itself: to check the results, or by `disable_jit`."""
    return _debugs_nans() or _debugs_infs() or _is_jit_disabled()


def signature_of(leaves: Sequence[Any], *, of_host: bool = False) -> tuple[Any, ...] | None:
    """A hashable description of arguments; None if one is traced, or not an array or a number.

    With `of_host`, also if one is an array of JAX.
    """
    parts: list[Any] = [*map(operator.call, _VALUES)]
    for leaf in leaves:
        kind = type(leaf)
        if kind is np.ndarray:
            parts.append((leaf.shape, leaf.dtype))
        elif kind in _number_types or _is_number(leaf):
            parts.append(kind)
        elif kind in array_types or _is_array(leaf):
            if of_host:
                return None
            parts.append((leaf.aval, leaf.sharding, leaf.committed))
        elif isinstance(leaf, np.generic):
            parts.append((leaf.shape, leaf.dtype))
        else:
            return None
    return tuple(parts)


@contextlib.contextmanager
def with_options(signature: tuple[Any, ...]) -> Iterator[None]:
    """Sets the options that a signature was made with."""
    with contextlib.ExitStack() as stack:
        for set_for_block, value in zip(_SETTERS, signature, strict=False):
            stack.enter_context(set_for_block(value))
        yield


def has_wide_dtype(leaf: Any) -> bool:
    """Whether an array of JAX has numbers of 64 bits."""
    return isinstance(leaf, jax.Array) and leaf.dtype.itemsize == 8


def type_of(leaf: Any) -> jax.ShapeDtypeStruct:
    """What a program is traced for in place of an argument, or of its type."""
    if isinstance(leaf, jax.ShapeDtypeStruct):
        return leaf
    aval = jax.typeof(leaf)
    sharding = leaf.sharding if isinstance(leaf, jax.Array) and leaf.committed else None
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype, sharding=sharding, weak_type=aval.weak_type)


def is_left_to_jax(leaf: Any) -> bool:
    """Whether `jax.jit` takes an array, or its type, but a program compiled ahead does not."""
    if not isinstance(leaf, (jax.Array, jax.ShapeDtypeStruct)):
        return False
    sharding, dtype = leaf.sharding, leaf.dtype
    if sharding is not None and not num_cpus_of(sharding) and _is_on_cpus(sharding):
        return True
    if jnp.issubdtype(dtype, jnp.integer):
        return jnp.iinfo(dtype).bits < 8
    return jnp.issubdtype(dtype, jnp.floating) and jnp.finfo(dtype).bits < 8


def _is_array(leaf: Any) -> bool:
    if not isinstance(leaf, jax.Array) or isinstance(leaf, Tracer):
        return False
    array_types.add(type(leaf))
    return True


def _is_number(leaf: Any) -> bool:
    if not isinstance(leaf, (np.number, np.bool_)):
        return False
    _number_types.add(type(leaf))
    return True


def host_mesh(signature: tuple[Any, ...], of_program: Mesh | None) -> Mesh | None:
    """The mesh that a program runs on, if its devices are CPU devices of this process.

    Args:
        signature: that of the arguments. Those that may lie anywhere decide nothing.
        of_program: the mesh of a `shard_map` in the program, if it has one.
    """
    mesh = mesh_of(signature, of_program)
    return None if mesh is None or (mesh.size == 1 and of_program is None) else mesh


def mesh_of(signature: tuple[Any, ...], of_program: Mesh | None = None) -> Mesh | None:
    """`host_mesh`, and a mesh of one device, too, on which a program has nothing to divide."""
    arrays = (part for part in signature if isinstance(part, tuple) and len(part) == 3)
    shardings: set[Any] = {sharding for _, sharding, is_committed in arrays if is_committed}
    meshes = {one.mesh if isinstance(one, NamedSharding) else None for one in shardings}
    mesh: Any = (meshes or {of_program}).pop() if len(meshes) <= 1 else None
    is_known = isinstance(mesh, Mesh) and num_cpus(signature) and _is_of_host(mesh)
    return mesh if is_known else None


def shares_memory(mesh: MeshLike | None) -> bool:
    """Whether a program of one device may stand for that of a mesh, whose memory it shares.

    Types of Explicit axes tell where each array lies, so that their programs are those of the mesh.
    """
    return is_in_one_memory(mesh) and all(kind == AxisType.Auto for kind in mesh.axis_types)


def is_in_one_memory(mesh: MeshLike | None) -> TypeGuard[Mesh]:
    """Whether whole arrays may stand for those of a mesh: in the memory that its devices share."""
    if not isinstance(mesh, Mesh) or _shared_memory() == "off":
        return False
    return jax.default_backend() == "cpu" and _is_of_host(mesh)


@functools.lru_cache(256)
def _is_of_host(mesh: Mesh) -> bool:
    """Whether the devices of a mesh are CPU devices of this process."""
    whole = NamedSharding(mesh, PartitionSpec())
    return bool(num_cpus_of(whole)) and whole.is_fully_addressable


def num_cpus(signature: tuple[Any, ...]) -> int:
    """The number of devices that the arguments are on; 0 if some are not in CPUs' main memory."""
    shardings = {part[1] for part in signature if isinstance(part, tuple) and len(part) == 3}
    if not shardings:
        return int(jax.default_backend() == "cpu")
    counts = list(map(num_cpus_of, shardings))
    return max(counts) if all(counts) else 0


@functools.lru_cache(1024)
def num_cpus_of(sharding: Any) -> int:
    """The number of devices of a sharding; 0 if an array is not in the main memory of CPUs."""
    devices = sharding.device_set
    # XLA alone puts results into another memory, where their arguments are.
    kinds = (None, next(iter(devices)).default_memory().kind)
    is_main = sharding.memory_kind in kinds
    return len(devices) if is_main and _is_on_cpus(sharding) else 0


def _is_on_cpus(sharding: Any) -> bool:
    return all(device.platform == "cpu" for device in sharding.device_set)
