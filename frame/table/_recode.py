# SPDX-License-Identifier: Apache-2.0
"""Converts columns to other dictionaries."""

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ._column import NAT, Array, Column, ColumnType, common_family
from ._dictionary import Dictionary, sorted_dictionary, unify
from ._distinct_objects import DistinctObjects
from ._dtypes import narrowed, wide
from ._host_column import rows_on_host
from ._layout import ONE_DEVICE, padded
from ._take import gather
from ._zones import in_utc, zone_label


def recoded(columns: Sequence[Column]) -> tuple[Column, ...]:
    """Converts columns of strings or string categories to one common sorted dictionary."""
    columns = [unencoded(as_string(column)) for column in columns]
    dictionary, new_codes = unify([column.dictionary for column in columns])
    kind = ColumnType("string", dictionary, family=common_family(columns))
    return tuple(
        Column(column.data if codes is None else renumbered(column.data, codes), None, kind)
        for column, codes in zip(columns, new_codes, strict=True)
    )


def unencoded(column: Column) -> Column:
    """The column with its strings as they are, encoded or not, unless few of them are left.

    The strings of the dictionary may repeat, be null, and have any order.
    """
    stored = column.stored
    if stored is column or column.lists is not None:
        return column
    return column if has_few_left(stored) else stored


def has_few_left(column: Column) -> bool:
    """Whether most of the strings on the host are those of rows that were dropped."""
    return 4 * column.capacity <= len(column.dictionary)


def as_string(column: Column) -> Column:
    """Converts a category to strings with a sorted dictionary."""
    if column.kind == "string":
        return column
    values = column.dictionary.values
    if not holds_strings(values):
        raise NotImplementedError(
            f"categories must be strings to be compared with strings, got {values.dtype}. "
            "Cast the column to its categories' dtype first, with astype."
        )
    return strings_at(column.data, values)


def holds_strings(values: pd.Index) -> bool:
    """Whether categories are strings, of pandas' dtype for them or as objects."""
    return isinstance(values.dtype, pd.StringDtype) or (
        values.dtype == object and pd.api.types.infer_dtype(values, skipna=True) == "string"
    )


def has_strings(column: Column) -> bool:
    """Whether a column holds strings or categories that are strings."""
    if column.kind == "category":
        return holds_strings(column.dictionary.values)
    return column.kind == "string"


def as_times(column: Column) -> Column:
    """The column, or the times that are its categories."""
    if column.kind != "category" or column.dictionary.values.dtype.kind not in "mM":
        return column
    times = column.dictionary.values
    values = in_utc(times)
    kind = "datetime" if values.dtype.kind == "M" else "timedelta"
    data = look_up(column.data, values.view(np.int64), NAT)
    tz = getattr(times, "tz", None)
    zone = None if tz is None else zone_label(tz)
    return Column(data, None, ColumnType(kind, unit=np.datetime_data(values.dtype)[0], zone=zone))


def category_values(column: Column) -> Column | None:
    """The values of a column of categories, in the dtype of the categories.

    Integers and bools have a mask; `settled` decides on their dtype. None for categories of other
    dtypes, and for integers that the device cannot hold.
    """
    values = column.dictionary.values
    if isinstance(values.dtype, pd.StringDtype):
        return as_string(column)
    if isinstance(values, (pd.DatetimeIndex, pd.TimedeltaIndex)):
        return as_times(column)
    numbers = narrowed(values)
    if not isinstance(numbers.dtype, np.dtype) or numbers.dtype.kind not in "biuf":
        return None
    if wide(numbers.dtype) != numbers.dtype:
        return None
    if numbers.dtype.kind == "f":
        return Column(look_up(column.data, numbers.to_numpy(), numbers.dtype.type(np.nan)))
    data = look_up(column.data, numbers.to_numpy(), numbers.dtype.type(0))
    return Column(data, column.data >= 0)


def strings_at(positions: Array, strings: object) -> Column:
    """The string at each position of a host array; missing for -1."""
    codes, dictionary = sorted_dictionary(strings)
    return Column(renumbered(positions, codes), None, ColumnType("string", dictionary))


def renumbered(codes: Array, new_codes: np.ndarray) -> Array:
    """Maps codes to new codes; -1 stays -1."""
    return look_up(codes, new_codes.astype(np.int32), np.int32(-1))


def shifted(codes: Array, start: int) -> Array:
    """Adds a number to codes; -1 stays -1."""
    return _shifted(codes, np.int32(start))


@tiered
def _shifted(codes: Array, start: Array) -> Array:
    return jnp.where(codes < 0, np.int32(-1), codes + start)


def without_missing(column: Column) -> Column:
    """Gives null objects (None, NaN, NaT) the code -1; other columns are returned as they are."""
    if column.kind != "object" or isinstance(column.type.dictionary, DistinctObjects):
        return column
    assert column.type.dictionary is not None
    values = column.type.dictionary.values
    codes = np.where(pd.isna(values), -1, np.arange(len(values)))
    return column.with_arrays((renumbered(column.data, codes), column.valid))


def look_up(codes: Array, table: np.ndarray, missing: object) -> Array:
    """Gathers from a host table by code; negative codes give `missing`.

    The table is padded in steps, so tables of similar lengths share a compiled program.
    """
    table = padded(table, ONE_DEVICE.capacity_for(len(table)), missing)
    return _look_up(codes, table, missing)


def look_up_few(codes: Column, table: np.ndarray, missing: object) -> np.ndarray | None:
    """`look_up` for a column of codes of few rows, on the host; None if it cannot."""
    rows = rows_on_host((codes,)) if codes.stored is codes else None
    if rows is None:
        return None
    ((data, _),) = rows
    with_missing = np.empty(len(table) + 1, table.dtype)
    with_missing[:-1], with_missing[-1] = table, missing
    # The code -1 names the last value; padding may be any number.
    return with_missing[np.minimum(np.maximum(data, -1), len(table))]


@tiered
def _look_up(codes: Array, table: Array, missing: Any) -> Array:
    return jnp.where(codes < 0, missing, gather(table, codes, ONE_DEVICE))


def as_truths(column: Column) -> Column:
    """Converts codes to Python truth values; missing values are true but masked."""
    if not isinstance(column.type.dictionary, Dictionary):
        return column
    values = column.dictionary.values
    truths = (values != "") if column.kind == "string" else values.astype(bool)
    is_true = look_up(column.data, np.asarray(truths, np.bool_), np.bool_(True))
    return Column(is_true, column.data >= 0)
