# SPDX-License-Identifier: Apache-2.0
"""Rows and columns picked by their labels."""

from typing import Any, Self

import numpy as np
import pandas as pd

from ..align._as_column import as_column
from ..align._mask import is_mask
from ..mapping._isin import flags_in
from ..table._arguments import axis_number
from ..table._column import Array
from ..table._column_labels import Labels
from ..table._filter import filter_rows
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._tracing import answered_at_once, is_traced


class ByLabel:
    """`frame.loc[...]`."""

    def __init__(self, of: "LabelSelection"):
        self._of = of

    def __getitem__(self, key: Any) -> Any:
        if callable(key):
            key = key(self._of)
        index = self._of._table.index
        if isinstance(key, tuple) and len(key) > self._of.ndim and index.num_levels == 1:
            raise pd.errors.IndexingError(f"loc: Too many indexers, got {key!r}.")
        if not isinstance(self._of, FrameBase):
            return self._of._rows_at(key[0] if isinstance(key, tuple) and len(key) == 1 else key)
        rows, columns = key if isinstance(key, tuple) and len(key) == 2 else (key, slice(None))
        rows = rows(self._of) if callable(rows) else rows
        if isinstance(key, tuple) and index.num_levels > 1:
            raise NotImplementedError(
                "loc: several levels of labels are not picked by. Use reset_index() and a mask."
            )
        return self._of._columns_of(columns)._rows_at(rows)

    def __setitem__(self, key: Any, value: Any) -> None:
        raise NotImplementedError(
            "loc: rows cannot be set in place. Write frame[column] = frame[column].where(~mask, "
            "value) instead."
        )


class LabelSelection(NDFrame):
    """Rows of frames and series alike picked by their labels."""

    @property
    def loc(self) -> ByLabel:
        """Rows and columns by a mask, a label, a list of labels or a slice, whose end is included.

        Differences from pandas:
            Nothing can be set. Inside `jit` rows are picked by masks only. A slice of labels that
            are no range brings the labels of rows to the host.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"x": [1, 2, 3], "y": [4, 5, 6]}, index=["a", "b", "c"])
            >>> frame.loc[["c", "a"], "x"].tolist()
            [3, 1]
            >>> frame.loc[frame.x > 1, "y"].tolist()
            [5, 6]
        """
        return ByLabel(self)

    at = loc

    def _columns_of(self, columns: Any) -> Any:
        raise NotImplementedError

    def _rows_at(self, rows: Any) -> Any:
        of: Any = self
        if callable(rows):
            rows = rows(self)
        if isinstance(rows, slice) and rows == slice(None):
            return self._like(self._table)
        if is_mask(rows):
            return of._filtered(rows)
        return self._labelled(rows)

    @answered_at_once
    def _labelled(self, rows: Any) -> Any:
        of: Any = self
        index = self._table.index
        if is_traced(index, self._table.num_rows):
            raise NotImplementedError("loc: inside jit rows must be picked by a mask of bools.")
        if index.num_levels > 1:
            raise NotImplementedError(
                "loc: several levels of labels are not picked by. Use reset_index() and a mask."
            )
        on_host = index.is_range or isinstance(rows, slice) or index.levels[0].type.is_time
        if isinstance(rows, (list, np.ndarray, pd.Index, pd.Series, SeriesBase)):
            labels: Any = rows
            return self._of_list(list(rows) if isinstance(rows, list) else labels.tolist())
        if on_host:
            return self._of_host_labels(rows)
        found = self._like(filter_rows(self._table, self._flags_of([rows])))
        if not len(found):
            raise KeyError(rows)
        return found if len(found) > 1 else of._one_row(found)

    def _of_host_labels(self, rows: Any) -> Any:
        of: Any = self
        labels = self.index
        if isinstance(rows, slice):
            return of._sliced(labels.slice_indexer(rows.start, rows.stop, rows.step))
        place = labels.get_loc(rows)
        if isinstance(place, slice):
            return of._sliced(place)
        if isinstance(place, np.ndarray):
            return of._filtered(place)
        return of._one_row(of._taken([place]))

    def _of_list(self, labels: list[Any]) -> Self:
        of: Any = self
        if not labels:
            return of._sliced(slice(0, 0))
        if self._table.index.is_range:
            places = self.index.get_indexer(labels)
            if (places < 0).any():
                raise KeyError(_absent([x for x, p in zip(labels, places, strict=True) if p < 0]))
            return of._taken(places)
        # Only the rows of the labels come to the host, to be put in the order of the list.
        found: Any = self._like(filter_rows(self._table, self._flags_of(labels)))
        places, missing = found.index.get_indexer_non_unique(pd.Index(labels))
        if len(missing):
            raise KeyError(_absent([labels[place] for place in missing]))
        return found._taken(places)

    def _flags_of(self, labels: Any, level: int = 0) -> Array:
        return flags_in(self._table.index_columns()[level], labels, self._table, "loc")

    def _one_row(self, row: Any) -> Any:
        return row.to_pandas().iloc[0]

    @answered_at_once
    def _without_labels(self, labels: Any, level: Any, errors: str) -> Self:
        """Drops rows by their labels."""
        index = self._table.index
        if index.num_levels > 1 and level is None:
            raise NotImplementedError("drop: labels of several levels need level=. Use a mask.")
        listed = list(labels) if pd.api.types.is_list_like(labels) else [labels]
        (place,) = (0,) if level is None else self._levels_at(level)
        flags = self._flags_of(listed, place)
        if errors != "ignore":
            if is_traced(flags, self._table.num_rows):
                raise NotImplementedError(
                    'drop: inside jit labels are not known to be there. Pass errors="ignore".'
                )
            found = self._like(filter_rows(self._table, flags)).index.get_level_values(place)
            absent = [label for label in listed if label not in found]
            if absent:
                raise KeyError(f"{absent} not found in axis")
        return self._like(filter_rows(self._table, ~flags))


def _absent(labels: list[Any]) -> str:
    return f"{labels} not in index"


class FrameLabelSelection(FrameBase, LabelSelection):
    """A frame's rows and columns by label."""

    def _columns_of(self, columns: Any) -> Any:
        of: Any = self
        if isinstance(columns, slice) and columns == slice(None):
            return self
        if not isinstance(columns, (list, slice)) and columns in self._labels:
            return of[columns]
        if isinstance(columns, list) and self._are_names(columns):
            return of[columns]
        shell = pd.DataFrame([range(len(self._labels))], dtype=object)
        shell.columns = self._labels.index
        picked = shell.loc[:, columns]
        if isinstance(picked, pd.Series):
            return of._series_at(int(picked.iloc[0]))
        result = of._columns_at([int(place) for place in picked.iloc[0]])
        result._labels = Labels(picked.columns)
        return result

    def _are_names(self, labels: list[Any]) -> bool:
        """Whether labels can be nothing but names of columns that are there."""
        index = self._labels.index
        # Among times a string would stand for all of a year.
        holds_names = index.nlevels == 1 and (index.dtype == "str" or index.dtype == object)
        return holds_names and all(isinstance(label, str) and label in index for label in labels)

    def reindex(
        self, labels: Any = None, *, index: Any = None, columns: Any = None, axis: Any = None,
        fill_value: Any = np.nan, **ignored: Any,
    ) -> Any:  # fmt: skip
        """The columns of given labels, missing where there is no such column.

        Differences from pandas:
            Rows are not reindexed: `index=` raises. Use `merge` on a column of labels.
        """
        if axis_number(axis or 0, self) and labels is not None:
            columns = labels
        elif labels is not None or index is not None:
            raise NotImplementedError("reindex: rows stay. Merge with a frame of the labels.")
        if ignored:
            raise NotImplementedError(f"reindex: {next(iter(ignored))}= is not built.")
        wanted = columns if isinstance(columns, pd.Index) else pd.Index(columns)
        made = [
            self._column(label)
            if label in self._labels
            else as_column(fill_value, self._table, label)
            for label in wanted
        ]
        name = self._labels.index.name if wanted.name is None else wanted.name
        return self._make_frame(made, Labels(wanted.rename(name)))

    def explode(self, column: Any, ignore_index: bool = False) -> Any:
        """A row for each member of the lists in a column of objects, or in several at once.

        Differences from pandas:
            Not inside `jit`: the lists are on the host.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1, 2], "l": [["a", "b"], []]}).explode("l").x.tolist()
            [1, 1, 2]
        """
        of: Any = self
        if not self._labels.index.is_unique:
            raise ValueError("DataFrame columns must be unique.")
        labels = column if isinstance(column, list) else [column]
        if not labels:
            raise ValueError("column must be nonempty")
        if len(set(labels)) < len(labels):
            raise ValueError("column must be unique")
        members = {label: _exploded(of[label], len(labels) > 1) for label in labels}
        every = [places for _, places in members.values()]
        if any(not np.array_equal(places, every[0]) for places in every[1:]):
            raise ValueError("columns must have matching element counts")
        result = of.copy() if every[0] is None else of._taken(every[0])
        for label, (values, places) in members.items():
            if places is not None:
                result[label] = values
        return result.reset_index(drop=True) if ignore_index else result

    def iterrows(self) -> Any:
        """Each label with its row, of pandas."""
        return self.to_pandas().iterrows()

    def itertuples(self, index: bool = True, name: str | None = "Pandas") -> Any:
        """Each row as a named tuple of Python's values."""
        return self.to_pandas().itertuples(index=index, name=name)


class SeriesLabelSelection(SeriesBase, LabelSelection):
    """A series' rows by label."""

    def explode(self, ignore_index: bool = False) -> Any:
        """A row for each member of the lists in a series of objects."""
        of: Any = self
        values, places = _exploded(self)
        result: Any = self if places is None else of._taken(places)
        if places is not None:
            result = result._with_column(as_column(values, result._table, self._name))
        return result.reset_index(drop=True) if ignore_index else result


def _exploded(series: Any, counted: bool = False) -> tuple[Any, Any]:
    """The members of lists, and the row that each came from; None where there are no lists.

    If their places are counted, every row has one also where there are no lists.
    """
    if series._only.kind != "object" and not counted:
        return None, None
    values = series.reset_index(drop=True).to_pandas().explode()
    return values.array, values.index.to_numpy()
