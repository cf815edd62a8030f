# SPDX-License-Identifier: Apache-2.0
"""Global calls over devices that share the memory of the host, by whole arrays."""

import contextlib
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeAlias, TypeVar, cast, overload

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.sharding import Mesh, NamedSharding, PartitionSpec, Sharding

from ..shardings._compat import MeshLike, is_under_trace
from ._over_mesh import RowMesh
from .contract._arguments import MAX_SHARD_ROWS
from .contract._platform import one_device_for
from .tiers._entry import mode
from .tiers._equal_rounding import NotInterpretable
from .tiers._mesh_program import laid_out
from .tiers._placing import on_device
from .tiers._shards import as_whole, from_devices, grid_of, spec_of, to_devices
from .tiers._signature import is_in_one_memory, is_left_to_jit, num_cpus_of, shares_memory

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
# Whether all devices hold the results: all of them, each of them, or by the arguments.
Everywhere: TypeAlias = Callable[..., bool] | bool | tuple[bool, ...]


@overload
def in_shared_memory(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]: ...


@overload
def in_shared_memory(
    *, everywhere: Everywhere
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]: ...


def in_shared_memory(
    function: Callable[..., Any] | None = None, *, everywhere: Everywhere = False
) -> Callable[..., Any]:
    """Decorates a global call, whose result does not depend on the mesh.

    The CPU devices of one process share its memory and its threads. An eager call over a mesh of
    them is the call on one device with whole arrays: of shards that are adjacent in memory
    without a copy. Its results are divided between the devices, which takes no copy either. While
    `tiered` traces a program that it will run so, calls over the mesh of the program are calls on
    one device, too. All others run over the mesh.

    Args:
        function: takes `mesh=` and `axis=`, and calculates on one device if both are None.
        everywhere: whether all devices hold all results, or the same of each, or a function of the
            arguments by name that tells it. Otherwise arrays whose first dimension the mesh divides
            are sharded by it, and others are on all devices, as numbers are.

    Cost:
        That of the call on one device, 60 microseconds for each array that is given, and 40 for
        each that is returned, over eight devices.
    """
    if function is None:
        return lambda function: _over_one_memory(function, everywhere)
    return _over_one_memory(function, everywhere)


def _over_one_memory(function: Callable[..., Any], everywhere: Everywhere) -> Callable[..., Any]:
    signature = inspect.signature(function)
    position = list(signature.parameters).index("mesh")

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        mesh = args[position] if len(args) > position else kwargs.get("mesh")
        if mesh is None or not is_in_one_memory(mesh):
            return function(*args, **kwargs)
        leaves = jax.tree.leaves((args, kwargs))
        is_traced = is_under_trace() or any(isinstance(leaf, Tracer) for leaf in leaves)
        is_left = one_device_for.value != mesh if is_traced else _is_left_to_jax(leaves)
        if is_left or not _is_within_shard(leaves):
            return function(*args, **kwargs)
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError:
            # Python's error names the function.
            return function(*args, **kwargs)
        row_mesh = RowMesh(mesh, given.get("axis"), given.get("caller", function.__name__))
        if not is_traced:
            given = {name: _whole(value) for name, value in given.items()}
        on_one_device = given | dict.fromkeys({"mesh", "axis"} & given.keys())
        arguments = inspect.BoundArguments(signature, cast(Any, on_one_device))
        results = function(*arguments.args, **arguments.kwargs)
        flags = everywhere(**given) if callable(everywhere) else everywhere
        place = _constrained if is_traced else _divided
        arrays, tree = jax.tree.flatten(results)
        flags = flags if isinstance(flags, tuple) else (flags,) * len(arrays)
        placed = [place(*each, row_mesh) for each in zip(arrays, flags, strict=True)]
        return jax.tree.unflatten(tree, placed)

    return call


def runs_on_one_device(mesh: MeshLike) -> bool:
    """Whether programs over a mesh, and the calls in them, run on one device here."""
    if not shares_memory(mesh):
        return False
    return one_device_for.value == mesh if is_under_trace() else not _is_left_to_jax()


def unless_scattered(*, scattered: bool = False, **_: object) -> bool:
    """Whether all devices hold the results of segments, which `scattered` shards."""
    return not scattered


def _is_within_shard(leaves: Sequence[Any]) -> bool:
    """Whether one device may hold so many rows; a mesh holds as many on each of its devices."""
    numbers = (int(leaf) for leaf in leaves if isinstance(leaf, (int, np.integer)))
    arrays = (leaf for leaf in leaves if isinstance(leaf, (np.ndarray, jax.Array)) and leaf.ndim)
    num_rows = sum(array.shape[0] for array in arrays)
    return max(num_rows, *numbers, 0) <= MAX_SHARD_ROWS


def _is_left_to_jax(leaves: Sequence[Any] = ()) -> bool:
    """Whether a call of concrete arrays must run over the mesh."""
    if mode() == "compiled" or is_left_to_jit():
        return True
    arrays = (leaf for leaf in leaves if isinstance(leaf, jax.Array))
    return not all(map(_is_readable, arrays))


def _is_readable(array: jax.Array) -> bool:
    """Whether NumPy can read an array in place."""
    if not num_cpus_of(array.sharding):
        return False
    if len(array.devices()) == 1:
        # It lies where calls on one device expect it, unless it is bound to another device.
        return not array.committed or array.devices() == {jax.devices()[0]}
    is_extended = jnp.issubdtype(array.dtype, jax.dtypes.extended)
    return not is_extended and array.is_fully_addressable and _is_in_shards(array.sharding)


def _is_in_shards(sharding: Sharding) -> bool:
    """Whether the devices of a mesh in one memory have the parts of an array, not terms of it."""
    if not isinstance(sharding, NamedSharding) or not is_in_one_memory(sharding.mesh):
        return False
    with contextlib.suppress(NotInterpretable):
        spec_of(sharding)
        return True
    return False


def _whole(tree: Any) -> Any:
    def gathered(leaf: Any) -> Any:
        if not isinstance(leaf, jax.Array) or len(leaf.devices()) == 1:
            return leaf
        mesh = cast(Any, leaf.sharding).mesh
        # Its memory is where it was: the caller's guard of transfers is for the caller's arguments.
        with jax.transfer_guard("allow"):
            (array,) = on_device([as_whole(from_devices(leaf, grid_of(mesh)))])
        return array

    return jax.tree.map(gathered, tree)


def _spec(leaf: Any, is_everywhere: bool, row_mesh: RowMesh) -> PartitionSpec:
    is_divided = not is_everywhere and leaf.ndim and leaf.shape[0] % row_mesh.num_shards == 0
    return row_mesh.spec if is_divided else PartitionSpec()


def _divided(leaf: Any, is_everywhere: bool, row_mesh: RowMesh) -> Any:
    if not isinstance(leaf, jax.Array):
        return leaf
    mesh = cast(Mesh, row_mesh.mesh)
    with jax.transfer_guard("allow"):
        return to_devices(np.asarray(leaf), mesh, tuple(_spec(leaf, is_everywhere, row_mesh)))


def _constrained(leaf: Any, is_everywhere: bool, row_mesh: RowMesh) -> Any:
    if not isinstance(leaf, jax.Array):
        return leaf
    place = NamedSharding(cast(Mesh, row_mesh.mesh), _spec(leaf, is_everywhere, row_mesh))
    return laid_out(leaf, place)
