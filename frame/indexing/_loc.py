# SPDX-License-Identifier: Apache-2.0
"""`loc` and dropping of rows: selection by label."""

import dataclasses
import datetime
import sys
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd

from ..align._as_column import is_mask, names_labels
from ..table._arguments import listed_labels, only_rows
from ..table._by_pandas import by_pandas
from ..table._column import Array, Column, inverse
from ..table._column_labels import Labels, numbered_columns
from ..table._expressions import apply_if_callable
from ..table._filter import filter_rows
from ..table._ndframe import FrameBase, SeriesBase
from ..table._suggestions import resembling
from ..table._tracing import answered_at_once, is_traced
from ..table._types import Axis, LevelOrLevels
from ..table._user_functions import as_pandas
from ._chained import OF_INDEXER, warn_of_chained
from ._getitem import RowSelection
from ._set_rows import set_rows
from ._xs import LevelSelection, check_eager, flags_of_labels, is_row_key, positions_of_all


class LocIndexer:
    """`frame.loc[...]`."""

    def __init__(self, of: Any):
        self._of = of

    def __getitem__(self, key: Any) -> Any:
        key = apply_if_callable(key, self._of)
        index = self._of._table.index
        if isinstance(key, tuple) and len(key) > self._of.ndim and index.num_levels == 1:
            raise pd.errors.IndexingError(f"Too many indexers, got {key!r}.")
        if self._of.ndim == 1:
            return self._of._rows_at(key[0] if isinstance(key, tuple) and len(key) == 1 else key)
        is_pair = isinstance(key, tuple) and len(key) == 2
        if is_pair and index.num_levels > 1 and is_row_key(self._of, key):
            is_pair = False
        rows, columns = key if is_pair else (key, slice(None))
        rows, columns = (apply_if_callable(one, self._of) for one in (rows, columns))
        return self._of._columns_of(columns)._rows_at(rows)

    def __setitem__(self, key: object, value: object) -> None:
        warn_of_chained(sys.getrefcount(self._of), self._of, OF_INDEXER)
        set_rows(self._of, "loc", key, value, aligns=True)


class LabelSelection(LevelSelection, RowSelection):
    """Row selection by label, shared by frames and series."""

    @property
    def loc(self) -> LocIndexer:
        """Selects rows and columns by a mask, a label, a list of labels or an inclusive slice.

        Assignment gives the frame other columns; the arrays of the old ones do not change.

        Differences from pandas:
            Inside `jit` rows must be selected by masks, and set to a scalar or a series. A slice of
            labels, a list of tuples, and a tuple with lists or slices copy the row labels to the
            host, unless they are a range.

        Cost:
            Assignment by a mask is one choice for each column set. Setting rows by label copies the
            labels to the host, and adding a row all columns: a loop over rows is slow.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"x": [1, 2, 3], "y": [4, 5, 6]}, index=["a", "b", "c"])
            >>> frame.loc[["c", "a"], "x"].tolist()
            [3, 1]
            >>> frame.loc[frame.x > 1, "y"].tolist()
            [5, 6]
            >>> frame.loc[frame.x > 2, "y"] = 0
            >>> frame.y.tolist()
            [4, 5, 0]
        """
        return LocIndexer(self)

    at = loc

    def truncate(self, before: Any = None, after: Any = None, axis: Axis = None) -> Any:
        """The rows from the label `before` to the label `after`, both included.

        The row labels must be sorted, and are copied to the host.
        """
        only_rows("truncate", axis or 0, self, "Select columns by loc.")
        labels: Any = self.index
        if not (labels.is_monotonic_increasing or labels.is_monotonic_decreasing):
            raise ValueError("truncate requires a sorted index")
        if isinstance(labels, (pd.DatetimeIndex, pd.PeriodIndex)) or (
            labels.dtype == object and labels.inferred_type == "datetime"
        ):
            before, after = _as_time(before), _as_time(after)
        if before is not None and after is not None and before > after:
            raise ValueError(f"Truncate: {after} must be after {before}")
        if not labels.is_monotonic_increasing:
            before, after = after, before
        return self.loc[before:after]

    def _rows_at(self, rows: object) -> Any:
        rows = apply_if_callable(rows, self)
        if isinstance(rows, slice) and rows == slice(None):
            return self._like(self._table)
        if is_mask(rows) and not names_labels(rows):
            return self._filtered(rows)
        return self._labelled(rows)

    @answered_at_once
    def _labelled(self, rows: object) -> Any:
        index = self._table.index
        check_eager(self._table)
        if index.num_levels > 1:
            return self._of_levels(rows)
        is_host_key = index.is_range or isinstance(rows, slice)
        # A string may name a span of them.
        on_host = is_host_key or index.levels[0].type.is_time or index.levels[0].kind == "period"
        if isinstance(rows, (list, np.ndarray, pd.Index, pd.Series, SeriesBase)):
            labels: Any = rows
            return self._of_list(list(rows) if isinstance(rows, list) else labels.tolist())
        if on_host:
            return self._of_host_labels(rows)
        selected = self._like(filter_rows(self._table, self._flags_of([rows])))
        if not len(selected):
            meant = resembling(rows, self.index)
            raise KeyError(rows if meant is None else f"{rows}. Did you mean {meant!r}?")
        return selected if len(selected) > 1 else selected.iloc[0]

    def _of_host_labels(self, rows: object) -> Any:
        labels = self.index
        if isinstance(rows, slice):
            return self._sliced(labels.slice_indexer(rows.start, rows.stop, rows.step))
        position = labels.get_loc(rows)
        if isinstance(position, slice):
            return self._sliced(position)
        if isinstance(position, np.ndarray):
            is_mask_of_rows = position.dtype == np.bool_
            return self._filtered(position) if is_mask_of_rows else self._taken(position)
        return self.iloc[position]

    def _of_list(self, labels: list[object]) -> Self:
        if not labels:
            return self._sliced(slice(0, 0))
        if self._table.index.is_range:
            positions = self.index.get_indexer(labels)
            if (positions < 0).any():
                absent = [x for x, p in zip(labels, positions, strict=True) if p < 0]
                raise KeyError(f"{absent} not in index")
            return self._taken(positions)
        labels = list(_times_of_texts(labels, self._table.index.levels[0]))
        # Copies only the labels of matching rows to the host, to order them as the list.
        selected = self._like(filter_rows(self._table, self._flags_of(labels)))
        taken = selected._taken(positions_of_all(labels, selected.index, pd.Index(labels)))
        # The labels are those of the list, which has no frequency.
        index = dataclasses.replace(taken._table.index, freq=None)
        return taken._like(taken._table.replace(index=index))

    def _flags_of(self, labels: object, level: int = 0) -> Array:
        return flags_of_labels(self._table.index_columns()[level], labels, self._table)

    @answered_at_once
    def _without_labels(self, labels: Any, level: LevelOrLevels, errors: str) -> Self:
        """Drops rows by label."""
        index = self._table.index
        if index.num_levels > 1 and level is None:
            return by_pandas(
                self, "drop: labels of several levels", "Pass level=, or use a mask.",
                lambda data: data.drop(labels, errors=errors),
            )  # fmt: skip
        # As in pandas a tuple is one label.
        listed = [labels] if isinstance(labels, tuple) else listed_labels(labels)
        (position,) = (0,) if level is None else self._levels_at(level)
        listed = _times_of_texts(listed, self._table.index_columns()[position])
        flags = self._flags_of(listed, position)
        if errors != "ignore":
            if is_traced(flags, self._table.num_rows):
                raise NotImplementedError(
                    'drop: the labels are not known inside jit. Pass errors="ignore".'
                )
            present = self._like(filter_rows(self._table, flags)).index.get_level_values(position)
            absent = [label for label in listed if label not in present]
            if absent:
                raise KeyError(f"{absent} not found in axis")
        return self._like(filter_rows(self._table, inverse(flags)))


def _as_time(bound: Any) -> Any:
    """A bound of `truncate` among times.

    As in pandas a string is one time, where in a slice it stands for a whole period.
    """
    return bound if bound is None or isinstance(bound, pd.Period) else pd.to_datetime(bound)


def _times_of_texts(labels: Sequence[Any], level: Column) -> Sequence[Any]:
    """Texts as the times or periods of a level, if pandas reads all; other labels as they are.

    Dates are read too, as midnights without a time zone.
    """
    is_naive = level.kind == "datetime" and level.type.zone is None
    if is_naive and all(isinstance(label, datetime.date) for label in labels):
        return list(pd.to_datetime(list(labels))) if any(_is_date(x) for x in labels) else labels
    is_read = level.type.is_time or level.kind == "period"
    if not is_read or not all(isinstance(label, str) for label in labels):
        return labels
    try:
        return list(pd.Index(labels, dtype="str").astype(level.dtype_name))
    except ValueError:
        return labels


def _is_date(label: object) -> bool:
    return not isinstance(label, datetime.datetime)


class FrameLabelSelection(FrameBase, LabelSelection):
    """Row and column selection of a frame by label."""

    def _columns_of(self, columns: object) -> Any:
        if isinstance(columns, slice) and columns == slice(None):
            return self
        if isinstance(columns, SeriesBase):
            if columns._is_traced:
                raise NotImplementedError(
                    "loc: inside jit columns are selected by labels, not by values. Call it "
                    "outside, or pass a list."
                )
            columns = as_pandas(columns)
        is_one = not isinstance(columns, (list, slice)) and columns in self._labels
        if is_one or (isinstance(columns, list) and self._are_names(columns)):
            return self[columns]
        if isinstance(columns, str) and self._labels.num_levels == 1:
            absent = self._labels.absent([columns])
            if absent and self._labels.index.dtype.kind not in "mM":
                raise absent
        selected: Any = numbered_columns(self._labels.index).loc[:, columns]
        if isinstance(selected, pd.Series):
            return self._series_at(int(selected.iloc[0]))
        result = self._columns_at([int(position) for position in selected.iloc[0]])
        result._labels = Labels(selected.columns)
        return result

    def _are_names(self, labels: list[object]) -> bool:
        """Whether all labels are strings and names of columns."""
        index = self._labels.index
        # In an index of times a string may select a whole year.
        has_names = index.nlevels == 1 and (index.dtype == "str" or index.dtype == object)
        return has_names and all(isinstance(label, str) and label in index for label in labels)

    def iterrows(self) -> Any:
        """Iterates over pairs of label and row, a series of pandas."""
        return self.to_pandas().iterrows()

    def itertuples(self, index: bool = True, name: str | None = "Pandas") -> Any:
        """Iterates over rows as named tuples of Python values."""
        return self.to_pandas().itertuples(index=index, name=name)


class SeriesLabelSelection(SeriesBase, LabelSelection):
    """Row selection of a series by label."""
