# SPDX-License-Identifier: Apache-2.0
"""Calendar fields of times, given as counts since 1970 in any unit."""

import functools

import jax.numpy as jnp
import numpy as np

from ...primitives.staging import tiered
from ..ops._array_ops import divided
from ..table._column import NAT, Array
from ..table._layout import ONE_DEVICE
from ..table._take import gather
from ..table._units import PER_SECOND, floored, truncated

# Days without leap seconds, as in NumPy.
SECONDS_PER_DAY = 86_400


def part_of(data: Array, part: str, unit: str) -> Array:
    """One field of each time: int32, or bool for a flag; unspecified for a missing time."""
    return _part_of(data, part, np.int64(PER_SECOND[unit]))


@functools.partial(tiered, static_argnums=1)
def _part_of(data: Array, part: str, per_second: Array) -> Array:
    per_day = per_second * np.int64(SECONDS_PER_DAY)
    days = floored(data, per_day)
    parts = _time_parts(days, data - days * per_day, per_second)
    if part.startswith("iso_"):
        parts = _iso_parts(days)
    result = (parts if part in parts else _date_parts(days))[part]
    if result.dtype == jnp.bool_:
        return result & (data != NAT)
    return result.astype(jnp.int64 if part == "days" else jnp.int32)


def _date_parts(days: Array) -> dict[str, Array]:
    """The fields of dates, given as days since 1970."""
    year, month, day = _civil(days)
    is_century = floored(year, 100) * 100 == year
    is_leap = (year & 3 == 0) & (~is_century | (year & 15 == 0))
    lengths = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
    num_days, before = (
        gather(jnp.asarray(table), month - 1, ONE_DEVICE)
        for table in (lengths, np.cumsum(lengths) - lengths)
    )
    num_days = num_days + (is_leap & (month == 2)).astype(jnp.int64)
    is_first, is_last = day == 1, day == num_days
    quarters_before = truncated(month - 1, 3)
    of_quarter = month - 3 * quarters_before
    return {
        "year": year,
        "month": month,
        "day": day,
        "quarter": quarters_before + 1,
        # 1970-01-01 was a Thursday, and Monday is 0.
        "day_of_week": _day_of_week(days),
        "day_of_year": before + day + (is_leap & (month > 2)).astype(jnp.int64),
        "days_in_month": num_days,
        "is_leap_year": is_leap,
        "is_month_start": is_first,
        "is_month_end": is_last,
        "is_quarter_start": is_first & (of_quarter == 1),
        "is_quarter_end": is_last & (of_quarter == 3),
        "is_year_start": is_first & (month == 1),
        "is_year_end": is_last & (month == 12),
    }


def _day_of_week(days: Array) -> Array:
    since_monday = days + np.int64(3)
    return since_monday - floored(since_monday, 7) * 7


def _iso_parts(days: Array) -> dict[str, Array]:
    """The year, week and day of ISO 8601: a week belongs to the year of its Thursday."""
    day = _day_of_week(days)
    thursday = _date_parts(days - day + np.int64(3))
    week = truncated(thursday["day_of_year"] - 1, 7) + 1
    return {"iso_year": thursday["year"], "iso_week": week, "iso_day": day + np.int64(1)}


def _civil(days: Array) -> tuple[Array, Array, Array]:
    """Converts days since 1970 to year, month and day of the Gregorian calendar.

    Years start in March, so that a leap day is the last day, and an era of 400 years has 146097
    days (Hinnant, "chrono-compatible low-level date algorithms").
    """
    shifted = days + 719_468
    era = floored(shifted, 146_097)
    day_of_era = shifted - era * 146_097
    # From here on nothing is negative.
    leaps = truncated(day_of_era, 1_460) - truncated(day_of_era, 36_524)
    year_of_era = truncated(day_of_era - leaps - truncated(day_of_era, 146_096), 365)
    leap_days = (year_of_era >> 2) - truncated(year_of_era, 100)
    day_of_year = day_of_era - (365 * year_of_era + leap_days)
    month = truncated(5 * day_of_year + 2, 153)
    day = day_of_year - truncated(153 * month + 2, 5) + 1
    month = jnp.where(month < 10, month + 3, month - 9)
    year = year_of_era + era * 400 + (month <= 2).astype(days.dtype)
    return year, month, day


def _time_parts(days: Array, time_of_day: Array, per_second: Array) -> dict[str, Array]:
    """The fields of times of day, and the number of days."""
    seconds = truncated(time_of_day, per_second)
    nanoseconds = (time_of_day - seconds * per_second) * (np.int64(10**9) // per_second)
    minutes, microseconds = truncated(seconds, 60), truncated(nanoseconds, 1000)
    hours, milliseconds = truncated(minutes, 60), truncated(microseconds, 1000)
    return {
        "days": days,
        "hour": hours,
        "minute": minutes - 60 * hours,
        "second": seconds - 60 * minutes,
        "seconds": seconds,
        "milliseconds": milliseconds,
        "microsecond": microseconds,
        "microseconds_of_millisecond": microseconds - 1000 * milliseconds,
        "nanosecond": nanoseconds - 1000 * microseconds,
    }


@functools.partial(tiered, static_argnums=1)
def total_seconds(data: Array, unit: str) -> Array:
    """Timedeltas in seconds as float64, NaN for NaT."""
    per_second = np.int64(PER_SECOND[unit])
    whole = floored(data, per_second)
    remainder = data - whole * per_second
    floor = whole.astype(jnp.float64)
    seconds = floor + divided(remainder.astype(jnp.float64), float(per_second))
    # As in pandas, a fraction of a second is not rounded to a whole one if float64 has a value
    # between.
    is_inside = (remainder != 0) & (jnp.abs(whole) < np.int64(2**52))
    seconds = jnp.where(is_inside & (seconds == floor), jnp.nextafter(floor, np.inf), seconds)
    above = floor + 1.0
    seconds = jnp.where(is_inside & (seconds == above), jnp.nextafter(above, -np.inf), seconds)
    return jnp.where(data == NAT, np.nan, seconds)
