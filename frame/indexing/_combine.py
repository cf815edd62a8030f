# SPDX-License-Identifier: Apache-2.0
"""`combine`: a function of the values, or of the columns, of two operands."""

from typing import Any

from ..table._by_pandas import by_pandas
from ..table._ndframe import FrameBase, SeriesBase
from ..table._types import Function
from ..table._user_functions import as_pandas

_INSTEAD = "Use where(), combine_first() or operators of both."


class FrameCombination(FrameBase):
    """`combine` of frames."""

    def combine(
        self, other: object, func: Function, fill_value: object = None, overwrite: bool = True
    ) -> Any:
        """Calls a function with the columns of two frames, aligned by label; on the host.

        Args:
            other: a frame.
            func: gets two series of pandas, and returns a series or a value.
            fill_value: replaces missing values before the function is called.
            overwrite: whether columns without a value in `other` are passed to the function, and
                not kept.

        Example:
            frame.x                               [1 5]
            other.x                               [3 2]
            frame.combine(other, np.minimum).x    [1 2]
        """
        return by_pandas(
            self, "combine", _INSTEAD,
            lambda data: data.combine(as_pandas(other), func, fill_value, overwrite),
        )  # fmt: skip


class SeriesCombination(SeriesBase):
    """`combine` of series."""

    def combine(self, other: object, func: Function, fill_value: object = None) -> Any:
        """Calls a function with the values of two series, aligned by label; on the host.

        Args:
            other: a series, or a value beside each value of this one.
            func: gets two values and returns one.
            fill_value: the value at labels that one of both lacks; missing by default.

        Example:
            series                       [1 5]
            other                        [3 2]
            series.combine(other, max)   [3 5]
        """
        return by_pandas(
            self, "combine", _INSTEAD,
            lambda data: data.combine(as_pandas(other), func, fill_value),
        )  # fmt: skip
