# SPDX-License-Identifier: Apache-2.0
"""Strings and integers read as datetimes."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ..table._column import NAT, Array, Column, ColumnType
from ..table._from_host import check_width
from ..table._layout import Layout
from ..table._ndframe import FrameBase, SeriesBase, as_series
from ..table._recode import as_string, look_up
from ..table._table import Count, Table, is_row
from ..table._take import any_missing, position
from ..table._tracing import at_once, is_traced
from ._str import used_codes

# What a count of each unit is in the unit that pandas gives its datetimes.
_STEPS = {
    "ns": ("ns", 1),
    "us": ("us", 1),
    "ms": ("us", 10**3),
    "s": ("us", 10**6),
    "m": ("us", 60 * 10**6),
    "h": ("us", 3_600 * 10**6),
    "D": ("us", 86_400 * 10**6),
    "W": ("us", 7 * 86_400 * 10**6),
}


def to_datetime(
    arg: Any,
    errors: str = "raise",
    dayfirst: bool = False,
    yearfirst: bool = False,
    utc: bool = False,
    format: str | None = None,
    exact: bool = True,
    unit: str | None = None,
    origin: Any = "unix",
    cache: bool = True,
) -> Any:
    """Reads a series of strings, or of integers, as datetimes.

    Each distinct string is read once, on the host, by pandas; the device looks the times up. So it
    works inside `jit` too, where `format` must be given.

    Args:
        arg: a series of strings, integers or datetimes; or whatever pandas takes: a series or an
            index of its own, an array, a list, a single value, or a frame of years, months and
            days.
        errors: "raise", or "coerce" to make missing what is no time.
        dayfirst: whether the day stands before the month where a string leaves it open.
        yearfirst: whether the year stands first where a string leaves it open.
        utc: must be False: no column has a time zone.
        format: how the strings are written, in the words of `strftime`, "ISO8601" or "mixed"; as
            the first one is, if left out.
        exact: whether the format must match the whole string.
        unit: what integers count, "ns", "us", "ms", "s", "m", "h", "D" or "W"; "ns" if left out.
        origin: must be "unix": integers count from 1970-01-01.
        cache: of no effect: no string is read twice.

    Returns:
        A JaxSeries of datetimes, of microseconds, or of nanoseconds where strings or `unit` need
        them. Of a single value a Timestamp of pandas.

    Raises:
        TypeError: the series holds neither strings, nor integers, nor datetimes.
        ValueError: a string is no time; pandas' OutOfBoundsDatetime, which is one, if an integer
            counts more than 64 bits of the result do.

    Cost:
        Work O(rows) on the device, O(distinct strings) on the host. No communication.

    Differences from pandas:
        A JaxFrame of years, months and days is not taken. Numbers on the device must be integers.
        Bools and spans raise, with `errors="coerce"` too. Inside `jit` every string of the
        dictionary is read, also one without a row, and integers that are out of bounds are missing.

    Example:
        >>> from jaxframes.frame import JaxSeries, to_datetime
        >>> to_datetime(JaxSeries(["2013-01-31", None, "2013-02-01"])).dt.day.tolist()
        [31.0, nan, 1.0]
    """
    del cache
    if errors not in ("raise", "coerce"):
        raise ValueError(f"to_datetime: errors must be 'raise' or 'coerce', got {errors!r}.")
    if utc:
        raise NotImplementedError("to_datetime: utc must be False: no column has a time zone.")
    if not isinstance(origin, str) or origin != "unix":
        raise NotImplementedError("to_datetime: origin must be 'unix'. Add the origin afterwards.")
    if isinstance(arg, FrameBase):
        raise NotImplementedError(
            "to_datetime: arg must not be a JaxFrame. Use to_pandas(), and pandas' to_datetime."
        )
    if not isinstance(arg, (SeriesBase, jax.Array)):
        return _of_host(
            arg, errors=errors, dayfirst=dayfirst, yearfirst=yearfirst, format=format, exact=exact,
            unit=unit,
        )  # fmt: skip
    arg = as_series(arg)
    column, table = arg._only, arg._table
    if column.kind == "datetime":
        return arg
    check_width(np.int64, "to_datetime", "datetimes")
    if column.kind in ("string", "category"):
        if unit is not None:
            raise NotImplementedError(
                "to_datetime: unit is for integers. Cast the strings with astype('int64')."
            )
        options: dict[str, Any] = {"errors": errors, "dayfirst": dayfirst, "yearfirst": yearfirst}
        if format is not None:
            options["format"] = format
        if not exact:
            options["exact"] = exact
        return arg._with_column(_of_strings(as_string(column), table, options))
    if column.kind != "number" or column.dtype.kind not in "iuf":
        raise TypeError(
            f"to_datetime: column {arg._name!r} of {column.dtype_name} is not convertible to "
            "datetime."
        )
    if column.is_float:
        raise NotImplementedError(
            f"to_datetime: column {arg._name!r} must hold integers, got {column.dtype_name}. "
            "Cast it with astype('int64')."
        )
    if format is not None:
        raise NotImplementedError("to_datetime: format is for strings. Cast with astype('str').")
    return arg._with_column(_of_integers(column, table, unit or "ns", errors))


def _of_host(arg: Any, **options: Any) -> Any:
    """Reads what the host holds by pandas; a single time stays on the host."""
    given = {name: option for name, option in options.items() if option is not None}
    made: Any = pd.to_datetime(arg, **given)
    return as_series(made) if isinstance(made, (pd.Index, pd.Series)) else made


def _of_strings(column: Column, table: Table, options: dict[str, Any]) -> Column:
    strings = column.dictionary.values
    if not is_traced(column.data, table.num_rows):
        places = np.flatnonzero(used_codes(column, table, "to_datetime"))
        if "format" not in options and len(places):
            # All are taken to be written as the first one is.
            first = int(at_once(_first_code, column.data, table.num_rows, table.layout))
            places = np.concatenate([[first], places[places != first]])
    elif "format" in options:
        places = np.arange(len(strings))
    else:
        raise NotImplementedError(
            "to_datetime: inside jit nobody knows which string is first. Pass format=."
        )
    made: Any = pd.to_datetime(pd.Series(strings.take(places), dtype="str"), **options)
    if not isinstance(made.dtype, np.dtype):
        raise NotImplementedError(
            f"to_datetime: no column has a time zone, got {made.dtype}. Cut it off with str.slice."
        )
    times = np.full(len(strings), NAT)
    times[places] = made.to_numpy().view(np.int64)
    kind = ColumnType("datetime", unit=made.dt.unit)
    return Column(look_up(column.data, times, np.int64(NAT)), None, kind)


@functools.partial(jax.jit, static_argnums=2)
def _first_code(codes: Array, num_rows: Count, layout: Layout) -> Array:
    """The code of the first row that has one."""
    place = position(codes.shape[0], layout)
    has_code = is_row(codes.shape[0], num_rows, layout) & (codes >= 0)
    first = jnp.min(jnp.where(has_code, place, np.iinfo(np.int32).max))
    return jnp.sum(jnp.where(place == first, codes, np.int32(0)))


def _of_integers(column: Column, table: Table, unit: str, errors: str) -> Column:
    if unit not in _STEPS:
        raise ValueError(f"to_datetime: unit must be one of {list(_STEPS)}, got {unit!r}.")
    shown, step = _STEPS[unit]
    times, fits = _counted(column.data, column.valid, np.int64(step))
    must_fit = errors == "raise" and not is_traced(fits, table.num_rows)
    if must_fit and bool(any_missing(fits, table.num_rows)):
        raise pd.errors.OutOfBoundsDatetime(
            f"to_datetime: 64 bits of {shown!r} do not hold every count of {unit!r}. "
            "Pass errors='coerce' to make those missing."
        )
    return Column(times, None, ColumnType("datetime", unit=shown))


@jax.jit
def _counted(data: Array, valid: Array | None, step: Array) -> tuple[Array, Array]:
    """Integers times a step, NaT where they are missing or too great; and which are not that."""
    most = np.iinfo(np.int64).max // step
    # As int64 numbers of uint64 that it does not hold are negative.
    counts = data.astype(jnp.int64)
    fits = (counts <= most) & (counts >= -most)
    if data.dtype == jnp.uint64:
        fits = fits & (counts >= 0)
    if valid is not None:
        fits = fits | ~valid
    is_known = fits if valid is None else fits & valid
    return jnp.where(is_known, counts * step, np.int64(NAT)), fits
