# SPDX-License-Identifier: Apache-2.0
"""`compare`: the values in which two frames or two series differ."""

import itertools
from typing import Any

import numpy as np
import pandas as pd

from ..table._arguments import axis_number, check_flag
from ..table._column_labels import Labels
from ..table._ndframe import FrameBase, NDFrame
from ..table._tracing import is_traced


class Comparison(NDFrame):
    """The differences of two frames or two series."""

    def compare(
        self,
        other: object,
        align_axis: Any = 1,
        keep_shape: bool = False,
        keep_equal: bool = False,
        result_names: tuple[object, object] = ("self", "other"),
    ) -> Any:
        """The rows and columns in which two frames of equal labels differ, side by side.

        Inside `jit` with `keep_shape=True` only, because the number of columns depends on values.

        Args:
            other: a frame or a series with the same labels.
            align_axis: must be 1.
            keep_shape: whether to keep rows and columns without a difference.
            keep_equal: whether to keep equal values; they become missing by default.
            result_names: the labels of the columns of either side.

        Returns:
            A frame with two columns for each column, or for the series.

        Differences from pandas:
            `align_axis` must be 1.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"x": [1, 2, 3], "y": [4, 5, 6]})
            >>> found = frame.compare(JaxFrame({"x": [1, 7, 3], "y": [4, 5, 6]}))
            >>> found.columns.tolist(), found.to_pandas().values.tolist()
            ([('x', 'self'), ('x', 'other')], [[2.0, 7.0]])
        """
        if type(self) is not type(other):
            mine, theirs = type(self).__name__, type(other).__name__
            raise TypeError(f"can only compare '{mine}' (not '{theirs}') with '{mine}'")
        if not isinstance(result_names, tuple):
            raise TypeError(
                f"Passing 'result_names' as a {type(result_names)} is not supported. Provide "
                "'result_names' as a tuple instead."
            )
        if align_axis not in (1, "columns"):
            axis_number(align_axis, self)
            raise NotImplementedError(
                f"compare: align_axis must be 1, got {align_axis!r}. Use stack() of the result."
            )
        left: Any = self
        right: Any = other
        differs = ~((left == right) | (left.isna() & right.isna()))
        if any(column.is_nullable for column in differs._table.columns):
            # A value differs from a missing one, which compares to NA.
            differs = differs.fillna(True)
        if not check_flag(keep_equal, "keep_equal"):
            left, right = left.where(differs), right.where(differs)
        if not check_flag(keep_shape, "keep_shape"):
            if is_traced(differs._table):
                raise NotImplementedError(
                    "compare: the columns that differ are not known inside jit. Use "
                    "keep_shape=True."
                )
            left, right = _with_differences(left, differs), _with_differences(right, differs)
        pairs = zip(left._table.columns, right._table.columns, strict=True)
        columns = list(itertools.chain.from_iterable(pairs))
        return left._make_frame(columns, _paired_labels(self, left, result_names), left._table)


def _with_differences(rows: Any, differs: Any) -> Any:
    if not isinstance(rows, FrameBase):
        return rows[differs]
    has_difference = differs.any().to_pandas().tolist()
    return rows[differs.any(axis=1)]._columns_at(
        [at for at, flag in enumerate(has_difference) if flag]
    )


def _paired_labels(source: object, left: Any, names: tuple[object, object]) -> Labels:
    if not isinstance(source, FrameBase):
        return Labels(pd.Index(list(names)))
    labels = left._labels.index
    levels = [labels.get_level_values(level).repeat(2) for level in range(labels.nlevels)]
    sides = pd.Index(list(names)).take(np.tile([0, 1], len(labels)))
    return Labels(pd.MultiIndex.from_arrays([*levels, sides], names=[*labels.names, None]))
