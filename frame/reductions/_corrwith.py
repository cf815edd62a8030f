# SPDX-License-Identifier: Apache-2.0
"""`corrwith`: the correlations of two frames, column by column or row by row."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ..align._align import aligned_column, same_labels
from ..combining._concat import concat
from ..table._arguments import axis_number, check_flag
from ..table._by_pandas import by_pandas
from ..table._column import NUMBER, of_family
from ..table._ndframe import FrameBase, SeriesBase
from ..table._tracing import is_traced
from ..table._types import Axis
from ..table._user_functions import as_pandas
from ._corr import Statistic, as_number, check_method, is_by_rank, of_pair
from ._results import table_of_series, traced_table


class FrameCorrelationWith(FrameBase):
    """Correlations with another frame or with a series."""

    def corrwith(
        self,
        other: object,
        axis: Axis = 0,
        drop: bool = False,
        method: object = "pearson",
        numeric_only: bool = False,
        min_periods: int | None = None,
    ) -> Any:
        """The correlation of each column with the column of the same label of another frame, or
        with a series.

        Rows are aligned by label, which inside `jit` must be the same in both.

        Args:
            other: a frame or a series.
            axis: 1 correlates rows of equal label in place of columns; `other` must be a frame.
            drop: whether to leave out labels of only one of the frames; they give NaN by default.
            method: others than "pearson" run on the host, outside `jit`.
            numeric_only: whether to leave out columns that hold no numbers.
            min_periods: the least number of rows, for a series; fewer give NaN. As in pandas,
                frames ignore it.

        Differences from pandas:
            A series correlates with columns alone.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"x": [1.0, 2.0, 4.0], "y": [3.0, 2.0, 0.0]})
            >>> frame.corrwith(frame.x).tolist()
            [1.0, -1.0]
        """
        is_across = bool(axis_number(axis, self))
        if is_by_rank(method):
            how = {"axis": axis, "drop": drop, "method": method, "numeric_only": numeric_only}
            return by_pandas(
                self, "corrwith: method=", "Use rank() first for 'spearman'.",
                lambda data: data.corrwith(as_pandas(other), **how, min_periods=min_periods),
            )  # fmt: skip
        check_method(method, "corrwith")
        is_numeric_only = check_flag(numeric_only, "numeric_only")
        this = self._of_numbers() if is_numeric_only else self
        if isinstance(other, SeriesBase):
            if is_across:
                raise NotImplementedError(
                    "corrwith: axis must be 0 with a series. Pass a frame, or transpose first."
                )
            return this._with_series(other, _correlation(min_periods))
        if not isinstance(other, FrameBase):
            raise TypeError(
                f"corrwith: other must be a JaxFrame or a JaxSeries, got {type(other).__name__}."
            )
        that = other._of_numbers() if is_numeric_only else other
        if any(one.kind == "object" for one in (*this._table.columns, *that._table.columns)):
            return by_pandas(
                this, "corrwith: columns of objects", "Convert them with astype first.",
                lambda data: data.corrwith(that.to_pandas(), axis=axis, drop=drop),
            )  # fmt: skip
        return _of_frames(this, that, is_across, drop)

    def _with_series(self, other: Any, statistic: Statistic) -> Any:
        table = self._table
        aligned = as_number(aligned_column(other, table), other._name, table.num_rows, "corrwith")
        values = []
        for column, label in zip(table.columns, self._labels, strict=True):
            column = as_number(column, label, table.num_rows, "corrwith")
            values.append(of_pair((column, aligned), table, statistic))
        return _column_of(self, values)


def _correlation(min_periods: int | None) -> Statistic:
    return Statistic("corr", max(min_periods or 1, 1), 1, False)


def _of_frames(this: Any, that: Any, is_across: bool, drop: bool) -> Any:
    for frame in (this, that):
        for column, label in zip(frame._table.columns, frame._labels, strict=True):
            if not column.is_numeric or column.dtype.kind == "c":
                raise TypeError(
                    f"corrwith: columns must hold real numbers, got {column.dtype_name} in "
                    f"{label!r}. Use numeric_only=True."
                )
    if not (this._labels.index.is_unique and that._labels.index.is_unique):
        return _of_repeated_labels(this, that, is_across, drop)
    left, right = this.align(that, join="inner")
    # As in pandas, infinities of the right frame are missing.
    left = left + right * 0
    right = right + (left * 0).where(left.isna(), 0)
    if is_across:
        found = _across(left, right)
        if drop or same_labels(this._table, that._table):
            return found
        rest = this.index.union(that.index).difference(found.index)
    else:
        pairs = zip(left._table.columns, right._table.columns, strict=True)
        found = _column_of(left, [of_pair(pair, left._table, _correlation(1)) for pair in pairs])
        columns = [*left._table.columns, *right._table.columns]
        family = next((column.family for column in columns if column.is_nullable), None)
        found = found._with_column(of_family(found._only, family))
        if drop:
            return found
        rest = this.columns.union(that.columns).difference(left.columns)
    return concat([found, this.series_class(pd.Series(np.nan, rest))]) if len(rest) else found


def _of_repeated_labels(this: Any, that: Any, is_across: bool, drop: bool) -> Any:
    """The same for columns of equal labels: each with each of its label, under numbers."""
    own, other = this._labels.index, that._labels.index
    shared, *positions = own.join(other, how="inner", return_indexers=True)
    numbers = range(len(shared))
    left, right = (
        frame._columns_at(numbers if at is None else at.tolist()).set_axis(numbers, axis=1)
        for frame, at in zip((this, that), positions, strict=True)
    )
    if is_across:
        return _of_frames(left, right, is_across, drop)
    found = _of_frames(left, right, is_across, True).set_axis(shared, axis=0)
    rest = own.union(other).difference(shared)
    if drop or not len(rest):
        return found
    return concat([found, this.series_class(pd.Series(np.nan, rest))])


def _across(left: Any, right: Any) -> Any:
    """The correlation of each row of a frame with that of another."""
    from_left = left.sub(left.mean(axis=1), axis=0)
    from_right = right.sub(right.mean(axis=1), axis=0)
    together = (from_left * from_right).sum(axis=1)
    return together / ((left.count(axis=1) - 1) * left.std(axis=1) * right.std(axis=1))


def _column_of(frame: FrameBase, values: list[Any]) -> Any:
    """A series of a number for each column of a frame."""
    labels = frame._labels.index
    if is_traced(values):
        pairs = [(value, jnp.isnan(value)) for value in values]
        table = traced_table(pairs, [NUMBER] * len(values), labels, "corrwith")
    else:
        table = table_of_series(pd.Series(values, labels, np.float64))
    return frame._series_of(table, None)
