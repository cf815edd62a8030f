# SPDX-License-Identifier: Apache-2.0
"""Units of time: the one conversion of counts from one unit to another.

A coarser unit rounds down. A finer one does not reach every time: outside `jit` a time past its
range raises pandas' error; inside `jit`, where nothing can raise, it becomes NaT.
"""

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ._column import NAT, UNITS, Array, Column, ColumnType
from ._table import Count, is_row
from ._to_host import host_array
from ._tracing import at_once, is_traced

PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
LATEST = np.iinfo(np.int64).max


def floored(counts: Array, step: Any) -> Array:
    """The quotients by a positive number, rounded down, in half the time of `//`."""
    quotient = truncated(counts, step)
    return quotient - (counts < quotient * step).astype(quotient.dtype)


def truncated(counts: Array, step: Any) -> Array:
    """The quotients by a positive number, rounded towards zero: down, if no count is negative.

    This is one division. `//` takes another one, and the signs, to find what it must round down.
    """
    return jax.lax.div(counts, jnp.full_like(counts, step))


_REMEDY = "Convert the times to a coarser unit first, with astype."


def finest_unit(*columns: Column) -> str:
    """The finest unit of time among the columns."""
    return max((column.type.unit or "s" for column in columns), key=UNITS.index)


def with_unit(column: Column, unit: str, num_rows: Count) -> Column:
    """Converts times to another unit, rounding down to a coarser one.

    Inside `jit` a time past the range of a finer unit becomes NaT.

    Raises:
        OutOfBoundsDatetime, OutOfBoundsTimedelta: outside `jit`, a time of the first `num_rows`
            rows is past the range of the unit.
    """
    own = column.type.unit or unit
    if own == unit:
        return column
    kind = dataclasses.replace(column.type, unit=unit)
    if PER_SECOND[own] > PER_SECOND[unit]:
        return Column(coarser(column.data, units_per(unit, own)), None, kind)
    factor = units_per(own, unit)
    data, is_any_past = at_once(finer, column.data, factor, num_rows)
    if not is_traced(is_any_past) and bool(is_any_past):
        counts = host_array(column.data)[: int(num_rows)]
        is_past = (np.abs(counts) > LATEST // factor) & (counts != NAT)
        raise _out_of_bounds(counts[is_past][0], column.type, unit)
    return Column(data, None, kind)


def with_units(columns: Sequence[Column], unit: str, counts: Sequence[Count]) -> tuple[Column, ...]:
    """Converts times of several tables, given their numbers of rows, to one unit."""
    pairs = zip(columns, counts, strict=True)
    return tuple(with_unit(column, unit, num_rows) for column, num_rows in pairs)


def in_zone(column: Column, zone: str | None) -> Column:
    """The same counts of time, labelled with a zone."""
    return Column(column.data, column.valid, dataclasses.replace(column.type, zone=zone))


def in_one_zone(columns: Sequence[Column]) -> tuple[Column, ...]:
    """Times with the zone of all of them, or UTC if they have several."""
    if len({column.type.zone for column in columns}) == 1:
        return tuple(columns)
    return tuple(in_zone(column, "UTC") for column in columns)


def with_unit_if_exact(column: Column, unit: str, num_rows: Count) -> Column | None:
    """Converts concrete times to a coarser unit, or returns None if it would round one."""
    factor = units_per(unit, column.type.unit or unit)
    if bool(at_once(_has_remainder, column.data, factor, num_rows)):
        return None
    return with_unit(column, unit, num_rows)


def units_per(coarse: str, fine: str) -> np.int64:
    """How many of a finer unit make one of a coarser one."""
    return np.int64(PER_SECOND[fine] // PER_SECOND[coarse])


def is_past(counts: Array, factor: Any) -> Array:
    """Inside a compiled function: flags times past the range of a unit `factor` times finer."""
    # The absolute value of NaT is NaT itself, the least integer.
    return jnp.abs(counts) > LATEST // factor


def scalar_in_unit(count: int, kind: ColumnType, unit: str) -> int:
    """Converts one time to the same or a finer unit; raises pandas' error, also inside `jit`."""
    if count == NAT:
        return count
    result = count * int(units_per(kind.unit or unit, unit))
    if abs(result) > LATEST:
        scalar = pd.Timestamp if kind.kind == "datetime" else pd.Timedelta
        one: Any = scalar(_on_host(np.array([count]), kind)[0])
        try:
            one.as_unit(unit)
        except ValueError as error:
            raise type(error)(f"{error} {_REMEDY}") from None
    return result


class HostCounts(NamedTuple):
    """Times of the host as counts of a unit.

    Attributes:
        counts: the counts, rounded down; NaT if missing or past the range of the unit.
        is_exact: whether the unit represents each time, or its absence.
        side: 1 for times after the range of the unit, -1 for times before it; else 0.
    """

    counts: np.ndarray
    is_exact: np.ndarray
    side: np.ndarray


def counts_on_host(times: np.ndarray, unit: str) -> HostCounts:
    """Converts times of NumPy to counts of a unit."""
    counts, own = times.view(np.int64), np.datetime_data(times.dtype)[0]
    side = np.zeros(len(counts), np.int8)
    if PER_SECOND[own] > PER_SECOND[unit]:
        floors, rest = np.divmod(counts, units_per(unit, own))
        is_missing = counts == NAT
        return HostCounts(np.where(is_missing, NAT, floors), is_missing | (rest == 0), side)
    factor = units_per(own, unit)
    is_kept = (counts == NAT) | (np.abs(counts) <= LATEST // factor)
    side[~is_kept] = np.sign(counts[~is_kept])
    is_time = is_kept & (counts != NAT)
    return HostCounts(np.where(is_time, counts * factor, NAT), is_kept, side)


@tiered
def finer(data: Array, factor: Any, num_rows: Count) -> tuple[Array, Array]:
    """Counts in a finer unit, NaT past its range, and whether that happened to a row."""
    is_lost = is_past(data, factor)
    converted = jnp.where(is_lost | (data == NAT), NAT, data * factor)
    return converted, jnp.any(is_lost & is_row(data.shape[0], num_rows))


@tiered
def coarser(data: Array, factor: Any) -> Array:
    """Times in a coarser unit, rounded down."""
    return jnp.where(data == NAT, NAT, floored(data, factor))


@functools.partial(tiered, static_argnums=1)
def rounded_counts(data: Array, how: str, step: Array) -> tuple[Array, Array]:
    """Rounds times and other counts to multiples of a step.

    `how` is "floor", "ceil", "round" (half to even) or "round half up".

    The second result flags results that overflow 64 bits; they are NaT.
    """
    quotient = floored(data, step)
    remainder = data - quotient * step
    match how:
        case "floor":
            result = quotient
        case "ceil":
            result = quotient + (remainder > 0).astype(jnp.int64)
        case _:
            # Compared with the distance to the next multiple, since the step may be odd.
            to_next = step - remainder
            takes_half = (quotient & 1 != 0) | (how == "round half up")
            is_up = (remainder > to_next) | ((remainder == to_next) & takes_half)
            result = quotient + is_up.astype(jnp.int64)
    multiple = result * step
    overflows = jnp.where(result == quotient, multiple > data, multiple < data) | (multiple == NAT)
    overflows = overflows & (data != NAT)
    return jnp.where(overflows | (data == NAT), NAT, multiple), overflows


@tiered
def starts_of_days(data: Array, step: Array) -> Array:
    """The first count of each day of `step` counts; the count itself if that overflows 64 bits."""
    starts, overflows = rounded_counts(data, "floor", step)
    return jnp.where(overflows, data, starts)


@tiered
def _has_remainder(data: Array, factor: Any, num_rows: Count) -> Array:
    has_rest = (data != NAT) & (data % factor != 0)
    return jnp.any(has_rest & is_row(data.shape[0], num_rows))


def _on_host(counts: np.ndarray, kind: ColumnType) -> np.ndarray:
    letter = "M" if kind.kind == "datetime" else "m"
    return counts.astype(np.int64).view(f"{letter}8[{kind.unit}]")


def _out_of_bounds(count: np.int64, kind: ColumnType, unit: str) -> ValueError:
    """pandas' error for the conversion of one time to a unit whose range it is past."""
    time = _on_host(np.array([count]), kind)
    try:
        pd.Series(time).astype(f"{time.dtype.kind}8[{unit}]")
    except ValueError as error:
        return type(error)(f"{error}. {_REMEDY}")
    raise AssertionError(f"{time[0]} fits unit {unit!r}.")
