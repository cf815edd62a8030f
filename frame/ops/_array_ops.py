# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, logic and comparison of numeric arrays, with the dtypes of pandas and NumPy.

Divisions, remainders and powers have the results of NumPy and pandas at zeros.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...primitives.staging import tiered
from ..table._column import NAT, Array
from ..table._dtypes import wide

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
# `a op b` is `b REFLECTED[op] a`.
REFLECTED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
LOGIC = ("and", "or", "xor")
SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "and": "&", "or": "|", "xor": "^",
}  # fmt: skip


class NumberPlan(NamedTuple):
    """The dtypes of an operation on two numeric arrays. Static under `jit`.

    Attributes:
        op: the operation; "np.hypot" calls `jax.numpy.hypot`.
        dtype: the common dtype of the operands; `object` compares int64 with uint64.
        result: the name of the result's dtype, or "" for the operation's own. (A name, because a
            NumPy dtype compares equal to None if it is float64.)
        by_zero: whether integers may be divided by zero, which gives an infinity or NaN.
    """

    op: str
    dtype: np.dtype
    result: str = ""
    by_zero: bool = False


def common_dtype(a: np.dtype, b: np.dtype) -> np.dtype:
    """The dtype of an operation on two arrays: NumPy's promotion, or JAX's for bfloat16."""
    if a == b:
        # One of them is that of a column, which the device holds.
        return a
    if jnp.bfloat16 in (a, b):
        return np.dtype(jnp.promote_types(a, b))
    return wide(np.result_type(a, b))


@functools.lru_cache(maxsize=4096)
def plan_numbers(op: str, a: np.dtype, b: np.dtype, has_zeros: bool, x64: bool) -> NumberPlan:
    """Chooses the dtypes of an operation on two columns, by theirs.

    `has_zeros` tells whether the right side may contain a zero.
    """
    del x64  # part of the cache key: dtypes depend on it
    dtype = common_dtype(a, b)
    if op == "square" and a == np.bool_ and b.kind in "iu":
        # NumPy casts bools to int8 to square them; other powers of bools are int64.
        return NumberPlan(op, np.dtype(np.int8))
    if op in ("square", "sqrt"):
        return NumberPlan(op, dtype)
    if op.startswith("np."):
        *operands, result = getattr(np, op[3:]).resolve_dtypes((a, b, None))
        return NumberPlan(op, wide(np.result_type(*operands)), wide(result).name)
    if op in LOGIC:
        return _plan_logic(op, a, b)
    if op in COMPARISONS:
        if ({a.kind, b.kind} == set("iu") and dtype != np.result_type(a, b)) or (
            dtype.kind == "f" and {a.kind, b.kind} <= set("iu")
        ):
            # int64 with uint64: in float64 neighbouring integers would be equal.
            return NumberPlan(op, np.dtype(object))
        return NumberPlan(op, dtype)
    if dtype == np.bool_:
        if op == "sub":
            raise TypeError(
                "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, "
                "the `^` operator, or the logical_xor function instead."
            )
        if op in ("truediv", "floordiv", "whole floordiv", "pow"):
            raise NotImplementedError(f"operator '{op}' not implemented for bool dtypes")
        dtype = np.dtype(np.int8 if op.endswith("mod") else np.bool_)
    if dtype.kind == "c" and op.removeprefix("whole ") in ("floordiv", "mod"):
        raise TypeError(f"ufunc {op!r} not supported for {a} and {b}: numbers must be real")
    if op == "truediv" and dtype.kind in "iu":
        dtype = wide(np.float64)
    by_zero = op in ("floordiv", "mod") and dtype.kind in "iu" and has_zeros
    result = wide(np.float64).name if op == "floordiv" and dtype.kind == "f" and has_zeros else ""
    return NumberPlan(op, dtype, result, by_zero)


def _plan_logic(op: str, a: np.dtype, b: np.dtype) -> NumberPlan:
    if a.kind in "iu" and b.kind in "iu":
        dtype = np.result_type(a, b)
        if dtype.kind not in "iu":
            raise TypeError(f"unsupported operand type(s) for {SYMBOLS[op]}: {a} and {b}")
        return NumberPlan(op, wide(dtype))
    if a == np.bool_ and b.kind in "fcV":
        # pandas reduces such a right side to its truth values.
        return NumberPlan(op, np.dtype(np.bool_))
    if a.kind not in "biu" or b.kind not in "biu":
        raise TypeError(f"unsupported operand type(s) for {SYMBOLS[op]}: '{a}' and '{b}'")
    return NumberPlan(op, wide(np.result_type(a, b)), "bool")


def combine_numbers(plan: NumberPlan, a: Array, b: Array) -> Array:
    """Inside a compiled function: applies an operation row by row."""
    if plan.dtype == object:
        return _compare_signed_with_unsigned(plan.op, a, b)
    if plan.op in LOGIC and plan.dtype == np.bool_ and b.dtype != np.bool_:
        b = (b != b.dtype.type(0)) & (b == b)
    a, b = (converted(x, plan.dtype) for x in (a, b))
    if plan.op.startswith("np."):
        result = getattr(jnp, plan.op[3:])(a, b)
    else:
        result = _OPERATIONS[plan.op](plan, a, b)
    return result if not plan.result else result.astype(plan.result)


def converted(x: Array, dtype: np.dtype) -> Array:
    """Inside a compiled function: casts numbers to another dtype."""
    if x.dtype == jnp.bool_ and dtype.kind in "fcV":
        # XLA rewrites bool * x as a select between x and 0, but False * NaN is NaN.
        x = jax.lax.optimization_barrier(x.astype(jnp.int8))
    return x.astype(dtype)


def _truediv(plan: NumberPlan, a: Array, b: Array) -> Array:
    return _divide_complex(a, b) if plan.dtype.kind == "c" else divided(a, b)


def _floordiv(plan: NumberPlan, a: Array, b: Array) -> Array:
    """The quotient rounded down; of integers, float64 with infinities if zero may divide."""
    if plan.dtype == np.float16:
        # As in NumPy: rounded once, at the end.
        return _floordiv_floats(a.astype(np.float32), b.astype(np.float32)).astype(np.float16)
    if plan.dtype.kind not in "iu":
        return _floordiv_floats(a, b)
    quotient = jnp.floor_divide(a, jnp.where(b == 0, a.dtype.type(1), b))
    if not plan.by_zero:
        return quotient
    signed_infinity = jnp.where(a > 0, np.inf, jnp.where(a < 0, -np.inf, np.nan))
    return jnp.where(b == 0, signed_infinity, quotient.astype(wide(np.float64)))


def _mod(plan: NumberPlan, a: Array, b: Array) -> Array:
    """The remainder with the sign of the divisor; of integers, float64 with NaN if by zero."""
    if plan.dtype.kind in "iu":
        remainder = jnp.remainder(a, jnp.where(b == 0, a.dtype.type(1), b))
        if not plan.by_zero:
            return remainder
        return jnp.where(b == 0, np.nan, remainder.astype(wide(np.float64)))
    remainder = jnp.fmod(a, b)
    has_other_sign = (remainder != 0) & ((b < 0) != (remainder < 0))
    shifted = jnp.where(has_other_sign, remainder + b, remainder)
    zero = jnp.copysign(jnp.zeros((), a.dtype), b)
    return jnp.where((remainder == 0) & (b != 0), zero, shifted)


def _by_nonzero(divide: Any, plan: NumberPlan, a: Array, b: Array) -> Array:
    """A quotient or remainder; that of an integer by zero is zero, as in NumPy."""
    result = divide(plan, a, b)
    return result if plan.dtype.kind not in "iu" else jnp.where(b == 0, plan.dtype.type(0), result)


_OPERATIONS: dict[str, Any] = {
    "add": lambda plan, a, b: a | b if plan.dtype == np.bool_ else a + b,
    "sub": lambda plan, a, b: a - b,
    "mul": lambda plan, a, b: a & b if plan.dtype == np.bool_ else a * b,
    "truediv": _truediv,
    "floordiv": _floordiv,
    "mod": _mod,
    "whole floordiv": lambda plan, a, b: _by_nonzero(_floordiv, plan, a, b),
    "whole mod": lambda plan, a, b: _by_nonzero(_mod, plan, a, b),
    "pow": lambda plan, a, b: _integer_power(a, b) if plan.dtype.kind in "iu" else jnp.power(a, b),
    "square": lambda plan, a, b: a * a,
    "sqrt": lambda plan, a, b: jnp.sqrt(a),
    "and": lambda plan, a, b: a & b,
    "or": lambda plan, a, b: a | b,
    "xor": lambda plan, a, b: a ^ b,
    "eq": lambda plan, a, b: a == b,
    "ne": lambda plan, a, b: a != b,
    "lt": lambda plan, a, b: a < b,
    "le": lambda plan, a, b: a <= b,
    "gt": lambda plan, a, b: a > b,
    "ge": lambda plan, a, b: a >= b,
}


def compare(op: str, a: Array, b: Array, is_missing: Array) -> Array:
    """Inside a compiled function: compares values; a missing value is unequal to every value."""
    flags = _OPERATIONS[op](None, a, b)
    return flags | is_missing if op == "ne" else flags & ~is_missing


@functools.partial(tiered, static_argnums=0)
def compare_with_nat(op: str, a: Array, b: Array) -> Array:
    """Compares integers, such as those of times; NAT is missing."""
    return compare(op, a, b, (a == NAT) | (b == NAT))


def _compare_signed_with_unsigned(op: str, a: Array, b: Array) -> Array:
    def parts(x: Array) -> tuple[Array, Array]:
        is_signed = jnp.issubdtype(x.dtype, jnp.signedinteger)
        negative = x < 0 if is_signed else jnp.zeros(x.shape, jnp.bool_)
        return negative, x.astype(wide(np.uint64))

    a_negative, a_word = parts(a)
    b_negative, b_word = parts(b)
    equal = (a_negative == b_negative) & (a_word == b_word)
    less = (a_negative & ~b_negative) | ((a_negative == b_negative) & (a_word < b_word))
    flags = {"eq": equal, "lt": less, "le": less | equal}
    flags |= {"ne": ~equal, "ge": ~less, "gt": ~(less | equal)}
    return flags[op]


def _floordiv_floats(a: Array, b: Array) -> Array:
    """The quotient rounded down, exact because it is computed from the remainder."""
    remainder = jnp.where(b == 0, a.dtype.type(0), jnp.fmod(a, b))
    has_other_sign = (remainder != 0) & ((b < 0) != (remainder < 0))
    quotient = (a - remainder) / b - has_other_sign.astype(a.dtype)
    floor = jnp.floor(quotient)
    floor = floor + (quotient - floor > 0.5).astype(a.dtype)
    zero = jnp.copysign(jnp.zeros((), a.dtype), a / b)
    floor = jnp.where(quotient != 0, floor, zero)
    # pandas: x // 0 is the infinity of x's sign, and 0 // 0 is NaN.
    return jnp.where(b == 0, a / b, jnp.where(jnp.isinf(a), a.dtype.type(np.nan), floor))


def _divide_complex(a: Array, b: Array) -> Array:
    """The quotient by Smith's algorithm, with NumPy's results at zeros and infinities."""
    is_real_larger = jnp.abs(b.real) >= jnp.abs(b.imag)
    # If the imaginary part is larger, both operands are rotated by 90 degrees.
    a_real = jnp.where(is_real_larger, a.real, a.imag)
    a_imag = jnp.where(is_real_larger, a.imag, -a.real)
    large = jnp.where(is_real_larger, b.real, b.imag)
    small = jnp.where(is_real_larger, b.imag, -b.real)
    is_zero = (large == 0) & (small == 0)
    ratio = jnp.where(is_zero, large.dtype.type(0), small / large)
    scale = 1 / (large + small * ratio)
    quotient = jax.lax.complex((a_real + a_imag * ratio) * scale, (a_imag - a_real * ratio) * scale)
    by_zero = jax.lax.complex(a.real / jnp.abs(large), a.imag / jnp.abs(large))
    return jnp.where(is_zero, by_zero, quotient)


def _integer_power(a: Array, b: Array) -> Array:
    """Integer powers with wraparound; 0 for a negative exponent."""
    one = a.dtype.type(1)
    power, base, exponent = jnp.ones_like(a), a, b
    # One squaring for each bit of the exponent, which the compiler makes one pass over the rows.
    for _ in range(np.iinfo(a.dtype).bits):
        power = jnp.where(exponent & one == one, power * base, power)
        base, exponent = base * base, exponent >> one
    return jnp.where(b < 0, a.dtype.type(0), power)


def divided(x: Array, divisor: object) -> Array:
    """Inside a compiled function: divides rows of real numbers, rounded as NumPy does.

    XLA multiplies by the rounded reciprocal of a uniform divisor, an error of one unit in the last
    place for many rows. The `where` hides that the divisor is uniform.
    """
    return x / jnp.where(x == x, jnp.asarray(divisor).astype(x.dtype), x)
