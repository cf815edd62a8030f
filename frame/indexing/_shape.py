# SPDX-License-Identifier: Apache-2.0
"""`shape`, `columns`, `dtypes`, `select_dtypes`, `squeeze` and related attributes."""

import math
from collections.abc import Callable, Hashable
from typing import Any, Self

import jax
import numpy as np
import pandas as pd

from ..table._arguments import axis_number, piped
from ..table._column import Column
from ..table._column_labels import Labels, frame_of_labels, numbered_columns
from ..table._host_rows import HostRows
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._table import Count
from ..table._to_host import no_rows
from ..table._tracing import answered_at_once, is_traced
from ..table._types import Axis, Options


def pandas_dtype(column: Column, num_rows: Count) -> Any:
    """The dtype of a column in pandas; inside `jit` that of a column with missing values."""
    if column.is_nullable:
        return column.type.nullable(column.dtype)
    if column.valid is not None:
        return np.dtype(object if column.is_bool else np.float64)
    match column.kind:
        case "category":
            return pd.CategoricalDtype(column.dictionary.values, column.type.ordered)
        case "string":
            return pd.StringDtype(na_value=np.nan)
        case "object":
            return no_rows(column).dtype
        case "list":
            form = column.type.lists
            if form is not None and form.form == "arrow":
                return pd.ArrowDtype(form.arrow)
            return np.dtype(object)
    return column.dtype if column.is_numeric else pd.api.types.pandas_dtype(column.dtype_name)


class Shape(NDFrame):
    """Attributes that frames and series share."""

    @property
    def _num_rows(self) -> Any:
        stored: Any = self._stored
        if type(stored) is HostRows:
            return len(stored.rows)
        num_rows = self._table.num_rows
        return num_rows if is_traced(num_rows) else len(self)

    @property
    def empty(self) -> Any:
        """Whether `size` is zero; an array if the number of rows is traced."""
        return self.size == 0

    @property
    def size(self) -> Any:
        """The number of values; an array if the number of rows is traced."""
        return math.prod(self.shape)

    def copy(self, deep: bool = True) -> Self:
        """Returns a copy that shares the immutable arrays; `deep` is ignored."""
        return self._like(self._table)

    def pipe(self, func: object, *args: object, **kwargs: Options) -> Any:
        """Calls `func(self, *args, **kwargs)`."""
        return piped(self, func, args, kwargs)

    def block_until_ready(self) -> Self:
        """Waits until the arrays are computed."""
        return jax.block_until_ready(self)


class FrameShape(FrameBase, Shape):
    """Shape, labels and dtypes of a frame."""

    @property
    def shape(self) -> tuple[Any, int]:
        """The numbers of rows and columns; that of rows is an array if it is traced."""
        return self._num_rows, len(self._labels)

    @property
    def ndim(self) -> int:
        """The number of axes, 2."""
        return 2

    @property
    def columns(self) -> pd.Index:
        """The labels of the columns."""
        if not self._labels.is_shown:
            self._labels = self._labels.shown()
        return self._labels.index

    @columns.setter
    def columns(self, labels: object) -> None:
        self._labels = self.set_axis(labels, axis=1)._labels

    @property
    def axes(self) -> list[pd.Index]:
        """The index and the columns."""
        return [self.index, self.columns]

    @property
    def dtypes(self) -> pd.Series:
        """pandas' dtype of each column."""
        dtypes = [pandas_dtype(column, self._table.num_rows) for column in self._table.columns]
        return pd.Series(dtypes, index=self._labels.index, dtype=object)

    def __setattr__(self, name: str, value: object) -> None:
        if name in self.__dict__ or hasattr(type(self), name):
            object.__setattr__(self, name, value)
        elif name in self.__dict__.get("_labels", ()):
            self[name] = value
        elif name.startswith("_"):
            object.__setattr__(self, name, value)
        else:
            raise AttributeError(
                f"JaxFrame: columns cannot be created by attribute, got {name!r}. "
                f"Write frame[{name!r}] = ..."
            )

    def select_dtypes(self, include: object = None, exclude: object = None) -> Self:
        """Selects columns by dtype.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1], "s": ["a"]}).select_dtypes("number").columns.tolist()
            ['x']
        """
        parts = {at: pd.Series([], dtype=dtype) for at, dtype in enumerate(self.dtypes)}
        selected = pd.DataFrame(parts).select_dtypes(include, exclude)
        return self._columns_at(list(selected.columns))

    def squeeze(self, axis: Axis = None) -> Any:
        """Converts a single column to a series, and a single value to a scalar."""
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
    """Shape, name and dtype of a series."""

    @property
    def axes(self) -> list[pd.Index]:
        """The index."""
        return [self.index]

    @property
    def shape(self) -> tuple[Any]:
        """The number of rows, as an array if it is traced."""
        return (self._num_rows,)

    @property
    def ndim(self) -> int:
        """The number of axes, 1."""
        return 1

    @property
    def dtype(self) -> Any:
        """pandas' dtype of the values."""
        return pandas_dtype(self._only, self._table.num_rows)

    dtypes = dtype

    @property
    def name(self) -> Hashable:
        """The name of the series, its label as a column."""
        return self._name

    @name.setter
    def name(self, name: Hashable) -> None:
        if not isinstance(name, Hashable):
            raise TypeError("Series.name must be a hashable type")
        self._name = name

    @property
    @answered_at_once
    def hasnans(self) -> Any:
        """Whether any value is missing; inside `jit` an array."""
        found = self.isna().any()
        return found if is_traced(found) else bool(found)

    def to_frame(self, name: Hashable = ...) -> Any:
        """Converts to a frame with one column."""
        empty = pd.Series([], dtype=np.float64, name=self._name)
        labels = (empty.to_frame() if name is ... else empty.to_frame(name)).columns
        return self._make_frame([self._only], Labels(labels))

    def squeeze(self, axis: Axis = None) -> Any:
        """The value of a series of length one, else the series; inside `jit` the series."""
        axis_number(axis or 0, self)
        if self._is_traced:
            return self
        return self.to_pandas().squeeze() if len(self) == 1 else self


def relabelled(index: pd.Index, change: Callable[[pd.DataFrame], pd.DataFrame]) -> pd.Index:
    """The column labels after a method of pandas on a frame without rows."""
    return change(frame_of_labels(index)).columns


def columns_after(index: pd.Index, change: Callable[[pd.DataFrame], pd.DataFrame]) -> Any:
    """The old positions of columns after a method of pandas, -1 for new ones, and the labels."""
    changed = change(numbered_columns(index))
    return [-1 if pd.isna(p) else int(p) for p in changed.iloc[0].tolist()], changed.columns
