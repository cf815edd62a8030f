# SPDX-License-Identifier: Apache-2.0
"""Programs for the host: the equations of a jaxpr, as a list of calls of NumPy and the kernels."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from ...shardings._compat import scan_counts
from . import _array_rules, _kernel_calls  # noqa: F401 (they register their rules)
from ._elementwise_rules import RULES, Equation, HostArray, Step

# Seconds by which one call is slower than compiled code, and for each byte of its results.
_CALL_SECONDS = 3e-6
_BYTE_SECONDS = 0.2e-9
# Calls that lose more for each byte.
_SLOWNESS = {
    "sort": 40, "gather": 3, "scatter": 4, "scatter-add": 60, "scatter-min": 60,
    "scatter-max": 60, "div": 4, "rem": 8, "cumsum": 4, "cummax": 4, "cummin": 4,
}  # fmt: skip
# Calls that write nothing.
_VIEWS = frozenset((
    "reshape", "squeeze", "expand_dims", "broadcast_in_dim", "transpose", "rev", "slice",
    "dynamic_slice", "copy", "copy_p", "stop_gradient", "optimization_barrier", "pvary",
))  # fmt: skip
# The trip count of a loop that has none.
_GUESSED_TRIPS = 32
# A kernel takes the same time in both tiers, and writes its results to memory.
_KERNEL = "ffi_call"

_CALLS = ("jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call",
          "custom_vmap_call", "remat", "checkpoint", "remat2")  # fmt: skip
# What moves words of any kind. Other rules are for the dtypes of NumPy itself.
_MOVES = frozenset((
    "reshape", "squeeze", "expand_dims", "broadcast_in_dim", "transpose", "rev", "slice",
    "dynamic_slice", "concatenate", "stack", "pad", "select_n", "copy", "copy_p", "stop_gradient",
    "optimization_barrier", "bitcast_convert_type", _KERNEL,
))  # fmt: skip
# The operand that changes nothing, the second one unless the operation is commutative.
_NEUTRAL = {"add": (0, True), "sub": (0, False), "mul": (1, True), "div": (1, False)}
_FOLDING = ("broadcast_in_dim", "reshape", "convert_element_type", "squeeze")
_INEXACT_REDUCTIONS = ("reduce_sum", "reduce_prod", "cumsum", "cumprod")
# The operations that may come before another one, on floats: no rule of XLA joins the two, and no
# processor contracts them. A product and a sum are one instruction on some.
_MAY_FOLLOW: dict[str, frozenset[str]] = {
    "add": frozenset(("add",)),
    "mul": frozenset(("add", "sub")),
    "square": frozenset(("add", "sub")),
    "integer_pow": frozenset(("add", "sub")),
    "div": frozenset(("add", "sub")),
    "sqrt": frozenset(("add", "sub", "div")),
}
_UNKNOWN = frozenset(("unknown",))
_ARITHMETIC = frozenset((
    "add", "sub", "scatter-add", "mul", "div", "rem", "sqrt", "square", "integer_pow", "neg",
    *_INEXACT_REDUCTIONS,
))  # fmt: skip


class NotInterpretable(Exception):
    """An equation has no rule, or its result could differ from XLA's in its last bits.

    A call raises it too: at a branch with such an equation.
    """


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
    differently raises `NotInterpretable`. These are two operations on floats in a row that XLA may
    contract or reassociate (see `_MAY_FOLLOW`), sums of floats in an unspecified order, division by
    a constant or by a broadcast, products with flags, transcendental functions, and arithmetic of
    complex numbers and of floats of 16 bits.

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
        # The operations by which floats were calculated since they were last written to memory.
        self._calculated: dict[int, frozenset[str]] = {}
        # Values that depend on constants alone, and floats that were converted to a narrower dtype.
        self._constant: set[int] = set()
        self._narrowed: set[int] = set()
        # Values that XLA may take for broadcasts, and for conversions of Booleans.
        self._broadcast: set[int] = set()
        self._flags: set[int] = set()
        # The constants among which values were selected.
        self._cases: dict[int, list[HostArray]] = {}
        jaxpr = closed.jaxpr
        if jaxpr.effects:
            raise NotInterpretable("effects")
        self._inputs = [self._slot(None) for _ in jaxpr.invars]
        self._calculated.update(zip(self._inputs, calculated or (), strict=False))
        self._constant.update(itertools.compress(self._inputs, constant or ()))
        self._input_dtypes = [_dtype(v.aval) for v in jaxpr.invars]
        self._outputs = self._inlined(jaxpr, closed.consts, self._inputs)
        self._drop_unused()
        for call in self._calls:
            if isinstance(call.function, str):
                raise NotInterpretable(call.function)
        self.seconds: float = sum(call.seconds for call in self._calls)
        self.num_steps: int = len(self._calls)
        self.calculated: tuple[frozenset[str], ...] = tuple(map(self._before, self._outputs))

    def __call__(self, arguments: Sequence[Any]) -> list[HostArray]:
        """Runs the program on the flat arguments."""
        values = list(self._values)
        for slot, argument, dtype in zip(self._inputs, arguments, self._input_dtypes, strict=True):
            values[slot] = np.asarray(argument, dtype)
        for call, last_used in zip(self._calls, self._last_used, strict=True):
            assert callable(call.function)
            results = call.function(*[values[slot] for slot in call.operands])
            if not isinstance(results, (tuple, list)):
                results = (results,)
            for slot, result, dtype in zip(call.results, results, call.dtypes, strict=True):
                values[slot] = np.asarray(result, dtype)
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
            slots[variable] = self._slot(np.asarray(const, _dtype(variable.aval)))

        def read(atom: Any) -> int:
            if isinstance(atom, Literal):
                return self._slot(np.asarray(atom.val, _dtype(atom.aval)))
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
            _dtype(variable.aval)
        if equation.effects:
            raise NotInterpretable(f"effects of {name}")
        if name in _CALLS:
            inner = next(params[key] for key in ("jaxpr", "call_jaxpr", "call") if key in params)
            closed = inner if isinstance(inner, ClosedJaxpr) else ClosedJaxpr(inner, ())
            return self._inlined(closed.jaxpr, closed.consts, operands)
        if name == "platform_index":
            return [self._slot(np.asarray(_cpu_index(params["platforms"]), np.int32))]
        if name == "cond":
            return self._cond(equation, operands)
        if name in ("scan", "while"):
            step, seconds = (_scan if name == "scan" else _while)(equation)
            results = self._append(step, seconds, equation, operands)
            is_float = [_dtype(v.aval).kind == "f" for v in equation.outvars]
            self._calculated |= dict.fromkeys(itertools.compress(results, is_float), _UNKNOWN)
            return results
        same = self._simplified(equation, operands)
        if same is not None:
            return [same]
        make = RULES.get(name)
        step = self._reason(equation, operands) or (None if make is None else make(equation))
        if step is None:
            step = f"{name} has no rule for {equation.params}"
        if isinstance(step, str):
            return self._append(step, 0.0, equation, operands)
        if name in _FOLDING and self._values[operands[0]] is not None:
            value = np.asarray(step(self._values[operands[0]]), _dtype(equation.outvars[0].aval))
            return [self._slot(value)]
        num_bytes = 0
        if name not in _VIEWS:
            num_bytes = sum(v.aval.size * v.aval.dtype.itemsize for v in equation.outvars)
        seconds = _CALL_SECONDS + num_bytes * _BYTE_SECONDS * _SLOWNESS.get(name, 1)
        if name.startswith(("reduce", "arg")):
            operand = equation.invars[0].aval
            seconds += operand.size * operand.dtype.itemsize * _BYTE_SECONDS
        return self._append(step, 0.0 if name == _KERNEL else seconds, equation, operands)

    def _append(
        self, function: Step | str, seconds: float, equation: Equation, operands: Sequence[int]
    ) -> list[int]:
        results = [self._slot(None) for _ in equation.outvars]
        dtypes = tuple(_dtype(v.aval) for v in equation.outvars)
        self._calls.append(_Call(function, tuple(operands), tuple(results), dtypes, seconds))
        name = equation.primitive.name
        if all(map(self._is_constant, operands)):
            self._constant.update(results)
        if self._is_broadcast(equation, operands):
            self._broadcast.update(results)
        if name == "select_n":
            known = [self._values[slot] for slot in operands[1:]]
            self._cases[results[0]] = [value for value in known if value is not None]
        elif name in _VIEWS:
            self._cases |= dict.fromkeys(results, self._cases.get(operands[0], []))
        if name in (*_VIEWS, "convert_element_type"):
            is_flag = equation.invars[0].aval.dtype == np.bool_
            if is_flag or not self._flags.isdisjoint(operands):
                self._flags.update(results)
        if name != _KERNEL:
            is_narrowed = name == "convert_element_type" and _is_narrowed(equation)
            if is_narrowed or not self._narrowed.isdisjoint(operands):
                self._narrowed.update(results)
        # The bits of a float may change in an exclusive or with an unknown word.
        is_hidden = name == "xor" and not any(map(self._is_constant, operands))
        # The table of a scatter is in memory, as are the results of a kernel.
        if name not in (_KERNEL, "scatter-add") and not is_hidden:
            is_new = name in _ARITHMETIC and name != "neg" and dtypes[0].kind == "f"
            before = frozenset((name,)) if is_new else frozenset()
            before = before.union(*map(self._before, operands))
            self._calculated |= dict.fromkeys(results, before)
        return results

    def _before(self, slot: int) -> frozenset[str]:
        """The operations by which a float was calculated since it was last written to memory."""
        return self._calculated.get(slot, frozenset())

    def _cond(self, equation: Equation, operands: list[int]) -> list[int]:
        branches = equation.params["branches"]
        index, operands = operands[0], operands[1:]
        known = self._values[index]
        if known is not None:
            chosen = branches[min(max(int(known), 0), len(branches) - 1)]
            return self._inlined(chosen.jaxpr, chosen.consts, operands)
        before = list(map(self._before, operands))
        # A branch that XLA merges knows how its operands were made.
        constant = [
            self._is_constant(slot)
            or slot in self._broadcast | self._flags
            or bool(self._cases.get(slot))
            for slot in operands
        ]
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
            for slot, before in zip(results, program.calculated, strict=True):
                self._calculated[slot] = self._before(slot) | before
        return results

    def _simplified(self, equation: Equation, operands: list[int]) -> int | None:
        """The operand that is the result, as XLA simplifies: x + 0 is x, even for -0.0."""
        if equation.primitive.name in ("max", "min") and operands[0] == operands[1]:
            return operands[0]
        if equation.primitive.name not in _NEUTRAL:
            return None
        neutral, is_commutative = _NEUTRAL[equation.primitive.name]
        for slot, other in ((1, 0), (0, 1)) if is_commutative else ((1, 0),):
            known = self._values[operands[slot]]
            is_neutral = known is not None and known.dtype.kind == "f" and np.all(known == neutral)
            # A literal has no dimensions, even if the result has.
            if is_neutral and equation.invars[other].aval.shape == equation.outvars[0].aval.shape:
                return operands[other]
        return None

    def _may_select(self, name: str, operands: Sequence[int]) -> bool:
        """Whether an operation may become a selection between its operand and its result."""
        if name not in _NEUTRAL:
            return False
        neutral, is_commutative = _NEUTRAL[name]
        others = operands if is_commutative else operands[1:]
        values = [value for slot in others for value in self._cases.get(slot, ())]
        for value in values:
            is_neutral = np.abs(value) == neutral
            # A sum with 0.0 changes -0.0.
            if np.any(is_neutral & np.signbit(value) if name == "add" else is_neutral):
                return True
        return False

    def _is_broadcast(self, equation: Equation, operands: Sequence[int]) -> bool:
        """Whether XLA may take the results for a broadcast of fewer numbers."""
        if equation.primitive.name in ("broadcast_in_dim", "gather"):
            size = equation.invars[0].aval.size
            is_larger = size < equation.outvars[0].aval.size
            if is_larger and (equation.primitive.name != "gather" or size == 1):
                return True
        known = [slot in self._broadcast or self._is_constant(slot) for slot in operands]
        return all(known) and not self._broadcast.isdisjoint(operands)

    def _is_constant(self, slot: int) -> bool:
        """Whether a value depends on constants alone."""
        return self._values[slot] is not None or slot in self._constant

    def _reason(self, equation: Equation, operands: list[int]) -> str | None:
        """Why the last bits may differ from XLA's, or None."""
        name = equation.primitive.name
        dtypes = [_dtype(v.aval) for v in equation.outvars]
        every = [*dtypes, *(_dtype(v.aval) for v in equation.invars)]
        if name not in _MOVES and any(dtype.kind in "Vc" for dtype in every):
            return f"{name} of {every[0]}"
        # XLA may leave out a conversion to a narrower float and back.
        if name == "convert_element_type" and not self._narrowed.isdisjoint(operands):
            return "conversion of a narrowed float"
        if name not in _ARITHMETIC or dtypes[0].kind != "f":
            return None
        if name in _INEXACT_REDUCTIONS:
            return f"{name} of {dtypes[0]} in an unspecified order"
        if dtypes[0].itemsize < 4:
            return f"{name} of {dtypes[0]}"
        if name == "neg":
            return None
        before = frozenset().union(*map(self._before, operands))
        may_follow = _MAY_FOLLOW.get(name, frozenset())
        if not before <= may_follow or (before and any(map(self._is_constant, operands))):
            return f"{name} of a float that was calculated"
        unknown = [slot for slot in operands if self._values[slot] is None]
        if name in ("add", "sub", "mul") and any(map(self._is_constant, unknown)):
            return f"{name} of constants that XLA may simplify"
        # XLA negates instead, and keeps subnormal numbers.
        known = [self._values[slot] for slot in operands]
        if name in ("mul", "div") and any(v is not None and np.all(v == -1) for v in known):
            return f"{name} of -1"
        if self._may_select(name, operands):
            return f"{name} of what was selected from neutral constants"
        if name == "rem" and self._is_constant(operands[1]):
            return "remainder of a division by a constant"
        if name == "mul" and not self._flags.isdisjoint(operands):
            return "mul of flags, which XLA may select by"
        if name == "div":
            known = self._values[operands[1]]
            is_exact = known is not None and _is_power_of_two(known)
            if self._is_constant(operands[1]) and not is_exact:
                return "division by a constant"
            # XLA multiplies by the reciprocals of fewer numbers.
            is_scalar = equation.invars[1].aval.size < equation.outvars[0].aval.size
            if known is None and (is_scalar or operands[1] in self._broadcast):
                return "division by a broadcast"
        return None

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
        self._calls, self._last_used = calls[::-1], last_used[::-1]


def _program_or_reason(
    closed: ClosedJaxpr, calculated: Sequence[frozenset[str]], constant: Sequence[bool]
) -> "Program | NotInterpretable":
    try:
        return Program(closed, calculated, constant)
    except NotInterpretable as reason:
        return reason


def _dtype(aval: Any) -> np.dtype:
    if not hasattr(aval, "dtype") or jnp.issubdtype(aval.dtype, jax.dtypes.extended):
        raise NotInterpretable(f"values of type {aval}")
    return np.dtype(aval.dtype)


def _body(closed: ClosedJaxpr) -> Program:
    """The body of a loop: XLA may unroll it, and move constants into it."""
    num_values = len(closed.jaxpr.invars)
    return Program(closed, [_UNKNOWN] * num_values, [True] * num_values)


def _is_power_of_two(values: HostArray) -> bool:
    return values.dtype.kind == "f" and bool(np.all(np.frexp(np.abs(values))[0] == 0.5))


def _is_narrowed(equation: Equation) -> bool:
    """Whether a conversion is to a narrower float."""
    source, target = _dtype(equation.invars[0].aval), _dtype(equation.outvars[0].aval)
    return source.kind == target.kind == "f" and target.itemsize < source.itemsize


def _cpu_index(platforms: Sequence[Any]) -> int:
    for index, names in enumerate(platforms):
        if names is None or "cpu" in names:
            return index
    raise NotInterpretable("no platform is the CPU")


def _scan(equation: Equation) -> tuple[Step, float]:
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


def _while(equation: Equation) -> tuple[Step, float]:
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
