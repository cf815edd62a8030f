# SPDX-License-Identifier: Apache-2.0
"""Common base of JaxFrame and JaxSeries: holds a table and constructs results."""

import copy
import sys
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import jax
import numpy as np
import pandas as pd
from jax.core import Tracer

from ._alive import lost_arrays
from ._array_owners import needed_array
from ._column import Column
from ._column_labels import Labels
from ._deferred import forced_table
from ._host_rows import HostRows
from ._layout import Layout
from ._returned import without_masks
from ._row_index import RANGE, frequency_of
from ._table import Table
from ._tracing import is_traced
from ._types import Axis, LabelOrLabels, LevelOrLevels

# Types of arrays, by whether they can be deleted: traced ones and those of the host cannot.
_DELETABLE: set[type] = set()
_PERMANENT: set[type] = {np.ndarray}


class NDFrame:
    """Base class of frames and series.

    Each room defines mixins that `JaxFrame` and `JaxSeries` inherit. Mixins construct results
    with `_like`, `_make_series` and `_make_frame`, so they import neither class.
    """

    _stored: Table
    _seen: Table | None
    # Whether a pytree was made into this object: inside `jit`, or from a result of `jit`.
    _is_of_tree: bool = False
    frame_class: ClassVar[type]
    series_class: ClassVar[type]
    expression_class: ClassVar[Any]

    # For type checkers: methods that a room uses of its objects and a higher room defines.
    if TYPE_CHECKING:

        @property
        def loc(self) -> Any: ...
        @property
        def ndim(self) -> int: ...
        @property
        def shape(self) -> tuple[Any, ...]: ...

        def __getitem__(self, key: object) -> Any: ...
        def __setitem__(self, key: object, value: object) -> None: ...
        def agg(self, func: object) -> Any: ...
        def astype(self, dtype: object) -> Self: ...
        def count(self) -> Any: ...
        def dot(self, other: object) -> Any: ...
        def head(self, n: int = 5) -> Self: ...
        def isna(self) -> Any: ...
        def items(self) -> Any: ...
        def nunique(self) -> Any: ...
        def reset_index(self) -> Any: ...
        def set_axis(self, labels: object, *, axis: Axis = 0) -> Self: ...
        def to_frame(self, name: Hashable = ...) -> Any: ...
        def to_numpy(self) -> Any: ...
        def to_pandas(self) -> Any: ...
        def value_counts(self) -> Any: ...
        def where(self, cond: object) -> Any: ...

        def _compared(self, subset: LabelOrLabels, caller: str) -> Any: ...
        def _levels_at(self, level: LevelOrLevels) -> list[int]: ...
        def _of_nothing(self, name: str, axis: Axis, labels: object, settings: object) -> Any: ...
        def _positions_compared(self, subset: object, caller: str) -> Sequence[int]: ...
        def _pick(self, predicate: object) -> list[int]: ...
        def _of_numbers(self) -> Self: ...
        def _with_sorted_columns(self, *arguments: object) -> Self: ...
        def _with_columns_at(self, positions: object, labels: object) -> Self: ...
        def _of_levels(self, rows: object) -> Any: ...
        def _sliced(self, rows: slice) -> Self: ...
        def _taken(self, indices: object) -> Self: ...
        def _without_labels(self, labels: object, level: LevelOrLevels, errors: str) -> Self: ...

    @property
    def _table(self) -> Table:
        """The table with its row count on the host; waits for the count if necessary.

        Masks of a result of `jit` are pandas' dtypes here; see `without_masks`.

        The pytree leaves are those of `_stored`, whether or not this property was read.

        Raises:
            RuntimeError: an array of the table was donated or deleted.
        """
        table = self._seen or self._facts
        stored = table.index.stored
        # Every call of every method passes here several times: in line, to make it cheap.
        for column in (*table.columns, *stored) if stored else table.columns:
            array = column.data if type(column) is Column else needed_array(column.stored)
            kind = type(array)
            if kind in _PERMANENT:
                continue
            if kind not in _DELETABLE:
                _note_type(kind)
            if kind in _DELETABLE and array.is_deleted():
                raise lost_arrays(self, table)
        return table

    @_table.setter
    def _table(self, table: Table) -> None:
        self._stored, self._seen, self._is_of_tree = table, None, False
        self.__dict__.pop("_shown", None)

    @property
    def _facts(self) -> Table:
        """The same table, for its number of rows and its layout: its arrays may be gone."""
        seen = self._seen
        if seen is None:
            if "_shown" in self.__dict__:
                return self._renamed_as_shown()
            seen = self._stored.with_known_counts()
            if self._is_of_tree:
                seen = without_masks(seen)
            # Not by the frame's `__setattr__`, which asks for labels.
            object.__setattr__(self, "_seen", seen)
        return seen

    def _renamed_as_shown(self) -> Table:
        """The table with the names and the frequency that the caller may have given to its index.

        `frame.index.name = "day"` names the labels of the frame, as in pandas. The table is read
        again at each use until nothing else refers to the index that we returned.
        """
        fields = self.__dict__
        index, seen = fields["_shown"]
        if tuple(index.names) != seen.index.names or frequency_of(index) != seen.index.freq:
            self._stored = self._stored.replace(index=self._stored.index.described_by(index))
            seen = seen.replace(index=seen.index.described_by(index))
        fields["_shown"] = index, seen
        del index
        # The tuple and the argument refer to it.
        if sys.getrefcount(fields["_shown"][0]) <= 2:
            del fields["_shown"]
            fields["_seen"] = seen
        return seen

    def _as_tree(self) -> tuple[Table]:
        """The children of this pytree: the table, forced."""
        if "_shown" in self.__dict__:
            self._renamed_as_shown()
        stored: Any = self._stored
        if type(stored) is HostRows:
            stored = stored.table
        # A tree of this structure may have anything in place of a table.
        return (forced_table(stored).with_count_arrays() if isinstance(stored, Table) else stored,)

    @property
    def attrs(self) -> dict[Hashable, Any]:
        """Notes of the user about the data. Results of methods have a copy, those of `jit` none."""
        return self.__dict__.setdefault("_attrs", {})

    @attrs.setter
    def attrs(self, value: Any) -> None:
        self.__dict__["_attrs"] = dict(value)

    def _with_attrs_of(self, source: "NDFrame") -> Self:
        """This object with the notes of the one that it was made of.

        Methods make their results with `_like`, `_made`, `_frame_of` and those below, which keep
        the notes; `_of` makes an object of nothing else.
        """
        notes = source.__dict__.get("_attrs")
        if notes:
            self.__dict__["_attrs"] = copy.deepcopy(notes)
        return self

    @property
    def _names(self) -> Sequence[Hashable]:
        """The labels of a frame's columns; the name of a series."""
        raise NotImplementedError

    def _like(self, table: Table) -> Self:
        """Same labels or name, for another table with equally many columns."""
        raise NotImplementedError

    @classmethod
    def _of_tree(cls, names: object, children: tuple[Table]) -> Self:
        """The object of a pytree; see `without_masks`."""
        kind: Any = cls
        (stored,) = children
        table = stored.with_count_scalars() if isinstance(stored, Table) else stored
        made = kind._of(table, names)
        made.__dict__["_is_of_tree"] = True
        return made

    def _noted(self, of_host: Any) -> Any:
        """An object of pandas with the notes of this one."""
        notes = self.__dict__.get("_attrs")
        if notes:
            of_host.attrs = notes
        return of_host

    def _made(self, table: Table, names: Any) -> Self:
        """A result of this kind, of another table under other labels or another name."""
        kind: Any = self
        return kind._of(table, names)._with_attrs_of(self)

    def _series_of(self, table: Table, name: Hashable) -> Any:
        """A result that is a series."""
        kind: Any = self.series_class
        return kind._of(table, name)._with_attrs_of(self)

    def _frame_of(self, table: Table, labels: Labels) -> Any:
        """A result that is a frame."""
        kind: Any = self.frame_class
        return kind._of(table, labels)._with_attrs_of(self)

    def _with_columns(self, columns: Sequence[Column]) -> Self:
        """The same rows with equally many other columns."""
        return self._like(self._table.with_columns(columns))

    def _make_series(self, column: Column, name: Hashable, table: Table | None = None) -> Any:
        """A series of one column, with the rows of `table` (default: of this object)."""
        table = self._table if table is None else table
        return self._series_of(table.with_columns([column]), name)

    def _make_frame(
        self, columns: Sequence[Column], labels: Labels, table: Table | None = None
    ) -> Any:
        """A frame of columns, with the rows of `table` (default: of this object)."""
        table = self._table if table is None else table
        return self._frame_of(table.with_columns(columns), labels)

    def _with_range(self) -> Any:
        """Resets the row labels to 0, 1, ..."""
        return self._like(self._table.replace(index=RANGE))

    @property
    def _layout(self) -> Layout:
        return self._facts.layout

    @property
    def _is_traced(self) -> bool:
        """Whether any array is traced, inside `jit`, `grad` or `vmap`."""
        return is_traced(self._table)

    def __len__(self) -> int:
        stored: Any = self._stored
        if type(stored) is HostRows:
            return len(stored.rows)
        if is_traced(self._facts.num_rows):
            raise NotImplementedError(
                "len: the number of rows is not known inside jit. Use shape[0] or count(), arrays."
            )
        # A count on the device goes with the columns.
        table = self._table if isinstance(self._facts.num_rows, jax.Array) else self._facts
        return table.num_rows_on_host

    @property
    def index(self) -> pd.Index:
        """The labels of the rows, on the host. Their names and frequency may be set in place."""
        table = self._table
        if is_traced(table.index, table.num_rows):
            raise NotImplementedError(
                "index: the labels of rows are not known inside jit. "
                "Use reset_index() to calculate with them."
            )
        if "_shown" in self.__dict__:
            return self.__dict__["_shown"][0]
        index = table.index.shown(len(self))
        self.__dict__.update(_shown=(index, table), _seen=None)
        return index

    @index.setter
    def index(self, labels: object) -> None:
        self._table = self.set_axis(labels)._table

    @property
    def sharding(self) -> Any:
        """The NamedSharding of the rows, or None on one device."""
        return self._layout.sharding


def _note_type(kind: type) -> None:
    """Notes whether arrays of a type can be deleted."""
    can_be = hasattr(kind, "is_deleted") and not issubclass(kind, Tracer)
    (_DELETABLE if can_be else _PERMANENT).add(kind)


def as_series(values: Any) -> Any:
    """A series as it is; an index, an array or a list of the host as one, on one device."""
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
    """Base class of the mixins of JaxFrame."""

    _labels: Labels

    @classmethod
    def _of(cls, table: Table | HostRows, labels: Labels) -> Self:
        frame = object.__new__(cls)
        # Not by `__setattr__`, which asks for labels.
        own = labels.own() if labels.is_shown else labels
        frame.__dict__.update(_stored=table, _seen=None, _labels=own)
        return frame

    @property
    def _names(self) -> Sequence[Hashable]:
        return list(self._labels)

    def _like(self, table: Table) -> Self:
        return self._made(table, self._labels)

    def _column(self, label: Hashable) -> Column:
        """The column with a unique label."""
        return self._table.columns[self._labels.position(label)]

    def _columns_at(self, positions: Sequence[int]) -> Self:
        columns = [self._table.columns[position] for position in positions]
        return self._made(self._table.with_columns(columns), self._labels.take(list(positions)))

    def _columns_named(self, labels: Iterable[Hashable]) -> Self:
        """The columns of labels, in their order."""
        return self._columns_at([at for label in labels for at in self._labels.positions(label)])

    def _series_at(self, position: int) -> Any:
        stored: Any = self._stored
        if type(stored) is HostRows:
            rows = stored.column(position, self._labels[position])
            if rows is not None:
                return self.series_class._of(rows, self._labels[position])._with_attrs_of(self)
        table = self._table
        return self._make_series(table.columns[position], self._labels[position], table)


class SeriesBase(NDFrame):
    """Base class of the mixins of JaxSeries."""

    _name: Hashable

    @classmethod
    def _of(cls, table: Table | HostRows, name: Hashable) -> Self:
        series = object.__new__(cls)
        series.__dict__.update(_stored=table, _seen=None, _name=name)
        return series

    @property
    def _names(self) -> Sequence[Hashable]:
        return [self._name]

    def _like(self, table: Table) -> Self:
        return self._made(table, self._name)

    @property
    def _only(self) -> Column:
        """The column."""
        return self._table.columns[0]

    def _with_column(self, column: Column, name: Hashable = ...) -> Self:
        """The same rows with other values."""
        return self._made(self._table.with_columns([column]), self._name if name is ... else name)
