# SPDX-License-Identifier: Apache-2.0
"""Calendar fields and rounding of times, given as counts since 1970 in any unit."""

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
    """One field of each time: int32, or bool for a flag; unspecified for a missing time."""
    return _part_of(data, part, np.int64(PER_SECOND[unit]))


@functools.partial(jax.jit, static_argnums=1)
def _part_of(data: Array, part: str, per_second: Array) -> Array:
    per_day = per_second * np.int64(SECONDS_PER_DAY)
    days = jnp.floor_divide(data, per_day)
    if part in _DATE_PARTS or part in _FLAGS:
        result = _date_part(days, part)
    else:
        result = _time_part(days, data - days * per_day, part, per_second)
    if part in _FLAGS:
        return result & (data != NAT)
    return result.astype(jnp.int64 if part == "days" else jnp.int32)


def _date_part(days: Array, part: str) -> Array:
    if part == "day_of_week":
        # 1970-01-01 was a Thursday, and Monday is 0.
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
    """Converts days since 1970 to year, month and day of the Gregorian calendar.

    Years start in March, so that a leap day is the last day, and an era of 400 years has 146097
    days (Hinnant, "chrono-compatible low-level date algorithms").
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


def _time_part(days: Array, time_of_day: Array, part: str, per_second: Array) -> Array:
    """One field of a time of day, or the number of days."""
    seconds, remainder = time_of_day // per_second, time_of_day % per_second
    nanoseconds = remainder * (np.int64(10**9) // per_second)
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
    """Rounds times to multiples of a step: "floor", "ceil", or "round" half to even.

    The second result flags results that overflow 64 bits; they are NaT.
    """
    quotient = jnp.floor_divide(data, step)
    remainder = data - quotient * step
    match how:
        case "floor":
            result = quotient
        case "ceil":
            result = quotient + (remainder > 0).astype(jnp.int64)
        case _:
            # Compared with the distance to the next multiple, since the step may be odd.
            to_next = step - remainder
            is_up = (remainder > to_next) | ((remainder == to_next) & (quotient % 2 != 0))
            result = quotient + is_up.astype(jnp.int64)
    multiple = result * step
    overflows = jnp.where(result == quotient, multiple > data, multiple < data) | (multiple == NAT)
    overflows = overflows & (data != NAT)
    return jnp.where(overflows | (data == NAT), NAT, multiple), overflows


@functools.partial(jax.jit, static_argnums=1)
def total_seconds(data: Array, unit: str) -> Array:
    """Timedeltas in seconds as float64, NaN for NaT."""
    per_second = np.int64(PER_SECOND[unit])
    whole = jnp.floor_divide(data, per_second)
    remainder = data - whole * per_second
    floor = whole.astype(jnp.float64)
    seconds = floor + divided_by_scalar(remainder.astype(jnp.float64), float(per_second))
    # As in pandas, a fraction of a second is not rounded to a whole one if float64 has a value
    # between.
    is_inside = (remainder != 0) & (jnp.abs(whole) < np.int64(2**52))
    seconds = jnp.where(is_inside & (seconds == floor), jnp.nextafter(floor, np.inf), seconds)
    above = floor + 1.0
    seconds = jnp.where(is_inside & (seconds == above), jnp.nextafter(above, -np.inf), seconds)
    return jnp.where(data == NAT, np.nan, seconds)
