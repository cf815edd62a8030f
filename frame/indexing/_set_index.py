# SPDX-License-Identifier: Apache-2.0
"""`set_index`, `reset_index`, `sort_index`, `swaplevel` and `droplevel`."""

import dataclasses
from collections.abc import Hashable, Sequence
from typing import Any, Self

import jax
import numpy as np
import pandas as pd

from ..sorting._sort_values import as_directions, sort_keys
from ..table._arguments import axis_number, listed
from ..table._by_pandas import by_pandas
from ..table._column import Column
from ..table._column_labels import Labels
from ..table._from_host import column_from
from ..table._in_place import with_inplace
from ..table._level_orders import orders_at
from ..table._ndframe import FrameBase, SeriesBase
from ..table._object_functions import inferred, inferred_labels
from ..table._objects import sortable
from ..table._row_index import RANGE, RowIndex, frequency_of, index_names
from ..table._sort import sort_rows
from ..table._suggestions import the_columns
from ..table._table import Table
from ..table._types import Axis, LevelOrLevels
from ._rename import Renaming
from ._shape import columns_after, relabelled


class IndexMoves(Renaming):
    """Methods of the index that frames and series share."""

    def infer_objects(self, copy: object = None) -> Self:
        """Converts columns of Python objects to the dtype that pandas infers from their values.

        Differences from pandas:
            Inside `jit` such columns stay objects.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> str(JaxSeries([1, 2], dtype=object).infer_objects().dtype)
            'int64'
        """
        del copy
        table = self._table
        return self._with_columns([inferred(column, table.num_rows) for column in table.columns])

    def _levels_at(self, level: LevelOrLevels) -> list[int]:
        """The positions of the levels that `level` names; None names all."""
        index = self._table.index
        if level is None:
            return list(range(index.num_levels))
        levels = listed(level)
        empty = index_names(index)
        return [empty._get_level_number(one) for one in levels]

    @with_inplace
    def sort_index(
        self,
        *,
        axis: Axis = 0,
        level: LevelOrLevels = None,
        ascending: object = True,
        inplace: bool = False,
        kind: object = "quicksort",
        na_position: Any = "last",
        sort_remaining: bool = True,
        ignore_index: bool = False,
        key: object = None,
    ) -> Self:
        """Sorts rows by label, or columns with `axis=1`.

        Differences from pandas:
            Every sort is stable; `kind` is ignored.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1, 2], index=["b", "a"]).sort_index().tolist()
            [2, 1]
        """
        if key is not None:
            how = {"axis": axis, "level": level, "ascending": ascending, "kind": kind, "key": key}
            how |= {"na_position": na_position, "sort_remaining": sort_remaining}
            return by_pandas(
                self, "sort_index: key=", "Sort by a column with the key's values.",
                lambda data: data.sort_index(ignore_index=ignore_index, **how),
            )  # fmt: skip
        if axis_number(axis, self):
            return self._with_sorted_columns(level, ascending, na_position, ignore_index)
        index = self._table.index
        positions = self._levels_at(level)
        mismatch = "level must have same length as ascending"
        directions = as_directions(ascending, len(positions), mismatch)
        # As in pandas, a list of directions is of the named levels alone.
        if sort_remaining and level is not None and not isinstance(ascending, (list, tuple)):
            rest = [p for p in range(index.num_levels) if p not in positions]
            positions, directions = positions + rest, [*directions, *([directions[0]] * len(rest))]
        if index.is_range and directions[0] == (index.step > 0):
            return self._like(self._table.replace(index=RANGE) if ignore_index else self._table)
        columns = self._table.index_columns()
        levels = [sortable(columns[p], self._table.num_rows) for p in positions]
        keys = sort_keys(levels, directions, na_position)
        # As in pandas, the levels of sorted rows are sorted.
        index = dataclasses.replace(index, orders=()) if index.orders else index
        table = sort_rows(self._table.replace(index=index), keys)
        return self._like(table.replace(index=RANGE) if ignore_index else table)

    def swaplevel(self, i: Any = -2, j: Any = -1, axis: Axis = 0) -> Self:
        """Swaps two levels of the index, or of the columns of a frame with `axis=1`."""
        if axis_number(axis, self):
            return self._relabelled(lambda f: f.swaplevel(i, j, axis=1))
        positions = self._levels_at(None)
        if len(positions) == 1:
            raise TypeError("Can only swap levels on a hierarchical axis, got one level.")
        (a,), (b,) = self._levels_at(i), self._levels_at(j)
        positions[a], positions[b] = positions[b], positions[a]
        return self._with_index(level_subset(self._table, positions))

    def reorder_levels(self, order: Any, axis: Axis = 0) -> Self:
        """Rearranges the levels of the index, or of the columns of a frame with `axis=1`."""
        if axis_number(axis, self):
            return self._relabelled(lambda f: f.reorder_levels(order, axis=1))
        positions = self._levels_at(list(order))
        if len(positions) != self._table.index.num_levels:
            raise AssertionError(
                f"Length of order must be same as number of levels "
                f"({self._table.index.num_levels}), got {len(positions)}"
            )
        return self._with_index(level_subset(self._table, positions))

    def droplevel(self, level: LevelOrLevels, axis: Axis = 0) -> Self:
        """Drops levels of the index, or of the columns of a frame with `axis=1`."""
        if axis_number(axis, self):
            return self._relabelled(lambda f: f.droplevel(level, axis=1))
        dropped, positions = self._levels_at(level), self._levels_at(None)
        remaining = [position for position in positions if position not in dropped]
        if not remaining:
            raise ValueError(
                f"Cannot remove {len(dropped)} levels from an index with {len(positions)} levels: "
                "at least one level must be left."
            )
        return self._with_index(level_subset(self._table, remaining))


class FrameIndexMoves(FrameBase, IndexMoves):
    """Methods of the index of a frame."""

    @with_inplace
    def set_index(
        self,
        keys: object,
        *,
        drop: bool = True,
        append: bool = False,
        inplace: bool = False,
        verify_integrity: bool = False,
    ) -> Self:
        """Sets the index from columns or arrays.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"k": ["a", "b"], "x": [1, 2]}).set_index("k").index.tolist()
            ['a', 'b']
        """
        table = self._table
        keys = keys if isinstance(keys, list) else [keys]
        absent = [key for key in keys if _is_label(key) and key not in self._labels]
        if absent:
            raise KeyError(
                f"None of {absent} are in the columns. {the_columns(absent, self._labels)}"
            )
        levels = zip(table.index_columns(), table.index.names, strict=True) if append else ()
        named, used = list(levels), set[int]()
        for key in keys:
            if _is_label(key):
                position = self._labels.position(key)
                used.add(position)
                named.append((table.columns[position], key))
            else:
                named += _levels_of(key, table)
        freq = frequency_of(keys[0]) if len(keys) == len(named) == 1 else None
        columns, names = tuple(level for level, _ in named), tuple(name for _, name in named)
        index = RowIndex(columns, names, freq=freq)
        remaining = [p for p in range(len(self._labels)) if not (drop and p in used)]
        result = self._columns_at(remaining)
        result._table = result._table.replace(index=index)
        if verify_integrity and not result.index.is_unique:
            duplicates = result.index[result.index.duplicated()].unique()
            raise ValueError(f"Index has duplicate keys: {duplicates}")
        return result

    @with_inplace
    def reset_index(
        self,
        level: LevelOrLevels = None,
        *,
        drop: bool = False,
        inplace: bool = False,
        col_level: Hashable = 0,
        col_fill: Hashable = "",
        allow_duplicates: bool = False,
        names: object = None,
    ) -> Self:
        """Moves index levels to columns; the index becomes a range if no level remains.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1, 2]}, index=["a", "b"]).reset_index().columns.tolist()
            ['index', 'x']
        """
        table, index = self._table, self._table.index
        positions = self._levels_at(level)
        remaining = [position for position in range(index.num_levels) if position not in positions]
        new_index = level_subset(table, remaining) if remaining else RANGE
        if drop:
            return self._with_index(new_index)
        empty_index = index_names(index)
        labels = relabelled(
            self._labels.index,
            lambda f: f.set_index(empty_index).reset_index(
                level=level, col_level=col_level, col_fill=col_fill,
                allow_duplicates=allow_duplicates, names=names,
            ),
        )  # fmt: skip
        levels = [table.index_columns()[position] for position in sorted(positions)]
        columns = (*inferred_labels(levels, table.num_rows), *table.columns)
        return self._made(table.replace(columns=columns, index=new_index), Labels(labels))

    def _with_sorted_columns(
        self, level: Hashable, ascending: Any, na_position: Any, new: bool
    ) -> Self:
        positions, labels = columns_after(
            self._labels.index,
            lambda f: f.sort_index(
                axis=1, level=level, ascending=ascending, na_position=na_position, kind="stable",
                ignore_index=new,
            ),
        )  # fmt: skip
        return self._with_columns_at(positions, Labels(labels))


class SeriesIndexMoves(SeriesBase, IndexMoves):
    """Methods of the index of a series."""

    @with_inplace
    def reset_index(
        self,
        level: LevelOrLevels = None,
        *,
        drop: bool = False,
        name: Hashable = ...,
        inplace: bool = False,
        allow_duplicates: bool = False,
    ) -> Any:
        """Moves index levels to columns of a frame, or drops them."""
        frame = self.to_frame(name) if name is not ... else self.to_frame()
        frame = frame.reset_index(level, drop=drop, allow_duplicates=allow_duplicates)
        return self._like(frame._table) if drop else frame


def level_subset(table: Table, positions: Sequence[int]) -> RowIndex:
    """The index with the levels at some positions."""
    levels, names = table.index_columns(), table.index.names
    return RowIndex(
        tuple(levels[p] for p in positions),
        tuple(names[p] for p in positions),
        missing_last=table.index.missing_last,
        orders=orders_at(table.index.orders, positions),
    )


def _is_label(key: object) -> bool:
    return not isinstance(
        key, (SeriesBase, pd.Series, pd.Index, np.ndarray, jax.Array)
    ) and isinstance(key, Hashable)


def _levels_of(key: object, table: Table) -> Sequence[tuple[Column, Hashable]]:
    if isinstance(key, SeriesBase):
        return [(key._only, key._name)]
    if isinstance(key, pd.MultiIndex):
        return [
            (_level(key.get_level_values(position), table), name)
            for position, name in enumerate(key.names)
        ]
    return [(_level(key, table), getattr(key, "name", None))]


def _level(values: Any, table: Table) -> Column:
    values = values if hasattr(values, "dtype") else pd.Index(values)
    if not isinstance(values, jax.Array) and len(values) != table.num_rows_on_host:
        raise ValueError(
            f"Length mismatch: Expected {table.num_rows_on_host} rows, received array of length "
            f"{len(values)}"
        )
    return column_from(values, table.capacity, table.layout, "index")
