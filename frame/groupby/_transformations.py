# SPDX-License-Identifier: Apache-2.0
"""Row-wise methods of grouped frames and series: cumsum, shift, diff, fills and rank."""

import functools
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..ops._column_ops import combine
from ..table._by_pandas import by_pandas
from ..table._column import Array, Column, bare, fill_missing, of_family
from ..table._dtypes import as_dtype, wide
from ..table._host_column import moved_column
from ..table._objects import sortable
from ..table._recode import without_missing
from ..table._take import settled, take_columns
from ..window._shift import NO_VALUE, filling_of, shifted_by_each
from ._by_host import groups_on_host
from ._filtrations import GroupByPositions
from ._segmented_scans import RankPlan, cumulated, filled_rows, ranked, shifted_rows

# Integers whose differences are float32 in pandas.
_SMALL = (np.int8, np.int16)


class GroupByRows(GroupByPositions):
    """Methods that return a value for each row, with the rows' labels."""

    def _of_rows(self, columns: Sequence[Column], *, are_own: bool = False) -> Any:
        """A result with the rows and labels of the source.

        Args:
            columns: the columns of the result.
            are_own: whether each has values of the column at its place.
        """
        sources = self._columns if are_own else [None] * len(columns)
        rows = [
            settled(column, self._table.num_rows, source)
            for column, source in zip(columns, sources, strict=True)
        ]
        return self._made(rows, self._table)

    def _cumulated(self, name: str, numeric_only: bool, skipna: bool) -> Any:
        if numeric_only and not self._is_series:
            return self._numeric()._cumulated(name, False, skipna)
        columns = self._columns
        for column, label in zip(columns, self._labels, strict=True):
            time_ops = ("cummin", "cummax", *(("cumsum",) if column.kind == "timedelta" else ()))
            is_time = column.type.is_time or column.kind == "period"
            if not (column.is_numeric or (is_time and name in time_ops)):
                raise TypeError(
                    f"dtype '{column.dtype_name}' of column {label!r} does not support "
                    f"operation '{name}'"
                )
        results = cumulated(
            tuple(map(bare, columns)),
            self._groups.segments,
            name.removeprefix("cum"),
            bool(skipna),
            self._grouped.may_drop,
        )
        results = map(Column.with_arrays, columns, results)
        return self._of_rows([self._extreme_bools(column) for column in results])

    def _extreme_bools(self, column: Column) -> Column:
        # If some rows have no group, pandas converts cumulative bools to floats, not objects.
        if not column.is_bool or column.valid is None or column.is_nullable:
            return column
        bits = settled(Column(column.data.astype(jnp.int8), column.valid), self._table.num_rows)
        return bits if bits.is_float else Column(bits.data != 0, bits.valid)

    def cumsum(self, numeric_only: bool = False, skipna: bool = True) -> Any:
        """The cumulative sum of each group.

        Differences from pandas:
            As in `sum`, integers give int64 or uint64, and floats are summed by a scan. After an
            infinity the sum stays infinite; pandas' compensation makes it NaN.
        """
        return self._cumulated("cumsum", numeric_only, skipna)

    def cumprod(self, numeric_only: bool = False, skipna: bool = True) -> Any:
        """The cumulative product of each group."""
        return self._cumulated("cumprod", numeric_only, skipna)

    def cummin(self, numeric_only: bool = False, skipna: bool = True) -> Any:
        """The cumulative minimum of each group."""
        return self._cumulated("cummin", numeric_only, skipna)

    def cummax(self, numeric_only: bool = False, skipna: bool = True) -> Any:
        """The cumulative maximum of each group."""
        return self._cumulated("cummax", numeric_only, skipna)

    def _sources_of(self, periods: object, *, in_place: bool = True) -> Array | None:
        """The row that each row gets, -1 for none; None if each keeps its own."""
        if isinstance(periods, bool) or not isinstance(periods, (int, np.integer)):
            raise TypeError(f"Periods must be integer, but {periods} is {type(periods)}.")
        if periods == 0 and in_place:
            return None
        most = 2**30
        return shifted_rows(self._groups.segments, np.int32(np.clip(periods, -most, most)))

    def _shifted(self, periods: object, *, in_place: bool = True) -> Sequence[Column]:
        """The shifted columns; with `in_place`, a shift by zero keeps values of ungrouped rows."""
        row_ids = self._sources_of(periods, in_place=in_place)
        if row_ids is None:
            return self._columns
        columns = [fill_missing(column) for column in self._columns]
        return list(take_columns(columns, row_ids, self._groups.segments.layout, holes=True))

    def shift(
        self,
        periods: Any = 1,
        freq: object = None,
        fill_value: object = NO_VALUE,
        suffix: str | None = None,
    ) -> Any:
        """Moves the values of each group down by `periods` rows, up if that is negative.

        A list of periods gives the columns of each, whose labels end with `suffix` and the period.
        With `freq` the labels move, on the host.

        Differences from pandas:
            A `fill_value` that converts a column to objects raises.
        """
        if pd.api.types.is_list_like(periods):
            return shifted_by_each(periods, suffix, lambda one: self.shift(one, freq, fill_value))
        if suffix:
            raise ValueError("Cannot specify `suffix` if `periods` is an int.")
        if freq is not None:
            how = {} if fill_value is NO_VALUE else {"fill_value": fill_value}
            return by_pandas(
                self._source, "groupby: shift with freq=", "Shift by rows.",
                lambda _: groups_on_host(self).shift(periods, freq, **how),
            )  # fmt: skip
        if fill_value is NO_VALUE or fill_value is None:
            return self._of_rows(self._shifted(periods), are_own=True)
        row_ids = self._sources_of(periods)
        if row_ids is None:
            return self._of_rows(self._columns, are_own=True)
        shifted = []
        for column in map(fill_missing, self._columns):
            filled, filling = filling_of(column, fill_value)
            (taken,) = take_columns([filled], row_ids, self._groups.segments.layout)
            arrays = _filled_gaps(taken.data, taken.valid, row_ids, filling.value, filling.dtype)
            shifted.append(moved_column(taken, arrays))
        return self._of_rows(shifted)

    def diff(self, periods: int = 1) -> Any:
        """The difference of each value from the one `periods` rows before it in its group."""
        own, pairs = self._columns, []
        for column, before, label in zip(own, self._shifted(periods), self._labels, strict=True):
            if not (column.is_numeric or column.type.is_time):
                raise TypeError(
                    f"operation 'sub' not supported for dtype '{column.dtype_name}' "
                    f"of column {label!r}"
                )
            if column.is_bool:
                raise NotImplementedError(
                    f"groupby: diff does not support bools, got column {label!r}. Cast it to an "
                    "integer first."
                )
            if column.type.is_time or column.is_nullable:
                pairs.append((column, before))
            elif periods == 0 and column.dtype not in _SMALL:
                # Without a shift nothing is missing, and integers keep their dtype.
                pairs.append((column, before))
            else:
                pairs.append((_as_float(column), _as_float(before)))
        changes = combine("sub", pairs, self._table.num_rows)
        return self._of_rows(list(map(_change, own, changes)))

    def pct_change(self, periods: int = 1, fill_method: object = None, freq: object = None) -> Any:
        """The relative change from the value `periods` rows before it in its group."""
        if fill_method is not None:
            raise ValueError(f"fill_method must be None; got fill_method={fill_method!r}.")
        if freq is not None:
            raise NotImplementedError("groupby: pct_change does not support freq.")
        pairs = []
        shifted = self._shifted(periods, in_place=False)
        for column, before, label in zip(self._columns, shifted, self._labels, strict=True):
            if not column.is_numeric or column.is_bool:
                raise TypeError(
                    f"operation 'truediv' not supported for dtype '{column.dtype_name}' "
                    f"of column {label!r}"
                )
            if column.is_nullable:
                pairs.append((column, before))
            else:
                pairs.append((_as_float(column), _as_float(before)))
        ratios = combine("truediv", pairs, self._table.num_rows)
        return self._of_rows(
            [of_family(Column(_less_one(ratio.data)), ratio.family) for ratio in ratios]
        )

    def _filled(self, limit: int | None, forward: bool) -> Any:
        if limit is not None and not isinstance(limit, (int, float, np.number)):
            raise TypeError(f"an integer is required as limit, got {limit!r}")
        if limit is not None:
            # -1 means no limit, as in pandas.
            limit = None if int(limit) == -1 else max(int(limit), 0)
        segments = self._groups.segments
        sources = [without_missing(column) for column in self._columns]
        missing = tuple(column.missing() for column in sources)
        columns = []
        for column, row_ids in zip(
            sources, filled_rows(missing, segments, limit, forward), strict=True
        ):
            holes = column.can_miss or self._grouped.may_drop
            columns += take_columns([column], row_ids, segments.layout, holes=holes)
        return self._of_rows(columns, are_own=True)

    def ffill(self, limit: int | None = None) -> Any:
        """Fills missing values with the last value before them in their group."""
        return self._filled(limit, True)

    def bfill(self, limit: int | None = None) -> Any:
        """Fills missing values with the next value after them in their group."""
        return self._filled(limit, False)

    def rank(
        self,
        method: str = "average",
        ascending: bool = True,
        na_option: str = "keep",
        pct: bool = False,
    ) -> Any:
        """Ranks the values of each group."""
        if na_option not in ("keep", "top", "bottom"):
            raise ValueError("na_option must be one of 'keep', 'top', or 'bottom'")
        if method not in ("average", "min", "max", "first", "dense"):
            raise KeyError(method)
        columns = [sortable(column, self._table.num_rows) for column in self._columns]
        for column, label in zip(columns, self._labels, strict=True):
            if column.kind == "category" and not column.type.ordered:
                raise TypeError(
                    f"Cannot perform rank with non-ordered Categorical: column {label!r}"
                )
            if column.dtype.kind == "c":
                raise TypeError(f"rank: {column.dtype_name} has no order, got column {label!r}.")
        plan = RankPlan(method, bool(ascending), na_option, bool(pct))
        ranks = ranked(tuple(map(bare, columns)), self._groups.segments, plan)
        return self._of_rows(
            [
                of_family(Column(rank), column.family if column.is_numeric else None)
                for rank, column in zip(ranks, columns, strict=True)
            ]
        )


def _as_float(column: Column) -> Column:
    """The column, in float64 unless it holds floats."""
    column = fill_missing(column)
    return column if column.is_float else Column(as_dtype(column.data, wide(np.float64)))


def _change(column: Column, change: Column) -> Column:
    """The difference of a pair, in pandas' type for a column."""
    is_small = column.dtype in _SMALL and not column.is_nullable
    return Column(change.data.astype(np.float32)) if is_small else change


@tiered
def _less_one(ratio: Array) -> Array:
    return ratio - ratio.dtype.type(1)


@functools.partial(tiered, static_argnums=4)
def _filled_gaps(
    data: Array, valid: Array | None, row_ids: Array, value: Any, dtype: np.dtype
) -> tuple[Array, Array | None]:
    """Rows whose gaps, which have no source row, have a value; None is a missing one."""
    is_gap = row_ids < 0
    if value is None:
        return as_dtype(data, dtype), ~is_gap if valid is None else valid & ~is_gap
    filled = jnp.where(is_gap, value, as_dtype(data, dtype))
    return filled, None if valid is None else valid | is_gap
