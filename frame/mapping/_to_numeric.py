# SPDX-License-Identifier: Apache-2.0
"""`to_numeric`: parses strings of numbers."""

from typing import Any

import jax
import pandas as pd

from ..table._by_pandas import by_pandas
from ..table._column import Column
from ..table._distinct_values import through_values
from ..table._lazy_base import check_evaluated
from ..table._ndframe import SeriesBase, as_series
from ..table._recode import as_string
from ..table._untyped import untyped_pandas


def to_numeric(arg: Any, errors: str = "raise", downcast: object = None) -> Any:
    """Converts strings to numbers: integers if all are, otherwise floats.

    pandas parses each distinct string once, on the host; the device looks the numbers up.

    Args:
        arg: a series, or another argument of pandas' `to_numeric`.
        errors: "raise", or "coerce" to return NaN for invalid strings.
        downcast: "integer", "signed", "unsigned" or "float": the kind of the narrowest dtype that
            holds all numbers.

    Returns:
        A JaxSeries of numbers; series of numbers are returned as they are. Times become the counts
        of their unit, NaT the least int64. Of lists and the like what pandas makes of them.

    Raises:
        TypeError: an object is no number, and no string of one.
        ValueError: a string is not a number.

    Differences from pandas:
        Inside `jit` all strings of the dictionary are parsed. pandas downcasts numbers on the host.

    Example:
        >>> from jaxframes.frame import JaxSeries, to_numeric
        >>> to_numeric(JaxSeries(["1", "2.5", "x"]), errors="coerce").tolist()
        [1.0, 2.5, nan]
    """
    if errors not in ("raise", "coerce"):
        raise ValueError("invalid error value specified")
    check_evaluated(arg, "to_numeric")
    if not isinstance(arg, (SeriesBase, jax.Array)):
        parsed: Any = untyped_pandas.to_numeric(arg, errors=errors, downcast=downcast)
        return as_series(parsed) if isinstance(parsed, pd.Series) else parsed
    arg = as_series(arg)
    column, table = arg._only, arg._table
    rows = table.num_rows, table.layout

    def parse(values: pd.Series) -> pd.Series:
        return untyped_pandas.to_numeric(values, errors=errors, downcast=downcast)

    if column.is_numeric:
        if downcast is None:
            return arg
        return by_pandas(arg, "to_numeric of numbers with downcast", "Use astype().", parse)
    if column.type.is_time:
        return arg._with_column(Column(column.data))
    if column.kind == "object":
        return arg._with_column(through_values(column, *rows, parse, "to_numeric"))
    if column.kind not in ("string", "category"):
        raise TypeError(f"to_numeric: Invalid object type, got a column of {column.dtype_name}.")

    numbers = through_values(as_string(column), *rows, parse, "to_numeric")
    return arg._with_column(numbers)
