# SPDX-License-Identifier: Apache-2.0
"""value_counts and mode."""

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ...primitives.staging import tiered
from ..ops._array_ops import divided
from ..reductions._results import table_of_frame
from ..table._arguments import axis_number, check_flag
from ..table._by_pandas import by_pandas
from ..table._column import NUMBER, Array, Column, all_of, bare, of_family
from ..table._distinct_values import code_counts
from ..table._dtypes import cast_exactly, wide
from ..table._filter import MOST_PADDED, filter_rows
from ..table._from_host import column_from
from ..table._host_column import HostColumn
from ..table._layout import ONE_DEVICE, Layout, padded
from ..table._level_orders import appearances
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._object_functions import inferred_labels
from ..table._objects import has_order, hashed, is_hashed
from ..table._recode import without_missing
from ..table._row_index import RANGE, RowIndex
from ..table._sort import sort_rows
from ..table._sort_keys import ordered_keys
from ..table._table import Count, Table, as_count, is_row
from ..table._take import moved_columns, take_few_rows
from ..table._to_host import host_array
from ..table._tracing import at_once, is_traced
from ..table._types import Axis
from ._duplicates import first_rows_on_host, numbered_rows


def counted(columns: Sequence[Column], table: Table) -> tuple[Table, Column]:
    """Distinct rows in order of appearance, and the count of each."""
    layout = table.layout
    rows = table.replace(columns=tuple(columns), index=RANGE)
    found = first_rows_on_host(columns[0], rows.num_rows) if len(columns) == 1 else None
    taken = None if found is None else take_few_rows(rows, found.positions)
    if found is not None and taken is not None:
        counts: Any = padded(found.counts().astype(wide(np.int64)), taken.capacity)
        return taken, HostColumn((counts, None), NUMBER)
    group_ids, is_first = numbered_rows(columns, table.num_rows, layout)
    distinct = filter_rows(rows, is_first)
    return distinct, Column(_counts(group_ids, table.num_rows, distinct.capacity, layout))


@functools.partial(tiered, static_argnums=(2, 3))
def _counts(group_ids: Array, num_rows: Count, capacity: int, layout: Layout) -> Array:
    if not layout.sends_rows:
        counts = primitives.segment_count(group_ids, num_segments=capacity)
    else:
        # Every id occurs, so the sorted unique ids are 0, 1, 2, ... spread over the shards. No
        # shard has to count them all.
        counts = primitives.unique(
            group_ids, num_valid=num_rows, capacity=capacity, return_counts=True, **layout.on_mesh
        ).counts
        assert counts is not None
    return counts.astype(wide(np.int64))


def counted_categories(column: Column, table: Table) -> tuple[Table, Column]:
    """All categories in order, the missing value last, and the count of each."""
    size = len(column.dictionary)
    counts = code_counts(column, table.num_rows, table.layout)
    codes = np.append(np.arange(size, dtype=np.int32), np.int32(-1))
    data = column_from(codes, counts.shape[0], ONE_DEVICE).data
    rows = Table((Column(data, None, column.type),), RANGE, as_count(size + 1))
    return rows, Column(cast_exactly(counts, wide(np.int64)))


def counts_missing_last(column: Column) -> bool:
    """Whether a series counts its missing value after all others, as pandas does for Int64."""
    return column.family == "masked" and column.kind != "string"


@functools.partial(tiered, static_argnums=2)
def _is_counted(is_missing: Array, counts: Array, dropna: bool) -> Array:
    """Flags the categories that are counted: all, and the missing value where a row has it."""
    return ~is_missing if dropna else ~is_missing | (counts > 0)


def _counts_of_rows(
    columns: Sequence[Column],
    table: Table,
    names: tuple[object, ...],
    dropna: bool,
    descending: bool | None,
    missing_last: bool,
) -> Table:
    """The counts of distinct rows, which label them, in the order of the counts or of the rows.

    With `missing_last` the missing value of the first column follows all equal counts.
    """
    distinct, counts = counted(columns, table)
    shown = [without_missing(column) for column in distinct.columns]
    has_value = [column.present() for column in shown if dropna and column.can_miss]
    keeps = all_of(has_value) if has_value else None
    is_last = distinct.columns[0].missing() if missing_last and not dropna else None
    return _by_count(distinct, counts, keeps, names, descending, is_last)


def _by_count(
    distinct: Table,
    counts: Column,
    keeps: Array | None,
    names: tuple[object, ...],
    descending: bool | None,
    is_last: Array | None = None,
) -> Table:
    """The counts of the rows to be kept, sorted unless `descending` is None.

    Rows that `is_last` flags follow all others of the same count.
    """
    table = distinct.replace(columns=(counts,), index=_labels(distinct.columns, names))
    if keeps is not None:
        table = filter_rows(table, keeps)
    keys = [] if descending is None else [(table.columns[0].data, descending)]
    if is_last is not None:
        keys.append((is_last, False))
    return sort_rows(table, keys)


def _labels(levels: Sequence[Column], names: tuple[object, ...]) -> RowIndex:
    return RowIndex(tuple(levels), names, missing_last=len(names) > 1)


def _is_small(columns: Sequence[Column], table: Table) -> bool:
    """Whether one program for all steps takes less time than the steps."""
    if table.layout.mesh is not None or not columns or table.capacity > MOST_PADDED:
        return False
    are_plain = all(column.stored is column and is_hashed(column) for column in columns)
    return are_plain and not is_traced(columns, table.num_rows)


def _counts_together(
    columns: Sequence[Column],
    table: Table,
    names: tuple[object, ...],
    dropna: bool,
    descending: bool | None,
    missing_last: bool,
) -> Table:
    """`_counts_of_rows` in one program."""
    counts, rows, num_rows = at_once(
        _count_rows, tuple(map(bare, columns)), table.num_rows, dropna, descending, missing_last
    )
    return table.replace(
        columns=(Column(counts),),
        index=_labels(moved_columns(columns, rows), names),
        num_rows=as_count(int(host_array(num_rows))),
    )


@functools.partial(tiered, static_argnums=(2, 3, 4))
def _count_rows(
    columns: tuple[Column, ...],
    num_rows: Count,
    dropna: bool,
    descending: bool | None,
    missing_last: bool,
) -> tuple[Array, Any, Count]:
    names = (None,) * len(columns)
    table = Table(columns, RANGE, num_rows)
    table = _counts_of_rows(columns, table, names, dropna, descending, missing_last)
    arrays = tuple(level.arrays for level in table.index.stored)
    return table.columns[0].data, arrays, table.num_rows


class ValueCounts(NDFrame):
    """Shared implementation of value_counts."""

    def _count_values(
        self,
        columns: Sequence[Column],
        labels: Sequence[object],
        normalize: bool,
        sort: bool,
        ascending: bool,
        dropna: bool,
    ) -> Any:
        """Counts the distinct rows of columns, or all categories of one column."""
        descending = None
        if sort:
            descending = not check_flag(ascending, "ascending", may_be_int=True)
        names = tuple(labels)
        if isinstance(self, FrameBase):
            # As the keys of groups, objects have one missing value.
            columns = list(map(without_missing, columns))
        if any(column.kind == "category" for column in columns):
            distinct, counts = counted_categories(columns[0], self._table)
            keeps = _is_counted(distinct.columns[0].missing(), counts.data, bool(dropna))
            table = _by_count(distinct, counts, keeps, names, descending)
        else:
            is_small = _is_small(columns, self._table)
            count = _counts_together if is_small else _counts_of_rows
            missing_last = isinstance(self, SeriesBase) and counts_missing_last(columns[0])
            table = count(columns, self._table, names, dropna, descending, missing_last)
        if isinstance(self, FrameBase) and any(column.kind == "object" for column in columns):
            # As the keys of groups.
            levels = inferred_labels(table.index.stored, table.num_rows)
            table = table.replace(index=table.index.with_stored(levels))
        if dropna and len(names) > 1:
            # As the keys of groups, levels of bools without a missing one are bools.
            levels = [
                Column(level.data, None, level.type) if level.is_bool else level
                for level in table.index.stored
            ]
            table = table.replace(index=table.index.with_stored(levels))
        if len(names) > 1 and not is_traced(columns, self._table.num_rows):
            orders = appearances(columns, self._table.num_rows)
            table = table.replace(index=dataclasses.replace(table.index, orders=orders))
        if normalize:
            table = table.with_columns([Column(_shares(table.columns[0].data, table.num_rows))])
        if isinstance(self, SeriesBase) and columns[0].is_nullable:
            # pandas counts its own strings in Arrow, too.
            family = "arrow" if columns[0].kind == "string" else columns[0].family
            table = table.with_columns([of_family(table.columns[0], family)])
        return self.series_class._of(table, "proportion" if normalize else "count")


@tiered
def _shares(counts: Array, num_rows: Count) -> Array:
    valid = is_row(counts.shape[0], num_rows)
    total = jnp.sum(jnp.where(valid, counts, counts.dtype.type(0)), dtype=wide(np.int64))
    return divided(counts.astype(wide(np.float64)), total.astype(wide(np.float64)))


class SeriesValueCounts(ValueCounts, SeriesBase):
    """Counts of the values of a series."""

    def value_counts(
        self,
        normalize: bool = False,
        sort: bool = True,
        ascending: bool = False,
        bins: object = None,
        dropna: bool = True,
    ) -> Any:
        """Counts each value, in descending order of the count; ties in order of appearance.

        Numbers are counted in `bins` on the host.

        Differences from pandas:
            With `bins` the labels are ordered categories that are intervals.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([5, 7, 5]).value_counts().tolist()
            [2, 1]
        """
        if bins is not None:
            return by_pandas(
                self, "value_counts: bins=", "Call cut() first.",
                lambda data: _with_categories(
                    data.value_counts(normalize, sort, ascending, bins, dropna)
                ),
            )  # fmt: skip
        return self._count_values([self._only], [self._name], normalize, sort, ascending, dropna)

    def mode(self, dropna: bool = True) -> Any:
        """The most frequent values, sorted."""
        distinct, counts = counted([self._only], self._table)
        valid = distinct.is_row()
        missing = without_missing(distinct.columns[0]).missing() if dropna else None
        frequent = _most_frequent(counts.data, valid, missing)
        modes = filter_rows(distinct, frequent)
        keys = hashed(modes.columns[0], modes.num_rows)
        # pandas sorts the integers of times and the codes of categories: missing ones come first.
        missing_first = keys.kind == "category" or keys.type.is_time
        ordered = ordered_keys(keys, missing_first=missing_first) if has_order(keys) else ()
        table = sort_rows(modes, ordered) if ordered else modes
        return self._made(table.replace(index=RANGE), self._name)


def _with_categories(counts: pd.Series) -> pd.Series:
    """Counts whose labels are categories in place of intervals."""
    labels = counts.index
    return counts.set_axis(pd.CategoricalIndex(labels, labels.sort_values(), ordered=True))


@tiered
def _most_frequent(counts: Array, valid: Array, missing: Array | None) -> Array:
    """Flags the greatest counts, of those that are not missing."""
    valid = valid if missing is None else valid & ~missing
    return valid & (counts == jnp.max(jnp.where(valid, counts, counts.dtype.type(0))))


class FrameValueCounts(ValueCounts, FrameBase):
    """Counts of the rows of a frame."""

    def value_counts(
        self,
        subset: Any = None,
        normalize: bool = False,
        sort: bool = True,
        ascending: bool = False,
        dropna: bool = True,
    ) -> Any:
        """Counts each distinct row; see `JaxSeries.value_counts`.

        Differences from pandas:
            One column gives a one-level index, even if it is passed in a list. Categories raise,
            because pandas also counts combinations that do not occur.
        """
        # A tuple is one label.
        subset = [subset] if isinstance(subset, tuple) else subset
        positions = self._positions_compared(subset, "value_counts")
        columns = [self._table.columns[at] for at in positions]
        labels = [self._labels[at] for at in positions]
        for column, label in zip(columns, labels, strict=True):
            if column.kind == "category":
                raise NotImplementedError(
                    f"value_counts: column {label!r} must not be a category, because pandas counts "
                    "absent categories too. Cast it with astype('str'), or count the series alone."
                )
        return self._count_values(columns, labels, normalize, sort, ascending, dropna)

    def mode(self, axis: Axis = 0, numeric_only: bool = False, dropna: bool = True) -> Any:
        """The most frequent values of each column, or of each row, sorted."""
        if axis_number(axis, self):
            return by_pandas(
                self, "mode: axis=1", "Use mode() of each column.",
                lambda data: data.mode(1, numeric_only, dropna),
            )  # fmt: skip
        if is_traced(self._table):
            raise NotImplementedError(
                "mode: frames have no mode inside jit. Call mode() of each series."
            )
        positions = self._pick(lambda c: c.counts_as_number or not numeric_only)
        modes = [self._series_at(p).mode(dropna=dropna).to_pandas() for p in positions]
        if not modes:
            return self._frame_of(*table_of_frame(pd.DataFrame()))
        frame = pd.concat(modes, axis=1)
        frame.columns = self._labels.index.take(positions)
        return self._frame_of(*table_of_frame(frame))
