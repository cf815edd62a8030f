# SPDX-License-Identifier: Apache-2.0
"""One row in the memory of the host, without a program that moves it there."""

import functools
from typing import Any

import jax
import numpy as np
import pandas as pd

from ..table._column import Column
from ..table._host_column import HostArrays, HostColumn, is_host_memory, rows_on_host
from ..table._ndframe import FrameBase
from ..table._row_index import RowIndex, label_dtype
from ..table._table import Table
from ..table._to_host import stored_on_host, to_host

# In place of pandas' dtype, which takes longer to hash than a row takes to read.
_STRINGS = "str"


def one_row(of: Any, position: int) -> Any:
    """The row of a frame, or the value of a series, at a position, as pandas returns it.

    Returns None unless the arrays are in the memory of the host, and the values are numbers,
    strings or objects: pandas finds the dtype of others.
    """
    table: Table = of._table
    columns = table.columns
    if not columns or table.layout.mesh is not None:
        return None
    few = rows_on_host(columns)
    if few is not None:
        cells = [_cell(*one, position) for one in zip(columns, few, strict=True)]
    elif _is_on_host(table):
        cells = [_cell(column, stored_on_host(column.stored), position) for column in columns]
    else:
        return None
    dtypes = tuple([dtype for _, dtype in cells])
    if not all(map(_is_plain, dtypes)):
        return None
    if not isinstance(of, FrameBase):
        return cells[0][0]
    common = _common_dtype(dtypes)
    if not isinstance(common, np.dtype):
        return None
    row = np.empty(len(cells), common)
    for number, (value, _) in enumerate(cells):
        row[number] = value
    return pd.Series(row, of._labels.index, common, _label_at(table.index, position))


def _cell(column: Column, rows: HostArrays, position: int) -> tuple[Any, Any]:
    """The value of one row, and pandas' dtype of the column; "str" for that of strings."""
    kind = column.kind
    if column.family is None and kind in ("number", "string"):
        data, valid = rows
        if kind == "string":
            code, dictionary = data[position], column.stored.dictionary
            return (dictionary.value_at(code) if code >= 0 else np.nan), _STRINGS
        if valid is None and data.dtype.kind in "biufc":
            return data[position], data.dtype
    values = to_host(_at(column, position), 1)
    return values[0], values.dtype


def _is_on_host(table: Table) -> bool:
    """Whether all arrays are computed, on one CPU device."""
    for column in (*table.columns, *table.index.stored):
        stored = column.stored
        if stored.node is not None:
            return False
        if type(stored) is HostColumn:
            continue
        if isinstance(stored.data, jax.Array) and not is_host_memory(stored.data.sharding):
            return False
    return True


def _at(column: Column, position: int) -> Column:
    """One row of a column."""
    data, valid = stored_on_host(column.stored)
    here = slice(position, position + 1)
    one: Any = (data[here], None if valid is None else valid[here])
    return column.moved(one)


def _label_at(index: RowIndex, position: int) -> Any:
    """The label of one row."""
    if not index.stored:
        return index.start + position * index.step
    if index.has_positions:
        (positions,) = index.stored
        label = index.start + index.step * int(stored_on_host(positions)[0][position])
        return label_dtype()(label)
    return index.with_stored([_at(level, position) for level in index.stored]).to_pandas(1)[0]


def _is_plain(dtype: Any) -> bool:
    """Whether a value in an array of pandas' dtype is the one that pandas returns."""
    if isinstance(dtype, np.dtype):
        return dtype.kind in "biufcO"
    return dtype == _STRINGS or type(dtype) is pd.StringDtype


@functools.lru_cache(256)
def _common_dtype(dtypes: tuple[Any, ...]) -> Any:
    """pandas' dtype of a row over columns of these dtypes."""
    columns = [
        pd.Series(np.zeros(1, dtype) if isinstance(dtype, np.dtype) else [""], dtype=dtype)
        for dtype in dtypes
    ]
    return pd.DataFrame(dict(enumerate(columns))).iloc[0].dtype
