# SPDX-License-Identifier: Apache-2.0
"""`[]`, `iloc`, `head`, `tail` and `take`: selection of columns and rows."""

import contextlib
import sys
from collections.abc import Hashable, Iterable
from typing import Any, Self

import jax
import numpy as np
import pandas as pd

from ..align._as_column import as_mask, is_mask
from ..table._arguments import as_scalar, only_rows
from ..table._column_labels import Labels
from ..table._expressions import apply_if_callable
from ..table._filter import filter_rows
from ..table._from_host import column_from
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._suggestions import resembling
from ..table._table import as_count
from ..table._take import position, slice_rows, take_few_rows, take_rows
from ..table._tracing import answered_at_once, is_traced
from ..table._types import Axis, Function
from ..table._unsupported import lacking
from ._chained import OF_INDEXER, OF_OBJECT, warn_of_chained
from ._one_row import one_row
from ._set_rows import set_rows, update_rows


def _is_position(end: object) -> bool:
    """Whether an end of a slice is an integer, including JAX's."""
    return hasattr(end, "__index__") and not isinstance(end, (bool, np.bool_))


def _absent_attribute(of: object, kind: str, name: str, labels: Iterable[Hashable] = ()) -> Any:
    """Raises the error for a name that Python did not find."""
    attribute = getattr(type(of), name, None)
    if isinstance(attribute, property):
        # The property raised an AttributeError: raise it again, since it is more specific.
        return attribute.__get__(of)
    meant = None if name.startswith("_") else resembling(name, labels)
    suggestion = "" if meant is None else f". Did you mean {meant!r}?"
    raise lacking(kind, name) or AttributeError(
        f"{type(of).__name__!r} object has no attribute {name!r}{suggestion}"
    )


class RowSelection(NDFrame):
    """Row selection by position, shared by frames and series."""

    def head(self, n: int = 5) -> Self:
        """The first `n` rows, or all but the last `-n` if `n` is negative."""
        n, num_rows = as_scalar(n, "n"), self._table.num_rows
        if n < 0 and is_traced(num_rows):
            num_rows = jax.numpy.maximum(num_rows + np.int32(n), np.int32(0))
            return self._like(self._table.replace(num_rows=num_rows))
        return self._sliced(slice(0, n))

    def tail(self, n: int = 5) -> Self:
        """The last `n` rows, or all but the first `-n` if `n` is negative."""
        n, table = as_scalar(n, "n"), self._table
        if n <= 0 or not is_traced(table.num_rows):
            return self._sliced(slice(-n, None) if n else slice(0, 0))
        most = min(n, table.capacity)
        capacity = min(table.layout.capacity_for(most), table.capacity)
        num_rows = jax.numpy.minimum(table.num_rows, np.int32(most))
        return self._like(slice_rows(table, table.num_rows - num_rows, num_rows, capacity))

    def take(self, indices: object, axis: int = 0) -> Self:
        """The rows at given positions; negative positions count from the end."""
        only_rows("take", axis, self, "Select columns by label.")
        return self._taken(indices)

    @property
    def iloc(self) -> "ILocIndexer":
        """Selects rows by position, with an integer, a slice, a list or a mask.

        Assignment is that of `loc`.
        """
        return ILocIndexer(self)

    iat = iloc

    def _known_rows(self) -> int:
        if is_traced(self._table.num_rows):
            raise NotImplementedError(
                "single rows, and positions counted from the end, are not known inside jit. "
                "Use head(), tail(), or a slice with non-negative bounds."
            )
        return self._table.num_rows_on_host

    def _sliced(self, rows: slice) -> Self:
        table = self._table
        if is_traced(table.num_rows):
            return self._sliced_in_jit(rows)
        start, stop, step = rows.indices(table.num_rows_on_host)
        if step != 1:
            return self._taken(np.arange(start, stop, step))
        num_rows = max(stop - start, 0)
        capacity = table.layout.capacity_for(num_rows)
        return self._like(slice_rows(table, np.int32(start), as_count(num_rows), capacity))

    def _between(self, rows: slice) -> Self:
        """Slices rows by position, or by label if the bounds are not integers."""
        ends = (rows.start, rows.stop, rows.step)
        if all(end is None or _is_position(end) for end in ends):
            return self._sliced(rows)
        levels = self._table.index.levels
        is_integer = not levels or (levels[0].kind == "number" and levels[0].dtype.kind in "iu")
        if is_integer and len(levels) < 2:
            raise TypeError(
                f"cannot do slice indexing on an integer index with positions {rows}. Slice by "
                "integers, or use loc for labels."
            )
        return self.loc[rows]

    def _sliced_in_jit(self, rows: slice) -> Self:
        # The number of rows is traced, so only positions from the front are known.
        start, stop, step = rows.start or 0, rows.stop, rows.step or 1
        if step < 1 or start < 0 or (stop is not None and stop < 0):
            raise NotImplementedError(
                f"iloc: slices must have non-negative bounds inside jit, got {rows}."
            )
        table = self._table
        most = table.capacity if stop is None else min(stop, table.capacity)
        max_rows = -(-max(most - start, 0) // step)
        capacity = min(table.layout.capacity_for(max_rows), table.capacity)
        num_rows = (table.num_rows - np.int32(start) + np.int32(step - 1)) // np.int32(step)
        num_rows = jax.numpy.clip(num_rows, 0, np.int32(max_rows))
        if step > 1:
            row_ids = np.int32(start) + position(capacity, table.layout) * np.int32(step)
            return self._like(take_rows(table, row_ids, num_rows))
        return self._like(slice_rows(table, np.int32(start), num_rows, capacity))

    def _taken(self, indices: Any) -> Self:
        table = self._table
        if isinstance(indices, SeriesBase):
            if indices._is_traced:
                raise NotImplementedError(
                    "iloc: inside jit positions must be an array, whose length is the number of "
                    "rows. Select rows by a mask, or sort them with sort_values()."
                )
            indices = indices.to_numpy()
        if isinstance(indices, jax.Array) and is_traced(indices):
            positions = indices.astype(np.int32)
            positions = jax.numpy.where(positions < 0, positions + table.num_rows, positions)
        else:
            indices = np.asarray(indices if len(indices) else np.empty(0, np.int64))
            if indices.dtype.kind not in "iuf":
                raise ValueError(f"iloc: positions must be integers, got {indices.tolist()}.")
            num_rows = self._known_rows()
            if ((indices < -num_rows) | (indices >= num_rows)).any():
                raise IndexError("positional indexers are out-of-bounds")
            positions = np.where(indices < 0, indices + num_rows, indices).astype(np.int32)
            taken = take_few_rows(table, positions)
            if taken is not None:
                return self._like(taken)
        capacity = table.layout.capacity_for(len(positions))
        row_ids = column_from(positions, capacity, table.layout).data
        return self._like(take_rows(table, row_ids, as_count(len(positions))))

    def _filtered(self, mask: object, of_length: type[Exception] = IndexError) -> Self:
        return self._like(filter_rows(self._table, as_mask(mask, self._table, of_length)))


class ILocIndexer:
    """`frame.iloc[...]`."""

    def __init__(self, of: Any):
        self._of = of

    def __getitem__(self, key: Any) -> Any:
        key = apply_if_callable(key, self._of)
        if isinstance(key, tuple):
            if len(key) > self._of.ndim:
                raise pd.errors.IndexingError(
                    f"Too many indexers: {self._of.ndim} axes, got {len(key)} keys."
                )
            return self._of_both(*key) if len(key) == 2 else self[key[0]]
        if isinstance(key, slice):
            return self._of._sliced(key)
        if getattr(key, "ndim", None) == 0:
            key = as_scalar(key, "the position")
        if pd.api.types.is_integer(key):
            return self._one(int(key))
        if is_mask(key) and not _holds_positions(key):
            return self._of._filtered(key)
        if not isinstance(key, (list, np.ndarray, jax.Array, pd.Index, SeriesBase)):
            raise TypeError(f"iloc: rows must be integers, a slice, a list or a mask, got {key!r}.")
        return self._of._taken(key)

    def __setitem__(self, key: object, value: object) -> None:
        warn_of_chained(sys.getrefcount(self._of), self._of, OF_INDEXER)
        set_rows(self._of, "iloc", key, value)

    def _of_both(self, rows: Any, columns: Any) -> Any:
        positions = np.arange(len(self._of._labels))[columns]
        if isinstance(columns, (int, np.integer)):
            return self._of._series_at(int(positions)).iloc[rows]
        return self._of._columns_at(positions).iloc[rows]

    @answered_at_once
    def _one(self, position: int) -> Any:
        num_rows = self._of._known_rows()
        if not -num_rows <= position < num_rows:
            raise IndexError("single positional indexer is out-of-bounds")
        position %= num_rows
        # A row has values of several dtypes, so the result is a series of pandas.
        row = one_row(self._of, position)
        if row is not None:
            return self._of._noted(row) if isinstance(row, pd.Series) else row
        return self._of._sliced(slice(position, position + 1)).to_pandas().iloc[0]


def _holds_positions(key: object) -> bool:
    return isinstance(key, SeriesBase) and key._only.is_numeric and key._only.dtype.kind in "iu"


class FrameSelection(FrameBase, RowSelection):
    """Column and row selection of a frame."""

    def __getitem__(self, key: object) -> Any:
        if type(key) is str:
            return self._columns_labelled(key)
        key = apply_if_callable(key, self)
        if isinstance(key, FrameBase):
            return self.where(key)
        if is_mask(key):
            if isinstance(key, SeriesBase) and key._only.kind == "string" and not key._is_traced:
                return self._columns_named(list(key.to_pandas()))
            return self._filtered(key, ValueError)
        if isinstance(key, slice):
            return self._between(key)
        if isinstance(key, (set, dict)):
            raise TypeError(
                f"Passing a {type(key).__name__} as an indexer is not supported. Use a list."
            )
        if isinstance(key, (list, pd.Index, pd.Series, np.ndarray)):
            return self._columns_named(key)
        return self._columns_labelled(key)

    def _columns_labelled(self, label: Hashable) -> Any:
        """The column of a label, or the columns of several of it or below it."""
        positions, num_levels = self._labels.positions(label), self._labels.num_levels
        given = len(label) if isinstance(label, tuple) else 1
        if len(positions) == 1 and given >= num_levels:
            return self._series_at(positions[0])
        selected = self._columns_at(positions)
        if given < num_levels:
            below = selected._labels.index.droplevel(list(range(given)))
            selected._labels = Labels(below)
            top = below[0][0] if below.nlevels > 1 else below[0]
            if len(positions) == 1 and top == "":
                # As in pandas, an empty label below names the column itself.
                column = selected[""]
                is_series = isinstance(column, SeriesBase)
                return column._make_series(column._only, label) if is_series else column
        return selected

    def __getattr__(self, name: str) -> Any:
        # A frame that `copy` or `pickle` has just made has no labels yet.
        labels = self.__dict__.get("_labels", ())
        if name in labels:
            return self[name]
        return _absent_attribute(self, "JaxFrame", name, labels)

    def __contains__(self, label: object) -> bool:
        return label in self._labels.index

    def __iter__(self) -> Any:
        return iter(self._labels)

    def get(self, key: object, default: object = None) -> Any:
        """The column or columns of a key, or `default` if a label is absent."""
        labels = key if isinstance(key, list) else [key]
        return self[key] if all(label in self._labels for label in labels) else default

    def keys(self) -> pd.Index:
        """The labels of the columns."""
        return self._labels.index

    def items(self) -> Any:
        """Iterates over pairs of label and column."""
        return ((label, self._series_at(position)) for position, label in enumerate(self._labels))

    def pop(self, label: Hashable) -> Any:
        """Removes a column, or the columns of a label, and returns what `frame[label]` gives."""
        removed = self[label]
        positions = self._labels.positions(label)
        others = [other for other in range(len(self._labels)) if other not in positions]
        remaining = self._columns_at(others)
        self._table, self._labels = remaining._table, remaining._labels
        return removed

    def __delitem__(self, label: Hashable) -> None:
        self.pop(label)

    def _pick(self, test: Function) -> list[int]:
        """The positions of the columns that pass a test."""
        return [position for position, column in enumerate(self._table.columns) if test(column)]

    def _of_numbers(self) -> Self:
        """The columns that count as numbers, for `numeric_only`."""
        return self._columns_at(self._pick(lambda column: column.counts_as_number))


class SeriesSelection(SeriesBase, RowSelection):
    """Row selection of a series."""

    def pop(self, item: object) -> Any:
        """Removes the row of a label and returns its value. Not supported inside `jit`.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> series = JaxSeries([1, 2], index=["a", "b"])
            >>> int(series.pop("a")), series.tolist()
            (1, [2])
        """
        value = self.loc[item]
        if isinstance(value, NDFrame):
            raise IndexError(f"pop: the label {item!r} must name one row. Use loc and drop().")
        rest: Any = self
        self._table = rest.drop(item)._table
        return value

    def __delitem__(self, label: Hashable) -> None:
        rest: Any = self
        if label not in rest.index:
            raise KeyError(label)
        self._table = rest.drop(label)._table

    def __getattr__(self, name: str) -> Any:
        # As in pandas, the label of a row is an attribute.
        if not name.startswith("_") and self._has_named_rows():
            with contextlib.suppress(KeyError):
                return self.loc[name]
        return _absent_attribute(self, "JaxSeries", name)

    def _has_named_rows(self) -> bool:
        index = self._table.index
        if index.is_range or index.num_levels > 1 or is_traced(index, self._table.num_rows):
            return False
        return index.levels[0].kind in ("string", "category", "object")

    def __getitem__(self, key: object) -> Any:
        key = apply_if_callable(key, self)
        if is_mask(key):
            return self._filtered(key)
        if isinstance(key, slice):
            return self._between(key)
        return self.loc[key]

    def __setitem__(self, key: object, value: object) -> None:
        warn_of_chained(sys.getrefcount(self), self, OF_OBJECT)
        is_by_position = isinstance(key, slice) and all(
            end is None or _is_position(end) for end in (key.start, key.stop, key.step)
        )
        # As in pandas, only a mask aligns the labels of the values.
        indexer = "iloc" if is_by_position else "loc"
        set_rows(self, indexer, key, value, aligns=is_mask(key))

    def update(self, other: object) -> None:
        """Sets the values that another series has and does not miss, by label, on the host."""
        update_rows(self, other)

    def get(self, key: object, default: object = None) -> Any:
        """The values of a label, or `default`."""
        try:
            return self[key]
        except (KeyError, ValueError, IndexError):
            return default

    def repeat(self, repeats: Any, axis: Axis = None) -> Self:
        """Repeats each row, all equally often or each by its own number of times.

        Not supported inside `jit`, because the number of rows depends on `repeats`.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries(["a", "b"]).repeat([1, 2]).tolist()
            ['a', 'b', 'b']
        """
        only_rows("repeat", axis or 0, self, "")
        return self._taken(np.repeat(np.arange(len(self)), repeats))

    def __iter__(self) -> Any:
        # Otherwise Python would call __getitem__ with 0, 1, ...
        if self._is_traced:
            raise NotImplementedError(
                "JaxSeries: rows cannot be iterated inside jit. Use methods of the whole series "
                "(sum(), where(), map()), or jax.lax.scan over to_jax()."
            )
        return iter(self.to_pandas())

    def keys(self) -> pd.Index:
        """The labels of the rows."""
        return self.index

    def items(self) -> Any:
        """Iterates over pairs of label and value on the host; not supported inside `jit`."""
        return zip(self.index, self, strict=True)

    def __contains__(self, label: object) -> bool:
        return label in self.index

    def item(self) -> Any:
        """The value of a series of length one."""
        if len(self) != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return next(iter(self))
