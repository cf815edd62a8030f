# SPDX-License-Identifier: Apache-2.0
"""Margins of pivot tables: the results of all rows and of all columns."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..table._dtypes import narrowed
from ..table._ndframe import FrameBase
from ..table._types import DtypeLike


def with_margins(
    frame: FrameBase,
    table: pd.DataFrame,
    keys: tuple[Sequence[Hashable], Sequence[Hashable], Sequence[Hashable]],
    aggfunc: str,
    name: Hashable,
    fill_value: object,
    dropna: bool,
) -> pd.DataFrame:
    """Appends a column for each value and a row, which reduce all columns and all rows.

    The groups of rows and of columns are reduced on the device; the host appends the results,
    because their labels join the keys, which may be numbers. `keys` are those of rows, of columns
    and of values; the labels of columns are pairs of a value and column keys.
    """
    rows, columns, values = (list(one) for one in keys)
    if not isinstance(name, str):
        raise ValueError("margins_name argument must be a string")
    levels = [table.index, table.columns.droplevel(0) if columns else table.columns[:0]]
    if any(name in index.get_level_values(at) for index in levels for at in range(index.nlevels)):
        raise ValueError(f'Conflicting name "{name}" in margins')
    data = frame[[*rows, *columns, *values]]
    data = data.dropna() if dropna else data

    def reduced(by: Sequence[Hashable]) -> pd.DataFrame:
        # As in pandas, `dropna` decides for categories without rows too.
        grouped = data.groupby(by, observed=dropna, dropna=dropna)
        return grouped[values].agg(aggfunc).to_pandas()

    totals = {value: getattr(data[value], aggfunc)() for value in values}
    result, last_row = table, totals
    if columns and not len(table.columns):
        return table
    if columns:
        of_rows, of_columns = reduced(rows), reduced(columns)
        pieces = []
        last_row = {
            _known((value, *_as_tuple(key))): total
            for value in values
            for key, total in of_columns[value].items()
        }
        for value in sorted(values, key=list(table.columns.get_level_values(0)).index):
            whole = (value, name, *("",) * (len(columns) - 1))
            piece = table[[label for label in table.columns if label[0] == value]].copy()
            piece[whole] = of_rows[value]
            last_row[_known(whole)] = totals[value]
            pieces.append(piece)
        result = pd.concat(pieces, axis=1)
    label = name if len(rows) == 1 else (name, *("",) * (len(rows) - 1))
    missing = np.nan if fill_value is None else fill_value
    row = pd.DataFrame(
        {
            at: _cell(last_row.get(_known(one), missing), result.dtypes.iloc[at], label)
            for at, one in enumerate(result.columns)
        }
    )
    row.columns = result.columns
    return pd.concat([result, row]).rename_axis(index=result.index.names)


def _as_tuple(key: object) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


def _known(label: Hashable) -> Any:
    """A label in which None stands for missing parts, as NaN equals nothing."""
    if isinstance(label, tuple):
        return tuple(None if pd.isna(part) else part for part in label)
    return label


def _cell(value: Any, dtype: DtypeLike, label: Hashable) -> pd.Series:
    """A column of one value, in a dtype if it is one of its values."""
    cell = pd.Series([value], index=pd.Index([label]))
    try:
        # A missing value is one of times with a zone, and of durations, if it has no dtype.
        cast = cell.astype(object).astype(dtype)
    except (TypeError, ValueError):
        return cell
    is_same = cast.isna() if pd.isna(value) else cast == value
    return cast if is_same.iloc[0] else cell


def normalized_with_margins(table: pd.DataFrame, how: str) -> pd.DataFrame:
    """Divides a table, whose last row and last column are margins, as pandas does.

    Margins are divided by their own sums: that of columns for "index", that of rows for
    "columns", and both for "all".
    """
    inner, right, below = table.iloc[:-1, :-1], table.iloc[:-1, -1], table.iloc[-1, :-1]
    if how == "index":
        rows = inner.div(inner.sum(axis=1), axis=0)
        shares = np.vstack([rows, below / below.sum()])
        return pd.DataFrame(shares, table.index, inner.columns).fillna(0)
    if how == "columns":
        shares = np.column_stack([inner / inner.sum(), right / right.sum()])
        return pd.DataFrame(shares, right.index, table.columns).fillna(0)
    corner = [*(below / below.sum()), 1.0]
    shares = np.column_stack([inner / inner.sum(axis=1).sum(), right / right.sum()])
    return pd.DataFrame(np.vstack([shares, corner]), table.index, table.columns).fillna(0)


def placed_like(frame: FrameBase, table: pd.DataFrame) -> Any:
    """A table of the host as a frame, where another frame is, in the dtypes of the device."""
    columns = [narrowed(table.iloc[:, at]) for at in range(table.shape[1])]
    narrow = pd.DataFrame(dict(enumerate(columns)), index=table.index)
    return frame.frame_class(narrow.set_axis(table.columns, axis=1), sharding=frame.sharding)
