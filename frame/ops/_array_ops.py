# SPDX-License-Identifier: Apache-2.0
"""Arithmetic, logic and comparison of numeric arrays, with the dtypes of pandas and NumPy."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..table._column import Array
from ..table._dtypes import wide
from ._division import (
    divide_complex,
    floordiv_floats,
    floordiv_integers,
    integer_power,
    mod_floats,
    mod_integers,
)

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
    if jnp.bfloat16 in (a, b):
        return np.dtype(jnp.promote_types(a, b))
    return wide(np.result_type(a, b))


@functools.lru_cache(maxsize=4096)
def plan_numbers(op: str, a: np.dtype, b: np.dtype, has_zeros: bool, x64: bool) -> NumberPlan:
    """Chooses the dtypes of an operation on two columns, by theirs.

    `has_zeros` tells whether the right side may contain a zero.

    Raises:
        NotImplementedError: a division or a power of bools, as in pandas.
        TypeError: the operation is not defined for these dtypes.
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
        dtype = _dtype_of_bools(op)
    if dtype.kind == "c" and op in ("floordiv", "mod"):
        raise TypeError(f"ufunc {op!r} not supported for {a} and {b}: numbers must be real")
    if op == "truediv" and dtype.kind in "iu":
        dtype = wide(np.float64)
    by_zero = op in ("floordiv", "mod") and dtype.kind in "iu" and has_zeros
    result = wide(np.float64).name if op == "floordiv" and dtype.kind == "f" and has_zeros else ""
    return NumberPlan(op, dtype, result, by_zero)


def _dtype_of_bools(op: str) -> np.dtype:
    if op == "sub":
        raise TypeError(
            "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, "
            "the `^` operator, or the logical_xor function instead."
        )
    if op in ("truediv", "floordiv", "pow"):
        raise NotImplementedError(f"operator '{op}' not implemented for bool dtypes")
    return np.dtype(np.int8 if op == "mod" else np.bool_)


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


def _divide(a: Array, b: Array) -> Array:
    # XLA multiplies by the reciprocal of a uniform divisor, which rounds twice. The `where` hides
    # that the divisor is uniform.
    return a / jnp.where(a == a, b, a)


def _truediv(plan: NumberPlan, a: Array, b: Array) -> Array:
    return divide_complex(a, b) if plan.dtype.kind == "c" else _divide(a, b)


def _floordiv(plan: NumberPlan, a: Array, b: Array) -> Array:
    if plan.dtype.kind in "iu":
        return floordiv_integers(a, b, by_zero=plan.by_zero)
    if plan.dtype == np.float16:
        # As in NumPy: rounded once, at the end.
        return floordiv_floats(a.astype(np.float32), b.astype(np.float32)).astype(np.float16)
    return floordiv_floats(a, b)


def _mod(plan: NumberPlan, a: Array, b: Array) -> Array:
    if plan.dtype.kind in "iu":
        return mod_integers(a, b, by_zero=plan.by_zero)
    return mod_floats(a, b)


_OPERATIONS: dict[str, Any] = {
    "add": lambda plan, a, b: a | b if plan.dtype == np.bool_ else a + b,
    "sub": lambda plan, a, b: a - b,
    "mul": lambda plan, a, b: a & b if plan.dtype == np.bool_ else a * b,
    "truediv": _truediv,
    "floordiv": _floordiv,
    "mod": _mod,
    "pow": lambda plan, a, b: integer_power(a, b) if plan.dtype.kind in "iu" else jnp.power(a, b),
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
