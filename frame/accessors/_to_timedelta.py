# SPDX-License-Identifier: Apache-2.0
"""`to_timedelta`: parses strings and converts integers to timedeltas."""

from typing import Any

import jax
import numpy as np
import pandas as pd

from ..table._by_pandas import by_pandas
from ..table._column import ColumnType
from ..table._distinct_values import through_values
from ..table._from_host import check_width
from ..table._lazy_base import check_evaluated
from ..table._ndframe import FrameBase, SeriesBase, as_series
from ..table._object_functions import of_rows
from ..table._recode import as_string
from ..table._untyped import untyped_pandas
from ._to_datetime import times_of_integers


def to_timedelta(arg: Any, unit: str | None = None, errors: str = "raise") -> Any:
    """Converts strings or numbers to timedeltas.

    pandas parses each distinct string once, on the host; the device looks the spans up.

    Args:
        arg: a series of strings, integers, timedeltas or objects; or an argument of pandas'
            `to_timedelta`: a series, an index, an array, a list or a scalar.
        unit: the unit of integers: "ns", "us", "ms", "s", "m", "h", "D" or "W"; "ns" if left out.
        errors: "raise", or "coerce" to return NaT for invalid values.

    Returns:
        A JaxSeries of timedeltas in microseconds, or in nanoseconds if strings or `unit` need them;
        a TimedeltaIndex of pandas for a list, an index or an array of NumPy, a Timedelta for a
        scalar.

    Raises:
        TypeError: the series contains neither strings, integers, timedeltas nor objects that pandas
            converts.
        ValueError: a string is not a span of time; OutOfBoundsTimedelta, a subclass, for an integer
            out of the result's range.

    Cost:
        Work O(rows) on the device, O(distinct strings) on the host. No communication. pandas
        converts objects on the host, so that they cannot be converted inside `jit`.

    Differences from pandas:
        pandas converts floats on the host. Inside `jit` all strings of the dictionary are
        parsed, even without a row, and integers out of bounds become NaT.

    Example:
        >>> from jaxframes.frame import JaxSeries, to_timedelta
        >>> to_timedelta(JaxSeries(["1h", None, "90s"])).dt.total_seconds().tolist()
        [3600.0, nan, 90.0]
    """
    if errors not in ("raise", "coerce"):
        raise ValueError("errors must be one of 'raise', or 'coerce'.")
    check_evaluated(arg, "to_timedelta")
    if isinstance(arg, FrameBase):
        raise TypeError("arg must be a string, timedelta, list, tuple, 1-d array, or Series")
    options: dict[str, Any] = {"errors": errors}
    if not isinstance(arg, (SeriesBase, jax.Array)):
        parsed: Any = untyped_pandas.to_timedelta(arg, unit=unit, **options)
        # A scalar stays on the host.
        return as_series(parsed) if isinstance(parsed, pd.Series) else parsed
    # pandas checks the unit.
    untyped_pandas.to_timedelta(np.zeros(0, np.int64), unit=unit, **options)
    arg = as_series(arg)
    column, table = arg._only, arg._table
    if column.kind == "timedelta":
        return arg
    check_width(np.int64, "to_timedelta", "timedeltas")
    if column.kind in ("string", "category"):
        strings = as_string(column)
        if unit is not None:
            raise ValueError("unit must not be specified if the input contains a str")

        def parse(strings: pd.Series) -> pd.Series:
            return pd.to_timedelta(strings, **options)

        spans = through_values(strings, table.num_rows, table.layout, parse, "to_timedelta")
        return arg._with_column(spans)
    if column.kind == "object":

        def convert(values: pd.Series) -> pd.Series:
            return untyped_pandas.to_timedelta(values, unit=unit, **options)

        return arg._with_column(of_rows(column, table.num_rows, convert, "to_timedelta"))
    if column.kind != "number" or column.dtype.kind not in "iuf":
        raise TypeError(
            f"dtype {column.dtype_name} cannot be converted to timedelta64[ns]. Pass strings or "
            "integers."
        )
    if column.is_float:
        return by_pandas(
            arg, "to_timedelta of floats",
            "Multiply by pd.Timedelta(1, unit), or cast with astype('int64').",
            lambda data: untyped_pandas.to_timedelta(data, unit=unit, **options),
        )  # fmt: skip
    one = untyped_pandas.Timedelta(1, unit=unit or "ns")
    kind = ColumnType("timedelta", unit="us" if one >= pd.Timedelta(microseconds=1) else "ns")
    step = one.as_unit(kind.unit)._value
    spans, all_fit = times_of_integers(column, table, step, kind)
    if errors == "raise" and not all_fit:
        raise pd.errors.OutOfBoundsTimedelta(
            f"to_timedelta: Cannot convert values in unit {unit!r} to timedelta64[{kind.unit}] "
            "without overflow. Pass errors='coerce' to get NaT."
        )
    return arg._with_column(spans)
