# SPDX-License-Identifier: Apache-2.0
"""Comparison and arithmetic of dates, times of day, decimals and periods."""

import dataclasses
import fractions
import functools
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..table._column import NAT, Array, Column, ColumnType, Scalar
from ..table._count_types import check_kept, in_one_label, power_of_ten, scale_of
from ..table._counted import MOST_DIGITS, count_of
from ..table._table import Count
from ..table._tracing import at_once
from ..table._units import rounded_counts
from ._array_ops import COMPARISONS, compare_with_nat
from ._code_ops import constant, invalid
from ._time_arithmetic import counts_kept, product, sum_of_times

# Dates count days, times seconds.
_SECONDS_PER_DAY = 86_400


def combine_counts(op: str, a: object, b: object, num_rows: Count) -> Column | tuple[Any, Any]:
    """Applies an operation with a column of labelled counts as an operand.

    Returns:
        The result; or two operands of other kinds to combine instead: decimals beside floats are
        floats, and a date beside a timedelta is its midnight.
    """
    column = next(x for x in (a, b) if isinstance(x, Column) and _is_labelled(x))
    if column.kind == "period" and op in COMPARISONS:
        a, b = (_read(side, column) for side in (a, b))
    x, y = (_as_counts(side, column) for side in (a, b))
    if x is None or y is None:
        return _with_other(op, a, b, column, b if column is a else a)
    if op in COMPARISONS:
        pair = in_one_label((x, y), (num_rows, num_rows))
        if pair is not None:
            x, y = pair
            return Column(compare_with_nat(op, x.data, y.data))
        if op in ("eq", "ne"):
            return constant(column, op == "ne")
        raise invalid(op, a, b)
    if column.kind == "decimal" and op in ("add", "sub", "mul"):
        return _decimals(op, x, y, num_rows)
    if column.kind == "date" and op == "sub" and y.kind == "date":
        data = _days_between(x.data, y.data)
        return Column(data, None, ColumnType("timedelta", unit="s"))
    if column.kind == "period" and op == "sub":
        raise NotImplementedError(
            "a period minus a period is an object in pandas. Subtract dt.to_timestamp(), or their "
            "astype('int64')."
        )
    if column.kind == "decimal" and op in ("truediv", "floordiv", "mod", "pow"):
        raise NotImplementedError(
            f"{op} of {column.dtype_name} is not exact in 64 bits. Cast it with astype('float64')."
        )
    raise invalid(op, a, b)


def rounded_decimals(column: Column, decimals: int) -> Column:
    """Decimals rounded half to even, with as many digits as before."""
    assert column.type.digits is not None
    precision, scale = column.type.digits
    if decimals >= scale:
        return column
    if precision > 18 or scale - decimals > 18:
        raise NotImplementedError(
            f"round: decimals must have 18 digits at most, got {column.dtype_name}. Cast the "
            "column with astype('float64')."
        )
    data, _ = rounded_counts(column.data, "round", power_of_ten(scale - decimals))
    return Column(data, None, column.type)


def _is_labelled(side: Any) -> bool:
    return side.type.is_counted and not side.type.is_time


def _read(side: Any, column: Column) -> Any:
    """A string beside periods as the period of their frequency that it names, if it names one."""
    if not isinstance(side, Scalar) or not isinstance(side.value, str):
        return side
    try:
        return Scalar(pd.Period(side.value, freq=column.type.freq))
    except ValueError:
        return side


def _as_counts(side: Any, column: Column) -> Column | None:
    """An operand as a column of counts, or as one count; None for one of another kind."""
    if isinstance(side, Column):
        if side.kind == column.kind:
            return side
        if column.kind != "decimal" or not _is_whole(side) or side.dtype == np.uint64:
            return None
        digits = {1: 3, 2: 5, 4: 10, 8: 19}[side.dtype.itemsize]
        kind = ColumnType("decimal", digits=(digits, 0))
        return Column(side.data.astype(jnp.int64), None, kind)
    value = side.value
    if value is None or value is pd.NaT or value is pd.NA:
        return Column(jnp.full(1, NAT), None, column.type)
    found = count_of(value, column.type)
    if found is None or abs(found[0]) >= 2**63:
        return None
    count, label = found
    kind = label if isinstance(label, ColumnType) else ColumnType(**label._asdict())
    return Column(jnp.full(1, count, jnp.int64), None, kind)


def _kind_of_numbers(side: Any) -> str | None:
    """The kind of an operand's dtype as in NumPy, if it is a number or a column of numbers."""
    if isinstance(side, Column):
        return side.dtype.kind if side.is_numeric else None
    return np.dtype(getattr(side.value, "dtype", type(side.value))).kind if side.is_number else None


def _is_whole(side: Any) -> bool:
    """Whether an operand is an integer, or a column of integers without holes."""
    has_holes = isinstance(side, Column) and side.valid is not None
    return _kind_of_numbers(side) in ("i", "u") and not has_holes


def _with_other(op: str, a: Any, b: Any, column: Column, other: Any) -> Column | tuple[Any, Any]:
    if column.kind == "decimal" and _kind_of_numbers(other) not in (None, "b"):
        floats = _as_float(column)
        return floats if a is column else a, floats if b is column else b
    is_span = isinstance(other, Scalar) and isinstance(other.value, (pd.Timedelta, np.timedelta64))
    is_span = is_span or (isinstance(other, Column) and other.kind == "timedelta")
    if column.kind == "date" and is_span and op in ("add", "sub"):
        times = midnights(column)
        return times if a is column else a, times if b is column else b
    moves = op == "add" or (op == "sub" and column is a)
    if column.kind == "period" and moves and _is_whole(other):
        steps = other.value if isinstance(other, Scalar) else other.data
        data = _moved(op, column.data, jnp.asarray(steps).astype(jnp.int64))
        return Column(data, None, column.type)
    if isinstance(other, Scalar) and isinstance(other.value, fractions.Fraction):
        raise NotImplementedError(f"{op}: {column.dtype_name} beside a Fraction. Pass a Decimal.")
    if op in ("eq", "ne"):
        return constant(column, op == "ne")
    raise invalid(op, a, b)


def _as_float(column: Column) -> Column:
    return Column(_decimals_as_floats(column.data, np.float64(10.0 ** scale_of(column))))


def midnights(column: Column) -> Column:
    """The midnights at which dates start."""
    kind = ColumnType("datetime", unit="s", family=column.family)
    return Column(_seconds_of_days(column.data), None, kind)


def _decimals(op: str, x: Column, y: Column, num_rows: Count) -> Column:
    """Sums, differences and products by Arrow's rules for digits."""
    assert x.type.digits is not None
    assert y.type.digits is not None
    (p, s), (q, t) = x.type.digits, y.type.digits
    if op == "mul":
        digits = (p + q + 1, s + t)
    else:
        pair = in_one_label((x, y), (num_rows, num_rows))
        assert pair is not None
        x, y = pair
        digits = (max(p - s, q - t) + max(s, t) + 1, max(s, t))
    if digits[0] > MOST_DIGITS:
        raise ValueError(
            f"Decimal precision out of range [1, 38]: {digits[0]}, of {op} with "
            f"{x.type.digits} and {y.type.digits} digits. Cast a column with astype('float64')."
        )
    data, is_any_lost = at_once(_combined, op, x.data, y.data, num_rows)
    check_kept(is_any_lost, f"decimal128{digits}")
    return Column(data, None, dataclasses.replace(x.type, digits=digits))


@tiered
def _days_between(a: Array, b: Array) -> Array:
    days = (a - b) * np.int64(_SECONDS_PER_DAY)
    return jnp.where((a == NAT) | (b == NAT), np.int64(NAT), days)


@functools.partial(tiered, static_argnums=0)
def _moved(op: str, data: Array, step: Array) -> Array:
    return jnp.where(data == NAT, np.int64(NAT), data + step if op == "add" else data - step)


@functools.partial(tiered, static_argnums=0)
def _combined(op: str, a: Array, b: Array, num_rows: Count) -> tuple[Array, Array]:
    if op != "mul":
        return sum_of_times(op, a, b, num_rows)
    is_missing = (a == NAT) | (b == NAT)
    result, is_lost = product(a, b)
    return counts_kept(result, is_missing, is_lost & ~is_missing, num_rows)


@tiered
def _decimals_as_floats(data: Array, factor: Array) -> Array:
    return jnp.where(data == NAT, np.nan, data.astype(jnp.float64) / factor)


@tiered
def _seconds_of_days(data: Array) -> Array:
    return jnp.where(data == NAT, np.int64(NAT), data * np.int64(_SECONDS_PER_DAY))
