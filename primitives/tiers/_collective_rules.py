# SPDX-License-Identifier: Apache-2.0
"""Collectives between the shards of a mesh whose devices share the memory of the host."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ._elementwise_rules import Equation, HostArray
from ._shards import Grid, Shards, groups, places


class _Reduce(NamedTuple):
    """All devices get the reduction, in XLA's order on CPU: that of the devices."""

    name: str

    def __call__(self, arrays: list[HostArray]) -> Sequence[HostArray]:
        return [_REDUCTIONS[self.name](arrays)] * len(arrays)


class _Gather(NamedTuple):
    """All devices get the arrays of all."""

    axis: int
    is_tiled: bool

    def __call__(self, arrays: list[HostArray]) -> Sequence[HostArray]:
        join = np.concatenate if self.is_tiled else np.stack
        return [join(arrays, self.axis)] * len(arrays)


class _Exchange(NamedTuple):
    """Each device gets a piece of the array of each."""

    split_axis: int
    concat_axis: int
    is_tiled: bool

    def __call__(self, arrays: list[HostArray]) -> Sequence[HostArray]:
        pieces = [np.split(array, len(arrays), self.split_axis) for array in arrays]
        columns = zip(*pieces, strict=True)
        if self.is_tiled:
            return [np.concatenate(column, self.concat_axis) for column in columns]
        return [
            np.stack([piece.squeeze(self.split_axis) for piece in column], self.concat_axis)
            for column in columns
        ]


class _Permute(NamedTuple):
    """Each device gets the array of another one, or zeros."""

    perm: tuple[tuple[int, int], ...]

    def __call__(self, arrays: list[HostArray]) -> Sequence[HostArray]:
        results = [np.zeros_like(arrays[0])] * len(arrays)
        for source, target in self.perm:
            results[target] = arrays[source]
        return results


class _ReduceScatter(NamedTuple):
    """Each device gets a piece of the sum."""

    axis: int
    is_tiled: bool

    def __call__(self, arrays: list[HostArray]) -> Sequence[HostArray]:
        pieces = np.split(_total(arrays), len(arrays), self.axis)
        return pieces if self.is_tiled else [piece.squeeze(self.axis) for piece in pieces]


class _Collective(NamedTuple):
    """A collective over some axes of a mesh.

    Attributes:
        grid: the axes of the mesh.
        axes: those that the collective joins.
        exchange: what each device of a group gets, of what they have.
        is_shared: whether that is the same for all of them.
    """

    grid: Grid
    axes: tuple[str, ...]
    exchange: Callable[[list[HostArray]], Sequence[HostArray]]
    is_shared: bool

    @property
    def is_collective(self) -> bool:
        """Whether all devices must take part."""
        return True

    def over_shards(self, *operands: Any) -> list[Any]:
        """The results of each operand, on all devices."""
        return list(map(self._result, operands))

    def _result(self, operand: Any) -> Any:
        each = operand if type(operand) is Shards else (operand,) * self.grid.size
        results: list[Any] = [None] * self.grid.size
        for group in groups(self.grid, self.axes):
            received = self.exchange([each[device] for device in group])
            if self.is_shared and len(group) == len(each):
                return received[0]
            for device, result in zip(group, received, strict=True):
                results[device] = result
        return Shards(results)


class _AxisIndex(NamedTuple):
    """The position of each device along axes of a mesh."""

    grid: Grid
    axes: tuple[str, ...]

    @property
    def is_collective(self) -> bool:
        """Whether all devices must take part."""
        return True

    def over_shards(self, *operands: Any) -> list[Any]:
        """The positions; there are no operands."""
        del operands
        return [Shards(np.array(place, np.int32) for place in places(self.grid, self.axes))]


def _extreme(beats: np.ufunc, least: float, arrays: list[HostArray]) -> HostArray:
    """The first one of the extremes, as XLA finds it: a NaN beats nothing."""
    none = np.full_like(arrays[0], least) if _are_floats(arrays) else arrays[0]
    return functools.reduce(lambda x, y: np.where(beats(y, x), y, x), _flushed(arrays), none)


def _flushed(arrays: list[HostArray]) -> list[HostArray]:
    """Numbers without subnormal ones, which the processor takes for zero as it multiplies."""
    return [array * array.dtype.type(1) for array in arrays] if _are_floats(arrays) else arrays


def _are_floats(arrays: list[HostArray]) -> bool:
    return arrays[0].dtype.kind == "f"


def _total(arrays: list[HostArray]) -> HostArray:
    """The sum, from 0.0 on as XLA counts: that of numbers -0.0 is 0.0."""
    if not _are_floats(arrays):
        return functools.reduce(np.add, arrays)
    arrays = [np.zeros_like(arrays[0]), *arrays]
    total = functools.reduce(np.add, arrays)
    if np.isnan(total).any():
        # XLA keeps the bits of the last NaN. NumPy's choice depends on the position in the array.
        total = functools.reduce(lambda x, y: np.where(np.isnan(y), y + 0, x + y), arrays)
    return total


_REDUCTIONS: dict[str, Callable[[list[HostArray]], HostArray]] = {
    "psum": _total,
    "psum_invariant": _total,
    "pmax": functools.partial(_extreme, np.greater, -np.inf),
    "pmin": functools.partial(_extreme, np.less, np.inf),
}


def is_left_out(equation: Equation, grid: Grid) -> bool:
    """Whether XLA leaves out a collective of a single device: all but a `reduce_scatter`."""
    if equation.primitive.name not in ("all_to_all", *_REDUCTIONS):
        return False
    axes = equation.params.get("axis_name", equation.params.get("axes"))
    return grid.size_of((axes,) if isinstance(axes, str) else axes) == 1


def collective_step(equation: Equation, grid: Grid) -> _Collective | _AxisIndex | None:
    """The step of a collective; None if the equation is none, or one of a kind without a rule."""
    name, params = equation.primitive.name, equation.params
    axes = params.get("axis_name", params.get("axes"))
    axes = (axes,) if isinstance(axes, str) else axes
    is_named = isinstance(axes, tuple) and set(axes) <= set(grid.names)
    if not is_named or params.get("axis_index_groups") is not None:
        return None
    if name == "axis_index":
        return _AxisIndex(grid, axes)
    exchange: Any = None
    match name:
        case "psum" | "psum_invariant" | "pmax" | "pmin":
            exchange = _Reduce(name)
        case "all_gather" | "all_gather_invariant":
            exchange = _Gather(params["all_gather_dimension"], params["tiled"])
        case "all_to_all":
            exchange = _Exchange(params["split_axis"], params["concat_axis"], params["tiled"])
        case "ppermute":
            exchange = _Permute(tuple(params["perm"]))
            # JAX numbers the devices in the order of the mesh, whatever that of the axes.
            axes = tuple(axis for axis in grid.names if axis in axes)
        case "reduce_scatter":
            exchange = _ReduceScatter(params["scatter_dimension"], params["tiled"])
        case _:
            return None
    return _Collective(grid, axes, exchange, isinstance(exchange, (_Reduce, _Gather)))
