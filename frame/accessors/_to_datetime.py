# SPDX-License-Identifier: Apache-2.0
"""`to_datetime`: parses strings and converts integers to datetimes."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..table._by_pandas import by_pandas
from ..table._column import NAT, Array, Column, ColumnType
from ..table._distinct_values import through_values
from ..table._from_host import check_width
from ..table._layout import Layout
from ..table._lazy_base import check_evaluated
from ..table._ndframe import FrameBase, SeriesBase, as_series
from ..table._object_functions import of_rows
from ..table._recode import as_string, look_up
from ..table._table import Count, Table, is_row
from ..table._take import any_missing, position
from ..table._tracing import at_once, is_traced
from ..table._types import Options
from ..table._units import in_zone
from ..table._untyped import untyped_pandas
from ..table._zones import in_utc, zone_label
from ._str import used_codes

# pandas' result unit for each unit, and the factor between them.
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
    origin: object = "unix",
    cache: bool = True,
) -> Any:
    """Converts strings or integers to datetimes.

    pandas parses each distinct string once, on the host; the device looks the times up. Inside
    `jit` strings need `format`.

    Args:
        arg: a series of strings, integers, datetimes or objects; or an argument of pandas'
            `to_datetime`: a series, an index, an array, a list, a scalar, or a frame of years,
            months and days.
        errors: "raise", or "coerce" to return NaT for invalid values.
        dayfirst: whether ambiguous strings have the day before the month.
        yearfirst: whether ambiguous strings have the year first.
        utc: whether the results are in UTC: strings without an offset are UTC, too.
        format: a `strftime` format, "ISO8601" or "mixed"; inferred from the first string if left
            out.
        exact: whether the format must match the whole string.
        unit: the unit of integers: "ns", "us", "ms", "s", "m", "h", "D" or "W"; "ns" if left out.
        origin: the time that numbers count from: "unix", for 1970-01-01, "julian", on the host, or
            a time, such as "1899-12-30" for the days of spreadsheets.
        cache: ignored; accepted for compatibility.

    Returns:
        A JaxSeries of datetimes in microseconds, or in nanoseconds if strings or `unit` need them,
        with a zone if all strings have one offset or `utc` is True; what pandas makes of a list, an
        index or an array of NumPy, a DatetimeIndex, and of a scalar, a Timestamp.

    Raises:
        TypeError: the series contains neither strings, integers, datetimes nor objects that pandas
            converts.
        ValueError: a string is not a time; OutOfBoundsDatetime, a subclass, for an integer out of
            the result's range.

    Cost:
        Work O(rows) on the device, O(distinct strings) on the host. No communication. pandas
        converts objects on the host, so that they cannot be converted inside `jit`.

    Differences from pandas:
        pandas converts floats on the host, and each distinct integer if it has a format. Bools and
        timedeltas raise even with `errors="coerce"`. Inside `jit` all strings of the dictionary are
        parsed, even without a row, and integers out of bounds become NaT. pandas combines columns
        on the host.

    Example:
        >>> from jaxframes.frame import JaxSeries, to_datetime
        >>> to_datetime(JaxSeries(["2013-01-31", None, "2013-02-01"])).dt.day.tolist()
        [31.0, nan, 1.0]
    """
    del cache
    if errors not in ("raise", "coerce"):
        raise ValueError(f"to_datetime: errors must be 'raise' or 'coerce', got {errors!r}.")
    check_evaluated(arg, "to_datetime")
    is_unix = isinstance(origin, str) and origin == "unix"
    options: dict[str, Any] = {"errors": errors, "dayfirst": dayfirst, "yearfirst": yearfirst}
    if utc:
        options["utc"] = True
    if format is not None:
        options["format"] = format
    if isinstance(arg, FrameBase):
        return by_pandas(
            arg, "to_datetime of columns of years, months and days", "Combine them as texts.",
            lambda data: pd.to_datetime(data, **options),
        )  # fmt: skip
    if not exact:
        options["exact"] = exact
    if not isinstance(arg, (SeriesBase, jax.Array)):
        parsed: Any = untyped_pandas.to_datetime(arg, unit=unit, origin=origin, **options)
        # Of a list pandas makes an index, whose times go to rows by position.
        return as_series(parsed) if isinstance(parsed, pd.Series) else parsed
    arg = as_series(arg)
    column, table = arg._only, arg._table
    if not is_unix:
        times = _from_origin(arg, unit, origin, options)
        return times._with_column(in_zone(times._only, "UTC")) if utc else times
    if column.kind == "datetime":
        return arg._with_column(in_zone(column, "UTC")) if utc else arg
    check_width(np.int64, "to_datetime", "datetimes")
    if column.kind in ("string", "category"):
        if unit is not None:
            raise NotImplementedError(
                "to_datetime: unit is for integers. Cast the strings with astype('int64')."
            )
        return arg._with_column(_of_strings(as_string(column), table, options))
    if column.kind in ("object", "date"):

        def parse(values: pd.Series) -> pd.Series:
            return pd.to_datetime(values, unit=unit, **options)

        return arg._with_column(of_rows(column, table.num_rows, parse, "to_datetime"))
    if column.kind == "timedelta" and unit is not None:
        # pandas reads the counts of the times as counts of the unit.
        raise NotImplementedError(
            "to_datetime: unit is for integers, got times. Cast them with astype('int64')."
        )
    if column.kind != "number" or column.dtype.kind not in "iuf":
        raise TypeError(
            f"to_datetime: column {arg._name!r} of {column.dtype_name} is not convertible to "
            "datetime."
        )
    if column.is_float:
        return by_pandas(
            arg, "to_datetime of floats", "Cast them with astype('int64').",
            lambda data: untyped_pandas.to_datetime(data, unit=unit, **options),
        )  # fmt: skip
    if format is not None:

        def parse_numbers(values: pd.Series) -> pd.Series:
            return pd.to_datetime(values, **options)

        return arg._with_column(
            through_values(column, table.num_rows, table.layout, parse_numbers, "to_datetime")
        )
    times = _of_integers(column, table, unit or "ns", errors)
    return arg._with_column(in_zone(times, "UTC") if utc else times)


def _from_origin(arg: Any, unit: str | None, origin: Any, options: Options) -> Any:
    """The times that numbers of a unit have from an origin on."""
    column = arg._only
    if column.kind != "number" or column.dtype.kind not in "iuf":
        raise ValueError(
            f"{column.dtype_name} is not compatible with origin='{origin}'; it must be numeric "
            "with a unit specified"
        )
    if column.is_float or origin == "julian":
        return by_pandas(
            arg, "to_datetime of floats from an origin", "Cast them with astype('int64').",
            lambda data: untyped_pandas.to_datetime(data, unit=unit, origin=origin, **options),
        )  # fmt: skip
    # pandas checks the origin.
    start = untyped_pandas.to_datetime(0, unit=unit, origin=origin)
    times = _of_integers(column, arg._table, unit or "ns", options["errors"])
    return arg._with_column(times) + (start - pd.Timestamp("1970-01-01"))


def _of_strings(column: Column, table: Table, options: Options) -> Column:
    strings = column.dictionary.values
    if not is_traced(column.data, table.num_rows):
        codes = np.flatnonzero(used_codes(column, table, "to_datetime"))
        if "format" not in options and len(codes):
            # pandas infers the format from the first string.
            first = int(at_once(_first_code, column.data, table.num_rows, table.layout))
            codes = np.concatenate([[first], codes[codes != first]])
    elif "format" in options:
        codes = np.arange(len(strings))
    else:
        raise NotImplementedError(
            "to_datetime: the format cannot be inferred inside jit. Pass format=."
        )
    parsed: Any = pd.to_datetime(pd.Series(strings.take(codes), dtype="str"), **options)
    times = np.full(len(strings), NAT)
    times[codes] = in_utc(parsed).view(np.int64)
    zone = None if parsed.dt.tz is None else zone_label(parsed.dt.tz)
    kind = ColumnType("datetime", unit=parsed.dt.unit, zone=zone)
    return Column(look_up(column.data, times, np.int64(NAT)), None, kind)


@functools.partial(tiered, static_argnums=2)
def _first_code(codes: Array, num_rows: Count, layout: Layout) -> Array:
    """The code of the first row that is not missing."""
    row_ids = position(codes.shape[0], layout)
    has_code = is_row(codes.shape[0], num_rows, layout) & (codes >= 0)
    first = jnp.min(jnp.where(has_code, row_ids, np.iinfo(np.int32).max))
    return jnp.sum(jnp.where(row_ids == first, codes, np.int32(0)))


def _of_integers(column: Column, table: Table, unit: str, errors: str) -> Column:
    if unit not in _STEPS:
        raise ValueError(f"to_datetime: unit must be one of {list(_STEPS)}, got {unit!r}.")
    kind = ColumnType("datetime", unit=_STEPS[unit][0])
    times, fits = times_of_integers(column, table, _STEPS[unit][1], kind)
    if errors == "raise" and not fits:
        raise pd.errors.OutOfBoundsDatetime(
            f"to_datetime: values in unit {unit!r} are out of bounds for 64 bits of unit "
            f"{kind.unit!r}. Pass errors='coerce' to get NaT."
        )
    return times


def times_of_integers(
    column: Column, table: Table, step: int, kind: ColumnType
) -> tuple[Column, bool]:
    """Integers times a step, as times; NaT for those out of bounds.

    The second result is whether all fit; inside `jit` it is True.
    """
    times, fits = _scaled(column.data, column.valid, np.int64(step))
    is_known = not is_traced(fits, table.num_rows)
    all_fit = not (is_known and bool(any_missing(fits, table.num_rows)))
    return Column(times, None, kind), all_fit


@tiered
def _scaled(data: Array, valid: Array | None, step: Array) -> tuple[Array, Array]:
    """Multiplies integers by a step; NaT if missing or out of bounds. Also flags those that fit."""
    most = np.iinfo(np.int64).max // step
    # uint64 values out of range are negative as int64.
    counts = data.astype(jnp.int64)
    fits = (counts <= most) & (counts >= -most)
    if data.dtype == jnp.uint64:
        fits = fits & (counts >= 0)
    if valid is not None:
        fits = fits | ~valid
    is_known = fits if valid is None else fits & valid
    return jnp.where(is_known, counts * step, np.int64(NAT)), fits
