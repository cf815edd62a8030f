# SPDX-License-Identifier: Apache-2.0
"""Operators on frames and series, after alignment by label."""

from collections.abc import Sequence
from typing import Any, Self

import jax
import numpy as np
import pandas as pd

from ..align._align import same_labels
from ..align._as_column import as_column
from ..align._outer_align import align_labels, align_tables, spread, spread_columns
from ..table._column import Column
from ..table._column_labels import Labels
from ..table._ndframe import FrameBase, SeriesBase
from ..table._scalar import Scalar
from ..table._table import Table, either_needed
from ..table._tracing import is_traced
from ._array_ops import COMPARISONS, LOGIC
from ._column_ops import filled_pair
from ._dispatch import combine
from ._dunders import Operators
from ._ufuncs import NumpyFunctions


def _paired(a: Any, b: Any, reflected: bool, fill_value: Any = None) -> tuple[Any, Any]:
    if fill_value is not None:
        a, b = filled_pair(a, b, fill_value)
    return (b, a) if reflected else (a, b)


def _is_scalar(value: Any) -> bool:
    if isinstance(value, (jax.Array, np.ndarray)):
        return value.ndim == 0
    return not hasattr(value, "__len__") or isinstance(value, (str, bytes))


class SeriesArithmetic(Operators, NumpyFunctions, SeriesBase):
    """Operators on a series."""

    def _operate(self, op: str, other: Any, *, reflected: bool = False) -> Any:
        if isinstance(other, (FrameBase, pd.DataFrame)):
            return NotImplemented
        return self._flex(op, other, reflected, None, is_flex=False)

    def _flex(
        self, op: str, other: Any, reflected: bool, fill_value: Any, is_flex: bool = True
    ) -> Any:
        if isinstance(other, pd.Series):
            other = self.series_class(other, sharding=self._layout)
        if isinstance(other, SeriesBase):
            return self._with_series(op, other, reflected, fill_value, is_flex)
        other = Scalar(other) if _is_scalar(other) else as_column(other, self._table, "other")
        pairs = [_paired(self._only, other, reflected, fill_value)]
        (column,) = combine(op, pairs, self._table.num_rows, [self._name])
        return self._with_column(column)

    def _with_series(
        self, op: str, other: SeriesBase, reflected: bool, fill_value: Any, is_flex: bool
    ) -> Any:
        a, b = self._table, other._table
        if not same_labels(a, b):
            if op in COMPARISONS and not is_flex:
                raise ValueError("Can only compare identically-labeled Series objects")
            a, b = align_tables(a, b)
        pairs = [_paired(a.columns[0], b.columns[0], reflected, fill_value)]
        (column,) = combine(op, pairs, a.num_rows, [self._name])
        name = self._name if self._name == other._name else None
        whole = a.replace(needed=either_needed(self._table.needed, other._table.needed))
        return self._of(whole.with_columns([column]), name)


class FrameArithmetic(Operators, NumpyFunctions, FrameBase):
    """Operators on a frame."""

    def _operate(self, op: str, other: Any, *, reflected: bool = False) -> Any:
        return self._flex(op, other, reflected, None, is_flex=False)

    def _flex(
        self,
        op: str,
        other: Any,
        reflected: bool,
        fill_value: Any,
        is_by_row: bool = False,
        is_flex: bool = True,
    ) -> Any:
        other = self._as_operand(other, is_by_row)
        if isinstance(other, FrameBase):
            return self._with_frame(op, other, reflected, fill_value, is_flex)
        if isinstance(other, SeriesBase):
            if is_by_row:
                return self._with_each_row(op, other, reflected, fill_value)
            return self._with_each_column(op, other, reflected, fill_value, is_flex)
        return self._combined(
            op, self._table, [Scalar(other)] * len(self._labels), reflected, fill_value
        )

    def _as_operand(self, other: Any, is_by_row: bool) -> Any:
        """Converts the other operand to a scalar, a series or a frame."""
        if isinstance(other, pd.DataFrame):
            return self.frame_class(other, sharding=self._layout)
        if isinstance(other, pd.Series):
            return self.series_class(other, sharding=self._layout if is_by_row else None)
        if isinstance(other, (FrameBase, SeriesBase)) or _is_scalar(other):
            return other
        if getattr(other, "ndim", 1) == 2:
            return self._matrix(other)
        if is_by_row:
            return self._make_series(as_column(other, self._table, "other"), None)
        if len(other) != len(self._labels):
            raise ValueError(
                f"Unable to coerce to Series, length must be {len(self._labels)}: "
                f"given {len(other)}"
            )
        if isinstance(other, jax.Array):
            columns = spread_columns(
                self.series_class(other)._table, range(len(other)), self._table
            )
            return self._like(self._table.with_columns(columns))
        return self.series_class(pd.Series(other, index=self._labels.index))

    def _matrix(self, values: Any) -> Self:
        num_rows = self._table.capacity if self._is_traced else len(self)
        if tuple(values.shape) != (num_rows, len(self._labels)):
            raise ValueError(
                "Unable to coerce to DataFrame, shape must be "
                f"{(num_rows, len(self._labels))}: given {tuple(values.shape)}"
            )
        columns = [
            as_column(values[:, position], self._table, label)
            for position, label in enumerate(self._labels)
        ]
        return self._like(self._table.with_columns(columns))

    def _combined(
        self,
        op: str,
        table: Table,
        others: Sequence[Any],
        reflected: bool,
        fill_value: Any,
        labels: Labels | None = None,
    ) -> Self:
        labels = self._labels if labels is None else labels
        pairs = [
            _paired(column, other, reflected, fill_value)
            for column, other in zip(table.columns, others, strict=True)
        ]
        return self._of(
            table.with_columns(combine(op, pairs, table.num_rows, list(labels))), labels
        )

    def _with_each_row(self, op: str, other: SeriesBase, reflected: bool, fill_value: Any) -> Self:
        a, b = self._table, other._table
        if not same_labels(a, b):
            a, b = align_tables(a, b, is_distinct=True)
        return self._combined(op, a, [b.columns[0]] * len(a.columns), reflected, fill_value)

    def _with_each_column(
        self, op: str, other: SeriesBase, reflected: bool, fill_value: Any, is_flex: bool
    ) -> Self:
        index = other.index
        if op in COMPARISONS and not is_flex and not self._labels.index.equals(index):
            raise ValueError(
                "Operands are not aligned. Do `left, right = left.align(right, axis=1)` "
                "before operating."
            )
        labels, positions, other_positions = align_labels(self._labels, Labels(index))
        table = self._columns_or_nan(positions)
        column = other._only
        if column.is_numeric and fill_value is None and not is_traced(column.valid):
            others: Sequence[Any] = spread(other._table, other_positions)
        else:
            others = spread_columns(other._table, other_positions, self._table)
        return self._combined(op, table, others, reflected, fill_value, labels)

    def _columns_or_nan(self, positions: Sequence[int]) -> Table:
        """Takes columns by position; -1 gives a column of NaN."""
        columns = self._table.columns
        return self._table.with_columns(
            [as_column(np.nan, self._table, None) if p < 0 else columns[p] for p in positions]
        )

    def _with_frame(
        self, op: str, other: FrameBase, reflected: bool, fill_value: Any, is_flex: bool
    ) -> Self:
        a, b = self._table, other._table
        has_same_rows = same_labels(a, b)
        has_same_labels = self._labels.index.equals(other._labels.index)
        if op in COMPARISONS and not is_flex and not (has_same_rows and has_same_labels):
            raise ValueError(
                "Can only compare identically-labeled (both index and columns) DataFrame objects"
            )
        if not has_same_rows:
            a, b = align_tables(a, b)
        if has_same_labels:
            return self._combined(op, a, b.columns, reflected, fill_value)
        labels, positions, other_positions = align_labels(self._labels, other._labels)
        if op in LOGIC and not self._labels.index.intersection(other._labels.index).size:
            return self._logic_of_disjoint(op, other, a, b, positions, other_positions, labels)
        left = self._like(a)._columns_or_nan(positions)
        right = other._like(b)._columns_or_nan(other_positions)  # pyright: ignore
        if op in COMPARISONS or op == "pow" or fill_value is not None:
            return self._combined(op, left, right.columns, reflected, fill_value, labels)
        # A column of only one frame is NaN in the result, whatever its type.
        return self._of_shared(op, left, right, positions, other_positions, reflected, labels)

    def _logic_of_disjoint(
        self,
        op: str,
        other: Any,
        left: Table,
        right: Table,
        positions: Sequence[int],
        other_positions: Sequence[int],
        labels: Labels,
    ) -> Self:
        """Logic of frames without a common column: pandas combines each column with False."""
        mine = self._combined(op, left, [Scalar(False)] * len(left.columns), False, None)
        theirs = other._combined("and", right, [Scalar(False)] * len(right.columns), True, None)
        columns = [
            theirs._table.columns[other_position] if position < 0 else mine._table.columns[position]
            for position, other_position in zip(positions, other_positions, strict=True)
        ]
        return self._of(left.with_columns(columns), labels)

    def _of_shared(
        self,
        op: str,
        left: Table,
        right: Table,
        positions: Sequence[int],
        other_positions: Sequence[int],
        reflected: bool,
        labels: Labels,
    ) -> Self:
        pairs_of_positions = zip(positions, other_positions, strict=True)
        shared = [n for n, pair in enumerate(pairs_of_positions) if min(pair) >= 0]
        pairs = [_paired(left.columns[n], right.columns[n], reflected) for n in shared]
        results = dict(zip(shared, combine(op, pairs, left.num_rows, list(labels)), strict=True))
        nan = as_column(np.nan, left, None)
        columns: list[Column] = [results.get(n, nan) for n in range(len(labels))]
        return self._of(left.with_columns(columns), labels)
