# SPDX-License-Identifier: Apache-2.0
"""Arithmetic and comparison of datetimes and timedeltas."""

import datetime
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..table._column import NAT, UNITS, Array, Column, ColumnType, Kind, Scalar
from ..table._defer import map_rows
from ..table._table import Count
from ..table._take import settled
from ..table._units import LATEST, PER_SECOND, is_past, scalar_in_unit, units_per, with_unit
from ..table._zones import zone_label
from ._array_ops import COMPARISONS, REFLECTED, compare, compare_with_nat
from ._code_ops import constant, invalid
from ._time_arithmetic import checked, quotient, scaled, sum_of_times


class Time(NamedTuple):
    """A datetime or timedelta operand: integer counts of a unit, one or one per row.

    Attributes:
        kind: "datetime" or "timedelta".
        unit: the unit of the counts.
        data: the counts.
        zone: the zone of datetimes, if they have one.
    """

    kind: Kind
    unit: str
    data: Any
    zone: str | None = None

    def in_unit(self, unit: str, num_rows: Count) -> Any:
        """Converts the counts to the same or a finer unit."""
        kind = ColumnType(self.kind, unit=self.unit)
        if isinstance(self.data, np.integer):
            return np.int64(scalar_in_unit(int(self.data), kind, unit))
        return with_unit(Column(self.data, None, kind), unit, num_rows).data


def as_time(side: Any, other: Any, op: str) -> Time | None:
    """Converts an operand to a `Time`, or returns None."""
    if isinstance(side, Column):
        kind = side.type
        return Time(kind.kind, kind.unit or "s", side.data, kind.zone) if kind.is_time else None
    value: Any = side.value
    other_kind = other.kind if isinstance(other, Column) else ""
    is_with_time = other_kind in ("datetime", "timedelta")
    try:
        if isinstance(value, str):
            if op not in COMPARISONS or not is_with_time:
                return None
            value = pd.Timestamp(value) if other_kind == "datetime" else pd.Timedelta(value)
            zone = other.type.zone
            if zone is not None and value.tzinfo is None:
                # As in pandas, text without an offset is what clocks of the zone show.
                value = value.tz_localize(zone)
        elif isinstance(value, (np.datetime64, np.timedelta64)) and np.isnat(value):
            kind = "datetime" if isinstance(value, np.datetime64) else "timedelta"
            unit = np.datetime_data(value.dtype)[0]
            nearest = "ns" if unit in ("ps", "fs", "as") else "s"
            return Time(kind, unit if unit in UNITS else nearest, np.int64(NAT))
        elif isinstance(value, (datetime.datetime, np.datetime64)):
            value = pd.Timestamp(value)
        elif isinstance(value, (datetime.timedelta, np.timedelta64, pd.offsets.BaseOffset)):
            value = pd.Timedelta(value)
    except ValueError as error:
        if isinstance(value, (np.datetime64, np.timedelta64)):
            raise type(error)(f"{error}. Use a time within 2**63 seconds of 1970.") from None
        return None
    if value is pd.NaT:
        if not is_with_time or op in ("truediv", "floordiv", "mod"):
            return None
        missing = np.int64(NAT)
        if op == "add":
            return Time("timedelta", "s", missing)
        return Time(other_kind, "s", missing, other.type.zone)
    if not isinstance(value, (pd.Timestamp, pd.Timedelta)):
        return None
    kind = "datetime" if isinstance(value, pd.Timestamp) else "timedelta"
    time: Any = value
    zone = None if getattr(time, "tzinfo", None) is None else zone_label(time.tzinfo)
    return Time(kind, time.unit, time.asm8.view(np.int64), zone)


def combine_times(
    op: str, a: object, b: object, times: list[Time | None], num_rows: Count
) -> Column:
    """Applies an operation with a datetime or timedelta operand."""
    x, y = times
    if x is None or y is None:
        return _with_other(op, a, b, x, y, num_rows)
    kinds = (x.kind, y.kind)
    if op in COMPARISONS:
        is_like = x.kind == y.kind and (x.zone is None) == (y.zone is None)
        return _compared(op, a, b, x, y) if is_like else _never(op, a, b)
    unit = max(x.unit, y.unit, key=UNITS.index)
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
        if kinds == ("datetime", "datetime") and (x.zone is None) != (y.zone is None):
            raise TypeError("Cannot subtract tz-naive and tz-aware datetime-like objects")
        operands = x.in_unit(unit, num_rows), y.in_unit(unit, num_rows)
        data = checked(sum_of_times, op, *operands, num_rows)
        zone = (x.zone or y.zone) if result_kind == "datetime" else None
        return Column(data, None, ColumnType(result_kind, unit=unit, zone=zone))
    if kinds == ("timedelta", "timedelta") and op in ("truediv", "floordiv"):
        data, valid = quotient(op, x.in_unit(unit, num_rows), y.in_unit(unit, num_rows))
        return settled(Column(data, valid), num_rows)
    raise invalid(op, a, b)


def _compared(op: str, a: object, b: object, x: Time, y: Time) -> Column:
    """Compares times, deferred if possible."""
    is_coarser = PER_SECOND[x.unit] <= PER_SECOND[y.unit]
    if isinstance(a, Scalar) or not (is_coarser or isinstance(b, Scalar)):
        return _compared(REFLECTED[op], b, a, y, x)
    if isinstance(b, Scalar):
        # In the unit of the column, so that no row is converted.
        op, y = _in_unit_of_column(op, y, x.unit)
    operands = [a, b if isinstance(b, Column) else y.data]
    if x.unit == y.unit:
        return map_rows(compare_with_nat, (op,), operands, np.bool_)
    return map_rows(_compare_units, (op,), [*operands, units_per(x.unit, y.unit)], np.bool_)


def _in_unit_of_column(op: str, time: Time, unit: str) -> tuple[str, Time]:
    """A comparison with one time in another unit: it may lie between two counts, or past all."""
    if time.data == NAT:
        return op, Time(time.kind, unit, time.data)
    count, rest = int(time.data), 0
    if PER_SECOND[time.unit] > PER_SECOND[unit]:
        count, rest = divmod(count, int(units_per(unit, time.unit)))
    else:
        count *= int(units_per(time.unit, unit))
    least, most = -LATEST, LATEST
    if rest or not least <= count <= most:
        # It equals no count. It lies between this one and the next, or past the last one.
        is_before = count < least
        count = min(max(count, least), most)
        op, count = {
            "lt": ("lt" if is_before else "le", count), "le": ("lt" if is_before else "le", count),
            "ge": ("ge" if is_before else "gt", count), "gt": ("ge" if is_before else "gt", count),
            "eq": ("eq", NAT), "ne": ("ne", NAT),
        }[op]  # fmt: skip
    return op, Time(time.kind, unit, np.int64(count))


def _never(op: str, a: Any, b: Any) -> Column:
    if op in ("eq", "ne"):
        return constant(a if isinstance(a, Column) else b, op == "ne")
    raise invalid(op, a, b)


def _with_other(op: str, a: Any, b: Any, x: Time | None, y: Time | None, num_rows: Count) -> Column:
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
    if factor is not None and not isinstance(factor, jax.Array):
        # pandas calculates with a whole float as with an integer.
        is_whole = kind != "f" or (float(factor).is_integer() and abs(factor) < 2.0**63)
        factor = np.int64(factor) if is_whole else np.float64(factor)
    missing = None if isinstance(other, Scalar) else other.valid
    data = checked(scaled, op, time.data, factor, missing, num_rows)
    return Column(data, None, ColumnType("timedelta", unit=time.unit))


@functools.partial(tiered, static_argnums=0)
def _compare_units(op: str, coarse: Array, fine: Array, factor: Array) -> Array:
    # All times past the range of the finer unit lie on one side of those within.
    is_outside = is_past(coarse, factor)
    in_finer = jnp.where(is_outside, jnp.sign(coarse), coarse * factor)
    others = jnp.where(is_outside, np.int64(0), fine)
    return compare(op, in_finer, others, (coarse == NAT) | (fine == NAT))
