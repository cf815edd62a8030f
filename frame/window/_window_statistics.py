# SPDX-License-Identifier: Apache-2.0
"""The methods of windows: reductions of each row's window."""

from typing import Any

import numpy as np

from ..table._arguments import as_scalar, check_flag
from ..table._dtypes import wide
from ..table._tracing import is_traced
from ._paired_windows import PairedWindows
from ._reduce_windows import WindowReduction

_INTERPOLATIONS = ("linear", "lower", "higher", "nearest", "midpoint")
_RANKS = ("average", "min", "max")


class WindowStatistics(PairedWindows):
    """Reductions of windows of rows and of spans of time.

    Order statistics, ranks and numbers of distinct values take O(log(rows)) per row, whatever the
    windows; the other methods O(1).
    """

    def sum(self, numeric_only: bool = False) -> Any:
        """The sum of each window; missing for fewer than `min_periods` values.

        Each short window length compiles its own program; longer windows share one.

        Differences from pandas:
            The error of a sum is at most `window * eps` times the sum of absolute values in the
            window. pandas' sums carry rounding errors of values that have left the window.
        """
        return self._take(WindowReduction("sum"), numeric_only)

    def mean(self, numeric_only: bool = False) -> Any:
        """The mean of each window; see `sum`.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1, 2, 6]).rolling(2).mean().tolist()
            [nan, 1.5, 4.0]
        """
        return self._take(WindowReduction("mean"), numeric_only)

    def min(self, numeric_only: bool = False) -> Any:
        """The least value of each window."""
        return self._take(WindowReduction("min"), numeric_only)

    def max(self, numeric_only: bool = False) -> Any:
        """The greatest value of each window."""
        return self._take(WindowReduction("max"), numeric_only)

    def var(self, ddof: int = 1, numeric_only: bool = False) -> Any:
        """The variance of each window; see `sum`."""
        return self._take(_of_deviations("var", ddof), numeric_only)

    def std(self, ddof: int = 1, numeric_only: bool = False) -> Any:
        """The standard deviation of each window; see `sum`."""
        return self._take(_of_deviations("std", ddof), numeric_only)

    def count(self, numeric_only: bool = False) -> Any:
        """The number of non-missing values in each window."""
        return self._take(WindowReduction("count"), numeric_only)

    def sem(self, ddof: int = 1, numeric_only: bool = False) -> Any:
        """The standard error of the mean of each window; infinities count as values."""
        return self._take(_of_deviations("sem", ddof), numeric_only)

    def skew(self, numeric_only: bool = False) -> Any:
        """The unbiased skewness of each window; missing for fewer than three values.

        Differences from pandas:
            Moments are taken about the mean of each window. pandas' sums carry rounding errors of
            values that have left the window.
        """
        return self._take(WindowReduction("skew"), numeric_only)

    def kurt(self, numeric_only: bool = False) -> Any:
        """The unbiased excess kurtosis of each window; missing for fewer than four values."""
        return self._take(WindowReduction("kurt"), numeric_only)

    def first(self, numeric_only: bool = False) -> Any:
        """The first value of each window that is not missing."""
        return self._take(WindowReduction("first"), numeric_only)

    def last(self, numeric_only: bool = False) -> Any:
        """The last value of each window that is not missing."""
        return self._take(WindowReduction("last"), numeric_only)

    def median(self, numeric_only: bool = False) -> Any:
        """The median of each window; see `quantile`.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1, 2, 6, 0]).rolling(3, min_periods=1).median().tolist()
            [1.0, 1.5, 2.0, 2.0]
        """
        return self._take(WindowReduction("median"), numeric_only)

    def quantile(self, q: float, interpolation: str = "linear", numeric_only: bool = False) -> Any:
        """The quantile of each window.

        Windows of all lengths and quantiles share a program for each interpolation.

        Args:
            q: the quantile, from 0 to 1.
            interpolation: "linear", "lower", "higher", "nearest" or "midpoint".
            numeric_only: select the numeric columns.
        """
        q = as_scalar(q)
        if not is_traced(q):
            if isinstance(q, (str, bytes)) or not hasattr(q, "__float__"):
                raise TypeError(f"must be real number, not {type(q).__name__}")
            if not 0.0 <= q <= 1.0:
                raise ValueError(f"quantile value {q} not in [0, 1]")
            q = np.float64(q).astype(wide(np.float64))
        if interpolation not in _INTERPOLATIONS:
            raise ValueError(f"Interpolation '{interpolation}' is not supported")
        how = WindowReduction("quantile", interpolation=interpolation)
        return self._take(how, numeric_only, q)

    def nunique(self, numeric_only: bool = False) -> Any:
        """The number of distinct values of each window."""
        return self._take(WindowReduction("nunique"), numeric_only)

    def rank(
        self,
        method: str = "average",
        ascending: bool = True,
        pct: bool = False,
        numeric_only: bool = False,
    ) -> Any:
        """The rank of the last value of each window in it.

        Args:
            method: the rank of equal values: "average", "min" or "max".
            ascending: whether the least value has the first rank.
            pct: whether ranks are fractions of the number of values.
            numeric_only: select the numeric columns.

        Differences from pandas:
            If no value enters a window, pandas repeats the rank of the window before.
        """
        if method not in _RANKS:
            raise ValueError(f"Method '{method}' is not supported")
        flags = check_flag(ascending, "ascending", may_be_int=True), check_flag(pct, "pct")
        how = WindowReduction("rank", rank=method, ascending=flags[0], pct=flags[1])
        return self._take(how, numeric_only)

    def cov(
        self, other: object = None, pairwise: bool | None = None, ddof: int = 1,
        numeric_only: bool = False,
    ) -> Any:  # fmt: skip
        """The covariance of columns with a series, or of pairs of columns, in each window.

        Rows where either is missing or infinite have no part in it.

        Args:
            other: a series or a frame with the same row labels; by default the rows themselves.
            pairwise: whether two frames give a matrix for each row: one row for each column of
                `other`. Otherwise they give pairs of columns with equal labels. By default True
                without `other`.
            ddof: subtracted from the number of rows in the divisor.
            numeric_only: select the numeric columns.

        Differences from pandas:
            Windows of groups take no `other`. Without rows, the matrices of two frames keep the
            columns of the first.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1, 2], "y": [5, 3]}).rolling(2).cov().tail(2).to_pandas()
                   x    y
            1 x  0.5 -1.0
              y -1.0  2.0
        """
        how = _of_deviations("cov", ddof)
        return self._of_pairs("cov", how, other, pairwise, numeric_only)

    def corr(
        self, other: object = None, pairwise: bool | None = None, ddof: int = 1,
        numeric_only: bool = False,
    ) -> Any:  # fmt: skip
        """The correlation of columns with a series, or of pairs of columns; see `cov`.

        Missing if the values of either are equal.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> x, y = JaxSeries([1, 2, 3, 4]), JaxSeries([2, 4, 6, 1])
            >>> x.rolling(3).corr(y).round(3).tolist()
            [nan, nan, 1.0, -0.596]
        """
        how = _of_deviations("corr", ddof)
        return self._of_pairs("corr", how, other, pairwise, numeric_only)

    def _take(self, how: WindowReduction, numeric_only: bool, q: object = None) -> Any:
        raise NotImplementedError


def _of_deviations(method: str, ddof: object) -> WindowReduction:
    return WindowReduction(method, ddof=int(as_scalar(ddof, "ddof")))
