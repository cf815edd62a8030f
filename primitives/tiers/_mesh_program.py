# SPDX-License-Identifier: Apache-2.0
"""Programs on a mesh whose devices share the memory of the host: in shards, and around them."""

import functools
import operator
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from ...shardings._compat import is_x64_enabled
from ._collective_rules import collective_step, is_left_out
from ._elementwise_rules import Elementwise, Equation, Same, is_elementwise
from ._equal_rounding import KERNEL, NotInterpretable, dtype_of_value
from ._program import Program
from ._row_specs import spec_by_operands, spec_of_axes
from ._shards import (
    Grid,
    Sharded,
    Shards,
    Spec,
    Step,
    as_list,
    as_shards,
    as_whole,
    axes_of,
    check_replicas,
    from_devices,
    grid_of,
    on_each,
    spec_of,
    to_devices,
)

# What says where an array lies, and changes none of its bits.
_PLACES = ("reshard", "sharding_constraint", "mesh_cast")


def mesh_within(jaxpr: Jaxpr) -> Mesh | None:
    """The mesh of the first `shard_map` in a jaxpr, or of arrays that it places; or None."""
    for equation in _equations(jaxpr):
        if equation.primitive.name == "shard_map":
            return equation.params["mesh"]
        place = _place_of(equation)
        if place is not None and isinstance(place.mesh, Mesh):
            return place.mesh
    return None


@functools.partial(jax.jit, static_argnums=1)
def laid_out(result: jax.Array, place: NamedSharding) -> jax.Array:
    """Where a call over a mesh, which was traced for one device, would leave its result.

    `moves_rows` finds it by its name.
    """
    return jax.lax.with_sharding_constraint(result, place)


def moves_rows(jaxpr: Jaxpr) -> bool:
    """Whether a jaxpr has the result of a call over a mesh, or a kernel: XLA divides all else."""
    names = ((one.primitive.name, one.params.get("name")) for one in _equations(jaxpr))
    return any(kind == KERNEL or name == "laid_out" for kind, name in names)


def _equations(jaxpr: Jaxpr) -> Iterator[Equation]:
    """The equations of a jaxpr and of those in it, one after another."""
    for equation in jaxpr.eqns:
        yield equation
        for param in equation.params.values():
            for inner in param if isinstance(param, (tuple, list)) else (param,):
                if isinstance(inner, ClosedJaxpr):
                    yield from _equations(inner.jaxpr)


class MeshProgram(Program):
    """A jaxpr of whole arrays, with `shard_map` of programs of their shards.

    Operations on floats outside of `shard_map` are interpreted only element by element: XLA adds
    zeros as it joins pieces that lie on several devices.

    Args:
        on: the mesh.
        given: where the arguments lie; None for a part of a program.

    Attributes:
        specs: where the results lie.
    """

    def __init__(
        self,
        closed: ClosedJaxpr,
        calculated: Sequence[frozenset[str]] | None = None,
        constant: Sequence[bool] | None = None,
        *,
        on: Mesh,
        keeps_apart: bool = False,
        given: Sequence[Spec] | None = None,
    ):
        self._mesh, self._grid, self._given = on, grid_of(on), given
        # Where values lie. Under Auto axes it is not part of their types.
        self._placed: dict[int, Spec] = {}
        super().__init__(closed, calculated, constant, keeps_apart=keeps_apart, on=on)
        self.specs: list[Spec] = []
        if given is not None:
            self.specs = list(map(self._spec_of, self._outputs, closed.out_avals))
            # XLA must be told what types do not say, such as those of Auto axes.
            self.is_apart |= not all(map(_has_place, closed.out_avals))
            if self.is_apart and not is_x64_enabled() and self._is_wide():
                raise NotInterpretable("64 bits without x64 mode")

    _OF_CALLS = (*Program._OF_CALLS, "_grid", "specs")

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        """Runs the program on the flat arguments."""
        return self.run_by(self.in_dtypes(arguments), _on_wholes)

    def in_dtypes(self, arguments: Sequence[Any]) -> list[Any]:
        """The flat arguments as arrays of the dtypes that the program was made for."""
        given = [
            from_devices(one, self._grid) if isinstance(one, jax.Array) else one
            for one in arguments
        ]
        return [
            argument if type(argument) is Sharded else np.asarray(argument, dtype)
            for argument, dtype in zip(given, self._input_dtypes, strict=True)
        ]

    def place(self, results: Sequence[Any], mesh: Mesh) -> list[jax.Array]:
        """Places the results on the devices of the mesh."""
        return [
            to_devices(result, mesh, spec) for result, spec in zip(results, self.specs, strict=True)
        ]

    @property
    def shardings(self) -> list[NamedSharding]:
        """Where the results lie on the mesh that the program was made for."""
        return [NamedSharding(self._mesh, PartitionSpec(*spec)) for spec in self.specs]

    def _equation(self, equation: Equation, operands: list[int]) -> list[int]:
        name = equation.primitive.name
        for variable in (*equation.invars, *equation.outvars):
            spec_of(getattr(variable.aval, "sharding", None))
        if name == "shard_map":
            return self._shard_map(equation, operands)
        if name in _PLACES:
            results = self._moved(equation, operands)
            place = _place_of(equation)
            if place is not None:
                self._check_mesh(place.mesh)
                self._placed[results[0]] = spec_of(place)
            return results
        results = super()._equation(equation, operands)
        spec = None if self._is_explicit else self._spec_by_operands(equation, operands)
        for slot, variable in zip(results, equation.outvars, strict=True):
            if self._is_explicit:
                self._placed[slot] = tuple(variable.aval.sharding.spec)
            elif spec is not None:
                self._placed[slot] = spec
        return results

    def _moved(self, equation: Equation, operands: list[int]) -> list[int]:
        """Appends the step of an array that goes elsewhere."""
        return self._append(Same(), 0.0, equation, operands)

    def _inlined(self, jaxpr: Jaxpr, consts: Sequence[Any], inputs: Sequence[int]) -> list[int]:
        if self._given is not None:
            self._placed |= zip(self._inputs, self._given, strict=True)
        return super()._inlined(jaxpr, consts, inputs)

    def _spec_by_operands(self, equation: Equation, operands: Sequence[int]) -> Spec | None:
        """Where the results of an equation lie if its operands tell."""
        if any(slot not in self._placed and not self._proof.is_constant(slot) for slot in operands):
            return None
        placed = [
            axes_of(self._placed[slot]) if slot in self._placed else None for slot in operands
        ]
        return spec_by_operands(equation, placed)

    def _step(self, equation: Equation, operands: Sequence[int]) -> Step | str | None:
        step = super()._step(equation, operands)
        if not callable(step):
            return step
        if isinstance(step, Same):
            return step
        if is_elementwise(equation):
            return Elementwise(step)
        name = equation.primitive.name
        has_floats = any(
            dtype_of_value(variable.aval).kind not in "biu"
            for variable in (*equation.invars, *equation.outvars)
        )
        is_number = name == "broadcast_in_dim" and not equation.invars[0].aval.shape
        is_by_row = is_number or self._spec_by_operands(equation, operands)
        if has_floats and not is_by_row and not all(map(self._is_everywhere, operands)):
            return f"{name} of floats on several devices"
        return step

    def _folds(self, equation: Equation) -> bool:
        # A constant lies on no device, and JAX wants operands that lie alike.
        return not _is_divided(equation.outvars[0].aval) and super()._folds(equation)

    def _shard_map(self, equation: Equation, operands: list[int]) -> list[int]:
        params = equation.params
        mesh: Any = params["mesh"]
        if frozenset(mesh.axis_names) != params["newly_manual_axes"]:
            raise NotInterpretable("shard_map of some axes")
        self._check_mesh(mesh)
        before = list(map(self._proof.before, operands))
        constant = list(map(self._proof.is_known_in_branch, operands))
        program = _ShardProgram(
            ClosedJaxpr(params["jaxpr"], ()), before, constant,
            on=self._grid, keeps_apart=self._keeps_apart,
        )  # fmt: skip
        in_specs, out_specs = tuple(params["in_specs"]), tuple(params["out_specs"])
        specs = tuple(map(tuple, in_specs)), tuple(map(tuple, out_specs))
        shapes = [variable.aval.shape for variable in equation.outvars]
        step = _ShardMap(program, self._grid, *specs, shapes, params["check_vma"])

        def bind(operands: list[Any], zero: Any) -> Any:
            return jax.shard_map(
                lambda zero, *arrays: program.replay(arrays, zero),
                mesh=mesh,
                in_specs=(PartitionSpec(), *in_specs),
                out_specs=list(out_specs),
                check_vma=params["check_vma"],
            )(zero, *operands)

        seconds, is_changed = program.seconds * self._mesh.size, self._is_changed
        results = self._append(step, seconds, equation, operands, bind=bind)
        self._is_changed = is_changed or program.is_apart
        self._proof.add_branch(results, program.calculated)
        self._placed |= zip(results, specs[1], strict=True)
        return results

    def _spec_of(self, slot: int, aval: Any) -> Spec:
        """Where a result lies."""
        # A constant lies on one device if the program needs no argument.
        if _has_place(aval) and not self._proof.is_constant(slot):
            return spec_of(aval.sharding)
        if slot in self._placed and not _has_place(aval) and 0 not in aval.shape:
            axes = axes_of(self._placed[slot])
            # JAX allows a dimension that does not divide within a program only.
            if not any(map(operator.mod, aval.shape, map(self._grid.size_of, axes))):
                return spec_of_axes(axes)
        raise NotInterpretable("a result whose place XLA decides")

    @property
    def _is_explicit(self) -> bool:
        """Whether types say where all arrays lie."""
        return all(kind == AxisType.Explicit for kind in self._mesh.axis_types)

    def _check_mesh(self, mesh: Any) -> None:
        """Raises `NotInterpretable` for a mesh that is not that of the program."""
        ours: Any = self._mesh
        is_same = (mesh.shape, mesh.axis_types) == (ours.shape, ours.axis_types)
        if not is_same or (isinstance(mesh, Mesh) and mesh != ours):
            raise NotInterpretable("another mesh")

    def _is_everywhere(self, slot: int) -> bool:
        """Whether all devices are known to have the whole array."""
        if self._proof.is_constant(slot):
            return True
        return slot in self._placed and not axes_of(self._placed[slot])


class WholeProgram(MeshProgram):
    """A jaxpr without `shard_map`, on one device in place of a mesh in the same memory."""

    def __init__(self, closed: ClosedJaxpr, *args: Any, **kwargs: Any):
        self._shapes = [variable.aval.shape for variable in closed.jaxpr.invars]
        super().__init__(closed, *args, **kwargs)
        # XLA compiles it for one device, by `replay`.
        self.is_apart = True

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        """Runs the program on the flat arguments."""
        return Program.__call__(self, arguments)

    def in_dtypes(self, arguments: Sequence[Any]) -> list[Any]:
        """The flat arguments as whole arrays of the dtypes that the program was made for."""
        return list(map(as_whole, super().in_dtypes(arguments)))

    def _step(self, equation: Equation, operands: Sequence[int]) -> Step | str | None:
        return Program._step(self, equation, operands)

    def _moved(self, equation: Equation, operands: list[int]) -> list[int]:
        results = self._append(Same(), 0.0, equation, operands, bind=_as_they_are)
        self._proof.see_through(operands, results)
        return results

    def _shard_map(self, equation: Equation, operands: list[int]) -> list[int]:
        raise NotInterpretable("shard_map on one device")

    def _spec_of(self, slot: int, aval: Any) -> Spec:
        try:
            return super()._spec_of(slot, aval)
        except NotInterpretable:
            # Beside arguments of as many rows, or on all devices.
            rows = aval.shape[:1]
            given = zip(self._given or (), self._shapes, strict=True)
            return next((spec[:1] for spec, shape in given if spec and shape[:1] == rows), ())


def _as_they_are(operands: list[Any], zero: Any) -> list[Any]:
    del zero
    return operands


class _ShardProgram(Program):
    """A jaxpr of shards, with collectives between them."""

    def _equation(self, equation: Equation, operands: list[int]) -> list[int]:
        if not is_left_out(equation, self._on):
            return super()._equation(equation, operands)
        if not equation.params.get("tiled", True):
            raise NotInterpretable("all_to_all of one device, of another shape")
        # Operations before and behind it may be joined.
        results = self._append(Same(), 0.0, equation, operands)
        self._proof.see_through(operands, results)
        return results

    def _step(self, equation: Equation, operands: Sequence[int]) -> Step | str | None:
        if equation.primitive.name in _PLACES:
            # Within a shard there is nothing left to divide.
            return Same()
        return collective_step(equation, self._on) or super()._step(equation, operands)


class _ShardMap(NamedTuple):
    """The step of a `shard_map`."""

    program: Program
    grid: Grid
    in_specs: tuple[Spec, ...]
    out_specs: tuple[Spec, ...]
    shapes: list[tuple[int, ...]]
    is_checked: bool  # Whether JAX has proved that devices have the same where they should.

    @property
    def num_steps(self) -> int:
        """The number of calls that each device makes."""
        return self.program.num_steps

    def over_shards(self, *operands: Any) -> list[Any]:
        """The results of whole arrays, which may be in shards."""
        arguments = [
            as_shards(operand, self.grid, spec)
            for operand, spec in zip(operands, self.in_specs, strict=True)
        ]
        results = self.program.over_shards(arguments)
        return list(map(self._whole, results, self.out_specs, self.shapes))

    def _whole(self, result: Any, spec: Spec, shape: tuple[int, ...]) -> Any:
        is_each = type(result) is Shards
        if is_each and not self.is_checked:
            check_replicas(result, self.grid, spec)
        if not axes_of(spec):
            return result[0] if is_each else result
        shards = result if is_each else Shards((result,) * self.grid.size)
        return Sharded(self.grid, spec, shards, shape)


def _on_wholes(function: Any, operands: Sequence[Any], dtypes: Sequence[Any]) -> list[Any]:
    """The results of a step of whole arrays, which may be in shards."""
    if isinstance(function, (_ShardMap, Same)):
        return function.over_shards(*operands)
    first = next((one for one in operands if type(one) is Sharded), None)
    if isinstance(function, Elementwise) and first is not None:
        given = [as_shards(one, first.grid, first.spec) if one.shape else one for one in operands]
        return [first._replace(shards=on_each(function, given, dtypes)[0])]
    return as_list(function(*map(as_whole, operands)), dtypes)


def _place_of(equation: Equation) -> NamedSharding | None:
    """Where an equation puts its operand."""
    if equation.primitive.name not in _PLACES:
        return None
    place = equation.params.get("dst_sharding", equation.params.get("sharding"))
    return place if isinstance(place, NamedSharding) else None


def _is_divided(aval: Any) -> bool:
    """Whether the type of an array divides it between devices."""
    return any(axis is not None for axis in aval.sharding.spec)


def _has_place(aval: Any) -> bool:
    """Whether the type of an array says where it lies."""
    mesh = aval.sharding.mesh
    return not mesh.empty and all(kind == AxisType.Explicit for kind in mesh.axis_types)
