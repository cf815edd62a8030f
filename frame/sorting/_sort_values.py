# SPDX-License-Identifier: Apache-2.0
"""sort_values and argsort."""

from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np

from ..align._as_column import as_column
from ..table._arguments import axis_number, check_flag, only_rows
from ..table._by_pandas import by_pandas
from ..table._column import Array, Column
from ..table._column_labels import check_unambiguous
from ..table._distinct_objects import Order
from ..table._dtypes import cast_exactly, wide
from ..table._expressions import evaluated, is_expression
from ..table._in_place import with_inplace
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._objects import sortable
from ..table._row_index import RANGE
from ..table._sort import argsort_rows, sort_rows
from ..table._sort_keys import ordered_keys
from ..table._tracing import is_traced
from ..table._types import Axis, LabelOrLabels


def sort_keys(
    columns: Sequence[Column], ascending: Sequence[bool], na_position: str
) -> list[tuple[Array, bool]]:
    """Sort keys of several columns, each with its direction."""
    if na_position not in ("first", "last"):
        raise ValueError(f"invalid na_position: {na_position}")
    missing_first = na_position == "first"
    return [
        key
        for column, is_ascending in zip(columns, ascending, strict=True)
        for key in ordered_keys(column, descending=not is_ascending, missing_first=missing_first)
    ]


def as_directions(ascending: object, num_keys: int, mismatch: str) -> list[bool]:
    """Validates `ascending`, one flag for all keys or one for each."""
    flags = list(ascending) if isinstance(ascending, (list, tuple)) else [ascending] * num_keys
    if len(flags) != num_keys:
        raise ValueError(mismatch.format(len(flags), num_keys))
    return [check_flag(one, "ascending", may_be_int=True) for one in flags]


def _check(kind: object, axis: Axis, owner: NDFrame) -> None:
    if kind not in (None, "quicksort", "mergesort", "heapsort", "stable"):
        raise ValueError(
            "sort kind must be one of {'quicksort', 'heapsort', 'mergesort', 'stable'} "
            f"(got {kind})"
        )
    only_rows("sort_values", axis, owner, "Order columns by their labels.")


def _keyed(series: SeriesBase, key: Any, order: Order = "full") -> Column:
    """The sort column of a series, after applying `key`; its objects need an order."""
    table, result = series._table, series if key is None else key(series)
    if isinstance(result, SeriesBase):
        column, num_rows = result._only, result._table.num_rows
        same_capacity = result._table.capacity == table.capacity
        same_count = is_traced(num_rows, table.num_rows) or num_rows == table.num_rows
        if not (same_capacity and same_count):
            raise ValueError("User-provided `key` function must not change the shape of the array.")
    else:
        column = as_column(result, table, series._name)
    return sortable(column, table.num_rows, order)


def _sorted(
    of: Any, columns: Sequence[Column], directions: Sequence[bool], na_position: str, anew: bool
) -> Any:
    """The rows of a frame or a series in the order of columns, labelled anew or as they were."""
    table = sort_rows(of._table, sort_keys(columns, directions, na_position))
    return of._like(table.replace(index=RANGE) if anew else table)


class FrameSorting(FrameBase):
    """Sorting of frames."""

    @with_inplace
    def sort_values(
        self,
        by: Hashable | Sequence[Hashable],
        *,
        axis: Axis = 0,
        ascending: bool | Sequence[bool] = True,
        inplace: bool = False,
        kind: object = "quicksort",
        na_position: str = "last",
        ignore_index: bool = False,
        key: object = None,
    ) -> Self:
        """Sorts rows by columns or index levels; `key` transforms the series of each first.

        Differences from pandas:
            `by` may hold expressions of `col`.
            The sort is always stable, regardless of `kind`. With `na_position="first"` missing
            values come strictly first, also before infinities. Inside `jit` `key` is traced.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [3, 1, 2]}).sort_values("x").index.tolist()
            [1, 2, 0]
        """
        if axis_number(axis, self):
            how = {"ascending": ascending, "kind": kind, "na_position": na_position, "key": key}
            return by_pandas(
                self, "sort_values: axis=1", "Order columns by their labels.",
                lambda data: data.sort_values(by, axis=1, ignore_index=ignore_index, **how),
            )  # fmt: skip
        _check(kind, axis, self)
        labels = list(by) if isinstance(by, list) else [by]
        mismatch = "Length of ascending ({}) != length of by ({})"
        directions = as_directions(ascending, len(labels), mismatch)
        # As in pandas, numbers beside strings have an order if there are several keys.
        order: Order = "full" if len(labels) == 1 else "groups"
        columns = [_keyed(self._series_by(label), key, order) for label in labels]
        return _sorted(self, columns, directions, na_position, ignore_index)

    def _series_by(self, by: LabelOrLabels) -> Any:
        """The series that a label names or an expression calculates."""
        if not is_expression(by):
            return self._make_series(self._column_or_level(by), by)
        series = evaluated(by, self)
        if not isinstance(series, SeriesBase):
            raise ValueError(f"sort_values: {by!r} must have a value for each row, got {series!r}.")
        return series

    def _column_or_level(self, label: Hashable) -> Column:
        levels = self._table.index.names
        check_unambiguous(label, self._labels, levels)
        if label is None or label not in levels:
            return self._column(label)
        return self._table.index_columns()[levels.index(label)]


class SeriesSorting(SeriesBase):
    """Sorting of series."""

    @with_inplace
    def sort_values(
        self,
        *,
        axis: Axis = 0,
        ascending: bool = True,
        inplace: bool = False,
        kind: object = "quicksort",
        na_position: str = "last",
        ignore_index: bool = False,
        key: object = None,
    ) -> Self:
        """Sorts the values; see `JaxFrame.sort_values`."""
        _check(kind, axis, self)
        directions = as_directions(ascending, 1, "Length of ascending ({}) must be {} for Series")
        return _sorted(self, [_keyed(self, key)], directions, na_position, ignore_index)

    def argsort(
        self,
        axis: Axis = 0,
        kind: object = "quicksort",
        order: object = None,
        stable: object = None,
    ) -> Self:
        """Row positions that sort the values, missing values last.

        Differences from pandas:
            The sort is always stable, regardless of `kind`.
        """
        # NumPy's function asks for the last axis.
        axis_number(0 if axis in (None, -1) else axis, self)
        del order, stable
        if kind not in (None, "quicksort", "mergesort", "heapsort", "stable"):
            raise ValueError(
                f"sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})"
            )
        table = self._table
        column = sortable(self._only, table.num_rows)
        row_ids = argsort_rows(ordered_keys(column), table.num_rows, table.layout)
        return self._with_column(Column(cast_exactly(row_ids, wide(np.int64))))
