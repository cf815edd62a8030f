# SPDX-License-Identifier: Apache-2.0
"""Arithmetic and comparison of datetimes and timedeltas."""

import datetime
import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..table._column import NAT, UNITS, Array, Column, ColumnType, Kind, Scalar
from ..table._computed import postponed
from ..table._recode import with_unit
from ..table._table import Count
from ..table._take import settled
from ._array_ops import COMPARISONS, REFLECTED, compare
from ._code_ops import constant, invalid


class Time(NamedTuple):
    """A datetime or timedelta operand: integer counts of a unit, one or one per row."""

    kind: str
    unit: str
    data: Any

    def in_unit(self, unit: str) -> Any:
        """Converts the counts to the same or a finer unit."""
        if self.unit == unit:
            return self.data
        if isinstance(self.data, np.integer):
            if self.data == NAT:
                return self.data
            factor = 1000 ** (UNITS.index(unit) - UNITS.index(self.unit))
            return np.int64(int(self.data) * factor)
        return with_unit(Column(self.data, None, ColumnType("datetime", unit=self.unit)), unit).data


def as_time(side: Any, other: Any, op: str) -> Time | None:
    """Converts an operand to a `Time`, or returns None."""
    if isinstance(side, Column):
        return Time(side.kind, side.type.unit, side.data) if side.type.unit else None
    value: Any = side.value
    other_kind = other.kind if isinstance(other, Column) else ""
    is_with_time = other_kind in ("datetime", "timedelta")
    try:
        if isinstance(value, str):
            if op not in COMPARISONS or not is_with_time:
                return None
            value = pd.Timestamp(value) if other_kind == "datetime" else pd.Timedelta(value)
        elif isinstance(value, (np.datetime64, np.timedelta64)) and np.isnat(value):
            kind = "datetime" if isinstance(value, np.datetime64) else "timedelta"
            unit = np.datetime_data(value.dtype)[0]
            nearest = "ns" if unit in ("ps", "fs", "as") else "s"
            return Time(kind, unit if unit in UNITS else nearest, np.int64(NAT))
        elif isinstance(value, (datetime.datetime, np.datetime64)):
            value = pd.Timestamp(value)
        elif isinstance(value, (datetime.timedelta, np.timedelta64, pd.offsets.BaseOffset)):
            value = pd.Timedelta(value)
    except ValueError:
        return None
    if value is pd.NaT:
        if not is_with_time or op in ("truediv", "floordiv", "mod"):
            return None
        return Time("timedelta" if op == "add" else other_kind, "s", np.int64(NAT))
    is_timestamp = isinstance(value, pd.Timestamp) and value.tz is None
    if not (is_timestamp or isinstance(value, pd.Timedelta)):
        return None
    kind = "datetime" if is_timestamp else "timedelta"
    time: Any = value
    return Time(kind, time.unit, time.asm8.view(np.int64))


def combine_times(op: str, a: Any, b: Any, times: list[Time | None], num_rows: Count) -> Column:
    """Applies an operation with a datetime or timedelta operand."""
    x, y = times
    if x is None or y is None:
        return _with_other(op, a, b, x, y)
    unit = max(x.unit, y.unit, key=UNITS.index)
    kinds = (x.kind, y.kind)
    if op in COMPARISONS:
        if x.kind == y.kind:
            return _compared(op, (a, b), (x, y), unit)
        return _never(op, a, b)
    result_kinds: dict[tuple[str, ...], Kind] = {
        ("sub", "datetime", "datetime"): "timedelta",
        ("add", "datetime", "timedelta"): "datetime",
        ("sub", "datetime", "timedelta"): "datetime",
        ("add", "timedelta", "datetime"): "datetime",
        ("add", "timedelta", "timedelta"): "timedelta",
        ("sub", "timedelta", "timedelta"): "timedelta",
        ("mod", "timedelta", "timedelta"): "timedelta",
    }
    result_kind = result_kinds.get((op, *kinds))
    if result_kind is not None:
        data = _combine(op, x.in_unit(unit), y.in_unit(unit))
        return Column(data, None, ColumnType(result_kind, unit=unit))
    if kinds == ("timedelta", "timedelta") and op in ("truediv", "floordiv"):
        data, valid = _quotient(op, x.in_unit(unit), y.in_unit(unit))
        return settled(Column(data, valid), num_rows)
    raise invalid(op, a, b)


def _compared(op: str, sides: Sequence[Any], times: Sequence[Time], unit: str) -> Column:
    """Compares times, if possible when the result is read."""
    a, b = sides
    if isinstance(a, Scalar):
        return _compared(REFLECTED[op], (b, a), times[::-1], unit)
    x, y = times
    if isinstance(b, Scalar) and UNITS.index(y.unit) > UNITS.index(x.unit):
        # The unit of the column, so that no row is converted.
        unit = x.unit
        op, y = _in_coarser_unit(op, y, unit)
    data = [x.in_unit(unit), y.in_unit(unit)]
    operands = [
        side if isinstance(side, Column) and time.unit == unit else counts
        for side, time, counts in zip(sides, (x, y), data, strict=True)
    ]
    later = postponed(_compare, (op,), operands, np.bool_)
    return Column(_compare(op, *data)) if later is None else later


def _in_coarser_unit(op: str, time: Time, unit: str) -> tuple[str, Time]:
    """A comparison with one time in a coarser unit, between two counts of which it may lie."""
    if time.data == NAT:
        return op, Time(time.kind, unit, time.data)
    count, rest = divmod(int(time.data), 1000 ** (UNITS.index(time.unit) - UNITS.index(unit)))
    if rest:
        # It equals no count, and lies between this one and the next.
        op, count = {
            "lt": ("le", count), "ge": ("gt", count), "eq": ("eq", NAT), "ne": ("ne", NAT)
        }.get(op, (op, count))  # fmt: skip
    return op, Time(time.kind, unit, np.int64(count))


def _never(op: str, a: Any, b: Any) -> Column:
    if op in ("eq", "ne"):
        return constant(a if isinstance(a, Column) else b, op == "ne")
    raise invalid(op, a, b)


def _with_other(op: str, a: Any, b: Any, x: Time | None, y: Time | None) -> Column:
    """Multiplies or divides a timedelta by numbers; raises for any other pair."""
    time, other = (x, b) if x is not None else (y, a)
    assert time is not None
    if op in COMPARISONS:
        return _never(op, a, b)
    is_number = other.is_number if isinstance(other, Scalar) else other.is_numeric
    factor: Any = (other.value if isinstance(other, Scalar) else other.data) if is_number else None
    kind = "" if factor is None else getattr(factor, "dtype", np.result_type(type(factor))).kind
    is_left = x is not None
    if time.kind != "timedelta" or kind not in ("i", "u", "f") or not (is_left or op == "mul"):
        raise invalid(op, a, b)
    if op not in ("mul", "truediv", "floordiv", "mod"):
        raise invalid(op, a, b)
    if not isinstance(factor, jax.Array):
        as_factor: Any = np.float64 if kind == "f" else np.int64
        factor = as_factor(factor)
    missing = None if isinstance(other, Scalar) else other.valid
    data = _scaled(op, time.data, factor, missing)
    return Column(data, None, ColumnType("timedelta", unit=time.unit))


@functools.partial(tiered, static_argnums=0)
def _compare(op: str, a: Array, b: Array) -> Array:
    return compare(op, a, b, (a == NAT) | (b == NAT))


@functools.partial(tiered, static_argnums=0)
def _combine(op: str, a: Array, b: Array) -> Array:
    is_missing = (a == NAT) | (b == NAT)
    if op == "mod":
        result = jnp.where(b == 0, a, jnp.remainder(a, jnp.where(b == 0, np.int64(1), b)))
    else:
        result = a + b if op == "add" else a - b
    return jnp.where(is_missing, np.int64(NAT), result)


@functools.partial(tiered, static_argnums=0)
def _quotient(op: str, a: Array, b: Array) -> tuple[Array, Array | None]:
    is_missing = (a == NAT) | (b == NAT)
    if op == "floordiv":
        by_zero = b == 0
        result = jnp.floor_divide(a, jnp.where(by_zero, np.int64(1), b))
        return jnp.where(by_zero, np.int64(0), result), ~is_missing
    x, y = a.astype(jnp.float64), b.astype(jnp.float64)
    # The `where` hides a uniform divisor from XLA; see `_truediv` in _array_ops.
    result = x / jnp.where(is_missing, x, y)
    return jnp.where(is_missing, np.float64(np.nan), result), None


@functools.partial(tiered, static_argnums=0)
def _scaled(op: str, time: Array, factor: Array, valid: Array | None) -> Array:
    time = jnp.asarray(time)
    is_missing = (time == NAT) | (False if valid is None else ~valid)
    if jnp.issubdtype(factor.dtype, jnp.floating):
        result, is_lost = _scaled_by_float(op, time, factor.astype(jnp.float64))
    else:
        result, is_lost = _scaled_by_integer(op, time, factor.astype(jnp.int64))
    return jnp.where(is_missing | is_lost, np.int64(NAT), result)


def _scaled_by_integer(op: str, time: Array, factor: Array) -> tuple[Array, Array]:
    if op == "mul":
        return time * factor, jnp.zeros(jnp.shape(factor), jnp.bool_)
    by_zero = factor == 0
    divisor = jnp.where(by_zero, np.int64(1), factor)
    # As in NumPy: truncates towards zero, for floordiv too.
    time, divisor = jnp.broadcast_arrays(time, divisor)
    quotient = jax.lax.div(time, divisor)
    if op != "mod":
        return quotient, by_zero
    return time - quotient * divisor, by_zero


def _scaled_by_float(op: str, time: Array, factor: Array) -> tuple[Array, Array]:
    x = time.astype(jnp.float64)
    shape = jnp.broadcast_shapes(x.shape, factor.shape)
    x, y = jnp.broadcast_to(x, shape), jnp.broadcast_to(factor, shape)
    result = x * y if op == "mul" else x / jnp.where(x == x, y, x)
    is_lost = ~jnp.isfinite(result) | jnp.isnan(y)
    whole = jnp.where(is_lost, 0.0, result).astype(jnp.int64)
    if op != "mod":
        return whole, is_lost
    product = whole.astype(jnp.float64) * y
    is_lost = is_lost | ~jnp.isfinite(product)
    return time - jnp.where(is_lost, 0.0, product).astype(jnp.int64), is_lost
