# SPDX-License-Identifier: Apache-2.0
"""Columns whose codes number another dictionary, and times in another unit."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ._column import NAT, UNITS, Array, Column, ColumnType
from ._dictionary import Dictionary, sorted_dictionary, unify
from ._layout import ONE_DEVICE
from ._take import gather


def recoded(columns: Sequence[Column]) -> tuple[Column, ...]:
    """String columns, or categories of strings, with one sorted dictionary for all of them."""
    columns = [as_string(column) for column in columns]
    dictionary, new_codes = unify([column.dictionary for column in columns])
    kind = ColumnType("string", dictionary)
    return tuple(
        Column(column.data if codes is None else renumbered(column.data, codes), None, kind)
        for column, codes in zip(columns, new_codes, strict=True)
    )


def as_string(column: Column) -> Column:
    """The column as strings, with a sorted dictionary.

    Raises:
        NotImplementedError: the categories are no strings.
    """
    if column.kind == "string":
        return column
    values = column.dictionary.values
    if not holds_strings(values):
        raise NotImplementedError(
            f"categories must be strings to be compared with strings, got {values.dtype}. "
            "Cast the column to its categories' dtype first, with astype."
        )
    codes, dictionary = sorted_dictionary(values)
    return Column(renumbered(column.data, codes), None, ColumnType("string", dictionary))


def holds_strings(values: pd.Index) -> bool:
    """Whether categories are strings, of pandas' dtype for them or as objects."""
    return isinstance(values.dtype, pd.StringDtype) or (
        values.dtype == object and pd.api.types.infer_dtype(values, skipna=True) == "string"
    )


def as_times(column: Column) -> Column:
    """The column, or the times that are its categories."""
    if column.kind != "category" or column.dictionary.values.dtype.kind not in "mM":
        return column
    values = column.dictionary.values.to_numpy()
    kind = "datetime" if values.dtype.kind == "M" else "timedelta"
    data = look_up(column.data, values.view(np.int64), NAT)
    return Column(data, None, ColumnType(kind, unit=np.datetime_data(values.dtype)[0]))


def renumbered(codes: Array, new_codes: np.ndarray) -> Array:
    """Codes, each replaced by the new one of a table; -1 stays."""
    return look_up(codes, new_codes.astype(np.int32), np.int32(-1))


def without_missing(column: Column) -> Column:
    """The column; of objects None, NaN and NaT have codes, and get that of what is missing."""
    if column.kind != "object":
        return column
    assert column.type.dictionary is not None
    values = column.type.dictionary.values
    codes = np.where(pd.isna(values), -1, np.arange(len(values)))
    return column.with_arrays((renumbered(column.data, codes), column.valid))


def look_up(codes: Array, table: np.ndarray, missing: Any) -> Array:
    """What a table on the host holds for each code, `missing` for a negative one.

    The table is given room in steps, so that tables of nearby lengths share a program.
    """
    room = np.full(ONE_DEVICE.capacity_for(len(table)), missing, table.dtype)
    room[: len(table)] = table
    return _look_up(codes, jnp.asarray(room), missing)


@jax.jit
def _look_up(codes: Array, table: Array, missing: Any) -> Array:
    found = gather(table, codes, ONE_DEVICE)
    return jnp.where(codes < 0, missing, found)


def with_unit(column: Column, unit: str) -> Column:
    """Times in another unit; rounded down where it is coarser.

    A time that the unit cannot count wraps: the caller checks where that may be.
    """
    if column.type.unit == unit:
        return column
    steps = UNITS.index(unit) - UNITS.index(column.type.unit or unit)
    data = _rescaled(column.data, np.int64(1000 ** abs(steps)), steps > 0)
    return Column(data, None, ColumnType(column.kind, unit=unit))


def _rescaled(data: Array, factor: np.int64, is_finer: bool) -> Array:
    return (_finer if is_finer else _coarser)(data, factor)


@jax.jit
def _finer(data: Array, factor: Array) -> Array:
    return jnp.where(data == NAT, NAT, data * factor)


@jax.jit
def _coarser(data: Array, factor: Array) -> Array:
    return jnp.where(data == NAT, NAT, data // factor)


def as_truths(column: Column) -> Column:
    """A column of codes as bools: which values Python takes for true, a missing one among them."""
    if not isinstance(column.type.dictionary, Dictionary):
        return column
    values = column.dictionary.values
    truths = (values != "") if column.kind == "string" else values.astype(bool)
    is_true = look_up(column.data, np.asarray(truths, np.bool_), np.bool_(True))
    return Column(is_true, column.data >= 0)
