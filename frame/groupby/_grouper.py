# SPDX-License-Identifier: Apache-2.0
"""The `by` and `level` arguments of `groupby`, as key columns."""

from collections.abc import Hashable
from typing import Any, NamedTuple

import jax
import numpy as np
import pandas as pd

from ..align._as_column import as_column
from ..table._arguments import listed
from ..table._column import Column
from ..table._column_labels import Labels, check_unambiguous
from ..table._expressions import evaluated
from ..table._ndframe import NDFrame, SeriesBase
from ..table._objects import hashed
from ..table._suggestions import the_columns
from ..table._table import Table
from ..table._to_host import to_host
from ..table._tracing import is_traced
from ..table._types import LabelOrLabels, LevelOrLevels


class Grouping(NamedTuple):
    """One key: its values, its name, and the position of its column in the frame, if it is one."""

    column: Column
    name: Hashable
    position: int | None = None

    def hashed(self, table: Table) -> "Grouping":
        """The key with codes for its objects, if it has any."""
        if self.column.kind != "object":
            return self
        return self._replace(column=hashed(self.column, table.num_rows))


def as_groupings(
    source: NDFrame, labels: Labels | None, by: LabelOrLabels, level: LevelOrLevels
) -> list[Grouping]:
    """The keys that `by` or `level` names; `labels` is None for a series."""
    table = source._table
    if by is None and level is None:
        raise TypeError("You have to supply one of 'by' and 'level'")
    if by is None:
        num_given = len(listed(level))
        if not num_given:
            raise ValueError("No group keys passed!")
        if num_given > 1 and table.index.num_levels == 1:
            raise ValueError(
                f"multiple levels only valid with MultiIndex, got {level!r}. Pass one level."
            )
        return [_of_level(table, one).hashed(table) for one in listed(level)]
    if level is not None:
        raise NotImplementedError("groupby: by and level exclude each other. Pass one of them.")
    if isinstance(by, tuple) and not (labels is not None and by in labels):
        by = list(by)
    elif isinstance(by, list) and _are_values(by, table, labels):
        by = [by]
    given = by if isinstance(by, list) else [by]
    keys = [key if isinstance(key, str) else evaluated(key, source) for key in given]
    if not keys:
        raise ValueError("No group keys passed!")
    return [_as_grouping(key, table, labels).hashed(table) for key in keys]


# A value for each row, such as categories of pandas.
_ARRAYS = (pd.Series, pd.Index, pd.api.extensions.ExtensionArray, np.ndarray, jax.Array)


def _are_values(by: list[object], table: Table, labels: Labels | None) -> bool:
    """Whether a list holds a value for each row, not the names of keys, by pandas' rules.

    Inside `jit` the number of rows is not known, so a frame's list always holds names.
    """
    if any(_is_key(one) for one in by):
        return False
    names = set(table.index.names)
    if all(one in names or (labels is not None and one in labels) for one in by):
        return False
    if is_traced(table.num_rows):
        return labels is None and not any(isinstance(one, str) for one in by)
    return len(by) == table.num_rows_on_host


def _is_key(key: object) -> bool:
    """Whether an item of a list is a key by itself: an array or a function, not a label."""
    return isinstance(key, (SeriesBase, *_ARRAYS, list, tuple, dict, pd.Grouper)) or callable(key)


def _as_grouping(key: object, table: Table, labels: Labels | None) -> Grouping:
    if isinstance(key, SeriesBase):
        column = as_column(key, table, key._name)
        return Grouping(column, key._name, _position_of(column, key._name, table, labels))
    if isinstance(key, (*_ARRAYS, list)):
        name = getattr(key, "name", None)
        if isinstance(key, pd.Index):
            key = key.array
        return Grouping(as_column(key, table, name), name)
    if isinstance(key, pd.Grouper):
        return _of_grouper(key, table, labels)
    if callable(key) or isinstance(key, dict):
        return Grouping(_of_labels(key, table), table.index.names[0])
    if labels is not None and key in labels:
        check_unambiguous(key, labels, table.index.names)
        position = labels.position(key)
        return Grouping(table.columns[position], key, position)
    if key is None:
        raise TypeError("groupby: by must name columns or hold values, got [None].")
    if key in table.index.names:
        return _of_level(table, key)
    columns = "" if labels is None else f" {the_columns(key, labels)}"
    raise KeyError(f"no column {key!r}.{columns}")


def _of_labels(key: Any, table: Table) -> Column:
    """The keys that a function or a dict gives the labels of rows, on the host."""
    if is_traced(table.index, table.num_rows):
        raise NotImplementedError(
            f"groupby: by must name columns or hold values inside jit, got {type(key).__name__}. "
            "Assign a column and group by it."
        )
    values = table.index.to_pandas(table.num_rows_on_host).map(key)
    return as_column(pd.Series(values).array, table, None)


def _of_grouper(key: Any, table: Table, labels: Labels | None) -> Grouping:
    """The column or the level of a Grouper of pandas; bins of time are labelled on the host."""
    if key.key is not None:
        grouping = _as_grouping(key.key, table, labels)
    else:
        grouping = _of_level(table, 0 if key.level is None else key.level)
    if not hasattr(key, "freq") or key.freq is None:
        return grouping
    if is_traced(table, grouping.column):
        raise NotImplementedError(
            "groupby: bins of time are not known inside jit. Group by a column of dt.floor()."
        )
    times: Any = pd.Index(to_host(grouping.column, table.num_rows_on_host))
    # pandas numbers the bins of rows in the order of their times, missing ones first.
    are_times = isinstance(times, (pd.DatetimeIndex, pd.TimedeltaIndex))
    order = times.asi8.argsort(kind="stable") if are_times else np.arange(len(times))
    rows = pd.Series(order, index=times[order])
    names = ("freq", "closed", "label", "origin", "offset")
    of_rows = pd.Grouper(**{name: getattr(key, name) for name in names})
    binned = rows.groupby(of_rows)
    bins = binned.size().index
    numbers = np.empty(len(times), np.int64)
    numbers[order] = binned.ngroup().fillna(-1)
    # A missing time is in no bin.
    values = bins.take(numbers, allow_fill=True, fill_value=pd.NaT)
    return Grouping(as_column(values.array, table, grouping.name), grouping.name)


def _position_of(column: Column, name: Hashable, table: Table, labels: Labels | None) -> int | None:
    """The position of a series' column in the frame; None if the frame does not hold it."""
    if labels is None or name not in labels or len(labels.positions(name)) > 1:
        return None
    position = labels.position(name)
    own = table.columns[position]
    return position if own.data is column.data and own.valid is column.valid else None


def _of_level(table: Table, level: LevelOrLevels) -> Grouping:
    names = list(table.index.names)
    if level in names and not (isinstance(level, int) and level is not True):
        position = names.index(level)
    elif isinstance(level, int) and -len(names) <= level < len(names):
        position = level % len(names)
    elif isinstance(level, int):
        raise (
            IndexError(f"Too many levels: Index has only {len(names)} level, not {level + 1}")
            if len(names) > 1
            else ValueError("level > 0 or level < -1 only valid with MultiIndex")
        )
    elif len(names) > 1:
        raise KeyError(f"Level {level} not found")
    else:
        raise ValueError(f"level name {level} is not the name of the index")
    return Grouping(table.index_columns()[position], names[position])
