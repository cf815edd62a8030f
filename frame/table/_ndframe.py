# SPDX-License-Identifier: Apache-2.0
"""What JaxFrame and JaxSeries have in common: a table, and how methods make new ones of it."""

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from ._column import Column
from ._column_labels import Labels
from ._layout import Layout
from ._row_index import RANGE, RowIndex
from ._table import Table
from ._tracing import is_traced


class NDFrame:
    """A table that methods translate pandas' words for.

    The methods of a concept stand in a class of their own, which frames or series inherit; they
    make results with `_like`, `_make_series` and `_make_frame`, and so know neither class.
    """

    _stored: Table
    _seen: Table | None
    frame_class: ClassVar[type]
    series_class: ClassVar[type]

    @property
    def _table(self) -> Table:
        """The rows, and how many there are: waits for that number where a compiled function has
        yet to calculate it.

        The leaves of the pytree stay those of `_stored`, whoever looked at it.
        """
        if self._seen is None:
            self._seen = self._stored.with_known_counts()
        return self._seen

    @_table.setter
    def _table(self, table: Table) -> None:
        self._stored, self._seen = table, None

    def _like(self, table: Table) -> Self:
        """The same labels or name, of another table with as many columns."""
        raise NotImplementedError

    def _make_series(self, column: Column, name: Hashable, table: Table | None = None) -> Any:
        """A series of one column, on the rows of `table` (of this one, if left out)."""
        table = self._table if table is None else table
        return self.series_class._of(table.with_columns([column]), name)

    def _make_frame(
        self, columns: Sequence[Column], labels: Labels, table: Table | None = None
    ) -> Any:
        """A frame of columns, on the rows of `table` (of this one, if left out)."""
        table = self._table if table is None else table
        return self.frame_class._of(table.with_columns(columns), labels)

    def _with_range(self) -> Any:
        """The same rows, labelled 0, 1, ..."""
        return self._like(self._table.replace(index=RANGE))

    @property
    def _layout(self) -> Layout:
        return self._table.layout

    @property
    def _is_traced(self) -> bool:
        """Whether any of its arrays has no value yet: inside `jit`, `grad`, `vmap`."""
        return is_traced(self._table)

    def __len__(self) -> int:
        if is_traced(self._table.num_rows):
            raise NotImplementedError(
                "len: the number of rows is not known inside jit. Use shape[0] or count(), arrays."
            )
        return self._table.num_rows_on_host

    @property
    def index(self) -> pd.Index:
        """The labels of the rows, on the host."""
        if is_traced(self._table.index, self._table.num_rows):
            raise NotImplementedError(
                "index: the labels of rows are not known inside jit. "
                "Use reset_index() to calculate with them."
            )
        return self._table.index.to_pandas(len(self))

    @index.setter
    def index(self, labels: Any) -> None:
        self._table = self.set_axis(labels)._table  # pyright: ignore

    @property
    def sharding(self) -> Any:
        """Where the rows lie, a NamedSharding, or None for one device."""
        return self._layout.sharding


def as_series(values: Any) -> Any:
    """A series of ours as it is; values of the host or the device as one, on one device.

    Args:
        values: a series or an index of pandas, an array of one dimension, or a list.

    Raises:
        ValueError: the values have another number of dimensions.
    """
    if isinstance(values, SeriesBase):
        return values
    if isinstance(values, pd.Index):
        values = values.to_series(index=pd.RangeIndex(len(values)), name=values.name)
    elif not hasattr(values, "dtype") and pd.api.types.is_list_like(values):
        # Of an empty list pandas makes objects.
        values = list(values) or np.zeros(0)
    if np.ndim(values) != 1:
        raise ValueError(
            f"Input array must be 1 dimensional, got {np.ndim(values)} dimensions. Pass one column."
        )
    return NDFrame.series_class(values)


class FrameBase(NDFrame):
    """What the classes that JaxFrame inherits build on."""

    _labels: Labels

    @classmethod
    def _of(cls, table: Table, labels: Labels) -> Self:
        frame = object.__new__(cls)
        frame._table, frame._labels = table, labels
        return frame

    def _like(self, table: Table) -> Self:
        return self._of(table, self._labels)

    def _column(self, label: Hashable) -> Column:
        """The one column of a label."""
        return self._table.columns[self._labels.place(label)]

    def _series_at(self, place: int) -> Any:
        return self._make_series(self._table.columns[place], self._labels[place])


class SeriesBase(NDFrame):
    """What the classes that JaxSeries inherits build on."""

    _name: Hashable

    @classmethod
    def _of(cls, table: Table, name: Hashable) -> Self:
        series = object.__new__(cls)
        series._table, series._name = table, name
        return series

    def _like(self, table: Table) -> Self:
        return self._of(table, self._name)

    @property
    def _only(self) -> Column:
        """The column."""
        return self._table.columns[0]

    def _with_column(self, column: Column, name: Hashable = ...) -> Self:
        """The same rows, with other values."""
        return self._of(self._table.with_columns([column]), self._name if name is ... else name)


def small_table(columns: Sequence[Column], index: RowIndex, num_rows: int) -> Table:
    """A table of few rows, a result with a row for each column or group; on one device."""
    return Table(tuple(columns), index, np.int32(num_rows))
