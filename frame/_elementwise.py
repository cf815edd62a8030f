# SPDX-License-Identifier: Apache-2.0
"""Operations on two columns, or on a column and a scalar, row by row."""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ._column import NUMBER, Array, Column, fill_missing
from ._number_ops import COMPARISONS, NumberPlan, combine_numbers, plan_numbers
from ._table import is_traced


class Scalar(NamedTuple):
    """One value, with which every row of a column is combined."""

    value: Any


def combine(op: str, pairs: Sequence[tuple[Any, Any]]) -> tuple[Column, ...]:
    """The results of an operation for pairs of a column and a column or scalar.

    Pairs of numbers are one compiled call, whatever their number.

    Raises:
        TypeError: the operation has no meaning for the types of a pair.
    """
    results: list[Column | None] = [None] * len(pairs)
    numbers: list[tuple[int, NumberPlan, tuple[Any, Any]]] = []
    for place, (a, b) in enumerate(pairs):
        if all(isinstance(side, Scalar) or side.is_numeric for side in (a, b)) and not any(
            isinstance(side, Scalar) and isinstance(side.value, str) for side in (a, b)
        ):
            plan, operands = _plan(op, a, b)
            numbers.append((place, plan, operands))
        else:
            from ._typed_ops import combine_typed

            results[place] = combine_typed(op, a, b)
    if numbers:
        made = _combine(tuple(n[2] for n in numbers), tuple(n[1] for n in numbers))
        for (place, _, _), data in zip(numbers, made, strict=True):
            results[place] = Column(data)
    return tuple(result for result in results if result is not None)


def _plan(op: str, a: Any, b: Any) -> tuple[NumberPlan, tuple[Any, Any]]:
    x, y = _operand(a, b), _operand(b, a)
    zeros = _has_zeros(op, y)
    return plan_numbers(op, np.dtype(x.dtype), np.dtype(y.dtype), zeros=zeros), (x, y)


def _operand(side: Any, other: Any) -> Any:
    if isinstance(side, Scalar):
        return scalar_like(side.value, np.dtype(_operand(other, None).dtype))
    return fill_missing(side).data


def scalar_like(value: Any, dtype: np.dtype) -> Any:
    """A scalar of the dtype that NumPy gives it beside an array of `dtype`.

    Raises:
        OverflowError: a Python integer that the integers of the array cannot hold.
    """
    if hasattr(value, "dtype"):
        return value
    if value is None:
        return np.float64(np.nan)
    if dtype == jnp.bfloat16:
        return jnp.asarray(value, dtype if isinstance(value, (bool, int, float)) else None)
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, int) and dtype.kind in "iu":
        return dtype.type(value)
    return np.result_type(dtype, value).type(value)


def _has_zeros(op: str, operand: Any) -> bool:
    """Whether the right side may hold a zero: what integers become where they are divided by it."""
    if op not in ("floordiv", "mod"):
        return False
    if is_traced(operand):
        return True
    return bool(_any_zero(operand) if isinstance(operand, jax.Array) else (operand == 0).any())


@jax.jit
def _any_zero(x: Array) -> Array:
    return jnp.any(x == 0)


@functools.partial(jax.jit, static_argnums=1)
def _combine(operands: Any, plans: tuple[NumberPlan, ...]) -> tuple[Array, ...]:
    results = []
    for (a, b), plan in zip(operands, plans, strict=True):
        shape = jnp.broadcast_shapes(jnp.shape(a), jnp.shape(b))
        a, b = jnp.broadcast_to(a, shape), jnp.broadcast_to(b, shape)
        results.append(combine_numbers(plan, a, b))
    return tuple(results)


__all__ = ["COMPARISONS", "NUMBER", "Scalar", "combine", "scalar_like"]
