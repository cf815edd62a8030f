# SPDX-License-Identifier: Apache-2.0
"""Operations on frames and series, which bring rows together by their labels first."""

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
    """Operations on a series."""

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
    """Operations on a frame."""

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
        """A scalar, a series or a frame of what stands beside the frame."""
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
            as_column(values[:, place], self._table, label)
            for place, label in enumerate(self._labels)
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
        labels, places, other_places = align_labels(self._labels, Labels(index))
        table = self._columns_or_missing(places)
        column = other._only
        if column.is_numeric and fill_value is None and not is_traced(column.valid):
            others: Sequence[Any] = spread(other._table, other_places)
        else:
            others = spread_columns(other._table, other_places, self._table)
        return self._combined(op, table, others, reflected, fill_value, labels)

    def _columns_or_missing(self, places: Sequence[int]) -> Table:
        """The columns at places, and one of NaN for each -1."""
        columns = self._table.columns
        return self._table.with_columns(
            [as_column(np.nan, self._table, None) if p < 0 else columns[p] for p in places]
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
        labels, places, other_places = align_labels(self._labels, other._labels)
        if op in LOGIC and not self._labels.index.intersection(other._labels.index).size:
            return self._with_apart(op, other, a, b, places, other_places, labels)
        left = self._like(a)._columns_or_missing(places)
        right = other._like(b)._columns_or_missing(other_places)  # pyright: ignore
        if op in COMPARISONS or op == "pow" or fill_value is not None:
            return self._combined(op, left, right.columns, reflected, fill_value, labels)
        # A column that only one has is missing, whatever its type.
        return self._with_shared(op, left, right, places, other_places, reflected, labels)

    def _with_apart(
        self,
        op: str,
        other: Any,
        left: Table,
        right: Table,
        places: Sequence[int],
        other_places: Sequence[int],
        labels: Labels,
    ) -> Self:
        """Flags of other columns than those of `other`, beside which False stands, as in pandas."""
        none = [Scalar(False)] * len(labels)
        mine = self._combined(op, left, none[: len(left.columns)], False, None)
        theirs = other._combined("and", right, none[: len(right.columns)], True, None)
        columns = [
            theirs._table.columns[other_place] if place < 0 else mine._table.columns[place]
            for place, other_place in zip(places, other_places, strict=True)
        ]
        return self._of(left.with_columns(columns), labels)

    def _with_shared(
        self,
        op: str,
        left: Table,
        right: Table,
        places: Sequence[int],
        other_places: Sequence[int],
        reflected: bool,
        labels: Labels,
    ) -> Self:
        shared = [
            n for n, pair in enumerate(zip(places, other_places, strict=True)) if min(pair) >= 0
        ]
        pairs = [_paired(left.columns[n], right.columns[n], reflected) for n in shared]
        made = dict(zip(shared, combine(op, pairs, left.num_rows, list(labels)), strict=True))
        none = self._like(left)._columns_or_missing([-1])
        columns: list[Column] = [made.get(n, none.columns[0]) for n in range(len(labels))]
        return self._of(left.with_columns(columns), labels)
