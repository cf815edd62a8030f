# SPDX-License-Identifier: Apache-2.0
"""The parts of dates and times, from counts since 1970 in any unit."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from ..ops._division import divided_by_scalar
from ..table._column import NAT, Array
from ..table._layout import ONE_DEVICE
from ..table._take import gather

PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
SECONDS_PER_DAY = 86_400

_DATE_PARTS = (
    "year", "month", "day", "quarter", "day_of_week", "day_of_year", "days_in_month",
)  # fmt: skip
_FLAGS = (
    "is_month_start", "is_month_end", "is_quarter_start", "is_quarter_end", "is_year_start",
    "is_year_end", "is_leap_year",
)  # fmt: skip


def part_of(data: Array, part: str, unit: str) -> Array:
    """One part of each time: int32, or bool for a question; anything where it is missing."""
    return _part_of(data, part, np.int64(PER_SECOND[unit]))


@functools.partial(jax.jit, static_argnums=1)
def _part_of(data: Array, part: str, per_second: Array) -> Array:
    per_day = per_second * np.int64(SECONDS_PER_DAY)
    days = jnp.floor_divide(data, per_day)
    if part in _DATE_PARTS or part in _FLAGS:
        found = _date_part(days, part)
    else:
        found = _time_part(days, data - days * per_day, part, per_second)
    if part in _FLAGS:
        return found & (data != NAT)
    return found.astype(jnp.int64 if part == "days" else jnp.int32)


def _date_part(days: Array, part: str) -> Array:
    if part == "day_of_week":
        # The first day of 1970 was a Thursday, and Monday is 0.
        return jnp.mod(days + np.int64(3), np.int64(7))
    year, month, day = _civil(days)
    is_leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    lengths = jnp.asarray(np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]))
    in_month = gather(lengths, month - 1, ONE_DEVICE)
    in_month = in_month + (is_leap & (month == 2)).astype(jnp.int64)
    match part:
        case "year":
            return year
        case "month":
            return month
        case "day":
            return day
        case "quarter":
            return (month - 1) // 3 + 1
        case "days_in_month":
            return in_month
        case "day_of_year":
            before = jnp.asarray(np.cumsum([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30]))
            so_far = gather(before, month - 1, ONE_DEVICE) + day
            return so_far + (is_leap & (month > 2)).astype(jnp.int64)
        case "is_leap_year":
            return is_leap
        case "is_month_start":
            return day == 1
        case "is_month_end":
            return day == in_month
        case "is_quarter_start":
            return (day == 1) & (month % 3 == 1)
        case "is_quarter_end":
            return (day == in_month) & (month % 3 == 0)
        case "is_year_start":
            return (day == 1) & (month == 1)
    return (day == 31) & (month == 12)


def _civil(days: Array) -> tuple[Array, Array, Array]:
    """Year, month and day of a number of days since 1970, in the Gregorian calendar.

    Years begin in March here, so that the day of a leap year is the last one, and 400 of them are
    an era of 146097 days (Hinnant, "chrono-compatible low-level date algorithms").
    """
    shifted = days + 719_468
    era = shifted // 146_097
    day_of_era = shifted - era * 146_097
    leaps = day_of_era // 1_460 - day_of_era // 36_524 + day_of_era // 146_096
    year_of_era = (day_of_era - leaps) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month + 2) // 5 + 1
    month = jnp.where(month < 10, month + 3, month - 9)
    year = year_of_era + era * 400 + (month <= 2).astype(days.dtype)
    return year, month, day


def _time_part(days: Array, within: Array, part: str, per_second: Array) -> Array:
    """Of the time within a day, which is at least zero."""
    seconds, rest = within // per_second, within % per_second
    nanoseconds = rest * (np.int64(10**9) // per_second)
    match part:
        case "days":
            return days
        case "hour" | "hours":
            return seconds // 3600
        case "minute" | "minutes":
            return seconds // 60 % 60
        case "second":
            return seconds % 60
        case "seconds":
            return seconds
        case "milliseconds":
            return nanoseconds // 10**6
        case "microsecond" | "microseconds":
            return nanoseconds // 1000
        case "microseconds_of_millisecond":
            return nanoseconds // 1000 % 1000
    return nanoseconds % 1000


@functools.partial(jax.jit, static_argnums=1)
def rounded(data: Array, how: str, step: Array) -> tuple[Array, Array]:
    """Times as multiples of a step: the one below, above, or the nearest, the even one of two.

    The second result says which of them 64 bits do not hold; they are missing.
    """
    quotient = jnp.floor_divide(data, step)
    rest = data - quotient * step
    match how:
        case "floor":
            found = quotient
        case "ceil":
            found = quotient + (rest > 0).astype(jnp.int64)
        case _:
            # A rest is compared with what is left to the next: their sum may be odd.
            left = step - rest
            is_odd = quotient % 2 != 0
            found = quotient + ((rest > left) | ((rest == left) & is_odd)).astype(jnp.int64)
    made = found * step
    wraps = jnp.where(found == quotient, made > data, made < data) | (made == NAT)
    wraps = wraps & (data != NAT)
    return jnp.where(wraps | (data == NAT), NAT, made), wraps


@functools.partial(jax.jit, static_argnums=1)
def total_seconds(data: Array, unit: str) -> Array:
    """Spans of time in seconds, NaN where they are missing."""
    per_second = np.int64(PER_SECOND[unit])
    whole = jnp.floor_divide(data, per_second)
    rest = data - whole * per_second
    floor = whole.astype(jnp.float64)
    seconds = floor + divided_by_scalar(rest.astype(jnp.float64), float(per_second))
    # As pandas': a span that is no whole number of seconds is not rounded to one, where float64
    # has others.
    is_inside = (rest != 0) & (jnp.abs(whole) < np.int64(2**52))
    seconds = jnp.where(is_inside & (seconds == floor), jnp.nextafter(floor, np.inf), seconds)
    above = floor + 1.0
    seconds = jnp.where(is_inside & (seconds == above), jnp.nextafter(above, -np.inf), seconds)
    return jnp.where(data == NAT, np.nan, seconds)
