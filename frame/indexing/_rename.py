# SPDX-License-Identifier: Apache-2.0
"""`rename`, `set_axis`, `filter`, `insert` and `drop`: changes of labels and names."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Self

import numpy as np
import pandas as pd

from ..align._as_column import as_column, one_column
from ..table._arguments import axis_number, listed
from ..table._column_labels import Labels, frame_of_labels
from ..table._expressions import is_expression
from ..table._from_host import index_from
from ..table._in_place import with_inplace
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._row_index import RowIndex, index_names
from ..table._suggestions import the_columns
from ..table._types import Axis, LevelOrLevels
from ..table._user_functions import as_pandas
from ._set_rows import with_first_rows
from ._shape import columns_after, relabelled


class Renaming(NDFrame):
    """Changes of row labels, shared by frames and series."""

    def _with_index(self, index: RowIndex) -> Self:
        return self._like(self._table.replace(index=index))

    def _named_index(self, mapper: object, index: Any) -> RowIndex:
        empty = pd.Series(np.empty(0), index=index_names(self._table.index))
        given = {"mapper": mapper, "index": index}
        renamed = empty.rename_axis(**{key: one for key, one in given.items() if one is not ...})
        return self._table.index.named(renamed.index.names)

    def _with_renamed_rows(self, mapper: Any, level: Any, errors: Any) -> Self:
        """The same rows, with labels that a dict or a function of the host changes."""
        labels = pd.Series(np.zeros(len(self)), index=self.index)
        return self.set_axis(labels.rename(mapper, level=level, errors=errors).index)

    def _relabelled(self, change: Callable[[pd.DataFrame], pd.DataFrame]) -> Self:
        """The frame with the column labels after a method of pandas on a frame without rows."""
        frame: Any = self
        return frame._made(self._table, Labels(relabelled(frame._labels.index, change)))

    def set_axis(self, labels: object, *, axis: Axis = 0, copy: object = True) -> Self:
        """Replaces the row labels, or the column labels of a frame with `axis=1`."""
        if axis_number(axis, self):
            return self._relabelled(lambda f: f.set_axis(as_pandas(labels), axis=1))
        index = labels.index if isinstance(labels, pd.Series) and labels.name == "" else labels
        if isinstance(index, SeriesBase):
            return self._with_index(RowIndex((index._only,), (index._name,)))
        index = pd.Index(index) if not isinstance(index, pd.Index) else index
        if len(index) != len(self):
            raise ValueError(
                f"Length mismatch: Expected axis has {len(self)} elements, new values have "
                f"{len(index)} elements"
            )
        return self._with_index(index_from(index, self._table.capacity, self._layout))

    def add_prefix(self, prefix: str, axis: Axis = None) -> Self:
        """Adds a prefix to the column labels of a frame, or to the row labels of a series.

        With `axis=0` it is that of the row labels, which become strings, not inside `jit`.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([5, 6]).add_prefix("row ").index.tolist()
            ['row 0', 'row 1']
        """
        return self._with_texts("add_prefix", prefix, axis)

    def add_suffix(self, suffix: str, axis: Axis = None) -> Self:
        """Adds a suffix to the column labels of a frame, or to the row labels of a series.

        With `axis=0` it is that of the row labels, which become strings, not inside `jit`.
        """
        return self._with_texts("add_suffix", suffix, axis)

    def _with_texts(self, method: str, text: str, axis: Axis) -> Self:
        """The same rows, with labels changed by a method of pandas."""
        if axis_number(self.ndim - 1 if axis is None else axis, self):
            return self._relabelled(lambda f: getattr(f, method)(text))
        labels = getattr(pd.Series(np.zeros(len(self)), index=self.index), method)(text).index
        return self.set_axis(labels)

    def filter(
        self, items: object = None, like: object = None, regex: object = None, axis: Axis = None
    ) -> Any:
        """Selects columns of a frame, or rows of a series, by label.

        The labels are listed, contain a string, or match a pattern. With `axis=0` it selects rows
        of a frame. The host reads the labels of rows; not supported inside `jit`.

        Differences from pandas:
            An expression of `col` selects the rows of a frame where it is True.

        Example:
            >>> from jaxframes.frame import JaxFrame, JaxSeries, col
            >>> JaxFrame({"x": [1, 2, 3]}).filter(col("x") > 1).x.tolist()
            [2, 3]
            >>> JaxSeries([1, 2, 3], index=["ab", "b", "c"]).filter(like="b").tolist()
            [1, 2]
        """
        if self.ndim == 2 and is_expression(items):
            if axis is not None and axis_number(axis, self):
                raise ValueError(
                    "Expressions such as pd.col(...) are only supported by DataFrame.filter with "
                    f"axis=0, got {axis=}. Leave out axis."
                )
            return self[items]

        def filtered(given: Any) -> Any:
            return given.filter(items=items, like=like, regex=regex)

        if axis_number(self.ndim - 1 if axis is None else axis, self):
            frame: Any = self
            positions, labels = columns_after(frame._labels.index, filtered)
            return self._with_columns_at(positions, Labels(labels))
        row_ids = pd.Series(np.arange(len(self)), index=self.index)
        return self._taken(filtered(row_ids).to_numpy())

    @with_inplace
    def drop(
        self,
        labels: object = None,
        *,
        axis: Axis = 0,
        index: object = None,
        columns: object = None,
        level: LevelOrLevels = None,
        inplace: bool = False,
        errors: Any = "raise",
    ) -> Self:
        """Drops rows, or columns of a frame, by label.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1], "y": [2]}).drop(columns="x").columns.tolist()
            ['y']
        """
        if labels is not None:
            if index is not None or columns is not None:
                raise ValueError("Cannot specify both 'labels' and 'index'/'columns'")
            index, columns = (None, labels) if axis_number(axis, self) else (labels, None)
        elif index is None and columns is None:
            raise ValueError("Need to specify at least one of 'labels', 'index' or 'columns'")
        elif self.ndim > 1 and axis_number(axis, self):
            raise ValueError(
                "Cannot specify both 'axis' and 'index'/'columns'. Leave out axis, which is that "
                "of labels."
            )
        result = self if columns is None else self._drop_columns(columns, level, errors)
        return result if index is None else result._without_labels(index, level, errors)

    def _drop_columns(self, columns: object, level: LevelOrLevels, errors: object) -> Self:
        """The frame without columns; a series has none to drop."""
        del columns, level, errors
        return self


class FrameRenaming(FrameBase, Renaming):
    """Changes of a frame's labels."""

    @with_inplace
    def rename(
        self,
        mapper: object = None,
        *,
        index: object = None,
        columns: Any = None,
        axis: Axis = None,
        copy: object = True,
        inplace: bool = False,
        level: LevelOrLevels = None,
        errors: Any = "ignore",
    ) -> Self:
        """Renames columns, or rows, by a dict or a function.

        The labels of rows are renamed on the host, and not inside `jit`.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1]}).rename(columns={"x": "y"}).columns.tolist()
            ['y']
        """
        if axis is not None and (index is not None or columns is not None):
            raise TypeError(
                "Cannot specify both 'axis' and any of 'index' or 'columns'. Leave out axis, which "
                "is that of mapper."
            )
        if mapper is not None and (index is not None or columns is not None):
            raise TypeError("Cannot specify both 'mapper' and any of 'index' or 'columns'")
        if mapper is not None and axis_number(axis or 0, self):
            columns = mapper
        elif mapper is not None:
            index = mapper
        if columns is None and index is None:
            raise TypeError("must pass an index to rename")
        index, columns = as_pandas(index), as_pandas(columns)
        named = self if index is None else self._with_renamed_rows(index, level, errors)
        if columns is None:
            return named
        if level is None and errors == "ignore":
            labels = _renamed(named._labels, columns)
            if labels is not None:
                return named._made(named._table, labels)
        return named._relabelled(lambda f: f.rename(columns=columns, level=level, errors=errors))

    @with_inplace
    def rename_axis(
        self,
        mapper: Any = ...,
        *,
        index: object = ...,
        columns: object = ...,
        axis: Any = 0,
        copy: Any = True,
        inplace: bool = False,
    ) -> Self:
        """Sets the name of the index or of the columns."""
        if mapper is not ... and axis_number(axis, self):
            return self._relabelled(lambda f: f.rename_axis(mapper, axis=1))
        named = self._with_index(self._named_index(mapper, index))
        if columns is ...:
            return named
        return named._relabelled(lambda f: f.rename_axis(columns=columns))

    def insert(
        self, loc: int, column: Hashable, value: object, allow_duplicates: bool = False
    ) -> None:
        """Inserts a column at a position."""
        empty = frame_of_labels(self._labels.index)
        empty.insert(loc, column, np.empty(0), allow_duplicates=allow_duplicates)
        value = one_column(value)
        table = with_first_rows(self, value)
        columns = list(table.columns)
        columns.insert(int(loc), as_column(value, table, column))
        self._table, self._labels = table.with_columns(columns), Labels(empty.columns)

    def _drop_columns(self, columns: object, level: LevelOrLevels, errors: Any) -> Self:
        named: Any = [columns] if type(columns) is str else columns
        if level is None and type(named) is list:
            kept = self._labels.without(named)
            if kept is not None:
                return self._with_columns_at(kept, self._labels.take(kept))
        index = self._labels.index
        try:
            positions, labels = columns_after(
                index, lambda f: f.drop(columns=columns, level=level, errors=errors)
            )
        except KeyError as error:
            names = listed(columns)
            absent = [name for name in names if name not in index]
            raise KeyError(f"{error.args[0]}. {the_columns(absent, index)}") from None
        return self._with_columns_at(positions, Labels(labels))

    def _with_columns_at(self, positions: list[int], labels: Labels) -> Self:
        columns = [self._table.columns[position] for position in positions]
        table = self._table
        if not columns and not table.index.levels and len(table.columns):
            # A table needs an array to tell its capacity, so the index gets one.
            table = table.replace(index=RowIndex(table.index_columns(), table.index.names))
        return self._made(table.with_columns(columns), labels)


def _renamed(labels: Labels, mapper: Any) -> Labels | None:
    """The labels changed by a dict or a function, as pandas does it; None if it has to."""
    if type(mapper) is dict:
        return labels.renamed(lambda label: mapper.get(label, label))
    if isinstance(mapper, (Mapping, pd.Series)) or not callable(mapper):
        return None
    return labels.renamed(mapper)


class SeriesRenaming(SeriesBase, Renaming):
    """Changes of a series' name and row labels."""

    @with_inplace
    def rename(
        self,
        index: object = None,
        *,
        axis: Axis = None,
        copy: object = True,
        inplace: bool = False,
        level: LevelOrLevels = None,
        errors: object = "ignore",
    ) -> Self:
        """Sets the name of the series, or changes its labels by a dict or a function.

        The labels of rows are renamed on the host, and not inside `jit`.
        """
        axis_number(axis or 0, self)
        if callable(index) or isinstance(index, (dict, pd.Series, SeriesBase)):
            return self._with_renamed_rows(as_pandas(index), level, errors)
        if isinstance(index, (list, np.ndarray)):
            raise TypeError(f"Series.name must be a hashable type, got {type(index).__name__}.")
        return self._made(self._table, index)

    @with_inplace
    def rename_axis(
        self,
        mapper: Any = ...,
        *,
        index: object = ...,
        axis: Any = 0,
        copy: Any = True,
        inplace: bool = False,
    ) -> Self:
        """Sets the name of the index."""
        axis_number(axis, self)
        return self._with_index(self._named_index(mapper, index))
