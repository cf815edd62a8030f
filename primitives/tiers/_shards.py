# SPDX-License-Identifier: Apache-2.0
"""Arrays of the host in shards, as those of a mesh whose devices share its memory."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ._elementwise_rules import HostArray, HostStep
from ._equal_rounding import NotInterpretable
from ._kernel_calls import aligned_empty

# The mesh axes that divide each dimension: the entries of a `PartitionSpec`.
Spec: TypeAlias = tuple[str | tuple[str, ...] | None, ...]


class Grid(NamedTuple):
    """The axes of a mesh, without its devices. A device is told by its place among all."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of devices."""
        return math.prod(self.sizes)

    def size_of(self, axes: Sequence[str]) -> int:
        """The number of devices along axes."""
        return math.prod(self.sizes[self.names.index(axis)] for axis in axes)


def grid_of(mesh: Mesh) -> Grid:
    """The axes of a mesh."""
    return Grid(tuple(mesh.axis_names), tuple(mesh.shape.values()))


@functools.lru_cache(256)
def places(grid: Grid, axes: tuple[str, ...]) -> list[int]:
    """The position of each device along axes, the first of them as the most significant."""
    if not axes:
        return [0] * grid.size
    numbers = np.indices(grid.sizes)
    along = tuple(numbers[grid.names.index(axis)].ravel() for axis in axes)
    sizes = tuple(grid.size_of([axis]) for axis in axes)
    return np.asarray(np.ravel_multi_index(along, sizes)).tolist()


@functools.lru_cache(256)
def groups(grid: Grid, axes: tuple[str, ...]) -> list[list[int]]:
    """The devices that a collective over axes joins, each group in the order of the axes."""
    others = tuple(axis for axis in grid.names if axis not in axes)
    size = grid.size_of(axes)
    found = [[0] * size for _ in range(grid.size // size)]
    for device, (group, member) in enumerate(
        zip(places(grid, others), places(grid, axes), strict=True)
    ):
        found[group][member] = device
    return found


def spec_of(sharding: Any) -> Spec:
    """The mesh axes that divide each dimension of an array.

    Raises:
        NotInterpretable: XLA chooses the axes, or each device has a term of a sum.
    """
    spec = getattr(sharding, "spec", PartitionSpec())
    if getattr(spec, "unreduced", ()) or getattr(spec, "reduced", ()):
        raise NotInterpretable("sums that are not reduced")
    if PartitionSpec.UNCONSTRAINED in tuple(spec):
        raise NotInterpretable("an array whose place XLA decides")
    return tuple(spec)


def axes_of(spec: Spec) -> tuple[tuple[str, ...], ...]:
    """The axes that divide each dimension, up to the last one that is divided."""
    axes = [() if one is None else (one,) if isinstance(one, str) else tuple(one) for one in spec]
    while axes and not axes[-1]:
        axes.pop()
    return tuple(axes)


@functools.lru_cache(256)
def indices_of(grid: Grid, spec: Spec, shape: tuple[int, ...]) -> list[tuple[slice, ...]]:
    """The place of each device's shard in the whole array."""
    ranges = []
    for size, axes in zip(shape, axes_of(spec), strict=False):
        length = size // grid.size_of(axes)
        ranges.append([slice(n * length, (n + 1) * length) for n in places(grid, axes)])
    return list(zip(*ranges, strict=True))


@runtime_checkable
class OverShards(Protocol):
    """A step that takes the operands of all devices at once."""

    def over_shards(self, *operands: Any) -> list[Any]:
        """The results, on all devices."""
        ...


# The step of an equation.
Step: TypeAlias = HostStep | OverShards


class Shards(tuple[Any, ...]):
    """One value for each device. A value without shards is the same on all devices."""

    __slots__ = ()


class Sharded(NamedTuple):
    """A whole array in shards.

    Attributes:
        grid: the axes of the mesh that the shards lie on.
        spec: which of them divide each dimension.
        shards: those of all devices. Devices of axes that divide nothing have equal ones.
        shape: the shape of the whole.
    """

    grid: Grid
    spec: Spec
    shards: Shards
    shape: tuple[int, ...]

    def whole(self) -> HostArray:
        """The array, as a copy unless the shards are adjacent in memory."""
        first = self.shards[0]
        if first.shape == self.shape:
            return first
        if self._is_one_piece():
            # NumPy knows no dtype of another package by its name.
            return np.asarray(_Adjacent(self.shards, self.shape)).view(first.dtype)
        result = aligned_empty(self.shape, first.dtype)
        indices = indices_of(self.grid, self.spec, self.shape)
        for index, shard in zip(indices, self.shards, strict=True):
            result[index] = shard
        return result

    def _is_one_piece(self) -> bool:
        axes = axes_of(self.spec)
        # Of the first dimension, in the order of the devices.
        if len(axes) != 1 or places(self.grid, axes[0]) != list(range(self.grid.size)):
            return False
        end = _address(self.shards[0])
        for shard in self.shards:
            if not shard.flags.c_contiguous or _address(shard) != end:
                return False
            end += shard.nbytes
        return True


class _Adjacent:
    """Adjacent arrays in memory, which it keeps, as one array for NumPy."""

    def __init__(self, shards: Shards, shape: tuple[int, ...]):
        # Read-only: the memory may be that of arrays of JAX.
        data = _address(shards[0]), True
        self.__array_interface__: Any = shards[0].__array_interface__ | {
            "data": data, "shape": shape, "strides": None,
        }  # fmt: skip
        self._shards = shards


def _address(array: HostArray) -> int:
    return array.__array_interface__["data"][0]


def as_whole(value: Any) -> Any:
    """An array without shards."""
    return value.whole() if type(value) is Sharded else value


def as_shards(value: Any, grid: Grid, spec: Spec) -> Any:
    """What each device has of a whole array, without a copy."""
    if type(value) is Sharded and axes_of(value.spec) == axes_of(spec):
        return value.shards
    value = as_whole(value)
    if not axes_of(spec):
        return value
    return Shards(value[index] for index in indices_of(grid, spec, value.shape))


def on_each(function: Any, operands: Sequence[Any], dtypes: Sequence[Any]) -> list[Any]:
    """The results of a step, on each device if the operands differ between them.

    Args:
        function: the step. Its method `over_shards`, if it has one, takes the operands as they are.
        operands: arrays, and `Shards` of them.
        dtypes: those of the results.
    """
    together = getattr(function, "over_shards", None)
    if together is not None:
        return together(*operands)
    if not any(type(one) is Shards for one in operands):
        return as_list(function(*operands), dtypes)
    return each_alone(lambda *given: as_list(function(*given), dtypes), operands)


def each_alone(function: Callable[..., Sequence[Any]], operands: Sequence[Any]) -> list[Any]:
    """The results of a function of several results, by each device for itself."""
    num = next(len(one) for one in operands if type(one) is Shards)
    each = [
        function(*[one[n] if type(one) is Shards else one for one in operands]) for n in range(num)
    ]
    return [Shards(column) for column in zip(*each, strict=True)]


def as_list(results: Any, dtypes: Sequence[Any]) -> list[Any]:
    """The results of a step, each with its dtype."""
    if len(dtypes) == 1 and not isinstance(results, (tuple, list)):
        results = [results]
    return [
        result if type(result) is Sharded else np.asarray(result, dtype)
        for result, dtype in zip(results, dtypes, strict=True)
    ]


def check_replicas(shards: Shards, grid: Grid, spec: Spec) -> None:
    """Checks that devices with the same part of an array have the same bits.

    Raises:
        NotInterpretable: they differ.
    """
    first = dict[int, HostArray]()
    axes = tuple(axis for axes in axes_of(spec) for axis in axes)
    for place, shard in zip(places(grid, axes), shards, strict=True):
        other = first.setdefault(place, shard)
        if other is not shard and other.tobytes() != shard.tobytes():
            raise NotInterpretable("devices that differ in the same part of a result")


def row_of(value: Any, row: int) -> Any:
    """One row of an array, on each device."""
    return Shards(one[row] for one in value) if type(value) is Shards else value[row]


def differs(value: Any) -> bool:
    """Whether devices have different numbers."""
    return type(value) is Shards and any(one != value[0] for one in value[1:])


def agreed(value: Any, what: str) -> HostArray:
    """A value that all devices have alike.

    Raises:
        NotInterpretable: they differ.
    """
    if differs(value):
        raise NotInterpretable(f"devices that differ in {what}, with a collective in it")
    return value[0] if type(value) is Shards else value


def apart_from(given: Sequence[HostArray], result: Any) -> Any:
    """A result, which shares no memory with the given arrays: else as a copy."""
    if type(result) is Sharded:
        return result._replace(shards=Shards(apart_from(given, one) for one in result.shards))
    return result.copy() if any(np.may_share_memory(result, one) for one in given) else result


def from_devices(array: jax.Array, grid: Grid) -> Any:
    """An array of JAX in the memory of the host, without a copy."""
    spec = spec_of(array.sharding)
    if not axes_of(spec):
        return np.asarray(array.addressable_data(0))
    shards = Shards(np.asarray(array.addressable_data(n)) for n in range(grid.size))
    return Sharded(grid, spec, shards, array.shape)


def to_devices(value: Any, mesh: Mesh, spec: Spec) -> jax.Array:
    """Places an array on the devices of a mesh; JAX may take over its memory."""
    sharding = NamedSharding(mesh, PartitionSpec(*spec))
    if type(value) is not Sharded:
        return jax.device_put(value, sharding)
    shards = as_shards(value, grid_of(mesh), spec)
    if type(shards) is not Shards:
        return jax.device_put(shards, sharding)
    placed = jax.device_put(list(shards), list(mesh.devices.flat))
    return jax.make_array_from_single_device_arrays(value.shape, sharding, placed)
