# SPDX-License-Identifier: Apache-2.0
"""duplicated, drop_duplicates, nunique, unique and factorize."""

import functools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ...primitives.staging import tiered
from ..reductions._axis1 import nunique_across
from ..reductions._results import host_series, table_of_series, traced_table
from ..table._arguments import axis_number, check_flag
from ..table._column import Array, Column
from ..table._filter import MOST_PADDED, filter_rows
from ..table._host_column import host_column, rows_on_host
from ..table._in_place import with_inplace
from ..table._layout import LEAST_CAPACITY, Layout
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._object_functions import rows_of_objects
from ..table._objects import hashed, missing_apart
from ..table._row_index import RANGE, as_pandas_index
from ..table._sort_keys import distinct_keys, group_keys
from ..table._table import Count, Table, is_row
from ..table._take import gather, position, take_few_rows
from ..table._to_host import host_array, to_host
from ..table._tracing import answered_at_once, at_once, is_traced
from ..table._types import Axis, LabelOrLabels

# A table of the integers of a column has at most so many for each row.
MOST_INTEGERS_PER_ROW = 4


def numbered_rows(
    columns: Sequence[Column], num_rows: Count, layout: Layout
) -> tuple[Array, Array]:
    """Group ids of equal rows in order of appearance, and flags of first rows."""
    keys = tuple(key for column in told_apart(columns, num_rows) for key in distinct_keys(column))
    return _numbered(keys, num_rows, layout)


def told_apart(columns: Sequence[Column], num_rows: Count) -> Sequence[Column]:
    """Columns with equal keys for equal values; one alone tells kinds of missing values apart."""
    if len(columns) == 1:
        return [missing_apart(columns[0], num_rows)]
    return [hashed(column, num_rows) for column in columns]


def _is_repeated(
    columns: Sequence[Column], num_rows: Count, layout: Layout, keep: object
) -> tuple[Array, Array]:
    """Flags rows that `keep` drops from each group of equal rows, and those that stay."""
    if not (keep is False or keep in ("first", "last")):
        raise ValueError('keep must be either "first", "last" or False')
    as_keys = distinct_keys if len(columns) == 1 else group_keys
    keys = tuple(key for column in told_apart(columns, num_rows) for key in as_keys(column))
    return _repeated(keys, num_rows, layout, keep)


def _distinct_counts(
    columns: Sequence[Column], num_rows: Count, layout: Layout, *, dropna: bool
) -> tuple[Array, ...]:
    """Counts the distinct values of each column, in one compiled call."""
    as_codes = hashed if dropna else missing_apart
    columns = [as_codes(column, num_rows) for column in columns]
    keys = tuple((group_keys if dropna else distinct_keys)(column) for column in columns)
    missing = tuple(column.missing() if column.can_miss else None for column in columns)
    return _count_distinct(keys, missing if dropna else (None,) * len(keys), num_rows, layout)


def _least_capacity(keys: Any, layout: Layout) -> int | None:
    """The capacity of distinct keys that nothing reads: under `disable_jit` that of all of them."""
    return layout.num_shards if is_traced(keys) else None


@functools.partial(tiered, static_argnums=2)
def _numbered(keys: Any, num_rows: Count, layout: Layout) -> tuple[Array, Array]:
    groups = primitives.factorize(
        keys, capacity=_least_capacity(keys, layout), sort=False, num_valid=num_rows,
        **layout.on_mesh,
    )  # fmt: skip
    # Ids ascend by first appearance, so a new id is greater than all ids before it.
    before = primitives.exclusive_scan(groups.group_ids, "max", **layout.on_mesh)
    rows = is_row(keys[0].shape[0], num_rows, layout)
    return groups.group_ids, rows & (groups.group_ids > before)


@functools.partial(tiered, static_argnums=(2, 3))
def _repeated(keys: Any, num_rows: Count, layout: Layout, keep: object) -> tuple[Array, Array]:
    rows = is_row(keys[0].shape[0], num_rows, layout)
    is_kept = rows
    if keep in ("first", False):
        is_kept = is_kept & _numbered(keys, num_rows, layout)[1]
    if keep in ("last", False):
        reverse = jnp.asarray(num_rows, jnp.int32) - 1 - position(keys[0].shape[0], layout)
        _, is_first = _numbered(gather(keys, reverse, layout), num_rows, layout)
        is_kept = is_kept & gather(is_first, reverse, layout)
    return rows & ~is_kept, is_kept


@functools.partial(tiered, static_argnums=3)
def _count_distinct(keys: Any, missing: Any, num_rows: Count, layout: Layout) -> tuple[Array, ...]:
    counts = []
    for key, is_missing in zip(keys, missing, strict=True):
        groups = primitives.factorize(
            key, capacity=_least_capacity(key, layout), num_valid=num_rows, **layout.on_mesh
        )
        count = groups.count
        if is_missing is not None:
            rows = is_row(is_missing.shape[0], num_rows, layout)
            count = count - jnp.any(rows & is_missing).astype(count.dtype)
        counts.append(count.astype(jax.dtypes.canonicalize_dtype(np.int64)))
    return tuple(counts)


class Duplicates(NDFrame):
    """Duplicate rows of frames and series, based on `_compared`."""

    def _repeated(self, subset: LabelOrLabels, keep: object) -> tuple[Array, Array]:
        table = self._table
        columns = self._compared(subset, "duplicated")
        if not columns:
            flags = jnp.zeros(table.capacity, jnp.bool_), jnp.ones(table.capacity, jnp.bool_)
            return table.layout.constrain(flags)
        return _is_repeated(columns, table.num_rows, table.layout, keep)

    def _duplicated(self, subset: LabelOrLabels, keep: object) -> Column:
        return Column(self._repeated(subset, keep)[0])

    def _without_duplicates(self, subset: LabelOrLabels, keep: object, ignore_index: bool) -> Self:
        check_flag(ignore_index, "ignore_index")
        distinct = self._of_few_rows(subset, keep)
        if distinct is None:
            distinct = filter_rows(self._table, self._repeated(subset, keep)[1])
        return self._like(distinct.replace(index=RANGE) if ignore_index else distinct)

    def _of_few_rows(self, subset: LabelOrLabels, keep: object) -> Table | None:
        """The first rows of equal ones, taken on the host; None if a program must find them."""
        table = self._table
        columns = self._compared(subset, "duplicated") if keep == "first" else ()
        found = first_rows_on_host(columns[0], table.num_rows) if len(columns) == 1 else None
        if found is None:
            return None
        capacity = table.capacity
        return take_few_rows(table, found.positions, capacity if capacity <= MOST_PADDED else None)


class FirstRows(NamedTuple):
    """The first of equal rows, in order.

    Attributes:
        positions: of these rows.
        values: their stored values.
        places: a small number for each row, equal for equal values.
    """

    positions: np.ndarray
    values: np.ndarray
    places: np.ndarray

    def counts(self) -> np.ndarray:
        """The number of rows with each of the values."""
        return np.bincount(self.places)[self.places[self.positions]]


def first_rows_on_host(column: Column, num_rows: Count) -> FirstRows | None:
    """The first of equal rows, of few with integers of a small range, or codes; None for others."""
    is_integer = column.kind in ("string", "category") or (
        column.is_numeric and column.dtype.kind in "biu"
    )
    is_whole = column.stored is column and type(num_rows) is np.int32
    rows = rows_on_host((column,)) if is_integer and is_whole and num_rows else None
    if rows is None:
        return None
    ((data, valid),) = rows
    values = data[:num_rows]
    if valid is not None:
        return None
    lowest, highest = int(values.min()), int(values.max())
    size = highest - lowest + 1
    if size > MOST_INTEGERS_PER_ROW * max(len(values), LEAST_CAPACITY):
        return None
    if values.dtype == np.uint64:
        places = (values - np.uint64(lowest)).astype(np.int64)
    else:
        places = values.astype(np.int64) - lowest
    first_rows = np.full(size, -1, np.int32)
    # The last of equal places is written last.
    first_rows[places[::-1]] = np.arange(len(values) - 1, -1, -1, dtype=np.int32)
    positions = np.sort(first_rows[first_rows >= 0])
    return FirstRows(positions, values[positions], places)


class FrameDuplicates(Duplicates, FrameBase):
    """Duplicate rows of a frame."""

    def _compared(self, subset: LabelOrLabels, caller: str) -> Sequence[Column]:
        """The columns that decide whether rows are equal."""
        return [self._table.columns[at] for at in self._positions_compared(subset, caller)]

    def _positions_compared(self, subset: Any, caller: str) -> Sequence[int]:
        if subset is None:
            return range(len(self._labels))
        if isinstance(subset, Iterator):
            raise TypeError(f"{caller}: subset must be a label or a list of them, got {subset!r}.")
        is_label = isinstance(subset, str) or not np.iterable(subset)
        is_one = is_label or (isinstance(subset, tuple) and subset in self._labels.index)
        labels = [subset] if is_one else list(subset)
        if not labels and len(self._labels):
            raise ValueError(f"{caller}: subset must name a column, got {subset!r}.")
        if absent := self._labels.absent(labels, may_be_parts=False):
            raise absent
        return [position for label in labels for position in self._labels.positions(label)]

    def duplicated(self, subset: LabelOrLabels = None, keep: object = "first") -> Any:
        """Flags rows that equal an earlier row; missing values are equal to each other."""
        return self._make_series(self._duplicated(subset, keep), None)

    @with_inplace
    def drop_duplicates(
        self,
        subset: LabelOrLabels = None,
        *,
        keep: object = "first",
        inplace: object = False,
        ignore_index: bool = False,
    ) -> Self:
        """Drops rows that equal an earlier row.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [2, 1, 2]}).drop_duplicates().index.tolist()
            [0, 1]
        """
        return self._without_duplicates(subset, keep, ignore_index)

    def nunique(self, axis: Axis = 0, dropna: bool = True) -> Any:
        """Counts the distinct values of each column, or of each row."""
        table, labels = self._table, self._labels.index
        columns = self._compared(None, "nunique")
        if axis_number(axis, self):
            if not columns:
                return self._of_nothing("nunique", axis, labels, {})
            if not all(column.is_numeric for column in columns):
                across = rows_of_objects(
                    columns, table, "nunique", lambda rows: rows.nunique(axis=1, dropna=dropna)
                )
                return self._make_series(across, None)
            return self._make_series(nunique_across(columns, bool(dropna)), None)
        if not columns:
            return self._series_of(table_of_series(pd.DataFrame().nunique()), None)
        counts = at_once(
            _distinct_counts, columns, table.all_rows, table.layout, dropna=bool(dropna)
        )
        if is_traced(counts):
            values = [(count, False) for count in counts]
            types = [Column(count).type for count in counts]
            result = traced_table(values, types, labels, "nunique").replace(needed=table.needed)
            return self._series_of(result, None)
        values = [np.asarray(count).reshape(1) for count in counts]
        return self._series_of(table_of_series(host_series(values, labels)), None)


class SeriesDuplicates(Duplicates, SeriesBase):
    """Duplicate values of a series."""

    def _compared(self, subset: LabelOrLabels, caller: str) -> Sequence[Column]:
        del subset, caller
        return [self._only]

    def duplicated(self, keep: object = "first") -> Any:
        """Flags values that equal an earlier one; missing values are equal to each other."""
        return self._with_column(self._duplicated(None, keep))

    @with_inplace
    def drop_duplicates(
        self, *, keep: object = "first", inplace: object = False, ignore_index: bool = False
    ) -> Self:
        """Drops values that equal an earlier one."""
        return self._without_duplicates(None, keep, ignore_index)

    def nunique(self, dropna: bool = True) -> Any:
        """Counts the distinct values."""
        table, column = self._table, self._only
        num_rows = table.all_rows
        found = first_rows_on_host(column, num_rows)
        if found is not None:
            # Missing values have a code of their own, -1.
            drops_one = dropna and column.type.has_codes and bool((found.values < 0).any())
            return len(found.values) - drops_one
        (count,) = at_once(_distinct_counts, [column], num_rows, table.layout, dropna=bool(dropna))
        return count if is_traced(count) else int(count)

    @property
    def is_unique(self) -> Any:
        """Whether all values are distinct."""
        count = self.nunique(dropna=False)
        if not is_traced(count):
            return count == len(self)
        return count == jnp.asarray(self._table.num_rows, count.dtype)

    @answered_at_once
    def unique(self) -> Any:
        """The distinct values in order of appearance, on the host.

        Inside `jit` use `drop_duplicates`, which returns a series.
        """
        if self._is_traced:
            raise NotImplementedError(
                "unique: the number of values is not known inside jit. Use drop_duplicates()."
            )
        found = first_rows_on_host(self._only, self._table.all_rows)
        if found is None:
            distinct = self._without_duplicates(None, "first", False)
            values = to_host(distinct._only, len(distinct))
        else:
            values = to_host(host_column(self._only, (found.values, None)), len(found.values))
        return pd.array(values) if self._only.type.is_time else values

    @answered_at_once
    def factorize(
        self, sort: bool = False, use_na_sentinel: bool = True
    ) -> tuple[np.ndarray, pd.Index]:
        """Codes of the values, and the distinct values, both on the host."""
        if self._is_traced:
            raise NotImplementedError(
                "factorize: the number of values is not known inside jit. "
                "Use groupby(values).ngroup(), or drop_duplicates()."
            )
        table = self._table
        group_ids, is_first = numbered_rows(
            self._compared(None, "factorize"), table.num_rows, table.layout
        )
        distinct = filter_rows(table.replace(index=RANGE), is_first)
        values = to_host(distinct.columns[0], distinct.num_rows_on_host)
        uniques = as_pandas_index(pd.array(values) if self._only.type.is_time else values, None)
        codes = host_array(group_ids)[: len(self)].astype(np.int64)
        new_codes, uniques = uniques.factorize(sort=sort, use_na_sentinel=use_na_sentinel)
        return new_codes[codes] if len(new_codes) else codes, uniques
