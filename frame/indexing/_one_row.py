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

    Returns None unless the arrays are in the memory of the host.
    """
    table: Table = of._table
    columns = table.columns
    if not columns or table.layout.mesh is not None:
        return None
    few = rows_on_host(columns)
    if few is None:
        if not _is_on_host(table):
            return None
        few = [stored_on_host(column.stored) for column in columns]
    found = [_cell(column, rows, position) for column, rows in zip(columns, few, strict=True)]
    cells = [cell for cell in found if cell is not None]
    is_frame, is_known = isinstance(of, FrameBase), len(cells) == len(columns)
    if is_known and not is_frame:
        return cells[0][0]
    common = _common_dtype(tuple([dtype for _, dtype in cells])) if is_known else None
    if not isinstance(common, np.dtype):
        # pandas finds the values and the dtype.
        values = [to_host(_at(column, position), 1) for column in columns]
        if not is_frame:
            return pd.Series(values[0]).iloc[0]
        found_row: Any = pd.DataFrame(dict(enumerate(values))).iloc[0]
        found_row.index, found_row.name = of._labels.index, _label_at(table.index, position)
        return found_row
    row = np.empty(len(cells), common)
    for number, (value, _) in enumerate(cells):
        row[number] = value
    return pd.Series(row, of._labels.index, common, _label_at(table.index, position))


def _cell(column: Column, rows: HostArrays, position: int) -> tuple[Any, Any] | None:
    """The value of one row, and pandas' dtype of the column; "str" for that of strings.

    None if a value in an array of pandas' dtype is not the one that pandas returns.
    """
    if column.family is not None or column.kind not in ("number", "string"):
        return None
    data, valid = rows
    if column.kind == "string":
        code, dictionary = data[position], column.stored.dictionary
        return (dictionary.value_at(code) if code >= 0 else np.nan), _STRINGS
    is_plain = valid is None and data.dtype.kind in "biufc"
    return (data[position], data.dtype) if is_plain else None


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
        return index.first + position * index.step
    if index.has_positions:
        (positions,) = index.stored
        label = index.first + index.step * int(stored_on_host(positions)[0][position])
        return label_dtype()(label)
    return index.with_stored([_at(level, position) for level in index.stored]).to_pandas(1)[0]


@functools.lru_cache(256)
def _common_dtype(dtypes: tuple[Any, ...]) -> Any:
    """pandas' dtype of a row over columns of these dtypes."""
    columns = [
        pd.Series(np.zeros(1, dtype) if isinstance(dtype, np.dtype) else [""], dtype=dtype)
        for dtype in dtypes
    ]
    return pd.DataFrame(dict(enumerate(columns))).iloc[0].dtype
