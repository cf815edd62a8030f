# SPDX-License-Identifier: Apache-2.0
"""`unstack` and `pivot`: rows become columns."""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..combining._concat import concat
from ..groupby._dense_keys import first_rows_of_segments
from ..groupby._grouped_column import Options
from ..groupby._groups import make_groups
from ..indexing._set_index import level_subset
from ..mapping._choices import choose_scalar
from ..table._column import Array, Column, in_dtype, show_holes
from ..table._column_labels import Labels
from ..table._layout import Layout
from ..table._level_orders import places_in
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._row_index import RowIndex
from ..table._table import Count, is_row
from ..table._take import take_columns
from ..table._tracing import is_traced
from ..table._types import LevelOrLevels

_NO_ROW = np.int32(np.iinfo(np.int32).max)


class Cells(NamedTuple):
    """The cells of a table of row keys by column keys.

    Attributes:
        row_ids: the row in each cell, one array for each column key; -1 for an empty cell.
        labels: the column keys, on the host.
        index: the row keys.
        num_rows: the number of row keys.
        has_holes: whether a cell is empty.
    """

    row_ids: list[Array]
    labels: pd.Index
    index: RowIndex
    num_rows: Count
    has_holes: bool


def _find_cells(of: NDFrame, rows: RowIndex, columns: RowIndex, sort: bool, caller: str) -> Cells:
    """Assigns each row to a cell.

    Raises:
        ValueError: two rows have the same keys.
    """
    table, layout = of._table, of._layout
    if is_traced(table, rows, columns):
        raise NotImplementedError(
            f"{caller}: column labels are not known inside jit. Call it outside, or use groupby()."
        )
    options = Options(sort=sort, dropna=False)
    of_rows = make_groups(rows.levels, table, options)
    # As in pandas, keys of several levels are in the order of the rows.
    is_sorted = sort and columns.num_levels == 1
    of_columns = make_groups(columns.levels, table, options._replace(sort=is_sorted))
    labels = RowIndex(of_columns.keys, columns.names).to_pandas(int(of_columns.count))
    capacity = of_rows.capacity
    if len(labels) * capacity > _NO_ROW:
        raise ValueError("Unstacked DataFrame is too big, causing int32 overflow")
    first_rows, num_filled = _first_rows(
        of_rows.group_ids,
        of_columns.group_ids,
        table.num_rows,
        max(len(labels), 1),
        capacity,
        layout,
    )
    if int(num_filled) < table.num_rows_on_host:
        raise ValueError("Index contains duplicate entries, cannot reshape")
    has_holes = len(labels) * int(of_rows.count) > int(num_filled)
    missing_last = rows.missing_last
    index = RowIndex(of_rows.keys, rows.names, missing_last=missing_last, orders=rows.orders)
    row_ids = list(first_rows)[: len(labels)]
    if sort and not columns.missing_last and labels.nlevels == 1 and labels.hasnans:
        labels, row_ids = labels[[-1, *range(len(labels) - 1)]], [row_ids[-1], *row_ids[:-1]]
    if is_sorted and columns.orders:
        places = places_in(columns.orders[0], labels)
        order = np.argsort(np.where(labels.isna() & columns.missing_last, len(labels), places))
        labels, row_ids = labels.take(order), [row_ids[at] for at in order]
    return Cells(row_ids, labels, index, of_rows.count, has_holes)


def unstacked(
    of: NDFrame,
    columns: Sequence[Column],
    outer: pd.Index | None,
    rows: RowIndex,
    keys: RowIndex,
    *,
    fill_value: object = None,
    sort: bool = True,
    caller: str = "unstack",
) -> Any:
    """A frame with a row for each row key, and a column for each column and column key.

    The column labels are the column keys, below the labels `outer` of the columns unless None.
    """
    cells = _find_cells(of, rows, keys, sort, caller)
    table = of._table.replace(columns=(), index=cells.index, num_rows=cells.num_rows)
    shown: list[Column] = []
    for column in columns:
        for row_ids in cells.row_ids:
            is_marked = cells.has_holes and fill_value is None
            (cell,) = take_columns([column], row_ids, of._layout, holes=is_marked)
            if cells.has_holes and not is_marked:
                cell = choose_scalar(row_ids >= 0, cell, fill_value, table, caller)
            shown.append(show_holes(cell))
    result = of._make_frame(shown, Labels(_product(outer, cells.labels)), table)
    may_miss = not rows.missing_last and any(level.can_miss for level in cells.index.levels)
    if sort and rows.orders:
        return result.iloc[_ordered_rows(result.index, rows)]
    return result.sort_index(na_position="first") if sort and may_miss else result


def _ordered_rows(labels: pd.Index, rows: RowIndex) -> np.ndarray:
    """The rows in the order of the levels."""
    levels = [labels.get_level_values(at) for at in range(labels.nlevels)]
    places = [
        np.where(level.isna() & rows.missing_last, len(labels), places_in(order, level))
        for level, order in zip(levels, rows.orders, strict=True)
    ]
    return np.lexsort(places[::-1])


def _product(outer: pd.Index | None, inner: pd.Index) -> pd.Index:
    """Each outer label with each inner one; the inner labels if `outer` is None."""
    if outer is None:
        return inner
    positions = np.tile(np.arange(len(inner)), len(outer))
    names = [*outer.names, *inner.names]
    # A level that has a number for its name is not the level of that number.
    outer, inner = (one.set_names([None] * one.nlevels) for one in (outer, inner))
    return pd.MultiIndex.from_arrays(
        [
            *(outer.get_level_values(n).repeat(len(inner)) for n in range(outer.nlevels)),
            *(inner.get_level_values(n).take(positions) for n in range(inner.nlevels)),
        ],
        names=names,
    )


@functools.partial(tiered, static_argnums=(3, 4, 5))
def _first_rows(
    row_keys: Array,
    column_keys: Array,
    num_rows: Count,
    num_columns: int,
    capacity: int,
    layout: Layout,
) -> tuple[tuple[Array, ...], Array]:
    """The first row in each cell, by column key, and the number of cells with a row."""
    cells = column_keys * np.int32(capacity) + row_keys
    cells = jnp.where(is_row(cells.shape[0], num_rows, layout), cells, np.int32(-1))
    first_rows = first_rows_of_segments(cells, num_columns * capacity, layout)
    is_filled = first_rows < _NO_ROW
    row_ids = jnp.where(is_filled, first_rows, np.int32(-1)).reshape(num_columns, capacity)
    return tuple(map(layout.constrain, row_ids)), jnp.sum(is_filled, dtype=jnp.int32)


class FrameUnstack(FrameBase):
    """Rows to columns of a frame."""

    def unstack(
        self, level: LevelOrLevels = -1, fill_value: object = None, sort: bool = True
    ) -> Any:
        """Moves index levels to the innermost levels of the column labels.

        Without a level left, the result is a series with an entry for each value, column by column.
        The new column labels are copied to the host, so it is not supported inside `jit`.

        Differences from pandas:
            Bools with a missing value become objects column by column.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"a": ["x", "x", "y"], "b": [1, 2, 1], "v": [1, 2, 3]})
            >>> frame.set_index(["a", "b"]).unstack(fill_value=0).values.tolist()
            [[1, 2], [3, 0]]
        """
        index = self._table.index
        if index.num_levels == 1:
            return self._column_by_column(index)
        if _is_no_level(level):
            return self
        rows, keys = _split(self, level)
        if rows is None and self._labels.index.nlevels > 1:
            # As in pandas, which then has a value for each combination of labels.
            first, *others = self._levels_at(level)
            left: Any = self.unstack(first, fill_value, sort)
            return left.unstack([at - (at > first) for at in others], fill_value, sort)
        if rows is None:
            return self._column_by_column(keys)
        return unstacked(
            self, self._table.columns, self._labels.index, rows, keys,
            fill_value=fill_value, sort=sort,
        )  # fmt: skip

    def _column_by_column(self, index: RowIndex) -> Any:
        """The values of all columns as a series, whose labels are below those of the columns."""
        rows = self._like(self._table.replace(index=index))
        if index.num_levels > 1 and not rows._is_traced and not rows.index.is_unique:
            distinct = len(rows.index.unique())
            raise ValueError(
                f"Length mismatch: Expected axis has {len(rows)} elements, new values have "
                f"{distinct} elements: the labels of rows repeat. Aggregate them, by groupby()."
            )
        # An index, so that categories stay.
        keys: Any = self._labels.index
        return concat(
            [rows._series_at(at) for at in range(len(self._labels))],
            keys=keys,
            names=[*self._labels.index.names, *index.names],
        ).rename(None)

    def pivot(self, *, columns: object, index: object = ..., values: Any = ...) -> Any:
        """Reshapes by unique pairs of keys: a row for each value of `index`, or row label, and a
        column for each value of `columns`.

        Not supported inside `jit`; see `unstack`. `pivot_table` aggregates repeated pairs.

        Differences from pandas:
            Bools with a missing value become objects column by column.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"a": ["x", "x", "y"], "b": ["u", "w", "u"], "v": [1, 2, 3]})
            >>> frame.pivot(index="a", columns="b", values="v").values.tolist()
            [[1.0, 2.0], [3.0, nan]]
        """
        table, used = self._table, []

        def levels(keys: object) -> RowIndex:
            listed = keys if isinstance(keys, (list, tuple, pd.Index, np.ndarray)) else [keys]
            positions = [self._labels.position(key) for key in listed]
            used.extend(positions)
            return RowIndex(
                tuple(table.columns[at] for at in positions),
                tuple(self._labels[at] for at in positions),
            )

        keys = levels(columns)
        rows = level_subset(table, range(table.index.num_levels)) if index is ... else levels(index)
        if values is ...:
            shown = self._columns_at([at for at in range(len(self._labels)) if at not in used])
            shown_columns, outer = shown._table.columns, shown._labels.index
        elif isinstance(values, (list, pd.Index, np.ndarray)):
            shown = self[list(values)]
            shown_columns, outer = _in_one_dtype(shown._table.columns), shown._labels.index
            # As in pandas, they have the name that the argument has.
            named = values.names if isinstance(values, pd.Index) else [None] * outer.nlevels
            outer = outer.set_names(named)
        else:
            shown_columns, outer = self[[values]]._table.columns, None
        return unstacked(self, shown_columns, outer, rows, keys, caller="pivot")


def _in_one_dtype(columns: Sequence[Column]) -> Sequence[Column]:
    """Integers and floats, but no nullable ones, in the common dtype that NumPy has for them."""
    are_plain = all(one.is_numeric and not (one.is_bool or one.is_nullable) for one in columns)
    if not are_plain or len({one.dtype for one in columns}) < 2:
        return columns
    return in_dtype(columns, np.result_type(*(one.dtype for one in columns)))


class SeriesUnstack(SeriesBase):
    """Rows to columns of a series."""

    def unstack(
        self, level: LevelOrLevels = -1, fill_value: object = None, sort: bool = True
    ) -> Any:
        """Moves index levels to the column labels of a frame; see `JaxFrame.unstack`.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"a": ["x", "x", "y"], "b": [1, 2, 1]})
            >>> frame.groupby(["a", "b"]).size().unstack(fill_value=0).values.tolist()
            [[1, 1], [1, 0]]
        """
        if _is_no_level(level):
            return self
        is_split = self._table.index.num_levels > 1
        rows, keys = _split(self, level) if is_split else (None, None)
        if rows is None or keys is None:
            raise ValueError("index must be a MultiIndex to unstack, with a level that is left.")
        return unstacked(self, [self._only], None, rows, keys, fill_value=fill_value, sort=sort)


def _is_no_level(level: LevelOrLevels) -> bool:
    """Whether levels are listed, but none: as in pandas, all of them are left."""
    return isinstance(level, (list, tuple)) and not level


def _split(of: NDFrame, level: LevelOrLevels) -> tuple[RowIndex | None, RowIndex]:
    """The levels to keep, None if there are none, and those to unstack."""
    positions = of._levels_at(level)
    rest = [at for at in range(of._table.index.num_levels) if at not in positions]
    kept = level_subset(of._table, rest) if rest else None
    return kept, level_subset(of._table, positions)
