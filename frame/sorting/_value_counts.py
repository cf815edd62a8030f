# SPDX-License-Identifier: Apache-2.0
"""How often each value occurs."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ..ops._division import divided_by_scalar
from ..reductions._results import table_of_frame
from ..table._arguments import check_flag, only_rows
from ..table._column import Array, Column, ordered_keys
from ..table._filter import filter_rows
from ..table._from_host import column_from
from ..table._layout import ONE_DEVICE, Layout
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._row_index import RANGE, RowIndex
from ..table._sort import sort_rows
from ..table._table import Count, Table, as_count, is_row
from ..table._tracing import is_traced
from ._duplicates import check_comparable
from ._first_occurrence import numbered_rows


def counted(columns: Sequence[Column], table: Table) -> tuple[Table, Column]:
    """The different rows of columns in the order in which they come, and how often each occurs."""
    layout = table.layout
    group_ids, is_first, _ = numbered_rows(columns, table.num_rows, layout)
    rows = table.replace(columns=tuple(columns), index=RANGE)
    distinct = filter_rows(rows, is_first)
    return distinct, Column(_counts(group_ids, table.num_rows, distinct.capacity, layout))


@functools.partial(jax.jit, static_argnums=(2, 3))
def _counts(group_ids: Array, num_rows: Count, capacity: int, layout: Layout) -> Array:
    if layout.mesh is None:
        counts = primitives.segment_count(group_ids, num_segments=capacity)
    else:
        # Each number occurs, so in their order they stand at the places that they are: spread over
        # the shards, of which none has to count them all.
        counts = primitives.unique(
            group_ids, num_valid=num_rows, capacity=capacity, return_counts=True, **layout.on_mesh
        ).counts
        assert counts is not None
    return counts.astype(jax.dtypes.canonicalize_dtype(np.int64))


def counted_categories(column: Column, table: Table) -> tuple[Table, Column]:
    """All categories in their order, a missing one last, and how often each occurs."""
    size = len(column.dictionary)
    capacity = ONE_DEVICE.capacity_for(size + 1)
    counts = _counts_of_codes(column.data, table.num_rows, np.int32(size), capacity, table.layout)
    codes = np.append(np.arange(size, dtype=np.int32), np.int32(-1))
    data = column_from(codes, capacity, ONE_DEVICE).data
    rows = Table((Column(data, None, column.type),), RANGE, as_count(size + 1))
    return rows, Column(counts)


@functools.partial(jax.jit, static_argnums=(3, 4))
def _counts_of_codes(
    codes: Array, num_rows: Count, size: Array, capacity: int, layout: Layout
) -> Array:
    rows = is_row(codes.shape[0], num_rows, layout)
    segments = jnp.where(rows, jnp.where(codes < 0, size, codes), np.int32(-1))
    counts = primitives.segment_count(segments, num_segments=capacity, **layout.on_mesh)
    return counts.astype(jax.dtypes.canonicalize_dtype(np.int64))


class ValueCounts(NDFrame):
    """What `value_counts` does for frames and series."""

    def _value_counts(
        self,
        distinct: Table,
        counts: Column,
        names: Sequence[Any],
        normalize: bool,
        sort: bool,
        ascending: bool,
        keeps: Array | None,
    ) -> Any:
        index = RowIndex(distinct.columns, tuple(names))
        table = distinct.replace(columns=(counts,), index=index)
        if keeps is not None:
            table = filter_rows(table, keeps)
        if sort:
            table = sort_rows(
                table,
                [(table.columns[0].data, not check_flag(ascending, "ascending", may_be_int=True))],
            )
        if normalize:
            shares = _shares(table.columns[0].data, table.num_rows)
            table = table.with_columns([Column(shares)])
        return self.series_class._of(table, "proportion" if normalize else "count")


@jax.jit
def _shares(counts: Array, num_rows: Count) -> Array:
    valid = is_row(counts.shape[0], num_rows)
    wide = counts.astype(jax.dtypes.canonicalize_dtype(np.float64))
    total = jnp.sum(jnp.where(valid, wide, wide.dtype.type(0)), dtype=wide.dtype)
    return divided_by_scalar(wide, total)


class SeriesValueCounts(ValueCounts, SeriesBase):
    """How often each value of a series occurs."""

    def value_counts(
        self,
        normalize: bool = False,
        sort: bool = True,
        ascending: bool = False,
        bins: Any = None,
        dropna: bool = True,
    ) -> Any:
        """How often each value occurs, the most frequent first, of equally frequent ones the first.

        Differences from pandas:
            `bins` is not built.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([5, 7, 5]).value_counts().tolist()
            [2, 1]
        """
        if bins is not None:
            raise NotImplementedError("value_counts: bins must be None. Count values cut before.")
        column = check_comparable(self._only, self._name, "value_counts")
        if column.kind == "category":
            distinct, counts = counted_categories(column, self._table)
            is_missing = distinct.columns[0].missing()
            keeps = ~is_missing if dropna else ~is_missing | (counts.data > 0)
        else:
            distinct, counts = counted([column], self._table)
            is_dropping = dropna and column.can_miss
            keeps = ~distinct.columns[0].missing() if is_dropping else None
        return self._value_counts(distinct, counts, [self._name], normalize, sort, ascending, keeps)

    def mode(self, dropna: bool = True) -> Any:
        """The most frequent values, in their order."""
        column = check_comparable(self._only, self._name, "mode")
        distinct, counts = counted([column], self._table)
        valid = is_row(distinct.capacity, distinct.num_rows, distinct.layout)
        if dropna:
            valid = valid & ~distinct.columns[0].missing()
        frequent = _most_frequent(counts.data, valid)
        modes = filter_rows(distinct, frequent)
        table = sort_rows(modes, ordered_keys(modes.columns[0]))
        return self._of(table.replace(index=RANGE), self._name)


@jax.jit
def _most_frequent(counts: Array, valid: Array) -> Array:
    most = jnp.max(jnp.where(valid, counts, counts.dtype.type(0)))
    return valid & (counts == most)


class FrameValueCounts(ValueCounts, FrameBase):
    """How often each row of a frame occurs."""

    def value_counts(
        self,
        subset: Any = None,
        normalize: bool = False,
        sort: bool = True,
        ascending: bool = False,
        dropna: bool = True,
    ) -> Any:
        """How often each row occurs; see `JaxSeries.value_counts`.

        Differences from pandas:
            One column makes an index of one level, also where it is named in a list. Columns of
            categories are not taken beside others: pandas counts combinations that do not occur.
        """
        columns = self._compared(subset, "value_counts")
        labels = self._labels if subset is None else self._labels_in(subset)
        for column, label in zip(columns, labels, strict=True):
            if column.kind == "category":
                raise NotImplementedError(
                    f"value_counts: column {label!r} of categories would be counted where it does "
                    "not occur. Cast it with astype('str'), or count the series alone."
                )
        distinct, counts = counted(columns, self._table)
        keeps = None
        if dropna:
            for column in distinct.columns:
                if column.can_miss:
                    there = ~column.missing()
                    keeps = there if keeps is None else keeps & there
        return self._value_counts(distinct, counts, list(labels), normalize, sort, ascending, keeps)

    def _labels_in(self, subset: Any) -> list[Any]:
        is_one = isinstance(subset, (str, tuple)) or not np.iterable(subset)
        return [subset] if is_one else list(subset)

    def mode(self, axis: Any = 0, numeric_only: bool = False, dropna: bool = True) -> Any:
        """The most frequent values of each column, in their order."""
        only_rows("mode", axis, self, "Use apply(axis=1) for rows.")
        if is_traced(self._table):
            raise NotImplementedError("mode: inside jit take the mode of single columns.")
        places = self._pick(lambda c: c.is_numeric or not numeric_only)
        modes = [self._series_at(place).mode(dropna=dropna).to_pandas() for place in places]
        if not modes:
            return self.frame_class._of(*table_of_frame(pd.DataFrame()))
        frame = pd.concat(modes, axis=1)
        frame.columns = self._labels.index.take(places)
        return self.frame_class._of(*table_of_frame(frame))
