# SPDX-License-Identifier: Apache-2.0
"""Element-wise equations in NumPy, with XLA's results where the two differ."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

HostArray = np.ndarray
Equation = Any
# Takes the operands of an equation and returns its results.
HostStep = Callable[..., Any]
# Makes the step of an equation, or None if there is none for its parameters.
Rule = Callable[[Equation], HostStep | None]


class Elementwise(NamedTuple):
    """A step whose results depend on the elements at their own positions alone."""

    function: HostStep

    def __call__(self, *operands: HostArray) -> Any:
        return self.function(*operands)


class Same(NamedTuple):
    """The step that returns its operands."""

    def __call__(self, *operands: HostArray) -> Any:
        return operands

    def over_shards(self, *operands: Any) -> list[Any]:
        """The operands on all devices."""
        return list(operands)


RULES: dict[str, Rule] = {}
# Fewer flags are selected by sooner than they are searched.
_LEAST_SEARCHED = 1 << 10
# Numbers of a block that stays in the cache between operations.
_BLOCK = 1 << 14


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Decorator that makes a function the rule of primitives."""

    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


def dtype_of(equation: Equation) -> np.dtype:
    """The dtype of the first operand."""
    return equation.invars[0].aval.dtype


_SAME_IN_NUMPY: dict[str, HostStep] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "neg": np.negative, "abs": np.absolute,
    "eq": np.equal, "ne": np.not_equal, "lt": np.less,
    "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor, "not": np.invert, "floor": np.floor,
    "ceil": np.ceil, "is_finite": np.isfinite, "sqrt": np.sqrt, "square": np.square,
    "nextafter": np.nextafter,
}  # fmt: skip


@rule("lt_to", "le_to")
def _in_total_order(equation: Equation) -> HostStep | None:
    """Comparisons of floats that take -0.0 for less than 0.0, and NaN for the largest."""
    compare = np.less if equation.primitive.name == "lt_to" else np.less_equal
    dtype = dtype_of(equation)
    if dtype.kind != "f":
        return compare
    words = np.dtype(f"i{dtype.itemsize}")
    most = np.iinfo(words).max

    def ordered(x: HostArray) -> HostArray:
        bits = np.ascontiguousarray(x).view(words).reshape(x.shape)
        return np.where(bits < 0, bits ^ most, bits)

    return lambda x, y: compare(ordered(x), ordered(y))


@rule(*_SAME_IN_NUMPY)
def _same_in_numpy(equation: Equation) -> HostStep | None:
    return _SAME_IN_NUMPY[equation.primitive.name]


def maximum(x: HostArray, y: HostArray) -> HostArray:
    """The larger one: NaN if one is, and 0.0 rather than -0.0."""
    larger = np.maximum(x, y)
    return np.where((x == y) & (x == 0), x + y, larger) if x.dtype.kind == "f" else larger


def minimum(x: HostArray, y: HostArray) -> HostArray:
    """The smaller one: NaN if one is, and -0.0 rather than 0.0."""
    return -maximum(-x, -y) if x.dtype.kind == "f" else np.minimum(x, y)


@rule("max")
def _max(equation: Equation) -> HostStep | None:
    del equation
    return maximum


@rule("min")
def _min(equation: Equation) -> HostStep | None:
    del equation
    return minimum


@rule("population_count")
def _population_count(equation: Equation) -> HostStep | None:
    unsigned = np.dtype(f"u{dtype_of(equation).itemsize}")
    return lambda x: np.bitwise_count(x.astype(unsigned))


@rule("stop_gradient", "copy", "copy_p", "optimization_barrier", "pvary")
def _same(equation: Equation) -> HostStep | None:
    del equation
    return Same()


@rule("div")
def _div(equation: Equation) -> HostStep | None:
    dtype = dtype_of(equation)
    return np.divide if dtype.kind == "f" else _div_integers


def _only_divisor(y: HostArray) -> Any:
    """The divisor of all numbers; None if there are several, or one that needs care.

    NumPy divides by one number without a division for each.
    """
    if not y.size or any(y.strides):
        return None
    divisor = y.reshape(-1)[0]
    return None if divisor == 0 or (divisor.dtype.kind == "i" and divisor == -1) else divisor


def _div_integers(x: HostArray, y: HostArray) -> HostArray:
    """Rounds towards zero; all ones for a division by zero, and x for one of the least by -1."""
    divisor = _only_divisor(y)
    if divisor is not None:
        quotient = x // divisor
        if x.dtype.kind == "i" and np.minimum.reduce(x, axis=None, initial=0) < 0:
            is_inexact = quotient * divisor != x
            quotient += is_inexact & ((x < 0) != (divisor < 0))
        elif divisor < 0:
            quotient += quotient * divisor != x
        return quotient
    is_zero = y == 0
    is_least = (y == -1) & (x == np.iinfo(x.dtype).min) if x.dtype.kind == "i" else False
    divisor = np.where(is_zero | is_least, x.dtype.type(1), y)
    quotient = x // divisor
    if x.dtype.kind == "i":
        is_inexact = quotient * divisor != x
        quotient = quotient + (is_inexact & ((x < 0) != (divisor < 0)))
    return np.where(is_zero, np.invert(x.dtype.type(0)), quotient)


@rule("rem")
def _rem(equation: Equation) -> HostStep | None:
    return np.fmod if dtype_of(equation).kind == "f" else _rem_integers


def _rem_integers(x: HostArray, y: HostArray) -> HostArray:
    """Of the sign of x; x for a division by zero, and zero for one by -1."""
    divisor = _only_divisor(y)
    if divisor is not None:
        return x - _div_integers(x, y) * divisor
    is_zero = y == 0
    is_one = is_zero | (y == -1) if x.dtype.kind == "i" else is_zero
    remainder = np.fmod(x, np.where(is_one, x.dtype.type(1), y))
    return np.where(is_zero, x, remainder)


@rule("sign")
def _sign(equation: Equation) -> HostStep | None:
    if dtype_of(equation).kind != "f":
        return np.sign
    zero = dtype_of(equation).type(0)
    return lambda x: np.where(x == 0, np.copysign(zero, x), np.sign(x))


@rule("round")
def _round(equation: Equation) -> HostStep | None:
    return np.rint if int(equation.params["rounding_method"]) == 1 else None


@rule("integer_pow")
def _integer_pow(equation: Equation) -> HostStep | None:
    exponent = equation.params["y"]
    if exponent < 1:
        return None

    def power(x: HostArray) -> HostArray:
        # The products that JAX has, in its order.
        factors, rest = [], exponent
        while rest:
            factors += [x] if rest & 1 else []
            rest >>= 1
            x = x * x if rest else x
        return functools.reduce(np.multiply, factors)

    return power


@rule("clamp")
def _clamp(equation: Equation) -> HostStep | None:
    del equation
    return lambda least, x, most: minimum(maximum(x, least), most)


@rule("shift_left", "shift_right_logical", "shift_right_arithmetic")
def _shift(equation: Equation) -> HostStep | None:
    name, dtype = equation.primitive.name, dtype_of(equation)
    bits = dtype.itemsize * 8
    unsigned, signed = np.dtype(f"u{dtype.itemsize}"), np.dtype(f"i{dtype.itemsize}")

    def step(x: HostArray, by: HostArray) -> HostArray:
        is_past = by.astype(unsigned) >= unsigned.type(bits)
        by = np.where(is_past, dtype.type(0), by)
        if name == "shift_left":
            return np.where(is_past, dtype.type(0), np.left_shift(x, by))
        if name == "shift_right_logical":
            shifted = np.right_shift(x.astype(unsigned), by.astype(unsigned)).astype(dtype)
            return np.where(is_past, dtype.type(0), shifted)
        shifted = np.right_shift(x.astype(signed), by.astype(signed))
        return np.where(is_past, x.astype(signed) >> signed.type(bits - 1), shifted).astype(dtype)

    return step


@rule("select_n")
def _select_n(equation: Equation) -> HostStep | None:
    if len(equation.invars) == 2:
        return lambda which, case: case
    if len(equation.invars) == 3 and dtype_of(equation) == np.bool_:
        return _selected if equation.invars[0].aval.shape else _selected_whole
    return None


def _selected_whole(which: HostArray, false: HostArray, true: HostArray) -> HostArray:
    return true if which else false


def _selected(which: HostArray, false: HostArray, true: HostArray) -> HostArray:
    # Flags of missing values, of padding and of negative row ids are mostly all equal. To see it
    # takes a thirtieth of the time, and not even that for others: the search ends at the first.
    if which.size < _LEAST_SEARCHED:
        return np.where(which, true, false)
    if not which.any() or which.all():
        return true if which.flat[0] else false
    if which.ndim == 1 and true.dtype.isbuiltin == 1 and true.dtype.kind != "c":
        sample = which[which.size // 2 :][: _LEAST_SEARCHED // 2]
        if np.count_nonzero(sample[1:] != sample[:-1]) > sample.size // 8:
            return _selected_by_bits(which, false, true)
    return np.where(which, true, false)


def _selected_by_bits(which: HostArray, false: HostArray, true: HostArray) -> HostArray:
    """`np.where` without branches, which take four times as long on flags in no order."""
    words = np.dtype(f"u{true.dtype.itemsize}")
    result = np.empty(which.shape, words)
    mask = np.empty(min(which.size, _BLOCK), words)
    ones, zeros = true.view(words), false.view(words)
    for start in range(0, which.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        chosen, rest = result[block], zeros[block]
        flags = mask[: chosen.size]
        np.negative(which[block], out=flags, dtype=words, casting="unsafe")
        np.bitwise_xor(ones[block], rest, out=chosen)
        np.bitwise_and(chosen, flags, out=chosen)
        np.bitwise_xor(chosen, rest, out=chosen)
    return result.view(true.dtype)


@rule("convert_element_type")
def _convert(equation: Equation) -> HostStep | None:
    source, target = dtype_of(equation), np.dtype(equation.params["new_dtype"])
    if target == np.bool_:
        return lambda x: x != 0
    if source.kind != "f" or target.kind == "f":
        return lambda x: x.astype(target)
    if target.kind not in "iu" or target.itemsize < 4:
        return None
    # XLA saturates, and takes NaN for zero. The largest value is no float of this dtype: 2**31 is.
    least, most = np.iinfo(target).min, np.iinfo(target).max
    with np.errstate(over="ignore"):
        past = source.type(2.0) ** (8 * target.itemsize - (target.kind == "i"))

    def saturate(x: HostArray) -> HostArray:
        is_inside = (x >= source.type(least)) & (x < past)
        inside = np.where(is_inside, x, source.type(0)).astype(target)
        outside = np.where(x > 0, target.type(most), target.type(least))
        return np.where(is_inside | np.isnan(x), inside, outside)

    return saturate


@rule("bitcast_convert_type")
def _bitcast(equation: Equation) -> HostStep | None:
    source, target = dtype_of(equation), np.dtype(equation.params["new_dtype"])
    # Words of another width are those of a last axis.
    new_axis = (source.itemsize // target.itemsize,) if source.itemsize > target.itemsize else ()
    num_kept = len(equation.outvars[0].aval.shape) - len(new_axis)

    def step(x: HostArray) -> HostArray:
        return np.ascontiguousarray(x).view(target).reshape((*x.shape[:num_kept], *new_axis))

    return step


@rule("clz")
def _clz(equation: Equation) -> HostStep | None:
    dtype = dtype_of(equation)
    bits = dtype.itemsize * 8
    unsigned = np.dtype(f"u{dtype.itemsize}")

    def step(x: HostArray) -> HostArray:
        word = x.astype(unsigned)
        shift = 1
        while shift < bits:
            word = word | (word >> unsigned.type(shift))
            shift *= 2
        return (bits - np.bitwise_count(word)).astype(dtype)

    return step


# The primitives of this module: each result depends on the elements at its own position alone.
_ELEMENTWISE = frozenset(RULES)


def is_elementwise(equation: Equation) -> bool:
    """Whether operands are numbers, or have the shape of the result, and go element by element."""
    shapes = {variable.aval.shape for variable in equation.invars}
    return equation.primitive.name in _ELEMENTWISE and shapes <= {
        (),
        equation.outvars[0].aval.shape,
    }
