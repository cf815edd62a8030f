# SPDX-License-Identifier: Apache-2.0
"""`ewm`: exponentially weighted windows."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..align._align import in_capacity_of
from ..align._as_column import as_column
from ..table._arguments import check_flag
from ..table._column import Column, as_floats
from ..table._dtypes import wide
from ..table._layout import Layout
from ..table._ndframe import NDFrame, SeriesBase
from ..table._object_functions import with_floats_of_objects
from ..table._table import Table, check_same_layout
from ..table._take import any_missing
from ..table._tracing import at_once, is_traced
from ..table._unsupported import LACKING, not_supported
from ._ewm_scans import ScanPlan, weighted, weighted_pairs
from ._paired_windows import PairedWindows, WindowRows
from ._row_windows import without_bools


class Elapsed(NamedTuple):
    """The times of the rows, and the time in which a weight decays as in one row.

    Attributes:
        times: the times.
        length: the time, in units of the times.
    """

    times: Column
    length: float


class Decay(NamedTuple):
    """The checked arguments of `ewm`.

    Attributes:
        alpha: one minus the factor by which weights decay in a row.
        min_periods: the least number of values with a result.
        adjust: whether weights are divided by their sum.
        ignore_na: whether rows without a value leave the weights as they are.
        elapsed: times by which weights decay; None if they do row by row.
    """

    alpha: float
    min_periods: int
    adjust: bool
    ignore_na: bool
    elapsed: Elapsed | None = None


class ExponentialWindows(PairedWindows):
    """The result of `ewm`; its methods weight each row and all rows before it.

    Missing and infinite values have no weight, and their rows keep the last result.
    """

    def __getattr__(self, name: str) -> Any:
        if name in LACKING["ExponentialWindows"]:
            raise not_supported("ExponentialWindows", "ewm", name)
        raise AttributeError(f"ewm windows have no attribute {name!r}")

    def mean(self, numeric_only: bool = False) -> Any:
        """The weighted mean of the values up to each row.

        A linear recurrence, solved row by row.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([0.0, 3.0]).ewm(alpha=0.5).mean().tolist()
            [0.0, 2.0]
        """
        return self._take("mean", numeric_only)

    def sum(self, numeric_only: bool = False) -> Any:
        """The weighted sum of the values up to each row; see `mean`.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([2.0, 3.0]).ewm(alpha=0.5).sum().tolist()
            [2.0, 4.0]
        """
        self._check_no_times("sum")
        if not self._how.adjust:
            raise NotImplementedError(
                "sum is not implemented with adjust=False. Use adjust=True, or mean()."
            )
        return self._take("sum", numeric_only)

    def var(self, bias: bool = False, numeric_only: bool = False) -> Any:
        """The weighted variance of the values up to each row; see `mean`.

        Args:
            bias: whether the mean square is left as it is, and not corrected for the weights.
            numeric_only: whether to leave out other columns.

        Differences from pandas:
            The variance of equal values may be a rounding error above zero.

        References:
            West (1979), "Updating mean and variance estimates: an improved method".

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([0.0, 3.0]).ewm(alpha=0.5).var(bias=True).tolist()
            [0.0, 2.0]
        """
        self._check_no_times("var")
        name = "biased var" if check_flag(bias, "bias") else "var"
        return self._take(name, numeric_only)

    def std(self, bias: bool = False, numeric_only: bool = False) -> Any:
        """The square root of `var`."""
        self._check_no_times("std")
        return self.var(bias, numeric_only) ** 0.5

    def cov(
        self, other: object = None, pairwise: bool | None = None, bias: bool = False,
        numeric_only: bool = False,
    ) -> Any:  # fmt: skip
        """The weighted covariance of columns with a series, or of pairs of columns.

        Rows where either is missing or infinite have no weight.

        Args:
            other: a series or a frame with the same row labels; by default the rows themselves.
            pairwise: whether two frames give a matrix for each row; see `rolling`'s `cov`.
            bias: as for `var`.
            numeric_only: whether to leave out other columns.

        Differences from pandas:
            Windows of groups take no `other`. Without rows, the matrices of two frames keep the
            columns of the first.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> x, y = JaxSeries([0.0, 3.0]), JaxSeries([0.0, 6.0])
            >>> x.ewm(alpha=0.5).cov(y, bias=True).tolist()
            [0.0, 4.0]
        """
        self._check_no_times("cov")
        name = "biased cov" if check_flag(bias, "bias") else "cov"
        return self._of_pairs("cov", name, other, pairwise, numeric_only)

    def corr(
        self, other: object = None, pairwise: bool | None = None, numeric_only: bool = False
    ) -> Any:
        """The weighted correlation of columns with a series, or of pairs of columns; see `cov`.

        Missing if the values of either are equal. As in pandas, a correlation of almost 1 may be
        a rounding error above it.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> x, y = JaxSeries([1, 2, 3, 4]), JaxSeries([10, 11, 13, 16])
            >>> x.ewm(alpha=0.2).corr(y).round(3).tolist()
            [nan, 1.0, 0.983, 0.978]
        """
        self._check_no_times("corr")
        return self._of_pairs("corr", "corr", other, pairwise, numeric_only)

    def _check_no_times(self, method: str) -> None:
        if self._how.elapsed is not None:
            raise NotImplementedError(
                f"{method} is not implemented with times. Use mean(), or leave times out."
            )

    def _carried(self) -> Column | None:
        return None if self._how.elapsed is None else self._how.elapsed.times

    def _numbers(self, method: str, numeric_only: bool) -> Any:
        if check_flag(numeric_only, "numeric_only") and self._of.ndim == 2:
            return without_bools(self._of)
        return with_floats_of_objects(self._of)

    def _check_numbers(self, of: NDFrame) -> None:
        _check_numbers(of)

    def _with_last(
        self, columns: Sequence[Column], last: Column, rows: WindowRows, how: str
    ) -> Sequence[Column]:
        *data, other = (as_floats(column).data for column in (*columns, last))
        settings = self._settings(how, rows.table.layout)
        results = weighted_pairs(tuple(data), other, rows.segment_ids, *settings)
        return list(map(Column, results))

    def _settings(self, statistic: str, layout: Layout) -> tuple[np.ndarray, np.int32, ScanPlan]:
        """The decay, the least number of values, and what is computed."""
        alpha, min_periods, adjust, ignore_na, _ = self._how
        plan = ScanPlan(statistic, adjust, ignore_na, layout)
        return np.asarray(alpha, wide(np.float64)), np.int32(max(min_periods, 1)), plan

    def _take(self, statistic: str, numeric_only: bool) -> Any:
        of = self._numbers("", numeric_only)
        _check_numbers(of)
        of, segment_ids, times = self._in_order(of)
        data = tuple(as_floats(column).data for column in of._table.columns)
        elapsed = None
        if times is not None:
            length = np.asarray(self._how.elapsed.length, wide(np.float64))
            elapsed = times.data, length, of._table.num_rows
        settings = self._settings(statistic, of._layout)
        results = weighted(data, segment_ids, *settings, elapsed)
        return of._with_columns(map(Column, results))


def _check_numbers(of: NDFrame) -> None:
    for column in of._table.columns:
        if not column.is_numeric or column.dtype.kind == "c":
            raise pd.errors.DataError(f"Cannot aggregate non-numeric type: {column.dtype_name}")


class ExponentialWindowMethods(NDFrame):
    """The method `ewm` of frames and series."""

    def ewm(
        self, com: float | None = None, span: float | None = None, halflife: object = None,
        alpha: float | None = None, min_periods: int | None = 0, adjust: bool = True,
        ignore_na: bool = False, times: object = None, method: str = "single",
    ) -> ExponentialWindows:  # fmt: skip
        """Windows of all rows up to each row, with weights that decay by `1 - alpha` a row.

        Works inside `jit`.

        Args:
            com, span, halflife, alpha: the decay, in one of four ways; see pandas.
            min_periods: the least number of values with a result.
            adjust: whether weights are divided by their sum.
            ignore_na: whether rows without a value leave the weights as they are.
            times: the time of each row, by position, for a `halflife` that is a timedelta. Then
                `mean` is the only statistic, as in pandas.
            method: must be "single".

        Differences from pandas:
            `online` is not supported.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([0.0, 3.0]).ewm(span=3, adjust=False).mean().tolist()
            [0.0, 1.5]
            >>> import pandas as pd
            >>> times = pd.to_datetime(["2024-01-01", "2024-01-03"])
            >>> JaxSeries([0.0, 5.0]).ewm(halflife="1D", times=times).mean().tolist()
            [0.0, 4.0]
        """
        return ExponentialWindows(
            self,
            as_decay(
                self._table, com, span, halflife, alpha, min_periods, adjust, ignore_na, times,
                method,
            ),
        )  # fmt: skip


def as_decay(
    table: Table, com: Any, span: Any, halflife: Any, alpha: Any, min_periods: Any, adjust: bool,
    ignore_na: bool, times: object, method: str,
) -> Decay:  # fmt: skip
    """Checks the arguments of `ewm` of the rows of a table."""
    if method != "single":
        raise NotImplementedError("ewm: method must be 'single'. Leave it out.")
    column = None if times is None else _times(times, table)
    # Let pandas check the arguments.
    times = None if column is None else pd.Series(dtype="datetime64[ns]")
    pd.Series(dtype=np.float64).ewm(
        com, span, halflife, alpha, min_periods, adjust, ignore_na, times
    )
    elapsed = None
    if column is not None:
        is_known = not is_traced(column, table.num_rows)
        # At once, because times may be closed over inside `jit`.
        if is_known and bool(any_missing(at_once(Column.present, column), table.num_rows)):
            raise ValueError("Cannot convert NaT values to integer")
        unit: Any = column.type.unit
        elapsed = Elapsed(column, float(pd.Timedelta(halflife).as_unit(unit)._value))
        # The times halve the weights, beside another decay.
        halflife = 1
    if com is not None:
        alpha = 1 / (1 + com)
    elif span is not None:
        alpha = 2 / (span + 1)
    elif alpha is None:
        alpha = 1 - math.exp(math.log(0.5) / halflife)
    assert alpha is not None
    return Decay(alpha, min_periods or 0, adjust, ignore_na, elapsed)


def _times(times: Any, table: Table) -> Column:
    """The times of the rows of a table, by position."""
    if isinstance(times, SeriesBase):
        check_same_layout("ewm", times._table, table)
        own = in_capacity_of(times._table, table)
        column, has_length = own.columns[0], own.capacity == table.capacity
        if not is_traced(own.num_rows, table.num_rows):
            has_length = own.num_rows_on_host == table.num_rows_on_host
    else:
        if not isinstance(getattr(times, "dtype", None), (np.dtype, pd.DatetimeTZDtype)):
            raise ValueError("times must be datetime64 dtype.")
        num_rows = table.capacity if is_traced(table.num_rows) else table.num_rows_on_host
        has_length = len(times) == num_rows
        if not has_length:
            raise ValueError("times must be the same length as the object.")
        column = as_column(times.array if isinstance(times, pd.Series) else times, table, "times")
    if column.kind != "datetime":
        raise ValueError("times must be datetime64 dtype.")
    if not has_length:
        raise ValueError("times must be the same length as the object.")
    return column
