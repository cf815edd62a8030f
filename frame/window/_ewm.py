# SPDX-License-Identifier: Apache-2.0
"""`ewm`: exponentially weighted windows."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..table._arguments import check_flag
from ..table._column import Column, as_floats
from ..table._dtypes import wide
from ..table._layout import Layout
from ..table._ndframe import NDFrame
from ..table._object_functions import with_floats_of_objects
from ..table._unsupported import LACKING, not_supported
from ._ewm_scans import ScanPlan, weighted, weighted_pairs
from ._paired_windows import PairedWindows, WindowRows
from ._row_windows import without_bools


class Decay(NamedTuple):
    """The checked arguments of `ewm`.

    Attributes:
        alpha: one minus the factor by which weights decay in a row.
        min_periods: the least number of values with a result.
        adjust: whether weights are divided by their sum.
        ignore_na: whether rows without a value leave the weights as they are.
    """

    alpha: float
    min_periods: int
    adjust: bool
    ignore_na: bool


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
        name = "biased var" if check_flag(bias, "bias") else "var"
        return self._take(name, numeric_only)

    def std(self, bias: bool = False, numeric_only: bool = False) -> Any:
        """The square root of `var`."""
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
        return self._of_pairs("corr", "corr", other, pairwise, numeric_only)

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
        alpha, min_periods, adjust, ignore_na = self._how
        plan = ScanPlan(statistic, adjust, ignore_na, layout)
        return np.asarray(alpha, wide(np.float64)), np.int32(max(min_periods, 1)), plan

    def _take(self, statistic: str, numeric_only: bool) -> Any:
        of = self._numbers("", numeric_only)
        _check_numbers(of)
        of, segment_ids = self._segmented(of)
        data = tuple(as_floats(column).data for column in of._table.columns)
        results = weighted(data, segment_ids, *self._settings(statistic, of._layout))
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

        Differences from pandas:
            `online` is not supported. `times` must be None and `halflife` a number of rows.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([0.0, 3.0]).ewm(span=3, adjust=False).mean().tolist()
            [0.0, 1.5]
        """
        return ExponentialWindows(
            self,
            as_decay(com, span, halflife, alpha, min_periods, adjust, ignore_na, times, method),
        )


def as_decay(
    com: Any, span: Any, halflife: Any, alpha: Any, min_periods: Any, adjust: bool,
    ignore_na: bool, times: object, method: str,
) -> Decay:  # fmt: skip
    """Checks the arguments of `ewm`."""
    if times is not None or method != "single":
        raise NotImplementedError("ewm: times must be None and method 'single'.")
    # Let pandas check the arguments.
    pd.Series(dtype=np.float64).ewm(com, span, halflife, alpha, min_periods, adjust, ignore_na)
    if com is not None:
        alpha = 1 / (1 + com)
    elif span is not None:
        alpha = 2 / (span + 1)
    elif halflife is not None:
        alpha = 1 - math.exp(math.log(0.5) / halflife)
    assert alpha is not None
    return Decay(alpha, min_periods or 0, adjust, ignore_na)
