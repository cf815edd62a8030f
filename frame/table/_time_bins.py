# SPDX-License-Identifier: Apache-2.0
"""pandas' bins of time, and the bin of each row."""

import functools
from collections.abc import Hashable
from typing import Any, NamedTuple, TypeAlias

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ._column import NAT, Array, Column, ColumnType
from ._layout import ONE_DEVICE, padded
from ._search import search_few
from ._types import Options
from ._units import starts_of_days, truncated
from ._untyped import untyped_pandas

# Their bins end with the last moment of a day.
_ENDS_OF_PERIODS = ("ME", "BME", "W", "QE", "BQE", "YE", "BYE")


Times: TypeAlias = pd.DatetimeIndex | pd.TimedeltaIndex


class TimeBins(NamedTuple):
    """Bins of time: their labels, and the position of each row's bin, -1 for a missing time."""

    labels: Any
    codes: Array


def bins_of_times(
    column: Column, ends: Times, rule: object, label: Hashable, options: Options
) -> TimeBins:
    """The bins of a column of times whose first and last time are `ends`; see `resample`."""
    labels, edges = edges_of_bins(ends, rule, label, options)
    side = "left" if is_closed_right(rule, options) else "right"
    return TimeBins(labels, _bin_of_each(column.data, edges, side))


def edges_of_bins(ends: Times, rule: object, label: Hashable, options: Options) -> tuple[Any, Any]:
    """The labels of the bins of times whose first and last one are `ends`, and their edges."""
    if ends.hasnans:
        ends = ends[:0]
        return pd.Series([], ends, dtype=int).resample(rule, **options).size().index, ends
    if isinstance(ends, pd.TimedeltaIndex):
        return _bins_of_spans(ends, rule, options)
    return _bins(ends, rule, label, options)


def even_bins(
    ends: tuple[np.ndarray, np.ndarray], kind: Any, rule: object, label: object, options: Options
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """The bins of several spans, by counts of times, if all have one length; else None.

    Args:
        ends: the first and the last time of each span; the first is later if a span has no bins.
        kind: the type of the times.
        rule: the length of bins.
        label: the end that labels a bin.
        options: further arguments of `resample`.

    Returns:
        The number of bins of each span, and the start and the label of each bin.
    """
    offset: Any = untyped_pandas.tseries.frequencies.to_offset(rule)
    is_exact = isinstance(offset, (pd.offsets.Tick, pd.offsets.Day)) and kind.zone is None
    is_plain = options["origin"] == "start_day" and options["offset"] is None
    if not is_exact or not is_plain or kind.kind != "datetime" or is_closed_right(rule, options):
        return None
    span: Any = pd.Timedelta(offset)
    length, a_day = (one.as_unit(kind.unit) for one in (span, pd.Timedelta(1, "D")))
    if length != span or label not in (None, "left", "right"):
        return None
    first, last = ends
    start = first - (first % a_day._value) % length._value
    sizes = np.where(first <= last, (last - start) // length._value + 1, 0)
    of_bin = np.repeat(np.arange(len(sizes)), sizes)
    positions = np.arange(len(of_bin)) - (np.cumsum(sizes) - sizes)[of_bin]
    starts = start[of_bin] + positions * length._value
    return sizes, starts, starts + length._value if label == "right" else starts


def is_closed_right(rule: object, options: Options) -> bool:
    """Whether the right ends of bins belong to them."""
    return _closed(rule, options["closed"], options["origin"]) == "right"


def times_of_counts(counts: np.ndarray, kind: Any) -> Any:
    """Times of the type of a column, on the host, from their counts."""
    if kind.kind == "timedelta":
        return untyped_pandas.TimedeltaIndex(counts.astype(np.int64).view(f"m8[{kind.unit}]"))
    times = pd.DatetimeIndex(counts.astype(np.int64).view(f"M8[{kind.unit}]"))
    return times if kind.zone is None else times.tz_localize("UTC").tz_convert(kind.zone)


def ends_of_times(times: Any, *, is_in_order: bool = False) -> Any:
    """The first and the last time of a series; missing if there is none.

    With `is_in_order` they are those of the first and the last row.
    """
    kind: Any = times._only.type
    if is_in_order and len(times):
        ends = times.iloc[0], times.iloc[-1]
    else:
        ends = times.min(), times.max()
    if kind.kind == "timedelta":
        return untyped_pandas.TimedeltaIndex(ends).as_unit(kind.unit)
    return pd.DatetimeIndex(ends, tz=kind.zone).as_unit(kind.unit)


def outer_bins_of_times(
    column: Column, bins: TimeBins, ends: pd.DatetimeIndex, rule: object, options: Options
) -> tuple[Array, Array]:
    """The bin with which pandas begins if a time is the first one, and ends if it is the last.

    If bins of months or weeks are closed on the right, pandas begins with the bin of the start of
    the day, and a last time at an edge is followed by a bin without rows.
    """
    offset: Any = untyped_pandas.tseries.frequencies.to_offset(rule)
    is_exact = isinstance(offset, (pd.offsets.Tick, pd.offsets.Day)) or _is_end(rule)
    if is_exact or ends.hasnans or not is_closed_right(rule, options):
        return bins.codes, bins.codes
    _, edges = _bins(ends, rule, None, options)
    unit: Any = column.type.unit
    a_day: Any = pd.Timedelta(1, "D").as_unit(unit)
    days = starts_of_days(column.data, np.int64(a_day.to_timedelta64().view(np.int64)))
    return _bin_of_each(days, edges, "left"), _bin_of_each(column.data, edges, "right")


def starts_of_bins(ends: pd.DatetimeIndex, rule: object, options: Options) -> Any:
    """The times at which the bins of some times start, or end if those ends belong to them."""
    unit: Any = ends.unit
    ends = ends[:0] if ends.hasnans else ends.unique()
    times: Any = pd.Series(0, index=ends)
    return times.resample(rule, **options).asfreq().index.as_unit(unit)


def as_times_of(column: Column, labels: Any) -> Any:
    """Labels of bins with the dtype of a column of times: pandas keeps the dtypes of Arrow."""
    if column.type.family is None:
        return labels
    return labels.astype(column.type.nullable(column.data.dtype))


def check_times_of_bins(column: Column) -> None:
    """Raises unless a column holds datetimes or timedeltas."""
    if column.kind == "period":
        raise NotImplementedError(
            f"resample: bins of {column.dtype_name} are not supported. Convert the periods to "
            "their first times: a column with dt.to_timestamp(), row labels with to_timestamp()."
        )
    if column.kind not in ("datetime", "timedelta"):
        raise TypeError(
            "Only valid with DatetimeIndex, TimedeltaIndex or PeriodIndex, but got times of "
            f"{column.dtype_name}. Convert them with to_datetime()."
        )


def depends_on_first_time(rule: object, options: Options, zone: str | None) -> bool:
    """Whether pandas' bins depend on the first time, or on the last one."""
    origin = options["origin"]
    offset: Any = untyped_pandas.tseries.frequencies.to_offset(rule)
    if origin in ("start", "end", "end_day") or isinstance(offset, pd.offsets.BusinessDay):
        return True
    if isinstance(offset, pd.offsets.Tick):
        # Midnights of a zone are a multiple of a quarter of an hour apart.
        apart: Any = pd.Timedelta("1D" if zone in (None, "UTC") else "15min")
        return origin == "start_day" and bool(apart % pd.Timedelta(offset))
    if zone is not None and not _is_end(rule) and is_closed_right(rule, options):
        # They begin with the start of the day that clocks show.
        return True
    has_origin = isinstance(offset, pd.offsets.Day) and zone is None
    return offset.n != 1 and (origin == "start_day" or not has_origin)


def _is_end(rule: object) -> bool:
    offset = untyped_pandas.tseries.frequencies.to_offset(rule)
    return offset.rule_code.split("-")[0] in _ENDS_OF_PERIODS


def _closed(rule: object, closed: Any, origin: object) -> str:
    """The end that belongs to a bin, by pandas' default for the rule."""
    if closed is not None:
        return closed
    return "right" if _is_end(rule) or origin in ("end", "end_day") else "left"


def _bins(
    ends: pd.DatetimeIndex, rule: object, label: Hashable, options: Options
) -> tuple[pd.DatetimeIndex, pd.DatetimeIndex]:
    """The labels of pandas' bins, and their edges, one more."""
    try:
        counts, kept = tuple(ends.asi8.tolist()), tuple(options.items())
        return _known_bins(counts, ends.unit, ends.tz, rule, label, kept)
    except TypeError:
        # An argument without a hash, or one that pandas refuses: it raises again.
        return _new_bins(ends, rule, label, options)


@functools.lru_cache(64)
def _known_bins(
    counts: tuple[int, ...],
    unit: str,
    zone: Any,
    rule: object,
    label: Hashable,
    options: tuple[tuple[str, Any], ...],
) -> tuple[pd.DatetimeIndex, pd.DatetimeIndex]:
    """The bins of times that were seen before: pandas takes milliseconds for them."""
    ends = times_of_counts(np.array(counts), ColumnType("datetime", unit=unit, zone=zone))
    return _new_bins(ends, rule, label, dict(options))


def _new_bins(
    ends: pd.DatetimeIndex, rule: object, label: Hashable, options: Options
) -> tuple[pd.DatetimeIndex, pd.DatetimeIndex]:
    times: Any = pd.Series(0, index=ends)
    unit: Any = ends.unit

    def labels(which: object) -> Any:
        return times.resample(rule, label=which, **options).size().index.as_unit(unit)

    left = labels("left")
    offset: Any = untyped_pandas.tseries.frequencies.to_offset(rule)
    is_exact = isinstance(offset, (pd.offsets.Tick, pd.offsets.Day)) and ends.tz is None
    right = left + offset if is_exact else labels("right")
    edges = left.append(right[-1:])
    if _is_end(rule) and is_closed_right(rule, options):
        # To the end of the day that clocks show, which may have 23 hours.
        edges = edges.tz_localize(None)
        edges = edges + pd.Timedelta(1, "D").as_unit(unit) - pd.Timedelta(1, unit).as_unit(unit)
        edges = edges.tz_localize(ends.tz)
    if label is None:
        label = _closed(rule, None, options["origin"])
    if label == "left":
        return left, edges
    return right if label == "right" else labels(label), edges


def _bins_of_spans(ends: pd.TimedeltaIndex, rule: object, options: Options) -> tuple[Any, Any]:
    """The labels of bins of timedeltas, which start with the first one, and their edges."""

    def labels(**changed: Any) -> Any:
        times: Any = pd.Series(0, index=ends)
        return times.resample(rule, **{**options, **changed}).size().index

    # pandas adds the offset to the labels alone.
    named, stamps = labels(), labels(offset=None)
    length = untyped_pandas.tseries.frequencies.to_offset(rule)
    if is_closed_right(rule, options):
        edges = (stamps[:1] - length).append(stamps)
    else:
        edges = stamps.append(stamps[-1:] + length)
    return named.as_unit(ends.unit), edges.as_unit(ends.unit)


def _bin_of_each(times: Array, edges: Times, side: str) -> Array:
    """The bin of each time between edges; -1 before the first one, or if missing."""
    counts = edges.asi8
    steps = np.diff(counts)
    if len(steps) and (steps == steps[0]).all() and int(counts[-1]) - int(counts[0]) < 2**63:
        # A right end belongs to the bin before.
        start = counts[0] + np.int64(side == "left")
        return _quotients(times, start, steps[0], np.int64(len(steps)))
    # Padded so that similar numbers of bins share a program.
    capacity = ONE_DEVICE.capacity_for(len(edges))
    padding = np.iinfo(np.int64).max
    return _codes(times, jnp.asarray(padded(counts, capacity, padding)), side)


@tiered
def _quotients(times: Array, start: Any, step: Any, num_bins: Any) -> Array:
    """The bin of each time among bins of one length; -1 before the first, or if missing."""
    since = times - start
    position = jnp.minimum(truncated(since, step), num_bins).astype(jnp.int32)
    return jnp.where((times == NAT) | (since < 0), np.int32(-1), position)


@functools.partial(tiered, static_argnums=2)
def _codes(times: Array, edges: Array, side: str) -> Array:
    """The bin of each time; -1 if missing."""
    position = search_few(edges, times, side) - np.int32(1)
    return jnp.where(times == NAT, np.int32(-1), position)
