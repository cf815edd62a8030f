# SPDX-License-Identifier: Apache-2.0
"""Programs for the host: the equations of a jaxpr, as a list of calls of NumPy and the kernels."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from ...shardings._compat import scan_counts
from . import _array_rules, _kernel_calls  # noqa: F401 (they register their rules)
from ._elementwise_rules import RULES, Equation, HostArray, HostStep
from ._equal_rounding import (
    KERNEL,
    VIEWS,
    EqualRounding,
    NotInterpretable,
    calculated_by_loop,
    dtype_of_value,
)

# Seconds by which one call is slower than compiled code, and for each byte of its results.
_CALL_SECONDS = 3e-6
_BYTE_SECONDS = 0.2e-9
# Calls that lose more for each byte.
_SLOWNESS = {
    "sort": 40, "gather": 3, "scatter": 4, "scatter-add": 60, "scatter-min": 60,
    "scatter-max": 60, "div": 4, "rem": 8, "cumsum": 4, "cummax": 4, "cummin": 4,
}  # fmt: skip
# The trip count of a loop that has none.
_GUESSED_TRIPS = 32
_CALLS = ("jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call",
          "custom_vmap_call", "custom_partitioning", "remat", "checkpoint", "remat2")  # fmt: skip
_FOLDING = ("broadcast_in_dim", "reshape", "convert_element_type", "squeeze")


class _Call(NamedTuple):
    """One step of a program: `values[results] = function(values[operands])`.

    The function of an equation that cannot be interpreted is the reason, a string.
    """

    function: Callable[..., Any] | str
    operands: tuple[int, ...]
    results: tuple[int, ...]
    dtypes: tuple[np.dtype, ...]
    seconds: float


class Program:
    """A jaxpr for the host.

    Its results are those of XLA, to the last bit: a jaxpr with an operation that may round
    differently raises `NotInterpretable`; see `_equal_rounding`.

    Attributes:
        seconds: an estimate of the time by which a call is slower than that of compiled code.
        num_steps: the number of calls of NumPy and of kernels.
        calculated: for each result, the operations on floats that XLA could join with another.
    """

    def __init__(
        self,
        closed: ClosedJaxpr,
        calculated: Sequence[frozenset[str]] | None = None,
        constant: Sequence[bool] | None = None,
    ):
        self._values: list[Any] = []  # Constants; None for what a call computes.
        self._calls: list[_Call] = []
        self._proof = EqualRounding(self._values)
        jaxpr = closed.jaxpr
        if jaxpr.effects:
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
        self.num_steps: int = len(self._calls)
        self.calculated: tuple[frozenset[str], ...] = tuple(map(self._proof.before, self._outputs))

    def __call__(self, arguments: Sequence[Any]) -> list[HostArray]:
        """Runs the program on the flat arguments."""
        values = list(self._values)
        for slot, argument, dtype in zip(self._inputs, arguments, self._input_dtypes, strict=True):
            values[slot] = _as_array(argument, dtype)
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

    def _slot(self, value: Any) -> int:
        self._values.append(value)
        return len(self._values) - 1

    def _inlined(self, jaxpr: Jaxpr, consts: Sequence[Any], inputs: Sequence[int]) -> list[int]:
        """Appends the calls of a jaxpr; returns the slots of its results."""
        slots = dict(zip(jaxpr.invars, inputs, strict=True))
        for variable, const in zip(jaxpr.constvars, consts, strict=True):
            slots[variable] = self._slot(np.asarray(const, dtype_of_value(variable.aval)))

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
        if equation.effects:
            raise NotInterpretable(f"effects of {name}")
        if not equation.outvars:
            # Such as a loop whose results are not used.
            return []
        if name in _CALLS:
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
            step, seconds = (_scan if name == "scan" else _while)(equation)
            results = self._append(step, seconds, equation, operands)
            self._proof.add_loop(equation, results)
            return results
        same = self._proof.simplified(equation, operands)
        if same is not None:
            return [same]
        make = RULES.get(name)
        step = self._proof.reason(equation, operands) or (None if make is None else make(equation))
        if step is None:
            step = f"{name} has no rule for {equation.params}"
        if isinstance(step, str):
            return self._append(step, 0.0, equation, operands)
        if name in _FOLDING and self._values[operands[0]] is not None:
            value = np.asarray(
                step(self._values[operands[0]]), dtype_of_value(equation.outvars[0].aval)
            )
            return [self._slot(value)]
        num_bytes = 0
        if name not in VIEWS:
            num_bytes = sum(v.aval.size * v.aval.dtype.itemsize for v in equation.outvars)
        seconds = _CALL_SECONDS + num_bytes * _BYTE_SECONDS * _SLOWNESS.get(name, 1)
        if name.startswith(("reduce", "arg")):
            operand = equation.invars[0].aval
            seconds += operand.size * operand.dtype.itemsize * _BYTE_SECONDS
        return self._append(step, 0.0 if name == KERNEL else seconds, equation, operands)

    def _append(
        self, function: HostStep | str, seconds: float, equation: Equation, operands: Sequence[int]
    ) -> list[int]:
        results = [self._slot(None) for _ in equation.outvars]
        dtypes = tuple(dtype_of_value(v.aval) for v in equation.outvars)
        self._calls.append(_Call(function, tuple(operands), tuple(results), dtypes, seconds))
        self._proof.add(equation, operands, results)
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
        programs = [_program_or_reason(branch, before, constant) for branch in branches]

        def step(index: HostArray, *arrays: HostArray) -> list[HostArray]:
            program = programs[min(max(int(index), 0), len(programs) - 1)]
            if isinstance(program, NotInterpretable):
                raise program
            return program(arrays)

        possible = [program for program in programs if isinstance(program, Program)]
        if not possible:
            return self._append(str(programs[0]), 0.0, equation, [index, *operands])
        # The usual branch is the cheap one.
        seconds = min(program.seconds for program in possible)
        results = self._append(step, seconds, equation, [index, *operands])
        for program in possible:
            self._proof.add_branch(results, program.calculated)
        return results

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


def _program_or_reason(
    closed: ClosedJaxpr, calculated: Sequence[frozenset[str]], constant: Sequence[bool]
) -> "Program | NotInterpretable":
    try:
        return Program(closed, calculated, constant)
    except NotInterpretable as reason:
        return reason


def _body(closed: ClosedJaxpr) -> Program:
    """The body of a loop: XLA may unroll it, and move constants into it."""
    num_values = len(closed.jaxpr.invars)
    return Program(closed, calculated_by_loop(num_values), [True] * num_values)


def _cpu_index(platforms: Sequence[Any]) -> int:
    for index, names in enumerate(platforms):
        if names is None or "cpu" in names:
            return index
    raise NotInterpretable("no platform is the CPU")


def _scan(equation: Equation) -> tuple[HostStep, float]:
    params = equation.params
    length, is_reversed = params["length"], params["reverse"]
    num_consts, num_carried = scan_counts(params)
    body = _body(params["jaxpr"])
    stacked = [v.aval for v in equation.outvars[num_carried:]]

    def step(*arrays: HostArray) -> list[HostArray]:
        consts, carried = arrays[:num_consts], list(arrays[num_consts:][:num_carried])
        rows = arrays[num_consts + num_carried :]
        results = [np.empty(aval.shape, aval.dtype) for aval in stacked]
        for trip in range(length)[:: -1 if is_reversed else 1]:
            values = body([*consts, *carried, *(row[trip] for row in rows)])
            carried = values[:num_carried]
            for result, value in zip(results, values[num_carried:], strict=True):
                result[trip] = value
        return [*carried, *results]

    return step, length * (body.seconds + 10e-6)


def _while(equation: Equation) -> tuple[HostStep, float]:
    params = equation.params
    condition, body = _body(params["cond_jaxpr"]), _body(params["body_jaxpr"])
    num_condition, num_body = params["cond_nconsts"], params["body_nconsts"]

    def step(*arrays: HostArray) -> list[HostArray]:
        of_condition, rest = arrays[:num_condition], arrays[num_condition:]
        of_body, carried = rest[:num_body], list(rest[num_body:])
        while condition([*of_condition, *carried])[0]:
            carried = body([*of_body, *carried])
        return carried

    return step, _GUESSED_TRIPS * (condition.seconds + body.seconds)
