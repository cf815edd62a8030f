# SPDX-License-Identifier: Apache-2.0
"""Programs for the host: the equations of a jaxpr, as a list of calls of NumPy and the kernels."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, jaxpr_as_fun

from ...shardings._compat import as_varying, has_side_effects, is_x64_enabled, varying_axes_of
from . import _array_rules, _kernel_calls, _random_rules  # noqa: F401 (they register rules)
from ._branches import Branches
from ._elementwise_rules import RULES, Equation, HostArray, HostStep
from ._equal_rounding import (
    KERNEL,
    VIEWS,
    EqualRounding,
    NotInterpretable,
    calculated_by_loop,
    dtype_of_value,
)
from ._kept_steps import (
    function_of_kept,
    kept_function,
    kept_value,
    own_dtype,
    read_only,
    value_of_kept,
)
from ._loops import scan_loop, while_loop
from ._rounding import as_it_is, constant_for_xla, divided_apart, rounded
from ._shards import Step, on_each

# Seconds by which one call is slower than compiled code, and for each byte of its results.
_CALL_SECONDS = 3e-6
_BYTE_SECONDS = 0.2e-9
# Calls that lose more for each byte.
_SLOWNESS = {
    "sort": 40, "scatter": 4, "scatter-add": 60, "scatter-mul": 60,
    "scatter-min": 60, "scatter-max": 60, "div": 4, "rem": 8, "cumsum": 4, "cummax": 4, "cummin": 4,
}  # fmt: skip
_CALLS = ("jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call",
          "custom_vmap_call", "custom_partitioning", "remat", "checkpoint", "remat2")  # fmt: skip
# The elements of constants that are calculated while a program is prepared.
_MOST_FOLDED = 4096
_FOLDING = ("broadcast_in_dim", "reshape", "convert_element_type", "squeeze", "pvary")


# Calls a step with operands of any kind, and gives its results their dtypes.
Apply = Callable[[Any, Sequence[Any], Sequence[np.dtype]], Sequence[Any]]


class _Call(NamedTuple):
    """One step of a program: `values[results] = function(values[operands])`.

    The function of an equation that cannot be interpreted is the reason, a string.
    """

    function: Step | str
    operands: tuple[int, ...]
    results: tuple[int, ...]
    dtypes: tuple[np.dtype, ...]
    seconds: float
    equation: Equation
    # The equation for XLA, and the positions of the operands that it must not join with it.
    bind: "Callable[[list[Any], Any], Any]"
    apart: tuple[int, ...] = ()


class Program:
    """A jaxpr for the host.

    Its results are those of XLA, to the last bit: a jaxpr with an operation that may round
    differently raises `NotInterpretable`; see `_equal_rounding`. Where XLA would join operations on
    floats, `keeps_apart` has the jaxpr in a form in which it cannot: `replay`.

    Args:
        on: what a program of several devices runs on; for a class of it.

    Attributes:
        is_apart: whether the results are those of XLA for `replay` alone.
        seconds: an estimate of the time by which a call is slower than that of compiled code.
        num_steps: the number of calls of NumPy and of kernels.
        is_collective: whether all devices of a mesh must take part in a step.
        calculated: for each result, the operations on floats that XLA could join with another.
    """

    # The attributes that calls need.
    _OF_CALLS: tuple[str, ...] = (
        "_inputs", "_input_dtypes", "_outputs", "seconds", "num_steps", "is_apart",
        "is_collective",
    )  # fmt: skip

    def __init__(
        self,
        closed: ClosedJaxpr,
        calculated: Sequence[frozenset[str]] | None = None,
        constant: Sequence[bool] | None = None,
        *,
        keeps_apart: bool = False,
        on: Any = None,
    ):
        self._keeps_apart, self._on = keeps_apart, on
        self._is_changed = False
        self._values: list[Any] = []  # Constants; None for what a call computes.
        self._calls: list[_Call] = []
        # The mesh axes that constants vary over, for JAX.
        self._varying: dict[int, frozenset[str]] = {}
        self._proof = EqualRounding(self._values)
        jaxpr = closed.jaxpr
        if has_side_effects(jaxpr.effects):
            raise NotInterpretable("effects")
        self._inputs = [self._slot(None) for _ in jaxpr.invars]
        self._proof.give(self._inputs, calculated, constant)
        self._input_dtypes = [dtype_of_value(v.aval) for v in jaxpr.invars]
        self._outputs = self._inlined(jaxpr, closed.consts, self._inputs)
        self._drop_unused()
        for call in self._calls:
            if isinstance(call.function, str):
                raise NotInterpretable(call.function)
        self.seconds: float = sum(call.seconds for call in self._calls)
        self.num_steps: int = sum(getattr(call.function, "num_steps", 1) for call in self._calls)
        self.is_collective: bool = any(
            getattr(call.function, "is_collective", False) for call in self._calls
        )
        self.is_apart: bool = self._is_changed
        if self.is_apart and not is_x64_enabled() and self._is_wide():
            # Part of the function was traced in another mode, in which it is not replayed.
            raise NotInterpretable("64 bits without x64 mode")
        self.calculated: tuple[frozenset[str], ...] = tuple(map(self._proof.before, self._outputs))

    def __call__(self, arguments: Sequence[Any]) -> list[HostArray]:
        """Runs the program on the flat arguments."""
        values = list(self._values)
        for slot, argument in zip(self._inputs, self.in_dtypes(arguments), strict=True):
            values[slot] = argument
        for function, operands, slots, dtypes, last_used in self._steps:
            results = function(*[values[slot] for slot in operands])
            if len(slots) == 1 and not isinstance(results, (tuple, list)):
                values[slots[0]] = _as_array(results, dtypes[0])
            else:
                for slot, result, dtype in zip(slots, results, dtypes, strict=True):
                    values[slot] = _as_array(result, dtype)
            for slot in last_used:
                values[slot] = None
        return [values[slot] for slot in self._outputs]

    def run_by(self, arguments: Sequence[Any], apply: Apply) -> list[Any]:
        """Runs the program on arguments that are no arrays of the host, such as those of a mesh.

        Args:
            arguments: the flat arguments.
            apply: calls a step with its operands, and gives the results their dtypes.
        """
        values = list(self._values)
        for slot, argument in zip(self._inputs, arguments, strict=True):
            values[slot] = argument
        for function, operands, slots, dtypes, last_used in self._steps:
            results = apply(function, [values[slot] for slot in operands], dtypes)
            for slot, result in zip(slots, results, strict=True):
                values[slot] = result
            for slot in last_used:
                values[slot] = None
        return [values[slot] for slot in self._outputs]

    def over_shards(self, arguments: Sequence[Any]) -> list[Any]:
        """Runs the program on all devices of a mesh, one step after the other."""
        return self.run_by(arguments, on_each)

    def in_dtypes(self, arguments: Sequence[Any]) -> list[Any]:
        """The flat arguments as arrays of the dtypes that the program was made for."""
        return list(map(_as_array, arguments, self._input_dtypes))

    def __getstate__(self) -> dict[str, Any]:
        """What `__call__` needs: another process can run the program, but not `replay` it."""
        steps = [
            (kept_function(call.function, call.equation), *rest)
            for call, (_, *rest) in zip(self._calls, self._steps, strict=True)
        ]
        attributes = {name: getattr(self, name) for name in self._OF_CALLS}
        return attributes | {"_values": list(map(kept_value, self._values)), "_steps": steps}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._values = list(map(value_of_kept, self._values))
        self._input_dtypes = list(map(own_dtype, self._input_dtypes))
        self._steps = [
            (function_of_kept(kept), operands, results, tuple(map(own_dtype, dtypes)), last)
            for kept, operands, results, dtypes, last in self._steps
        ]

    def _is_wide(self) -> bool:
        """Whether a value has 64 bits."""
        dtypes = [*self._input_dtypes, *(dtype for call in self._calls for dtype in call.dtypes)]
        dtypes += [value.dtype for value in self._values if value is not None]
        return any(dtype.itemsize == 8 and dtype.kind in "iuf" for dtype in dtypes)

    def replay(self, arguments: Sequence[Any], zero: Any) -> list[Any]:
        """The program for XLA, whose operations on floats are rounded one by one.

        Args:
            arguments: the flat arguments, traced.
            zero: see `rounded`.
        """
        values: list[Any] = [None if one is None else constant_for_xla(one) for one in self._values]
        for slot, axes in self._varying.items():
            values[slot] = as_varying(values[slot], axes)
        for slot, argument in zip(self._inputs, arguments, strict=True):
            values[slot] = argument
        for call in self._calls:
            operands = [values[slot] for slot in call.operands]
            for position in call.apart:
                operands[position] = rounded(operands[position], zero)
            results = call.bind(operands, zero)
            if not isinstance(results, (tuple, list)):
                results = [results]
            for slot, result in zip(call.results, results, strict=True):
                values[slot] = result
        return [values[slot] for slot in self._outputs]

    def _part(
        self,
        closed: ClosedJaxpr,
        calculated: Sequence[frozenset[str]],
        constant: Sequence[bool],
    ) -> "Program":
        """A program of a branch, or of the body of a loop."""
        options: dict[str, Any] = {"keeps_apart": self._keeps_apart, "on": self._on}
        return type(self)(closed, calculated, constant, **options)

    def _step(self, equation: Equation, operands: Sequence[int]) -> Step | str | None:
        """The step of an equation without equations of its own; None if it has no rule."""
        del operands
        make = RULES.get(equation.primitive.name)
        return None if make is None else make(equation)

    def _constant(self, value: HostArray, aval: Any) -> int:
        """The slot of a constant in place of a value of some type."""
        slot = self._slot(value)
        if axes := varying_axes_of(aval):
            self._varying[slot] = axes
        return slot

    def _slot(self, value: HostArray | None) -> int:
        self._values.append(None if value is None else read_only(value))
        return len(self._values) - 1

    def _inlined(self, jaxpr: Jaxpr, consts: Sequence[Any], inputs: Sequence[int]) -> list[int]:
        """Appends the calls of a jaxpr; returns the slots of its results."""
        slots = dict(zip(jaxpr.invars, inputs, strict=True))
        for variable, const in zip(jaxpr.constvars, consts, strict=True):
            # A copy, as in a compiled program: the function's own may change.
            slots[variable] = self._slot(np.array(const, dtype_of_value(variable.aval)))

        def read(atom: Any) -> int:
            if isinstance(atom, Literal):
                return self._slot(np.asarray(atom.val, dtype_of_value(atom.aval)))
            return slots[atom]

        for equation in jaxpr.eqns:
            operands = [read(atom) for atom in equation.invars]
            try:
                results = self._equation(equation, operands)
            except KeyError as error:
                # Parameters are no public names: another version of JAX may call one otherwise.
                name = equation.primitive.name
                raise NotInterpretable(f"{name} without a parameter {error}") from error
            slots.update(zip(equation.outvars, results, strict=True))
        return [read(atom) for atom in jaxpr.outvars]

    def _equation(self, equation: Equation, operands: list[int]) -> list[int]:
        name, params = equation.primitive.name, equation.params
        for variable in (*equation.invars, *equation.outvars):
            dtype_of_value(variable.aval)
        if has_side_effects(equation.effects):
            raise NotInterpretable(f"effects of {name}")
        if not equation.outvars:
            # Such as a loop whose results are not used.
            return []
        if name in _CALLS:
            places = (*params.get("in_shardings", ()), *params.get("out_shardings", ()))
            if any(isinstance(place, jax.sharding.Sharding) for place in places):
                raise NotInterpretable("a function that says where its arrays lie")
            inner = next(params[key] for key in ("jaxpr", "call_jaxpr", "call") if key in params)
            closed = inner if isinstance(inner, ClosedJaxpr) else ClosedJaxpr(inner, ())
            return self._inlined(closed.jaxpr, closed.consts, operands)
        if name == "with_tangent":
            return operands[: params["num_results"]]
        if name == "platform_index":
            return [self._slot(np.asarray(_cpu_index(params["platforms"]), np.int32))]
        if name == "cond":
            return self._cond(equation, operands)
        if name in ("scan", "while"):
            loop = (scan_loop if name == "scan" else while_loop)(equation, self._body)
            bind = loop.bind if loop.is_apart else None
            results = self._append(loop.step, loop.seconds, equation, operands, bind=bind)
            self._proof.add_loop(equation, results)
            return results
        same = self._proof.simplified(equation, operands)
        if same is not None:
            return [same]
        step = self._step(equation, operands)
        known = [self._values[slot] for slot in operands]
        if callable(step) and not any(value is None for value in known) and self._folds(equation):
            folded = _folded(step, known, dtype_of_value(equation.outvars[0].aval))
            if folded is not None:
                # XLA rounds floats in another way where it joins the operation with others.
                self._is_changed |= name not in _FOLDING and _has_floats(equation)
                return [self._constant(folded, equation.outvars[0].aval)]
        reason = self._proof.reason(equation, operands)
        if reason is not None and self._keeps_apart and callable(step):
            return self._append_apart(equation, operands, step)
        if step is None:
            step = f"{name} has no rule for {equation.params}"
        step = reason or step
        seconds = 0.0 if isinstance(step, str) else _seconds_of(equation)
        return self._append(step, seconds, equation, operands)

    def _folds(self, equation: Equation) -> bool:
        """Whether an equation of constants is calculated here."""
        if equation.primitive.name in _FOLDING:
            return True
        is_one = len(equation.outvars) == 1 and equation.primitive.name != KERNEL
        if not self._keeps_apart or not equation.invars or not is_one:
            return False
        avals = [v.aval for v in (*equation.invars, *equation.outvars)]
        # NumPy lacks the arithmetic of other dtypes, or rounds it in another way.
        are_plain = all(
            one.kind in "biu" or one in (np.float32, np.float64)
            for one in map(dtype_of_value, avals)
        )
        return are_plain and all(aval.size <= _MOST_FOLDED for aval in avals)

    def _append_apart(self, equation: Equation, operands: list[int], step: HostStep) -> list[int]:
        """Appends an equation that XLA could join with others, kept apart from them."""
        proof = self._proof
        apart = proof.known_floats(equation, operands)
        is_uniform = proof.has_uniform_divisor(equation, operands)
        hidden = {*apart, 1} if is_uniform else {*apart}
        seen = [self._slot(None) if at in hidden else slot for at, slot in enumerate(operands)]
        # Behind the same bits for all of them, repeated numbers are repeated still.
        repeated = (at for at in apart if proof.is_repeated(operands[at]))
        proof.broadcast.update(seen[at] for at in repeated)
        if is_uniform:
            proof.spread.add(seen[1])
        return self._append(
            proof.reason(equation, seen) or step, _seconds_of(equation), equation, operands,
            seen=seen, apart=tuple(at for at in apart if at != 1 or not is_uniform),
            bind=functools.partial(divided_apart, equation) if is_uniform else None,
        )  # fmt: skip

    def _append(
        self,
        function: Step | str,
        seconds: float,
        equation: Equation,
        operands: Sequence[int],
        *,
        seen: Sequence[int] | None = None,
        apart: tuple[int, ...] = (),
        bind: Callable[[list[Any], Any], Any] | None = None,
    ) -> list[int]:
        """Appends a call.

        Args:
            seen: the operands as XLA knows them.
            apart: the positions of those that are rounded apart.
            bind: the equation for XLA; by default as it is.
        """
        results = [self._slot(None) for _ in equation.outvars]
        dtypes = tuple(dtype_of_value(v.aval) for v in equation.outvars)
        self._is_changed |= bind is not None
        bind = functools.partial(as_it_is, equation) if bind is None else bind
        given = tuple(operands), tuple(results)
        self._is_changed |= bool(apart)
        self._calls.append(_Call(function, *given, dtypes, seconds, equation, bind, apart))
        self._proof.add(equation, operands if seen is None else seen, results)
        return results

    def _cond(self, equation: Equation, operands: list[int]) -> list[int]:
        branches = equation.params["branches"]
        index, operands = operands[0], operands[1:]
        known = self._values[index]
        if known is not None:
            chosen = branches[min(max(int(known), 0), len(branches) - 1)]
            return self._inlined(chosen.jaxpr, chosen.consts, operands)
        before = list(map(self._proof.before, operands))
        constant = list(map(self._proof.is_known_in_branch, operands))
        programs = [self._part_or_reason(branch, before, constant) for branch in branches]

        def bind(operands: list[Any], zero: Any) -> Any:
            index, *arrays = operands
            calls = [
                functools.partial(_branch, program, branch, zero)
                for program, branch in zip(programs, branches, strict=True)
            ]
            return jax.lax.switch(index, calls, *arrays)

        possible = [program for program in programs if isinstance(program, Program)]
        if not possible:
            return self._append(str(programs[0]), 0.0, equation, [index, *operands])
        # The usual branch is the cheap one.
        seconds = min(program.seconds for program in possible)
        is_apart = any(program.is_apart for program in possible)
        step = Branches(programs)
        results = self._append(
            step, seconds, equation, [index, *operands], bind=bind if is_apart else None
        )
        for program in possible:
            self._proof.add_branch(results, program.calculated)
        return results

    def _part_or_reason(
        self,
        closed: ClosedJaxpr,
        calculated: Sequence[frozenset[str]],
        constant: Sequence[bool],
    ) -> "Program | NotInterpretable":
        try:
            return self._part(closed, calculated, constant)
        except NotInterpretable as reason:
            return reason

    def _body(self, closed: ClosedJaxpr) -> "Program":
        """The body of a loop: XLA may unroll it, and move constants into it."""
        num_values = len(closed.jaxpr.invars)
        return self._part(closed, calculated_by_loop(num_values), [True] * num_values)

    def _drop_unused(self) -> None:
        used = set(self._outputs)
        calls, last_used = [], []
        for call in reversed(self._calls):
            if used.isdisjoint(call.results):
                continue
            last = {slot for slot in call.operands if slot not in used}
            last |= {slot for slot in call.results if slot not in used}
            used.update(call.operands)
            calls.append(call)
            last_used.append(tuple(slot for slot in last if self._values[slot] is None))
        self._calls = calls[::-1]
        # A loop over few rows takes its time in Python: tuples are unpacked without a name.
        self._steps: list[tuple[Any, ...]] = [
            (call.function, call.operands, call.results, call.dtypes, last)
            for call, last in zip(calls[::-1], last_used[::-1], strict=True)
        ]


def _as_array(value: Any, dtype: np.dtype) -> HostArray:
    """`np.asarray`, which is not called for what has the dtype: NumPy has one object for each."""
    if type(value) is np.ndarray and value.dtype is dtype:
        return value
    return np.asarray(value, dtype)


def _has_floats(equation: Equation) -> bool:
    """Whether an operand or a result of an equation holds floats."""
    variables = (*equation.invars, *equation.outvars)
    return any(dtype_of_value(variable.aval).kind == "f" for variable in variables)


def _folded(step: HostStep, known: list[Any], dtype: np.dtype) -> HostArray | None:
    """The value of an equation of constants; None if NumPy cannot calculate it."""
    try:
        with np.errstate(all="ignore"):
            value: Any = step(*known)
    except (TypeError, ValueError, ArithmeticError):
        return None
    if isinstance(value, (tuple, list)):
        (value,) = value
    return np.asarray(value, dtype)


def _seconds_of(equation: Equation) -> float:
    """An estimate of the time that a call of NumPy takes."""
    name = equation.primitive.name
    if name == KERNEL:
        return 0.0
    num_bytes = 0
    if name not in VIEWS:
        num_bytes = sum(v.aval.size * v.aval.dtype.itemsize for v in equation.outvars)
    seconds = _CALL_SECONDS + num_bytes * _BYTE_SECONDS * _SLOWNESS.get(name, 1)
    if name.startswith(("reduce", "arg")):
        operand = equation.invars[0].aval
        seconds += operand.size * operand.dtype.itemsize * _BYTE_SECONDS
    return seconds


def _branch(
    program: "Program | NotInterpretable", closed: ClosedJaxpr, zero: Any, *arrays: Any
) -> list[Any]:
    """A branch for XLA."""
    if isinstance(program, Program):
        return program.replay(arrays, zero)
    return list(jaxpr_as_fun(closed)(*arrays))


def _cpu_index(platforms: Sequence[Any]) -> int:
    for index, names in enumerate(platforms):
        if names is None or "cpu" in names:
            return index
    raise NotInterpretable("no platform is the CPU")
