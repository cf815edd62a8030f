# SPDX-License-Identifier: Apache-2.0
"""The proof that a program of NumPy calls has XLA's results, to the last bit.

One operation on floats rounds alike everywhere. Several in a row may not: XLA contracts a product
and a sum, reassociates, divides by multiplying with a reciprocal, and simplifies what it knows. So
the proof keeps, for each value, what XLA may know of it, and refuses an equation that XLA could
join with what comes before. `RULES` and `RULES_OF_FLOAT_ARITHMETIC` list the refusals; the tests of
`test_equal_rounding` have examples of each under its name.
"""

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ._elementwise_rules import Equation, HostArray

# Equations that write nothing.
VIEWS = frozenset((
    "reshape", "squeeze", "expand_dims", "broadcast_in_dim", "transpose", "rev", "slice",
    "dynamic_slice", "split", "unstack", "copy", "copy_p", "stop_gradient", "optimization_barrier",
    "pvary", "reshard", "sharding_constraint", "mesh_cast",
))  # fmt: skip
# A kernel takes the same time in both tiers, and writes its results to memory.
KERNEL = "ffi_call"
# What devices of a mesh exchange is written to memory.
COLLECTIVES = frozenset((
    "psum", "psum_invariant", "pmax", "pmin", "all_gather", "all_gather_invariant", "all_to_all",
    "ppermute", "reduce_scatter", "axis_index",
))  # fmt: skip
# What moves words of any kind. Other rules are for the dtypes of NumPy itself.
_MOVES = frozenset((
    "reshape", "squeeze", "expand_dims", "broadcast_in_dim", "transpose", "rev", "slice",
    "dynamic_slice", "split", "unstack", "concatenate", "stack", "pad", "select_n", "copy",
    "copy_p", "stop_gradient", "optimization_barrier", "bitcast_convert_type", KERNEL, "pvary",
    "reshard", "sharding_constraint", "mesh_cast",
))  # fmt: skip
# The operand that changes nothing, the second one unless the operation is commutative.
_NEUTRAL = {"add": (0, True), "sub": (0, False), "mul": (1, True), "div": (1, False)}
_INEXACT_REDUCTIONS = ("reduce_sum", "reduce_prod", "cumsum", "cumprod")
# The operations that may come before another one, on floats: no rule of XLA joins the two, and no
# processor contracts them. A product and a sum are one instruction on some.
_MAY_FOLLOW: dict[str, frozenset[str]] = {
    "add": frozenset(("add",)),
    "mul": frozenset(("add", "sub", "scatter-add")),
    "square": frozenset(("add", "sub", "scatter-add")),
    "integer_pow": frozenset(("add", "sub", "scatter-add")),
    "div": frozenset(("add", "sub", "scatter-add")),
    "sqrt": frozenset(("add", "sub", "div", "scatter-add")),
}
# What is rounded to integers is joined with nothing on the other side.
_ROUNDED = frozenset(("round", "floor", "ceil"))
_UNKNOWN = frozenset(("unknown",))
_ARITHMETIC = frozenset((
    "add", "sub", "scatter-add", "scatter-mul", "mul", "div", "rem", "sqrt", "square",
    "integer_pow", "neg", *_INEXACT_REDUCTIONS,
))  # fmt: skip


class NotInterpretable(Exception):
    """An equation has no rule, or its result could differ from XLA's in its last bits.

    A call raises it too: at a branch with such an equation.
    """


def dtype_of_value(aval: Any) -> np.dtype:
    """The dtype of a value as NumPy has it; raises for those of JAX alone."""
    dtype = _numpy_dtype(getattr(aval, "dtype", None))
    if dtype is None:
        raise NotInterpretable(f"values of type {aval}")
    return dtype


@functools.lru_cache(64)
def _numpy_dtype(dtype: Any) -> np.dtype | None:
    if dtype is None or jnp.issubdtype(dtype, jax.dtypes.extended):
        return None
    return np.dtype(dtype)


class EqualRounding:
    """What XLA may know of the values of a program, each in a slot.

    Args:
        values: the constant in each slot; None for what a call computes. The program appends to it.
    """

    def __init__(self, values: Sequence[Any]):
        self.values = values
        # The operations by which floats were calculated since they were last written to memory.
        self._calculated: dict[int, frozenset[str]] = {}
        # Values that depend on constants alone, and floats that were converted to a narrower dtype.
        self._constant: set[int] = set()
        self.narrowed: set[int] = set()
        # Values that XLA may take for broadcasts, and for conversions of Booleans.
        self.broadcast: set[int] = set()
        self.flags: set[int] = set()
        # Divisors that are hidden from XLA one by one.
        self.spread: set[int] = set()
        # The constants among which values were selected.
        self._cases: dict[int, list[HostArray]] = {}

    def give(
        self,
        inputs: Sequence[int],
        calculated: Sequence[frozenset[str]] | None,
        constant: Sequence[bool] | None,
    ) -> None:
        """Notes how the inputs were calculated, and which depend on constants alone."""
        self._calculated.update(zip(inputs, calculated or (), strict=False))
        self._constant.update(itertools.compress(inputs, constant or ()))

    def before(self, slot: int) -> frozenset[str]:
        """The operations by which a float was calculated since it was last written to memory."""
        return self._calculated.get(slot, frozenset())

    def is_constant(self, slot: int) -> bool:
        """Whether a value depends on constants alone."""
        return self.values[slot] is not None or slot in self._constant

    def is_known_in_branch(self, slot: int) -> bool:
        """Whether XLA, which merges branches, may know within one how a value was made."""
        is_made = slot in self.broadcast or slot in self.flags or bool(self._cases.get(slot))
        return self.is_constant(slot) or is_made

    def add_loop(self, equation: Equation, results: Sequence[int]) -> None:
        """Notes results of a loop: of its floats nothing is known."""
        is_float = [dtype_of_value(v.aval).kind == "f" for v in equation.outvars]
        self._calculated |= dict.fromkeys(itertools.compress(results, is_float), _UNKNOWN)

    def add_branch(self, results: Sequence[int], calculated: Sequence[frozenset[str]]) -> None:
        """Notes the operations by which one branch calculates results."""
        for slot, before in zip(results, calculated, strict=True):
            self._calculated[slot] = self.before(slot) | before

    def add(self, equation: Equation, operands: Sequence[int], results: Sequence[int]) -> None:
        """Notes the results of an equation."""
        name = equation.primitive.name
        if all(map(self.is_constant, operands)):
            self._constant.update(results)
        if self._is_broadcast(equation, operands):
            self.broadcast.update(results)
        if name == "select_n":
            known = [self.values[slot] for slot in operands[1:]]
            self._cases[results[0]] = [value for value in known if value is not None]
        elif name in VIEWS:
            self._cases |= dict.fromkeys(results, self._cases.get(operands[0], []))
        if name in (*VIEWS, "convert_element_type"):
            is_flag = equation.invars[0].aval.dtype == np.bool_
            if is_flag or not self.flags.isdisjoint(operands):
                self.flags.update(results)
        if name != KERNEL:
            is_narrowed = name == "convert_element_type" and _is_narrowed(equation)
            if is_narrowed or not self.narrowed.isdisjoint(operands):
                self.narrowed.update(results)
        # The bits of a float may change in an exclusive or with an unknown word.
        is_hidden = name == "xor" and not any(map(self.is_constant, operands))
        is_apart = name == KERNEL or name in _ROUNDED or name in COLLECTIVES
        if not is_apart and not is_hidden:
            is_float = dtype_of_value(equation.outvars[0].aval).kind == "f"
            is_new = name in _ARITHMETIC and name != "neg" and is_float
            before = frozenset((name,)) if is_new else frozenset()
            # The table of a scatter is in memory, but XLA may start with what is added to it later.
            if name not in ("scatter-add", "scatter-mul"):
                before = before.union(*map(self.before, operands))
            self._calculated |= dict.fromkeys(results, before)

    def see_through(self, operands: Sequence[int], results: Sequence[int]) -> None:
        """Notes that XLA knows of results what it knows of the operands that they are."""
        for slot, result in zip(operands, results, strict=True):
            self._calculated[result] = self.before(slot)
            self._cases[result] = self._cases.get(slot, [])
            if slot in self.flags:
                self.flags.add(result)

    def _is_broadcast(self, equation: Equation, operands: Sequence[int]) -> bool:
        """Whether XLA may take the results for a broadcast of fewer numbers."""
        if equation.primitive.name in ("broadcast_in_dim", "gather"):
            size = equation.invars[0].aval.size
            is_larger = size < equation.outvars[0].aval.size
            if is_larger and (equation.primitive.name != "gather" or size == 1):
                return True
        if equation.primitive.name in ("dynamic_slice", "gather"):
            # Whatever rows are taken.
            operands = operands[:1]
        known = all(map(self.is_repeated, operands))
        return known and not self.broadcast.isdisjoint(operands)

    def is_repeated(self, slot: int) -> bool:
        """Whether XLA may know that an array repeats numbers, or know the numbers."""
        return slot in self.broadcast or self.is_constant(slot)

    def simplified(self, equation: Equation, operands: Sequence[int]) -> int | None:
        """The operand that is the result, as XLA simplifies: x + 0 is x, even for -0.0."""
        if equation.primitive.name in ("max", "min") and operands[0] == operands[1]:
            return operands[0]
        if equation.primitive.name not in _NEUTRAL:
            return None
        neutral, is_commutative = _NEUTRAL[equation.primitive.name]
        for slot, other in ((1, 0), (0, 1)) if is_commutative else ((1, 0),):
            known = self.values[operands[slot]]
            is_neutral = known is not None and known.dtype.kind == "f" and np.all(known == neutral)
            # A literal has no dimensions, even if the result has.
            if is_neutral and equation.invars[other].aval.shape == equation.outvars[0].aval.shape:
                return operands[other]
        return None

    def reason(self, equation: Equation, operands: Sequence[int]) -> str | None:
        """Why the last bits may differ from XLA's, or None."""
        name = equation.primitive.name
        dtypes = [dtype_of_value(v.aval) for v in (*equation.outvars, *equation.invars)]
        one = _Operation(equation, name, operands, dtypes)
        rules = RULES
        if name in _ARITHMETIC and dtypes[0].kind == "f":
            rules = RULES | RULES_OF_FLOAT_ARITHMETIC
        why = next((why for why, rule in rules.items() if rule(self, one)), None)
        return None if why is None else f"{name} of {dtypes[0]}, {why}"

    def has_uniform_divisor(self, equation: Equation, operands: Sequence[int]) -> bool:
        """Whether XLA may multiply by the reciprocal of a divisor, of other numbers."""
        if equation.primitive.name != "div":
            return False
        shape, of_results = equation.invars[0].aval.shape, equation.outvars[0].aval.shape
        if self.is_constant(operands[0]) or operands[0] in self.broadcast or shape != of_results:
            return False
        return self._has_one_divisor(equation, operands)

    def known_floats(self, equation: Equation, operands: Sequence[int]) -> tuple[int, ...]:
        """The positions of the floats that XLA may join with the equation, select or simplify.

        Written constants are not among them, nor is a divisor that XLA may take for one number.
        """
        return tuple(
            position
            for position, (variable, slot) in enumerate(zip(equation.invars, operands, strict=True))
            if dtype_of_value(variable.aval).kind == "f"
            and self.values[slot] is None
            and self._is_known(slot)
            and not (position == 1 and self._has_one_divisor(equation, operands))
        )

    def _is_known(self, slot: int) -> bool:
        is_made = slot in self.flags or slot in self.narrowed or bool(self._cases.get(slot))
        return bool(self.before(slot)) or is_made or self.is_constant(slot)

    def _has_one_divisor(self, equation: Equation, operands: Sequence[int]) -> bool:
        one = _Operation(equation, equation.primitive.name, operands, [])
        return _is_scaled(self, one) or _has_fewer_divisors(self, one)

    def may_select(self, name: str, operands: Sequence[int]) -> bool:
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


class _Operation(NamedTuple):
    """An equation, and the slots of its operands."""

    equation: Equation
    name: str
    operands: Sequence[int]
    dtypes: list[np.dtype]  # Those of the results, then those of the operands.


# Whether an equation is refused.
Rule = Callable[[EqualRounding, _Operation], bool]


def _has_other_dtypes(proof: EqualRounding, one: _Operation) -> bool:
    return one.name not in _MOVES and any(dtype.kind in "Vc" for dtype in one.dtypes)


def _is_narrowed_again(proof: EqualRounding, one: _Operation) -> bool:
    # XLA may leave out a conversion to a narrower float and back.
    return one.name == "convert_element_type" and not proof.narrowed.isdisjoint(one.operands)


def _has_no_order(proof: EqualRounding, one: _Operation) -> bool:
    return one.name in _INEXACT_REDUCTIONS


def _is_of_16_bits(proof: EqualRounding, one: _Operation) -> bool:
    return one.dtypes[0].itemsize < 4


def _follows(proof: EqualRounding, one: _Operation) -> bool:
    if one.name == "neg":
        return False
    before = frozenset().union(*map(proof.before, one.operands))
    is_joined = not before <= _MAY_FOLLOW.get(one.name, frozenset())
    return is_joined or (bool(before) and any(map(proof.is_constant, one.operands)))


def _is_of_constants(proof: EqualRounding, one: _Operation) -> bool:
    unknown = [slot for slot in one.operands if proof.values[slot] is None]
    return one.name in ("add", "sub", "mul") and any(map(proof.is_constant, unknown))


def _negates(proof: EqualRounding, one: _Operation) -> bool:
    # XLA negates instead, and keeps subnormal numbers.
    if one.name not in ("mul", "div"):
        return False
    known = [proof.values[slot] for slot in one.operands]
    return any(value is not None and bool(np.all(value == -1)) for value in known)


def _selects(proof: EqualRounding, one: _Operation) -> bool:
    return proof.may_select(one.name, one.operands)


def _is_remainder(proof: EqualRounding, one: _Operation) -> bool:
    return one.name == "rem" and proof.is_constant(one.operands[1])


def _is_of_flags(proof: EqualRounding, one: _Operation) -> bool:
    return one.name == "mul" and not proof.flags.isdisjoint(one.operands)


def _is_scaled(proof: EqualRounding, one: _Operation) -> bool:
    if one.name != "div" or not proof.is_constant(one.operands[1]):
        return False
    known = proof.values[one.operands[1]]
    return known is None or not _is_power_of_two(known)


def _has_fewer_divisors(proof: EqualRounding, one: _Operation) -> bool:
    # XLA multiplies by the reciprocals of fewer numbers.
    if one.name != "div" or proof.values[one.operands[1]] is not None:
        return False
    if one.operands[1] in proof.spread:
        return False
    is_smaller = one.equation.invars[1].aval.size < one.equation.outvars[0].aval.size
    return is_smaller or one.operands[1] in proof.broadcast


# What is refused, and the rule that finds it.
RULES: dict[str, Rule] = {
    "of complex numbers, or a dtype that NumPy lacks": _has_other_dtypes,
    "of a narrowed float": _is_narrowed_again,
}
RULES_OF_FLOAT_ARITHMETIC: dict[str, Rule] = {
    "in an unspecified order": _has_no_order,
    "of 16 bits": _is_of_16_bits,
    "of a float that was calculated": _follows,
    "of constants, which XLA may simplify": _is_of_constants,
    "by -1": _negates,
    "of what was selected from neutral constants": _selects,
    "remainder by a constant": _is_remainder,
    "of flags, by which XLA may select": _is_of_flags,
    "by a constant": _is_scaled,
    "by a broadcast": _has_fewer_divisors,
}


def _is_power_of_two(values: HostArray) -> bool:
    if values.dtype.kind != "f" or not np.all(np.frexp(np.abs(values))[0] == 0.5):
        return False
    # A reciprocal below the normal numbers is flushed.
    return bool(np.all(np.abs(values) * np.finfo(values.dtype).tiny <= 1))


def _is_narrowed(equation: Equation) -> bool:
    """Whether a conversion is to a narrower float."""
    source, target = (dtype_of_value(v.aval) for v in (equation.invars[0], equation.outvars[0]))
    return source.kind == target.kind == "f" and target.itemsize < source.itemsize


def calculated_by_loop(num_values: int) -> list[frozenset[str]]:
    """How the inputs of the body of a loop are calculated: in ways that nothing is known of."""
    return [_UNKNOWN] * num_values
