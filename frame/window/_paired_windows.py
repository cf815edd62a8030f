# SPDX-License-Identifier: Apache-2.0
"""Covariances and correlations in windows: of columns with a series, or of pairs of columns."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ..align._align import in_capacity_of, same_labels
from ..combining._concat_rows import missing_like
from ..combining._interleaved_rows import interleaved_rows
from ..table._column import Array, Column
from ..table._column_labels import Labels, common_name
from ..table._dtypes import wide
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._object_functions import with_floats_of_objects
from ..table._table import Table
from ..table._take import resized
from ._row_windows import RowWindows, without_bools


class WindowRows(NamedTuple):
    """The rows that windows are of, in the order of windows.

    Attributes:
        table: the rows.
        segment_ids: the segments where windows stop; None if there is one.
        times: the time of each row, for windows of spans of time.
    """

    table: Table
    segment_ids: Array | None
    times: Column | None


class PairedWindows(RowWindows):
    """Statistics of pairs of columns in windows."""

    def _of_pairs(
        self, method: str, how: object, other: Any, pairwise: bool | None, numeric_only: bool
    ) -> Any:
        """A statistic of the columns and a series, or of pairs of columns.

        Args:
            method: "cov" or "corr".
            how: the statistic, for `_with_last`.
            other: a series, a frame, or None for the rows themselves.
            pairwise: whether all pairs of columns of two frames have results, and not those of
                equal labels; None for all if `other` is None.
            numeric_only: whether to leave out other columns.
        """
        of, segment_ids, times = self._in_order(self._numbers(method, numeric_only))
        if other is None:
            other, pairwise = of, pairwise is None or pairwise
        elif not isinstance(other, NDFrame):
            raise ValueError("other must be a DataFrame or Series")
        elif numeric_only and isinstance(other, FrameBase):
            other = without_bools(other)
        else:
            other = with_floats_of_objects(other)
        if not same_labels(of._table, in_capacity_of(other._table, of._table)):
            raise NotImplementedError(
                f"{method}: both must have the same row labels, in the same order. Call align() "
                "first."
            )
        if isinstance(of, SeriesBase) and isinstance(other, FrameBase):
            of, other = other, of
        for one in (of, other):
            self._check_numbers(one)
        table = of._table
        rows = WindowRows(table, segment_ids, times)
        others = resized(other._table.columns, table.capacity, table.layout)
        if isinstance(other, SeriesBase):
            columns = self._with_last(table.columns, others[0], rows, how)
            result: Any = of._with_columns(columns)
            if isinstance(of, FrameBase):
                return result
            return result.rename(common_name((of._name, other._name)))
        if pairwise:
            return self._matrices(how, of, other, others, rows)
        return self._of_equal_labels(how, of, other, others, rows)

    def _matrices(
        self, how: object, of: Any, other: Any, others: Sequence[Column], windows: WindowRows
    ) -> Any:
        """For each row a matrix: a row for each column of `other`, in columns those of `of`."""
        labels, table, found = other._labels.index, of._table, {}
        own = table.columns
        if not own or not others:
            raise ValueError("No objects to concatenate")
        is_symmetric = of is other
        for i, x in enumerate(own):
            for j, y in enumerate(others):
                if is_symmetric and j < i:
                    found[i, j] = found[j, i]
                else:
                    (found[i, j],) = self._with_last([x], y, windows, how)
        pieces = [[found[i, j] for j in range(len(others))] for i in range(len(own))]
        rows = interleaved_rows(pieces, labels, table)
        result = of._make_frame(rows.columns, of._labels, rows)
        # As in pandas.
        return result.sort_index() if labels.nlevels > 1 else result

    def _of_equal_labels(
        self, how: Any, of: Any, other: Any, others: Sequence[Column], windows: WindowRows
    ) -> Any:
        """Pairs of columns with equal labels; missing for those that one frame has."""
        table = of._table
        if of is other:
            return of._with_columns(
                [self._with_last([one], one, windows, how)[0] for one in table.columns]
            )
        for number, frame in enumerate((of, other), 1):
            if not frame._labels.index.is_unique:
                raise ValueError(f"'arg{number}' columns are not unique")
        labels = Labels(of._labels.index.union(other._labels.index))
        gap = Column(jnp.zeros(0, wide(np.float64)))
        columns = []
        for label in labels:
            if label in of._labels and label in other._labels:
                x = table.columns[of._labels.position(label)]
                y = others[other._labels.position(label)]
                columns += self._with_last([x], y, windows, how)
            else:
                columns.append(missing_like(gap, table.capacity, table.layout))
        return of._make_frame(columns, labels, table)

    def _numbers(self, method: str, numeric_only: bool) -> Any:
        """The rows of the windows, with `numeric_only` without other columns."""
        raise NotImplementedError

    def _check_numbers(self, of: object) -> None:
        """Raises pandas' error unless all columns are real numbers."""
        raise NotImplementedError

    def _in_order(self, of: Any) -> tuple[Any, Array | None, Column | None]:
        """The rows in the order of windows, ids of segments, and times or other labels."""
        carried = self._carried()
        if carried is None:
            return (*self._segmented(of), None)
        table = of._table.with_columns([*of._table.columns, carried])
        of, segment_ids = self._segmented(of._like(table))
        *columns, carried = of._table.columns
        return of._with_columns(columns), segment_ids, carried

    def _carried(self) -> Column | None:
        """A column that takes the order of the windows, beside the rows."""
        return None

    def _with_last(
        self, columns: Sequence[Column], last: Column, rows: WindowRows, how: object
    ) -> Sequence[Column]:
        """The statistic of each column and the last one in the window of each row."""
        raise NotImplementedError
