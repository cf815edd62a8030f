# SPDX-License-Identifier: Apache-2.0
"""`compare`: the values in which two frames or two series differ."""

import itertools
from typing import Any

import numpy as np
import pandas as pd

from ..combining._concat_rows import common_columns
from ..combining._interleaved_rows import interleaved_rows
from ..table._arguments import axis_number, check_flag
from ..table._column_labels import Labels, common_name
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
        """The rows and columns in which two frames of equal labels differ, beside each other.

        Inside `jit` with `keep_shape=True` only, because the number of columns depends on values.

        Args:
            other: a frame or a series with the same labels.
            align_axis: 1 puts columns of both sides beside each other, 0 rows of both below each
                other.
            keep_shape: whether to keep rows and columns without a difference.
            keep_equal: whether to keep equal values; they become missing by default.
            result_names: the labels of either side, below those of columns or of rows.

        Returns:
            A frame with two columns for each column, or for the series. With `align_axis=0` a frame
            or a series with two rows for each row.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"x": [1, 2, 3], "y": [4, 5, 6]})
            >>> found = frame.compare(JaxFrame({"x": [1, 7, 3], "y": [4, 5, 6]}))
            >>> found.columns.tolist(), found.to_pandas().values.tolist()
            ([('x', 'self'), ('x', 'other')], [[2.0, 7.0]])
            >>> frame.x.compare(JaxFrame({"x": [1, 7, 3]}).x, align_axis=0).to_dict()
            {(1, 'self'): 2.0, (1, 'other'): 7.0}
        """
        if type(self) is not type(other):
            mine, theirs = type(self).__name__, type(other).__name__
            raise TypeError(f"can only compare '{mine}' (not '{theirs}') with '{mine}'")
        if not isinstance(result_names, tuple):
            raise TypeError(
                f"Passing 'result_names' as a {type(result_names)} is not supported. Provide "
                "'result_names' as a tuple instead."
            )
        by_row = align_axis not in (1, "columns") and axis_number(align_axis, self) == 0
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
        pairs = list(zip(left._table.columns, right._table.columns, strict=True))
        if by_row:
            return _rows_of_both(left, right, pairs, result_names)
        columns = list(itertools.chain.from_iterable(pairs))
        return left._make_frame(columns, _paired_labels(self, left, result_names), left._table)


def _with_differences(rows: Any, differs: Any) -> Any:
    if not isinstance(rows, FrameBase):
        return rows[differs]
    has_difference = differs.any().to_pandas().tolist()
    return rows[differs.any(axis=1)]._columns_at(
        [at for at, flag in enumerate(has_difference) if flag]
    )


def _rows_of_both(left: Any, right: Any, pairs: Any, names: tuple[object, object]) -> Any:
    """The rows of two sides in turn, with the names of the sides below their labels."""
    of_frames = isinstance(left, FrameBase)
    pieces = [
        common_columns(pair, name, (left._table.num_rows,) * 2, of_frames=of_frames)
        for pair, name in zip(pairs, left._names, strict=True)
    ]
    rows = interleaved_rows(pieces, pd.Index(list(names)), left._table)
    return left._made(rows, left._labels if of_frames else common_name((left._name, right._name)))


def _paired_labels(source: object, left: Any, names: tuple[object, object]) -> Labels:
    if not isinstance(source, FrameBase):
        return Labels(pd.Index(list(names)))
    labels = left._labels.index
    levels = [labels.get_level_values(level).repeat(2) for level in range(labels.nlevels)]
    sides = pd.Index(list(names)).take(np.tile([0, 1], len(labels)))
    return Labels(pd.MultiIndex.from_arrays([*levels, sides], names=[*labels.names, None]))
