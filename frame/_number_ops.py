# SPDX-License-Identifier: Apache-2.0
"""Arithmetic and comparison of numbers, with the dtypes that pandas and NumPy give."""

from typing import Any, Literal, NamedTuple, TypeAlias

import jax.numpy as jnp
import numpy as np

from ._column import Array

Op: TypeAlias = Literal[
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow",
    "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "xor",
]  # fmt: skip

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
LOGIC = ("and", "or", "xor")
SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "and": "&", "or": "|", "xor": "^",
}  # fmt: skip


class NumberPlan(NamedTuple):
    """How two numbers are combined. Static under `jit`.

    Attributes:
        op: the operation.
        dtype: both are cast to it first.
        holes: whether a division of integers by zero is to come out as infinity or NaN.
    """

    op: str
    dtype: np.dtype
    holes: bool = False


def common_dtype(a: np.dtype, b: np.dtype) -> np.dtype:
    """The dtype in which NumPy combines two arrays, bfloat16 among them."""
    if jnp.bfloat16 in (a, b):
        return np.dtype(jnp.promote_types(a, b))
    return np.result_type(a, b)


def plan_numbers(op: str, a: np.dtype, b: np.dtype, *, zeros: bool) -> NumberPlan:
    """How columns of two dtypes are combined.

    Args:
        op: the operation.
        a: the dtype of the left side.
        b: the dtype of the right side.
        zeros: whether the right side may hold a zero.

    Raises:
        TypeError: the operation has no meaning for these dtypes.
    """
    dtype = common_dtype(a, b)
    if op in LOGIC:
        if dtype.kind not in "biu":
            raise TypeError(f"unsupported operand type(s) for {SYMBOLS[op]}: {a} and {b}")
        return NumberPlan(op, dtype)
    if op in COMPARISONS:
        if dtype.kind == "f" and {a.kind, b.kind} <= set("iu"):
            # int64 against uint64: float64 would take neighbours for equal.
            return NumberPlan(op, np.dtype(object))
        return NumberPlan(op, dtype)
    if dtype == np.bool_ and op in ("sub", "truediv", "floordiv", "mod", "pow"):
        if op == "sub":
            raise TypeError(
                "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, "
                "the `^` operator, or the logical_xor function instead."
            )
        if op == "pow":
            raise NotImplementedError("operator 'pow' not implemented for bool dtypes")
        if op in ("truediv", "floordiv"):
            name = op
            raise NotImplementedError(f"operator '{name}' not implemented for bool dtypes")
        dtype = np.dtype(np.int8)
    if op == "truediv" and dtype.kind in "iub":
        dtype = np.dtype(np.float64)
    holes = op in ("floordiv", "mod") and dtype.kind in "iu" and zeros
    return NumberPlan(op, dtype, holes)


def combine_numbers(plan: NumberPlan, a: Array, b: Array) -> Array:
    """Inside a compiled function: the result for each row."""
    if plan.dtype == object:
        return _compare_signed_with_unsigned(plan.op, a, b)
    a, b = a.astype(plan.dtype), b.astype(plan.dtype)
    is_integer = plan.dtype.kind in "iu"
    match plan.op:
        case "add":
            return a | b if plan.dtype == np.bool_ else a + b
        case "sub":
            return a - b
        case "mul":
            return a & b if plan.dtype == np.bool_ else a * b
        case "truediv":
            return a / b
        case "floordiv":
            return _floordiv_integers(plan, a, b) if is_integer else _floordiv_floats(a, b)
        case "mod":
            return _mod_integers(plan, a, b) if is_integer else _mod_floats(a, b)
        case "pow":
            return jnp.power(a, b)
        case "and":
            return a & b
        case "or":
            return a | b
        case "xor":
            return a ^ b
    return _COMPARE[plan.op](a, b)


_COMPARE: dict[str, Any] = {
    "eq": jnp.equal, "ne": jnp.not_equal, "lt": jnp.less,
    "le": jnp.less_equal, "gt": jnp.greater, "ge": jnp.greater_equal,
}  # fmt: skip


def _compare_signed_with_unsigned(op: str, a: Array, b: Array) -> Array:
    def parts(x: Array) -> tuple[Array, Array]:
        is_signed = jnp.issubdtype(x.dtype, jnp.signedinteger)
        negative = x < 0 if is_signed else jnp.zeros(x.shape, jnp.bool_)
        return negative, x.astype(jnp.uint64)

    a_negative, a_word = parts(a)
    b_negative, b_word = parts(b)
    equal = (a_negative == b_negative) & (a_word == b_word)
    less = (a_negative & ~b_negative) | ((a_negative == b_negative) & (a_word < b_word))
    match op:
        case "eq":
            return equal
        case "ne":
            return ~equal
        case "lt":
            return less
        case "le":
            return less | equal
        case "gt":
            return ~(less | equal)
    return ~less


def _floordiv_integers(plan: NumberPlan, a: Array, b: Array) -> Array:
    one = a.dtype.type(1)
    quotient = jnp.floor_divide(a, jnp.where(b == 0, one, b))
    if not plan.holes:
        return quotient
    signed_infinity = jnp.where(a > 0, np.inf, jnp.where(a < 0, -np.inf, np.nan))
    return jnp.where(b == 0, signed_infinity, quotient.astype(jnp.float64))


def _mod_integers(plan: NumberPlan, a: Array, b: Array) -> Array:
    one = a.dtype.type(1)
    rest = jnp.remainder(a, jnp.where(b == 0, one, b))
    return jnp.where(b == 0, np.nan, rest.astype(jnp.float64)) if plan.holes else rest


def _floordiv_floats(a: Array, b: Array) -> Array:
    # C's fmod is exact, and so is what NumPy's floor_divide is made of.
    rest = jnp.where(b == 0, a.dtype.type(0), jnp.fmod(a, b))
    has_other_sign = (rest != 0) & ((b < 0) != (rest < 0))
    quotient = (a - rest) / b - has_other_sign.astype(a.dtype)
    floor = jnp.floor(quotient)
    floor = floor + (quotient - floor > 0.5).astype(a.dtype)
    zero = jnp.copysign(jnp.zeros((), a.dtype), a / b)
    floor = jnp.where(quotient != 0, floor, zero)
    # pandas: x // 0 is the infinity of x's sign, and 0 // 0 is NaN.
    return jnp.where(b == 0, a / b, jnp.where(jnp.isinf(a), np.nan, floor))


def _mod_floats(a: Array, b: Array) -> Array:
    rest = jnp.fmod(a, b)
    has_other_sign = (rest != 0) & ((b < 0) != (rest < 0))
    shifted = jnp.where(has_other_sign, rest + b, rest)
    return jnp.where((rest == 0) & (b != 0), jnp.copysign(jnp.zeros((), a.dtype), b), shifted)
