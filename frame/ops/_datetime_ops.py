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
from ..table._computed import postponed
from ..table._table import Count, is_row
from ..table._take import settled
from ..table._tracing import at_once, is_traced
from ..table._units import LATEST, PER_SECOND, is_past, scalar_in_unit, units_per, with_unit
from ._array_ops import COMPARISONS, REFLECTED, compare
from ._code_ops import constant, invalid


class Time(NamedTuple):
    """A datetime or timedelta operand: integer counts of a unit, one or one per row."""

    kind: Kind
    unit: str
    data: Any

    def in_unit(self, unit: str, num_rows: Count) -> Any:
        """Converts the counts to the same or a finer unit."""
        kind = ColumnType(self.kind, unit=self.unit)
        if isinstance(self.data, np.integer):
            return np.int64(scalar_in_unit(int(self.data), kind, unit))
        return with_unit(Column(self.data, None, kind), unit, num_rows).data


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
    except ValueError as error:
        if isinstance(value, (np.datetime64, np.timedelta64)):
            raise type(error)(f"{error}. Use a time within 2**63 seconds of 1970.") from None
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
        return _with_other(op, a, b, x, y, num_rows)
    kinds = (x.kind, y.kind)
    if op in COMPARISONS:
        return _compared(op, a, b, x, y) if x.kind == y.kind else _never(op, a, b)
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
        operands = x.in_unit(unit, num_rows), y.in_unit(unit, num_rows)
        data = _checked(_combine, op, *operands, num_rows)
        return Column(data, None, ColumnType(result_kind, unit=unit))
    if kinds == ("timedelta", "timedelta") and op in ("truediv", "floordiv"):
        data, valid = _quotient(op, x.in_unit(unit, num_rows), y.in_unit(unit, num_rows))
        return settled(Column(data, valid), num_rows)
    raise invalid(op, a, b)


def _checked(compute: Any, op: str, *operands: Any) -> Array:
    """Computes times, and raises pandas' error outside `jit` if one is past the range of its unit.

    Inside `jit` such a time is NaT.
    """
    data, is_any_lost = at_once(compute, op, *operands)
    if not is_traced(is_any_lost) and bool(is_any_lost):
        remedy = "Convert the times to a coarser unit first, with astype."
        if op in ("add", "sub"):
            raise OverflowError(f"Overflow in int64 addition. {remedy}")
        what = "int64 multiplication" if op == "mul" else "timedelta division"
        raise pd.errors.OutOfBoundsTimedelta(f"Overflow in {what}. {remedy}")
    return data


def _compared(op: str, a: Any, b: Any, x: Time, y: Time) -> Column:
    """Compares times, if possible when the result is read."""
    is_coarser = PER_SECOND[x.unit] <= PER_SECOND[y.unit]
    if isinstance(a, Scalar) or not (is_coarser or isinstance(b, Scalar)):
        return _compared(REFLECTED[op], b, a, y, x)
    if isinstance(b, Scalar):
        # In the unit of the column, so that no row is converted.
        op, y = _in_unit_of_column(op, y, x.unit)
    settings, operands, data = (op,), [a, y.data], [x.data, y.data]
    if isinstance(b, Column):
        operands[1] = b
    compute = _compare
    if x.unit != y.unit:
        compute = _compare_units
        operands, data = ([*both, units_per(x.unit, y.unit)] for both in (operands, data))
    later = postponed(compute, settings, operands, np.bool_)
    return Column(compute(op, *data)) if later is None else later


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
    if not isinstance(factor, jax.Array):
        # pandas calculates with a whole float as with an integer.
        is_whole = kind != "f" or (float(factor).is_integer() and abs(factor) < 2.0**63)
        factor = np.int64(factor) if is_whole else np.float64(factor)
    missing = None if isinstance(other, Scalar) else other.valid
    data = _checked(_scaled, op, time.data, factor, missing, num_rows)
    return Column(data, None, ColumnType("timedelta", unit=time.unit))


@functools.partial(tiered, static_argnums=0)
def _compare(op: str, a: Array, b: Array) -> Array:
    return compare(op, a, b, (a == NAT) | (b == NAT))


@functools.partial(tiered, static_argnums=0)
def _compare_units(op: str, coarse: Array, fine: Array, factor: Array) -> Array:
    # All times past the range of the finer unit lie on one side of those within.
    is_outside = is_past(coarse, factor)
    in_finer = jnp.where(is_outside, jnp.sign(coarse), coarse * factor)
    others = jnp.where(is_outside, np.int64(0), fine)
    return compare(op, in_finer, others, (coarse == NAT) | (fine == NAT))


@functools.partial(tiered, static_argnums=0)
def _combine(op: str, a: Array, b: Array, num_rows: Count) -> tuple[Array, Array]:
    is_missing = (a == NAT) | (b == NAT)
    if op == "mod":
        result = jnp.where(b == 0, a, jnp.remainder(a, jnp.where(b == 0, np.int64(1), b)))
        return jnp.where(is_missing, np.int64(NAT), result), jnp.zeros((), jnp.bool_)
    result = a + b if op == "add" else a - b
    # The sign is wrong if the result wrapped around.
    signs = (a ^ result) & (b ^ result) if op == "add" else (a ^ b) & (a ^ result)
    is_lost = ~is_missing & ((signs < 0) | (result == NAT))
    return _times_kept(result, is_missing, is_lost, num_rows)


def _times_kept(
    times: Array, is_missing: Array, is_lost: Array, num_rows: Count
) -> tuple[Array, Array]:
    """Times with NaT in the place of flagged ones, and whether a row of the table was lost."""
    is_any_lost = jnp.any(is_lost & is_row(times.shape[0], num_rows))
    return jnp.where(is_missing | is_lost, np.int64(NAT), times), is_any_lost


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
def _scaled(
    op: str, time: Array, factor: Array, valid: Array | None, num_rows: Count
) -> tuple[Array, Array]:
    time = jnp.asarray(time)
    is_missing = (time == NAT) | (False if valid is None else ~valid)
    if jnp.issubdtype(factor.dtype, jnp.floating):
        result, is_nat, is_lost = _scaled_by_float(op, time, factor.astype(jnp.float64))
    else:
        result, is_nat, is_lost = _scaled_by_integer(op, time, factor)
    is_missing = is_missing | is_nat
    return _times_kept(result, is_missing, is_lost & ~is_missing, num_rows)


def _scaled_by_integer(op: str, time: Array, factor: Array) -> tuple[Array, Array, Array]:
    """The result, where it is NaT, and where it is past the range."""
    time, factor = jnp.broadcast_arrays(time, factor)
    divisor = factor.astype(jnp.int64)
    none = jnp.zeros(time.shape, jnp.bool_)
    if op == "mul":
        result = time * divisor
        # Rounded, the product is too large, or tells the sign that the result must have.
        product = time.astype(jnp.float64) * factor.astype(jnp.float64)
        is_wrapped = (product != 0) & ((product < 0) != (result < 0))
        return result, none, (jnp.abs(product) > 1.5 * 2**63) | is_wrapped | (result == NAT)
    by_zero = divisor == 0
    divisor = jnp.where(by_zero, np.int64(1), divisor)
    # As in NumPy: truncates towards zero, for floordiv too.
    quotient = jax.lax.div(time, divisor)
    if op != "mod":
        return quotient, by_zero, none
    return time - quotient * divisor, by_zero, none


def _scaled_by_float(op: str, time: Array, factor: Array) -> tuple[Array, Array, Array]:
    """The result, where it is NaT, and where it is past the range."""
    x = time.astype(jnp.float64)
    shape = jnp.broadcast_shapes(x.shape, factor.shape)
    x, y = jnp.broadcast_to(x, shape), jnp.broadcast_to(factor, shape)
    if op == "mul":
        result = x * y
        is_nat = jnp.isnan(result)
    else:
        result = x / jnp.where(x == x, y, x)
        is_nat = jnp.isnan(y) | (y == 0)
    is_lost = ~is_nat & ~(jnp.abs(result) < 2.0**63)
    whole = jnp.where(is_nat | is_lost, 0.0, result).astype(jnp.int64)
    if op != "mod":
        return whole, is_nat, is_lost
    product = whole.astype(jnp.float64) * y
    is_nat = is_nat | ~jnp.isfinite(product)
    rest = time - jnp.where(is_nat, 0.0, product).astype(jnp.int64)
    return rest, is_nat, is_lost
