# SPDX-License-Identifier: Apache-2.0
"""Labels of rows made of columns, and columns made of them; rows in the order of their labels."""

from collections.abc import Hashable, Sequence
from typing import Any, Self

import jax
import numpy as np
import pandas as pd

from ..sorting._sort_values import as_directions, check_sortable, sort_keys
from ..table._arguments import axis_number, no_inplace, only_rows
from ..table._column import Column
from ..table._column_labels import Labels
from ..table._from_host import column_from
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._row_index import RANGE, RowIndex
from ..table._sort import sort_rows
from ..table._table import Table
from ._rename import index_names
from ._shape import places_after, relabelled


class IndexMoves(NDFrame):
    """The labels of rows, of frames and series alike."""

    def _levels_at(self, level: Any) -> list[int]:
        """The places of the levels that `level` names; all of them, if it is None."""
        index = self._table.index
        if level is None:
            return list(range(index.num_levels))
        levels = level if isinstance(level, (list, tuple)) else [level]
        shell = index_names(index)
        return [shell._get_level_number(one) for one in levels]

    def sort_index(
        self,
        *,
        axis: Any = 0,
        level: Any = None,
        ascending: Any = True,
        inplace: bool = False,
        kind: Any = "quicksort",
        na_position: Any = "last",
        sort_remaining: bool = True,
        ignore_index: bool = False,
        key: Any = None,
    ) -> Self:
        """Sorts rows by their labels, or columns by theirs with `axis=1`.

        Differences from pandas:
            Every sort is stable, whatever `kind` says.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1, 2], index=["b", "a"]).sort_index().tolist()
            [2, 1]
        """
        no_inplace("sort_index", inplace)
        if key is not None:
            raise NotImplementedError("sort_index: key= is not built. Sort by a column made of it.")
        if axis_number(axis, self):
            return self._with_sorted_columns(level, ascending, na_position, ignore_index)
        index = self._table.index
        places = self._levels_at(level)
        directions = (
            ascending if isinstance(ascending, (list, tuple)) else [ascending] * len(places)
        )
        if len(directions) != len(places):
            raise ValueError("level must have same length as ascending")
        directions = as_directions(directions)
        if sort_remaining and level is not None:
            rest = [place for place in range(index.num_levels) if place not in places]
            places, directions = places + rest, [*directions, *([directions[0]] * len(rest))]
        if index.is_range and directions[0] == (index.step > 0):
            return self._like(self._table.replace(index=RANGE) if ignore_index else self._table)
        columns = self._table.index_columns()
        levels = [check_sortable(columns[place], index.names[place]) for place in places]
        keys = sort_keys(levels, directions, na_position)
        table = sort_rows(self._table, keys)
        return self._like(table.replace(index=RANGE) if ignore_index else table)

    def _with_sorted_columns(self, level: Any, ascending: Any, na_position: Any, new: bool) -> Self:
        raise NotImplementedError


class FrameIndexMoves(FrameBase, IndexMoves):
    """The labels of a frame's rows."""

    def set_index(
        self,
        keys: Any,
        *,
        drop: bool = True,
        append: bool = False,
        inplace: bool = False,
        verify_integrity: bool = False,
    ) -> Self:
        """Makes columns, or arrays, the labels of rows.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"k": ["a", "b"], "x": [1, 2]}).set_index("k").index.tolist()
            ['a', 'b']
        """
        no_inplace("set_index", inplace)
        table = self._table
        keys = keys if isinstance(keys, list) else [keys]
        absent = [key for key in keys if _is_label(key) and key not in self._labels]
        if absent:
            every = list(self._labels)
            raise KeyError(f"None of {absent} are in the columns. The columns are {every}.")
        levels: list[Column] = list(table.index_columns()) if append else []
        names: list[Hashable] = list(table.index.names) if append else []
        used: set[int] = set()
        for key in keys:
            if _is_label(key):
                place = self._labels.place(key)
                used.add(place)
                levels.append(table.columns[place])
                names.append(key)
                continue
            for level, name in _levels_of(key, table):
                levels.append(level)
                names.append(name)
        index = RowIndex(tuple(levels), tuple(names))
        kept = [p for p in range(len(self._labels)) if not (drop and p in used)]
        result = self._columns_at(kept)
        result._table = result._table.replace(index=index)
        if verify_integrity and not result.index.is_unique:
            repeated = result.index[result.index.duplicated()].unique()
            raise ValueError(f"Index has duplicate keys: {repeated}")
        return result

    def reset_index(
        self,
        level: Any = None,
        *,
        drop: bool = False,
        inplace: bool = False,
        col_level: Hashable = 0,
        col_fill: Hashable = "",
        allow_duplicates: bool = False,
        names: Any = None,
    ) -> Self:
        """Makes the labels of rows columns, and numbers rows from zero.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1, 2]}, index=["a", "b"]).reset_index().columns.tolist()
            ['index', 'x']
        """
        no_inplace("reset_index", inplace)
        table, index = self._table, self._table.index
        places = self._levels_at(level)
        levels = table.index_columns()
        kept = [place for place in range(index.num_levels) if place not in places]
        left = RANGE
        if kept:
            left = RowIndex(tuple(levels[p] for p in kept), tuple(index.names[p] for p in kept))
        if drop:
            return self._of(_relabelled(table, left), self._labels)
        shell_index = index_names(index)
        labels = relabelled(
            self._labels.index,
            lambda f: f.set_index(shell_index).reset_index(
                level=level, col_level=col_level, col_fill=col_fill,
                allow_duplicates=allow_duplicates, names=names,
            ),
        )  # fmt: skip
        columns = (*(levels[place] for place in sorted(places)), *table.columns)
        return self._of(table.replace(columns=columns, index=left), Labels(labels))

    def _with_sorted_columns(self, level: Any, ascending: Any, na_position: Any, new: bool) -> Self:
        places, labels = places_after(
            self._labels.index,
            lambda f: f.sort_index(
                axis=1, level=level, ascending=ascending, na_position=na_position, kind="stable",
                ignore_index=new,
            ),
        )  # fmt: skip
        return self._picked(places, labels)

    def swaplevel(self, i: Any = -2, j: Any = -1, axis: Any = 0) -> Self:
        """Swaps two levels of the labels of rows."""
        only_rows("swaplevel", axis, self, "Set columns instead.")
        return self._like(self._table.replace(index=_swapped(self, i, j)))

    def droplevel(self, level: Any, axis: Any = 0) -> Self:
        """Drops a level of the labels of rows, or of columns with `axis=1`."""
        if axis_number(axis, self):
            labels = relabelled(self._labels.index, lambda f: f.droplevel(level, axis=1))
            return self._of(self._table, Labels(labels))
        return self._like(self._table.replace(index=_without(self, level)))


class SeriesIndexMoves(SeriesBase, IndexMoves):
    """The labels of a series' rows."""

    def reset_index(
        self,
        level: Any = None,
        *,
        drop: bool = False,
        name: Hashable = ...,
        inplace: bool = False,
        allow_duplicates: bool = False,
    ) -> Any:
        """Makes the labels of rows columns of a frame, or drops them."""
        no_inplace("reset_index", inplace)
        frame = self.to_frame(name) if name is not ... else self.to_frame()
        frame = frame.reset_index(level, drop=drop, allow_duplicates=allow_duplicates)
        return self._like(frame._table) if drop else frame

    def swaplevel(self, i: Any = -2, j: Any = -1) -> Self:
        """Swaps two levels of the labels of rows."""
        return self._like(self._table.replace(index=_swapped(self, i, j)))

    def droplevel(self, level: Any, axis: Any = 0) -> Self:
        """Drops a level of the labels of rows."""
        axis_number(axis, self)
        return self._like(self._table.replace(index=_without(self, level)))


def _swapped(of: IndexMoves, i: Any, j: Any) -> RowIndex:
    index = of._table.index
    if index.num_levels == 1:
        raise TypeError("swaplevel: labels must have several levels to swap, got one.")
    places = list(range(index.num_levels))
    (a,), (b,) = of._levels_at(i), of._levels_at(j)
    places[a], places[b] = places[b], places[a]
    return RowIndex(tuple(index.levels[p] for p in places), tuple(index.names[p] for p in places))


def _without(of: IndexMoves, level: Any) -> RowIndex:
    index = of._table.index
    gone = of._levels_at(level)
    kept = [place for place in range(index.num_levels) if place not in gone]
    if not kept:
        raise ValueError(
            f"Cannot remove {len(gone)} levels from an index with {index.num_levels} levels: at "
            "least one level must be left."
        )
    return RowIndex(tuple(index.levels[p] for p in kept), tuple(index.names[p] for p in kept))


def _relabelled(table: Table, index: RowIndex) -> Table:
    if index is RANGE and not table.columns and table.index.levels:
        return table.replace(columns=(), index=RANGE)
    return table.replace(index=index)


def _is_label(key: Any) -> bool:
    return not isinstance(
        key, (SeriesBase, pd.Series, pd.Index, np.ndarray, jax.Array)
    ) and isinstance(key, Hashable)


def _levels_of(key: Any, table: Table) -> Sequence[tuple[Column, Hashable]]:
    if isinstance(key, SeriesBase):
        return [(key._only, key._name)]
    if isinstance(key, pd.MultiIndex):
        return [
            (_level(key.get_level_values(place), table), name)
            for place, name in enumerate(key.names)
        ]
    name = getattr(key, "name", None)
    return [(_level(key, table), name)]


def _level(values: Any, table: Table) -> Column:
    values = values if hasattr(values, "dtype") else pd.Index(values)
    if not isinstance(values, jax.Array) and len(values) != table.num_rows_on_host:
        raise ValueError(
            f"Length mismatch: Expected {table.num_rows_on_host} rows, received array of length "
            f"{len(values)}"
        )
    return column_from(values, table.capacity, table.layout, "index")
