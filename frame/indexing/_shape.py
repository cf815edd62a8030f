# SPDX-License-Identifier: Apache-2.0
"""How large a frame is, what its columns are called and of which dtypes they are."""

from collections.abc import Callable, Hashable
from typing import Any, Self

import jax
import numpy as np
import pandas as pd

from ..table._arguments import axis_number
from ..table._column import Column
from ..table._column_labels import Labels
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._table import Count
from ..table._take import any_missing
from ..table._tracing import answered_at_once, is_traced


def shown_dtype(column: Column, num_rows: Count) -> Any:
    """The dtype that pandas has for a column of that many rows.

    Inside `jit` the one it has where nothing is missing.
    """
    knows_holes = column.valid is not None and not is_traced(column.valid, num_rows)
    if knows_holes and bool(any_missing(column.valid, num_rows)):
        return np.dtype(object if column.is_bool else np.float64)
    match column.kind:
        case "category":
            return pd.CategoricalDtype(column.dictionary.values, column.type.ordered)
        case "string":
            return pd.StringDtype(na_value=np.nan)
        case "object":
            return np.dtype(object)
    return column.dtype if column.is_numeric else np.dtype(column.dtype_name)


class Shape(NDFrame):
    """What frames and series alike say of themselves."""

    @property
    def _num_rows(self) -> Any:
        num_rows = self._table.num_rows
        return num_rows if is_traced(num_rows) else len(self)

    @property
    def empty(self) -> Any:
        """Whether there is no value; inside `jit` an array, where rows are counted there."""
        return self.size == 0

    @property
    def size(self) -> Any:
        """How many values there are; inside `jit` an array."""
        raise NotImplementedError

    def copy(self, deep: bool = True) -> Self:
        """The same again. Arrays never change, so none is copied, whatever `deep` says."""
        return self._like(self._table)

    def pipe(self, func: Any, *args: Any, **kwargs: Any) -> Any:
        """What a function makes of it: `func(self, *args, **kwargs)`."""
        if not isinstance(func, tuple):
            return func(self, *args, **kwargs)
        func, keyword = func
        if keyword in kwargs:
            raise ValueError(f"{keyword} is both the pipe target and a keyword argument")
        return func(*args, **{keyword: self}, **kwargs)

    def block_until_ready(self) -> Self:
        """Waits for the arrays, for timings."""
        return jax.block_until_ready(self)


class FrameShape(FrameBase, Shape):
    """The size, the labels and the dtypes of a frame."""

    @property
    def shape(self) -> tuple[Any, int]:
        """Rows and columns; the rows are an array inside `jit`, which does not know them."""
        return self._num_rows, len(self._labels)

    @property
    def size(self) -> Any:
        """How many values there are; inside `jit` an array."""
        return self._num_rows * len(self._labels)

    @property
    def ndim(self) -> int:
        """Two."""
        return 2

    @property
    def columns(self) -> pd.Index:
        """The labels of the columns."""
        return self._labels.index

    @columns.setter
    def columns(self, labels: Any) -> None:
        self._labels = Labels(renamed_axis(self._labels.index, labels))

    @property
    def axes(self) -> list[pd.Index]:
        """The labels of rows and of columns."""
        return [self.index, self.columns]

    @property
    def dtypes(self) -> pd.Series:
        """The dtype of each column, as pandas has it."""
        dtypes = [shown_dtype(column, self._table.num_rows) for column in self._table.columns]
        return pd.Series(dtypes, index=self._labels.index, dtype=object)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_") or hasattr(type(self), name):
            object.__setattr__(self, name, value)
        elif name in self._labels:
            self[name] = value
        else:
            raise AttributeError(
                f"JaxFrame: a new column must be set by its label, got attribute {name!r}. "
                f"Write frame[{name!r}] = ..."
            )

    def select_dtypes(self, include: Any = None, exclude: Any = None) -> Self:
        """The columns of some dtypes, or of all but some.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1], "s": ["a"]}).select_dtypes("number").columns.tolist()
            ['x']
        """
        dtypes = [shown_dtype(column, self._table.num_rows) for column in self._table.columns]
        parts = {place: pd.Series([], dtype=dtype) for place, dtype in enumerate(dtypes)}
        chosen = pd.DataFrame(parts).select_dtypes(include, exclude)
        return self._columns_at(list(chosen.columns))

    def squeeze(self, axis: Any = None) -> Any:
        """A series where there is one column, and a scalar where there is one row too."""
        is_rows = len(self._labels) != 1 if axis is None else not axis_number(axis, self)
        if is_rows:
            if len(self) == 1:
                return self.to_pandas().squeeze(axis)
            return self
        if len(self._labels) != 1:
            return self
        series = self._series_at(0)
        return series if axis is not None else series.squeeze()


class SeriesShape(SeriesBase, Shape):
    """The size, the name and the dtype of a series."""

    @property
    def axes(self) -> list[pd.Index]:
        """The labels of rows."""
        return [self.index]

    @property
    def shape(self) -> tuple[Any]:
        """Rows; an array inside `jit`, which does not know them."""
        return (self._num_rows,)

    @property
    def size(self) -> Any:
        """How many values there are; inside `jit` an array."""
        return self._num_rows

    @property
    def ndim(self) -> int:
        """One."""
        return 1

    @property
    def dtype(self) -> Any:
        """The dtype of the values, as pandas has it."""
        return shown_dtype(self._only, self._table.num_rows)

    dtypes = dtype

    @property
    def name(self) -> Hashable:
        """The name of the series, which is its label as a column."""
        return self._name

    @name.setter
    def name(self, name: Hashable) -> None:
        if not isinstance(name, Hashable):
            raise TypeError("Series.name must be a hashable type")
        self._name = name

    @property
    @answered_at_once
    def hasnans(self) -> bool:
        """Whether any value is missing."""
        return bool(self.isna().any())

    def to_frame(self, name: Hashable = ...) -> Any:
        """A frame of this one column."""
        shell = pd.Series([], dtype=np.float64, name=self._name)
        labels = (shell.to_frame() if name is ... else shell.to_frame(name)).columns
        return self._make_frame([self._only], Labels(labels))

    def squeeze(self, axis: Any = None) -> Any:
        """The value itself where there is one row; the series, inside `jit`."""
        axis_number(axis or 0, self)
        if self._is_traced:
            return self
        return self.to_pandas().squeeze() if len(self) == 1 else self


def renamed_axis(index: pd.Index, labels: Any) -> pd.Index:
    """New labels in place of old ones, as many as those.

    Raises:
        ValueError: they are more or fewer.
    """
    shell = pd.DataFrame(columns=index)
    shell.columns = labels
    return shell.columns


def relabelled(index: pd.Index, change: Callable[[pd.DataFrame], pd.DataFrame]) -> pd.Index:
    """The labels of columns after a method of pandas, which is given a frame without rows."""
    return change(pd.DataFrame(columns=index)).columns


def places_after(index: pd.Index, change: Callable[[pd.DataFrame], pd.DataFrame]) -> Any:
    """The labels after a method of pandas, and where each stood before; -1 for a new one."""
    shell = pd.DataFrame([range(len(index))], dtype=object)
    shell.columns = index
    changed = change(shell)
    places = [-1 if pd.isna(place) else int(place) for place in changed.iloc[0].tolist()]
    return places, changed.columns
