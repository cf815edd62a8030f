# SPDX-License-Identifier: Apache-2.0
"""The times that the clocks of a zone show, and the instants at which they show them.

The offsets of a zone are a small table on every device; see `_zones`. The times of years after it
take the offsets of 400 years earlier, when the calendar was the same.
"""

import dataclasses
import datetime
import functools
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ._column import NAT, Array, Column
from ._layout import ONE_DEVICE, padded
from ._search import search_few
from ._table import Count, Table, is_row
from ._take import gather
from ._to_host import host_array
from ._tracing import at_once, is_traced
from ._units import PER_SECOND, floored, in_zone
from ._zones import PERIOD, RULES_START, zone_label, zone_table

_NEVER = np.iinfo(np.int64).max


def wall_times(column: Column) -> Column:
    """The times that clocks show at some instants, as datetimes without a zone."""
    zone = column.type.zone
    if zone is None:
        return column
    if zone == "UTC":
        return in_zone(column, None)
    clocks = _padded_table(zone)
    data = at_once(
        _wall_times, column.data, clocks["changes"], clocks["offsets"], _per_second(column)
    )
    return dataclasses.replace(in_zone(column, None), data=data)


def converted(column: Column, tz: object) -> Column:
    """The same instants in another zone; pandas' `tz_convert`."""
    if column.type.zone is None:
        raise TypeError("Cannot convert tz-naive timestamps, use tz_localize to localize")
    return in_zone(column, None if tz is None else zone_label(tz))


def localized(
    column: Column, tz: object, table: Table, ambiguous: object, nonexistent: object
) -> Column:
    """The instants at which clocks show some times; pandas' `tz_localize`."""
    if tz is None:
        return wall_times(column)
    if column.type.zone is not None:
        raise TypeError("Already tz-aware, use tz_convert to convert.")
    return instants(column, zone_label(tz), table, ambiguous, nonexistent)


def instants(
    walls: Column,
    zone: str,
    table: Table,
    ambiguous: object = "raise",
    nonexistent: object = "raise",
) -> Column:
    """The instants at which the clocks of a zone show some times; see pandas' `tz_localize`.

    Inside `jit` what would raise becomes NaT. `table` has the rows.

    Raises:
        ValueError: outside `jit`, clocks show the time of a row twice or never, and the arguments
            do not say what to take.
        OutOfBoundsDatetime: outside `jit`, an instant is past the range of the unit.
    """
    _check_arguments(ambiguous, nonexistent)
    num_rows = table.num_rows
    if zone == "UTC":
        return in_zone(walls, zone)
    is_known = not is_traced(walls.data, num_rows)
    if isinstance(ambiguous, str) and ambiguous == "infer":
        if not is_known:
            raise NotImplementedError(
                "tz_localize: ambiguous='infer' needs the times, which are not known inside jit. "
                "Pass an array of bools, or 'NaT'."
            )
        counts = _on_host(
            walls, host_array(walls.data)[: int(num_rows)], zone, "infer", nonexistent
        )
        data = table.layout.place(padded(counts, walls.capacity))
        return dataclasses.replace(in_zone(walls, zone), data=data)
    how, shift = nonexistent, np.int64(0)
    if not isinstance(nonexistent, str):
        how = "delta"
        unit: Any = walls.type.unit
        step: Any = pd.Timedelta(nonexistent).as_unit(unit)
        shift = np.int64(step._value)
    policies = ambiguous if isinstance(ambiguous, str) else "flags", how
    is_first = np.bool_(False) if policies[0] != "flags" else _flags(ambiguous, table)
    clocks = _padded_table(zone)
    data, is_bad = at_once(
        _instants, walls.data, is_first, clocks, _per_second(walls), shift, num_rows, policies
    )
    if not is_traced(is_bad) and bool(is_bad.any()):
        row = int(np.argmax(host_array(is_bad)))
        flag = ambiguous if policies[0] != "flags" else False
        _on_host(walls, host_array(walls.data)[row : row + 1], zone, flag, nonexistent)
        if how == "delta":
            raise ValueError(
                f"The provided timedelta will relocalize on a nonexistent time: {nonexistent}"
            )
        raise pd.errors.OutOfBoundsDatetime(
            f"tz_localize: the instant of a time in {zone} is past the range of "
            f"{walls.type.unit!r}. Convert the times with dt.as_unit('s') first."
        )
    return dataclasses.replace(in_zone(walls, zone), data=data)


def _check_arguments(ambiguous: object, nonexistent: object) -> None:
    if isinstance(ambiguous, str) and ambiguous not in ("raise", "NaT", "infer"):
        raise ValueError(
            "tz_localize: ambiguous must be 'raise', 'NaT', 'infer', a bool or an array of bools, "
            f"got {ambiguous!r}."
        )
    options = ("raise", "NaT", "shift_forward", "shift_backward")
    is_span = isinstance(nonexistent, (datetime.timedelta, np.timedelta64))
    if not is_span and nonexistent not in options:
        raise ValueError(
            "The nonexistent argument must be one of 'raise', 'NaT', 'shift_forward', "
            f"'shift_backward' or a timedelta object, got {nonexistent!r}."
        )


def _flags(ambiguous: Any, table: Table) -> Any:
    """Flags that say whether the first of two instants is meant, one or one per row."""
    if np.ndim(ambiguous) == 0 or len(ambiguous) == table.capacity:
        return jnp.asarray(ambiguous, jnp.bool_)
    flags = np.asarray(ambiguous, np.bool_)
    if is_traced(table.num_rows) or len(flags) != table.num_rows_on_host:
        raise ValueError(
            "Length of ambiguous bool-array must be the same size as vals, got "
            f"{len(flags)}. Inside jit it must have the capacity of the rows, {table.capacity}."
        )
    return table.layout.place(padded(flags, table.capacity))


def _on_host(
    walls: Column, counts: np.ndarray, zone: str, ambiguous: object, nonexistent: object
) -> Any:
    """The instants of some times by pandas, which raises what it raises."""
    times: Any = pd.DatetimeIndex(counts.view(f"M8[{walls.type.unit}]"))
    return times.tz_localize(zone, ambiguous=ambiguous, nonexistent=nonexistent).asi8


def _per_second(column: Column) -> np.int64:
    return np.int64(PER_SECOND[column.type.unit or "ns"])


@functools.cache
def _padded_table(zone: str) -> dict[str, np.ndarray]:
    """The table of a zone, padded so that similar zones share a program.

    `ends` and `starts` are the times at each change that clocks show by the old and the new offset.
    """
    changes, offsets = zone_table(zone)
    size = ONE_DEVICE.capacity_for(len(changes))
    ends = np.maximum.accumulate(changes + offsets[:-1])
    starts = np.maximum.accumulate(changes + offsets[1:])
    times = {"changes": changes, "ends": ends, "starts": starts}
    padded_times = {name: padded(one, size, _NEVER) for name, one in times.items()}
    return {**padded_times, "offsets": padded(offsets, size + 1)}


def _folded(seconds: Array) -> Array:
    """Maps seconds to the period of the table, whose last 400 years repeat."""
    later = seconds - np.int64(RULES_START)
    return jnp.where(later < 0, seconds, later % np.int64(PERIOD) + np.int64(RULES_START))


def _regime(bounds: Array, seconds: Array) -> Array:
    """The number of bounds up to each time."""
    return search_few(bounds, seconds, "right")


@tiered
def _wall_times(data: Array, changes: Array, offsets: Array, per_second: Array) -> Array:
    regime = _regime(changes, _folded(floored(data, per_second)))
    return _moved(data, gather(offsets, regime, ONE_DEVICE) * per_second)


def _moved(data: Array, change: Array) -> Array:
    """Times moved by counts; NaT for those past the range."""
    moved = data + change
    is_lost = (change < 0) != (moved < data)
    return jnp.where((data == NAT) | (is_lost & (change != 0)), np.int64(NAT), moved)


@functools.partial(tiered, static_argnums=6)
def _instants(
    data: Array,
    is_first: Array,
    clocks: dict[str, Array],
    per_second: Array,
    shift: Array,
    num_rows: Count,
    policies: tuple[str, str],
) -> tuple[Array, Array]:
    """The instants, NaT where a policy says so, and flags of those for which it raises.

    A time belongs to the offsets between two changes if it is before the end of the second by the
    offset, and not before the start of the first: to none, one or two of them.
    """
    ambiguous, nonexistent = policies
    seconds = _folded(floored(data, per_second))
    first, last = _regime(clocks["ends"], seconds), _regime(clocks["starts"], seconds)
    is_twice, is_never = last > first, last < first
    is_row_with_time = is_row(data.shape[0], num_rows) & (data != NAT)
    is_bad = jnp.zeros(data.shape, jnp.bool_)
    regime, wall = last, data
    if ambiguous == "flags":
        regime = jnp.where(is_twice & is_first, first, last)
    else:
        is_bad = is_bad | is_twice
    to_nat = is_bad
    hour = per_second * np.int64(3600)
    since = data - floored(data, hour) * hour
    match nonexistent:
        case "shift_forward":
            wall = jnp.where(is_never, data + (hour - since), data)
            regime = jnp.where(is_never, first, regime)
        case "shift_backward":
            wall = jnp.where(is_never, data - since - np.int64(1), data)
        case "delta":
            wall = jnp.where(is_never, data + shift, data)
            moved = _folded(floored(wall, per_second))
            after, before = _regime(clocks["ends"], moved), _regime(clocks["starts"], moved)
            is_lost = (after > before) | ((shift + since >= 0) & (shift + since < hour))
            regime = jnp.where(is_never, before, regime)
            to_nat = to_nat | (is_never & is_lost)
            is_bad = is_bad | (is_never & is_lost)
        case _:
            to_nat = to_nat | is_never
            is_bad = is_bad | is_never if nonexistent == "raise" else is_bad
    if ambiguous == "NaT":
        is_bad = is_bad & ~is_twice
    counts = _moved(wall, -gather(clocks["offsets"], regime, ONE_DEVICE) * per_second)
    is_bad = is_bad | ((counts == NAT) & ~to_nat)
    return jnp.where(to_nat, np.int64(NAT), counts), is_bad & is_row_with_time
