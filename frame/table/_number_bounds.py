# SPDX-License-Identifier: Apache-2.0
"""Interval arithmetic over a traced function: whether it computes what calls on the host do.

Python's integers do not overflow, a division by zero raises, and bools add up to integers. The
scalars of NumPy wrap as those of JAX, but not every quotient or power agrees.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal

from ._user_functions import UntraceableError


class Bounds(NamedTuple):
    """The least and the greatest value that an array may have, NaN aside, and whether 0."""

    low: Any
    high: Any
    has_zero: bool


class Rules(NamedTuple):
    """Whose scalars a function is called with on the host."""

    are_of_python: bool
    are_of_numpy: bool


def any_of(dtype: np.dtype) -> Bounds:
    """The bounds of a dtype."""
    if dtype.kind == "b":
        return Bounds(0, 1, True)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return Bounds(int(limits.min), int(limits.max), True)
    return Bounds(-math.inf, math.inf, True)


def of_values(values: Any) -> Bounds:
    """The bounds of an array on the host."""
    values = np.asarray(values)
    if values.dtype.kind not in "biuf" or not values.size or np.isnan(values).any():
        return any_of(values.dtype)
    has_zero = bool((np.abs(values) < _least_normal(values.dtype)).any())
    return Bounds(values.min().item(), values.max().item(), has_zero)


def agree(closed: ClosedJaxpr, inputs: Sequence[Bounds], rules: Rules) -> list[Bounds]:
    """The bounds of the results; raises UntraceableError if calls on the host may differ."""
    return _results(closed.jaxpr, [of_values(const) for const in closed.consts], inputs, rules)


def _results(
    jaxpr: Any, consts: Sequence[Bounds], inputs: Sequence[Bounds], rules: Rules
) -> list[Bounds]:
    known: dict[Any, Bounds] = dict(
        zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *inputs], strict=True)
    )

    def read(atom: Any) -> Bounds:
        return of_values(atom.val) if isinstance(atom, Literal) else known[atom]

    for equation in jaxpr.eqns:
        results = _of_equation(equation, [read(atom) for atom in equation.invars], rules)
        known.update(zip(equation.outvars, results, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _of_equation(equation: Any, operands: list[Bounds], rules: Rules) -> list[Bounds]:
    name, params = equation.primitive.name, equation.params
    if name in ("while", "scan", "cond"):
        _refuse("a loop or a branch")
    called = next((params[key] for key in ("jaxpr", "call_jaxpr") if key in params), None)
    if called is not None and hasattr(called, "eqns"):
        inner = getattr(called, "jaxpr", called)
        if len(inner.invars) == len(operands):
            consts = [of_values(const) for const in getattr(called, "consts", ())]
            return _results(inner, consts, operands, rules)
    dtypes = [np.dtype(one.aval.dtype) for one in equation.outvars if hasattr(one.aval, "dtype")]
    if len(dtypes) != 1 or len(equation.outvars) != 1:
        return [any_of(np.dtype(one.aval.dtype)) for one in equation.outvars]
    rule = _RULES.get(name)
    if rule is None:
        return [any_of(dtypes[0])]
    given = [np.dtype(atom.aval.dtype) for atom in equation.invars]
    return [rule(_Equation(params, given, dtypes[0], rules, equation.invars), *operands)]


class _Equation(NamedTuple):
    params: Any
    given: list[np.dtype]
    dtype: np.dtype
    rules: Rules
    atoms: Sequence[Any]

    @property
    def is_integer(self) -> bool:
        return self.dtype.kind in "iu"

    @property
    def is_real(self) -> bool:
        return self.dtype.kind in "biu" or jnp.issubdtype(self.dtype, jnp.floating)

    @property
    def bits(self) -> int:
        return self.dtype.itemsize * 8

    def hull(self, values: Sequence[Any], has_zero: bool | None = None) -> Bounds:
        """The interval of some values; raises if integers of Python do not fit the dtype."""
        everything = any_of(self.dtype)
        if not self.is_real or any(math.isnan(one) for one in values):
            return everything
        low, high = min(values), max(values)
        if self.is_integer and (low < everything.low or high > everything.high):
            if self.rules.are_of_python:
                _refuse("integers that may overflow")
            return everything
        near = _least_normal(self.dtype)
        is_around = low < near and high > -near
        return Bounds(low, high, is_around if has_zero is None else has_zero and is_around)


def _least_normal(dtype: np.dtype) -> Any:
    """The least positive number: XLA flushes those that are not normal to zero."""
    return 1 if dtype.kind in "biu" else float(jnp.finfo(dtype).tiny)


def _refuse(what: str) -> Any:
    raise UntraceableError(f"the function computes {what}, for which Python's numbers differ")


def _times(left: Any, right: Any) -> Any:
    return 0 if left == 0 or right == 0 else left * right


def _corners(operation: Callable[[Any, Any], Any]) -> Callable[..., Bounds]:
    def rule(of: _Equation, left: Bounds, right: Bounds) -> Bounds:
        pairs = itertools.product(left[:2], right[:2])
        return of.hull([operation(*pair) for pair in pairs])

    return rule


def _multiply(of: _Equation, left: Bounds, right: Bounds) -> Bounds:
    pairs = itertools.product(left[:2], right[:2])
    has_zero = None if not of.is_integer else left.has_zero or right.has_zero
    return of.hull([_times(*pair) for pair in pairs], has_zero)


def _negative(of: _Equation, of_x: Bounds) -> Bounds:
    return of.hull([-of_x.low, -of_x.high], of_x.has_zero)


def _absolute(of: _Equation, of_x: Bounds) -> Bounds:
    if not of.is_real or of.given[0].kind == "c":
        return any_of(of.dtype)
    ends = [abs(of_x.low), abs(of_x.high)]
    return of.hull([*ends, 0] if of_x.low < 0 < of_x.high else ends, of_x.has_zero)


def _power_of_integer(of: _Equation, of_x: Bounds) -> Bounds:
    exponent = of.params.get("y", 2)
    if exponent < 0 and of_x.has_zero:
        return _refuse("a power that may divide by zero")
    if not of.is_real:
        return _refuse("powers of complex numbers") if of.rules.are_of_python else any_of(of.dtype)
    if exponent == 0:
        return of.hull([1])
    if of.is_integer:
        most = max(abs(of_x.low), abs(of_x.high))
        if exponent * most.bit_length() > 4 * 64 and most > 1:
            return (
                _refuse("powers that may overflow") if of.rules.are_of_python else any_of(of.dtype)
            )
        ends = [of_x.low**exponent, of_x.high**exponent]
        return of.hull([*ends, 0] if of_x.low < 0 < of_x.high else ends, of_x.has_zero)
    return _float_power(of, of_x, exponent)


def _float_power(of: _Equation, of_x: Bounds, exponent: Any) -> Bounds:
    if not of.rules.are_of_python:
        return any_of(of.dtype)
    most = max(abs(of_x.low), abs(of_x.high))
    if exponent < 0:
        near = _least_normal(of.dtype)
        is_on_one_side = of_x.low >= near or of_x.high <= -near
        most = min(abs(of_x.low), abs(of_x.high)) if is_on_one_side else near
    try:
        greatest = float(most) ** exponent
    except (OverflowError, ZeroDivisionError):
        greatest = math.inf
    if abs(exponent) > 1 and math.isinf(greatest):
        return _refuse("powers that may overflow")
    return Bounds(-greatest, greatest, True)


def _power(of: _Equation, of_x: Bounds, exponent: Bounds) -> Bounds:
    if not of.rules.are_of_python:
        return any_of(of.dtype)
    is_whole = exponent.low == exponent.high and float(exponent.low).is_integer()
    if not of.is_real or (of_x.low < 0 and not is_whole):
        return _refuse("powers of numbers that may be negative")
    if exponent.low < 0 and of_x.has_zero:
        return _refuse("a power that may divide by zero")
    ends = [_float_power(of, of_x, end) for end in exponent[:2]]
    low = min(one.low for one in ends) if of_x.low < 0 else 0.0
    return Bounds(low, max(one.high for one in ends), True)


def _divide(of: _Equation, left: Bounds, right: Bounds) -> Bounds:
    if right.has_zero and (of.is_integer or of.rules.are_of_python):
        return _refuse("a division that may be by zero")
    if not of.is_real:
        return any_of(of.dtype)
    if of.is_integer:
        most = max(abs(left.low), abs(left.high))
        if left.low > any_of(of.dtype).low:
            # A quotient is not greater than its dividend.
            return of.hull([-most if of.dtype.kind == "i" else 0, most])
        return of.hull([_quotient(*pair) for pair in itertools.product(left[:2], (-1, 1))])
    if right.has_zero or right.low < 0 < right.high:
        return any_of(of.dtype)
    return of.hull([_ratio(*pair) for pair in itertools.product(left[:2], right[:2])])


def _quotient(left: Any, right: Any) -> Any:
    return left // right


def _ratio(left: Any, right: Any) -> Any:
    return math.nan if right == 0 else left / right


def _remainder(of: _Equation, left: Bounds, right: Bounds) -> Bounds:
    if right.has_zero:
        return _refuse("a division that may be by zero")
    if not of.is_real:
        return any_of(of.dtype)
    if not of.is_integer and (left.low < 0 or right.low < 0):
        return _refuse("remainders of negative floats, whose zeros have another sign,")
    most = max(abs(right.low), abs(right.high))
    most = min(most - 1, max(abs(left.low), abs(left.high))) if of.is_integer else most
    return of.hull([-most if left.low < 0 else 0, most if left.high > 0 else 0])


def _convert(of: _Equation, of_x: Bounds) -> Bounds:
    given = of.given[0]
    if not of.is_real:
        return any_of(of.dtype)
    if given.kind in "iu" and not of.is_integer and of.dtype.kind != "b":
        exact = 2 ** (int(jnp.finfo(of.dtype).nmant) + 1)
        if of.rules.are_of_python and max(-of_x.low, of_x.high) > exact:
            return _refuse("integers that a float may round")
        return Bounds(float(of_x.low), float(of_x.high), of_x.has_zero)
    if given.kind in "biu" and of.is_integer:
        return of.hull([of_x.low, of_x.high], of_x.has_zero)
    if of.is_integer or of.dtype.kind == "b" or given.kind == "c":
        return any_of(of.dtype)
    return of.hull([float(of_x.low), float(of_x.high)], of_x.has_zero)


def _not(of: _Equation, of_x: Bounds) -> Bounds:
    if of.rules.are_of_python and of.dtype.kind != "i":
        return _refuse("the inverse of bools or unsigned integers")
    if of.dtype.kind != "i":
        return any_of(of.dtype)
    return of.hull([-of_x.low - 1, -of_x.high - 1])


def _bitwise(of: _Equation, left: Bounds, right: Bounds) -> Bounds:
    if not of.is_integer:
        return any_of(of.dtype)
    bits = max(_width(one) for one in (*left[:2], *right[:2]))
    low = 0 if left.low >= 0 and right.low >= 0 else -(2**bits)
    return of.hull([low, 2**bits - 1])


def _and(of: _Equation, left: Bounds, right: Bounds) -> Bounds:
    highs = [one.high for one in (left, right) if one.low >= 0]
    return of.hull([0, min(highs)]) if of.is_integer and highs else _bitwise(of, left, right)


def _width(value: int) -> int:
    return (value if value >= 0 else -value - 1).bit_length()


def _shift_left(of: _Equation, of_x: Bounds, by: Bounds) -> Bounds:
    if by.low < 0 or by.high >= of.bits:
        return _refuse("shifts by many or negative places")
    return of.hull([x << n for x, n in itertools.product(of_x[:2], by[:2])], of_x.has_zero)


def _shift_right(of: _Equation, of_x: Bounds, by: Bounds) -> Bounds:
    if by.low < 0 or by.high >= of.bits:
        return _refuse("shifts by many or negative places")
    return of.hull([x >> n for x, n in itertools.product(of_x[:2], by[:2])])


def _shift_right_logical(of: _Equation, of_x: Bounds, by: Bounds) -> Bounds:
    # jax.numpy's power shifts exponents so, and reads no more bits than these.
    if of_x.low < 0 or of_x.high >= of.bits:
        return _refuse("powers with large or negative exponents")
    return _shift_right(of, of_x, by)


def _union(of: _Equation, *cases: Bounds) -> Bounds:
    ends = [end for one in cases for end in one[:2]]
    return of.hull(ends, any(one.has_zero for one in cases))


def _select(of: _Equation, _: Bounds, *cases: Bounds) -> Bounds:
    return _union(of, *cases)


def _least(of: _Equation, left: Bounds, right: Bounds) -> Bounds:
    has_zero = left.has_zero or right.has_zero
    return of.hull([min(left.low, right.low), min(left.high, right.high)], has_zero)


def _greatest(of: _Equation, left: Bounds, right: Bounds) -> Bounds:
    has_zero = left.has_zero or right.has_zero
    return of.hull([max(left.low, right.low), max(left.high, right.high)], has_zero)


def _sign(of: _Equation, of_x: Bounds) -> Bounds:
    return of.hull([-1 if of_x.low < 0 else 0, 1 if of_x.high > 0 else 0], of_x.has_zero)


def _slice(of: _Equation, rows: Bounds, *starts: Bounds) -> Bounds:
    sizes = zip(of.atoms[0].aval.shape, of.params["slice_sizes"], strict=True)
    for start, (size, taken) in zip(starts, sizes, strict=True):
        if start.low < 0 or start.high > size - taken:
            return _refuse("positions outside an array")
    return rows


def _same(of: _Equation, of_x: Bounds, *_: Bounds) -> Bounds:
    return of.hull(of_x[:2], of_x.has_zero)


_RULES: dict[str, Callable[..., Bounds]] = {
    "add": _corners(lambda left, right: left + right),
    "sub": _corners(lambda left, right: left - right),
    "mul": _multiply, "neg": _negative, "abs": _absolute, "sign": _sign,
    "integer_pow": _power_of_integer, "square": _power_of_integer, "pow": _power,
    "div": _divide, "rem": _remainder, "convert_element_type": _convert,
    "not": _not, "and": _and, "or": _bitwise, "xor": _bitwise,
    "shift_left": _shift_left, "shift_right_arithmetic": _shift_right,
    "shift_right_logical": _shift_right_logical,
    "select_n": _select, "min": _least, "max": _greatest, "dynamic_slice": _slice,
    "concatenate": _union,
    **dict.fromkeys(
        ("copy", "copy_p", "broadcast_in_dim", "reshape", "squeeze", "expand_dims", "slice"), _same
    ),
}  # fmt: skip
