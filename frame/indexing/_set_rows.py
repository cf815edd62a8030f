# SPDX-License-Identifier: Apache-2.0
"""Values set in some rows: `loc[...] =`, `iloc[...] =`, `frame[mask] =` and `series[key] =`.

Arrays never change: the frame gets other columns, and what shares its old ones keeps them. Scalars,
series and one value for each row are chosen on the device, by flags of the rows. What adds rows, or
sets several columns by a table, is set by pandas on the host, with its warning.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ..align._as_column import as_column, as_mask, is_mask, names_labels
from ..mapping._choices import choose, choose_scalar, like_row
from ..table._by_pandas import by_pandas
from ..table._column import Array, Column, inverse
from ..table._expressions import apply_if_callable, evaluated
from ..table._filter import filter_rows
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._table import Table
from ..table._take import missing_elsewhere, settled
from ..table._to_host import to_host
from ..table._tracing import is_traced
from ..table._user_functions import as_pandas

_NAMED = (FrameBase, pd.DataFrame, dict)
_ON_HOST = "of rows that are added, repeated or set by a table"
_INSTEAD = "Use concat() to add rows, and a mask or a column at a time to set values."


def set_rows(owner: Any, indexer: str, key: object, value: object, *, aligns: bool = False) -> None:
    """Sets the rows, and columns, of a key of `loc` or `iloc`.

    Args:
        owner: the frame or series; it holds the result.
        indexer: "loc" or "iloc".
        key: rows, or a pair of rows and columns.
        value: a scalar, a series, an array or a list.
        aligns: whether rows get the value of a series that has their label; otherwise its values
            in their order.
    """
    key, value = apply_if_callable(key, owner), apply_if_callable(value, owner)
    if not aligns and isinstance(value, (SeriesBase, pd.Series)):
        if is_traced(value, owner._table):
            raise NotImplementedError(
                f"{indexer}: inside jit the values of a series are set by label, so the rows must "
                "be given by a mask. Or write frame[column] = frame[column].where(~mask, value)."
            )
        value = as_pandas(value).array
    rows, columns = _parts_of(owner, key)
    rows = evaluated(apply_if_callable(rows, owner), owner)
    labels = _names_of(owner, indexer, columns)
    parts = None if labels is None else _parts_of_value(value, len(labels))
    flags = None if parts is None else _flags_of(owner, indexer, rows)
    if labels is None or parts is None or flags is None:
        _set_on_host(owner, indexer, key, value)
        return
    made = [
        _with_values(owner, label, flags, part, indexer)
        for label, part in zip(labels, parts, strict=True)
    ]
    columns_made = [one for one in made if one is not None]
    if len(columns_made) < len(made):
        _set_on_host(owner, indexer, key, value)
        return
    for label, column in zip(labels, columns_made, strict=True):
        _hold(owner, label, column)


def with_first_rows(frame: Any, value: Any) -> Table:
    """The table that gets a column: as in pandas, one without rows gets those of the values."""
    table = frame._table
    if not pd.api.types.is_list_like(value) or is_traced(table.index, table.num_rows):
        return table
    is_labelled = isinstance(value, (SeriesBase, pd.Series))
    if isinstance(value, SeriesBase):
        other = value._table
        if other.num_rows is table.num_rows or is_traced(other.index, other.num_rows):
            return table
    if table.num_rows_on_host or not len(value):
        return table
    index = value.index if is_labelled else pd.RangeIndex(len(value))
    name = table.index.names[0]
    return frame.reindex(index if name is None else index.rename(name))._table


def set_where(owner: Any, mask: object, value: object) -> None:
    """Sets the values that a frame of flags selects: `frame[frame < 0] = 0`."""
    result = owner.mask(mask, value)
    for position, column in enumerate(owner._table.columns):
        if result._table.columns[position].dtype_name != column.dtype_name:
            _check_held(column, value)
    owner._table = result._table


def update_rows(owner: Any, other: object, **how: Any) -> None:
    """Sets the values that another object has and does not miss, by label; pandas finds them."""

    def updated(host: Any) -> Any:
        host.update(as_pandas(other), **how)
        return host

    instead = "Use where() or merge(), which make new values."
    owner._table = by_pandas(owner, "update", instead, updated)._table


def _parts_of(owner: Any, key: Any) -> tuple[Any, Any]:
    """The rows and the columns of a key."""
    is_pair = isinstance(key, tuple) and len(key) == 2 and owner.ndim == 2
    if is_pair and owner._table.index.num_levels == 1:
        return key
    if isinstance(key, tuple) and len(key) == 1:
        return key[0], slice(None)
    if is_pair and (is_mask(key[0]) or isinstance(key[0], (slice, tuple, list))):
        return key
    return key, slice(None)


def _names_of(owner: Any, indexer: str, columns: Any) -> Sequence[Any] | None:
    """The labels of the columns, or None if pandas has to find them."""
    if owner.ndim == 1:
        return [None]
    labels = owner._labels.index
    if not labels.is_unique or labels.nlevels > 1:
        return None
    if isinstance(columns, slice) and columns == slice(None):
        return list(labels)
    if indexer == "iloc":
        try:
            return list(np.atleast_1d(np.asarray(labels, dtype=object)[columns]))
        except (IndexError, TypeError, ValueError):
            return None
    if isinstance(columns, slice):
        return list(labels[labels.slice_indexer(columns.start, columns.stop, columns.step)])
    if isinstance(columns, (list, np.ndarray, pd.Index)) and not is_mask(columns):
        return list(columns) if all(one in labels for one in columns) else None
    return [columns] if isinstance(columns, (str, int, float, bool)) else None


def _parts_of_value(value: Any, num_columns: int) -> Sequence[Any] | None:
    """One scalar, series or array of rows for each column; None for tables."""
    if isinstance(value, _NAMED) or getattr(value, "ndim", 1) > 1 or _is_nested(value):
        return None
    is_list = pd.api.types.is_list_like(value) and getattr(value, "ndim", 1) == 1
    if not is_list or num_columns == 1:
        return [value] * num_columns
    # A list has a value for each column, which is the same in all rows.
    if isinstance(value, (SeriesBase, pd.Series)) or len(value) != num_columns:
        return None
    return list(value)


def _is_nested(value: Any) -> bool:
    """Whether a list holds lists: one for each row."""
    return isinstance(value, (list, tuple)) and any(map(pd.api.types.is_list_like, value))


def _flags_of(owner: Any, indexer: str, rows: object) -> Array | None:
    """Flags of the rows; None if pandas has to find them, or to add one."""
    table = owner._table
    if isinstance(rows, slice) and rows == slice(None):
        return table.layout.constrain(jnp.ones(table.capacity, jnp.bool_))
    if is_mask(rows) and not names_labels(rows):
        return as_mask(rows, table)
    if is_traced(table.index, table.num_rows):
        return None
    labels = owner.index
    if isinstance(rows, (NDFrame, jax.Array)):
        rows = np.asarray(rows)
    numbered = pd.Series(np.arange(len(labels)), labels)
    try:
        positions = getattr(numbered, indexer)[rows]
    except KeyError:
        return None
    flags = np.zeros(table.capacity, np.bool_)
    flags[np.asarray(positions)] = True
    is_in_order = np.ndim(positions) == 0 or pd.Index(positions).is_monotonic_increasing
    # Values of a list go to the rows in the order of the key.
    return table.layout.place(flags) if is_in_order else None


def _with_values(
    owner: Any, label: Hashable, flags: Array, value: Any, method: str
) -> Column | None:
    """A column with values in the flagged rows; None if the host has to set them."""
    table = owner._table
    column = _column_of(owner, label)
    if isinstance(value, (list, tuple, np.ndarray, pd.Index, pd.api.extensions.ExtensionArray)):
        source = None if is_traced(table, flags) else _sources_of(len(value), flags, table)
        if source is None:
            return None
        values = pd.Series(value).array if column is None else _as_held(column, value)
        value = values.take(source)
    is_scalar = not isinstance(value, (SeriesBase, pd.Series)) and np.ndim(value) == 0
    if column is None:
        (made,) = missing_elsewhere([as_column(value, table, label)], flags)
        return settled(made, table.num_rows)
    if is_scalar:
        if not isinstance(value, jax.Array):
            _check_held(column, value)
        return _of_same_dtype(
            column, choose_scalar(inverse(flags), column, value, table, method), value
        )
    if column.kind == "object" and not is_traced(table, value, flags):
        # Integers stay integers where the value has fewer rows.
        value = value.astype(object)
    other = as_column(value, table, label)
    is_integer = column.is_numeric and column.dtype.kind in "iu"
    if other.is_float and is_integer and not is_traced(flags, other):
        # Rows that are not set do not decide whether all values are integers.
        other = choose(flags, other, column, table, method)
    made = choose(~flags, column, other, table, method)
    if made.dtype_name != column.dtype_name and not is_traced(made, flags):
        selected = filter_rows(table.with_columns([other]), flags)
        _check_held(column, to_host(selected.columns[0], selected.num_rows_on_host))
    return made


def _column_of(owner: Any, label: Hashable) -> Column | None:
    """The column that a label names; None for a new one."""
    if owner.ndim == 1:
        return owner._only
    return owner._column(label) if label in owner._labels else None


def _sources_of(num_values: int, flags: Array, table: Any) -> np.ndarray | None:
    """The number of the value for each flagged row; None for another number of rows, or for none.

    Other rows have 0.
    """
    positions = np.flatnonzero(np.asarray(flags)[: table.num_rows_on_host])
    if not num_values or len(positions) != num_values:
        return None
    source = np.zeros(table.num_rows_on_host, np.intp)
    source[positions] = np.arange(num_values)
    return source


def _as_held(column: Column, values: Any) -> Any:
    """Values in the dtype of a column; raises pandas' error for those that it does not hold."""
    if column.kind == "object":
        return pd.Series(values).array
    # pandas may change the dtype where all rows are set, so one more row is not.
    like = pd.Series(like_row(column)).repeat(len(values) + 1).reset_index(drop=True)
    like.iloc[:-1] = values
    return like.array[:-1]


def _check_held(column: Column, value: Any) -> None:
    """Raises pandas' error for values that the dtype of a column does not hold."""
    if column.kind == "object":
        return
    num_values = 1 if np.ndim(value) == 0 else len(value)
    like = pd.Series(like_row(column)).repeat(num_values).reset_index(drop=True)
    like[np.ones(num_values, np.bool_)] = value


def _of_same_dtype(column: Column, made: Column, value: object) -> Column:
    """The made column, unless a number of the device changed its dtype."""
    if isinstance(value, jax.Array) and made.dtype_name != column.dtype_name:
        raise TypeError(
            f"Invalid value of dtype {value.dtype} for dtype {column.dtype_name!r}. Cast one of "
            "them with astype first."
        )
    return made


def _hold(owner: Any, label: Hashable, column: Column) -> None:
    """Lets a frame or series hold another column."""
    if owner.ndim == 1:
        owner._table = owner._table.with_columns([column])
        return
    owner[label] = owner._make_series(column, label)


def _set_on_host(owner: Any, indexer: str, key: object, value: object) -> None:
    """Lets pandas set values, which may add rows and columns."""
    if is_traced(owner._table):
        raise NotImplementedError(
            f"{indexer}: inside jit the rows to set must be given by a mask, and their values by a "
            "scalar or a series. Or write frame[column] = frame[column].where(~mask, value)."
        )
    convert: Callable[[Any], Any] = as_pandas
    keys = tuple(map(convert, key)) if isinstance(key, tuple) else convert(key)

    def with_values(host: Any) -> Any:
        getattr(host, indexer)[keys] = convert(value)
        return host

    made = by_pandas(owner, f"{indexer} {_ON_HOST}", _INSTEAD, with_values)
    owner._table = made._table
    if owner.ndim == 2:
        owner.__dict__["_labels"] = made._labels
