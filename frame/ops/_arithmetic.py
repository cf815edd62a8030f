# SPDX-License-Identifier: Apache-2.0
"""Operators on frames and series, after alignment by label."""

from collections.abc import Sequence
from typing import Any, Self

import jax
import numpy as np
import pandas as pd

from ..align._align import in_capacity_of, same_labels
from ..align._as_column import as_column
from ..align._outer_align import (
    align_labels,
    align_tables,
    spread,
    spread_columns,
)
from ..table._column import Column, Scalar
from ..table._column_labels import Labels, common_name
from ..table._distinct_values import through_values
from ..table._ndframe import FrameBase, SeriesBase
from ..table._table import Table, either_needed
from ..table._tracing import is_traced
from ..table._types import LevelOrLevels
from ._array_ops import COMPARISONS, LOGIC
from ._clip import Clip, SeriesClip
from ._column_ops import combine, filled_pair
from ._operators import FlexMethods, Operation, Operators, define_flex_methods, of_frame, of_series
from ._unary import Unary


def _is_scalar(value: object) -> bool:
    if isinstance(value, (jax.Array, np.ndarray)):
        return value.ndim == 0
    return not hasattr(value, "__len__") or isinstance(value, (str, bytes))


def _combined(operation: Operation, table: Table, others: Sequence[Any], labels: object) -> Table:
    """Combines the columns of a table with other operands, one for each."""
    if any(map(_is_date_offset, others, table.columns)):
        if operation.op not in ("add", "sub") or (operation.is_reflected and operation.op == "sub"):
            raise TypeError(f"unsupported operand type for {operation.op}: a date offset.")
        return table.with_columns(
            [_moved(operation.op, *pair, table) for pair in zip(table.columns, others, strict=True)]
        )
    pairs: list[tuple[Any, Any]] = list(zip(table.columns, others, strict=True))
    if operation.fill_value is not None:
        pairs = [filled_pair(*pair, operation.fill_value) for pair in pairs]
    if operation.is_reflected:
        pairs = [(b, a) for a, b in pairs]
    return table.with_columns(combine(operation.op, pairs, table.num_rows, labels))


def _is_date_offset(other: object, column: Column) -> bool:
    """Whether an operand is an offset of pandas without a fixed length, such as a month.

    Days have no fixed length where clocks change.
    """
    if not isinstance(other, Scalar) or not isinstance(other.value, pd.offsets.BaseOffset):
        return False
    if isinstance(other.value, pd.offsets.Day):
        return column.type.zone is not None
    return not isinstance(other.value, pd.offsets.Tick)


def _moved(op: str, column: Column, other: Scalar, table: Table) -> Column:
    """Moves datetimes by an offset; pandas moves each distinct one."""
    if column.kind != "datetime":
        raise TypeError(
            f"unsupported operand type(s) for {op}: a date offset moves datetimes, got "
            f"{column.dtype_name}."
        )
    offset = other.value if op == "add" else -other.value
    return through_values(
        column, table.num_rows, table.layout, lambda times: times + offset, "offset arithmetic"
    )


def _needs_same_labels(operation: Operation) -> bool:
    return operation.op in COMPARISONS and not operation.is_flex


class SeriesOperatorMethods(Operators, FlexMethods, Unary, SeriesClip):
    """Operators on a series."""

    def _apply(self, operation: Operation, other: object, by_row: bool = False) -> Any:
        if isinstance(other, (FrameBase, pd.DataFrame)) and not operation.is_flex:
            return NotImplemented
        if isinstance(other, pd.Series):
            other = self.series_class(other, sharding=self._layout)
        table, name = self._table, self._name
        if isinstance(other, SeriesBase):
            b = in_capacity_of(other._table, table)
            needed = either_needed(table.needed, b.needed)
            if not same_labels(table, b):
                if _needs_same_labels(operation):
                    raise ValueError("Can only compare identically-labeled Series objects")
                table, b = align_tables(table, b, level=operation.level)
            if table.needed is not needed:
                table = table.replace(needed=needed)
            operand, name = b.columns[0], common_name((name, other._name))
        else:
            operand = Scalar(other) if _is_scalar(other) else as_column(other, table, "other")
            if isinstance(other, pd.Index):
                name = common_name((name, other.name))
        result = self._made(_combined(operation, table, [operand], [self._name]), name)
        # As in pandas, the notes of the second operand win.
        return result._with_attrs_of(other) if isinstance(other, SeriesBase) else result

    def divmod(self, other: object, level: LevelOrLevels = None, fill_value: object = None) -> Any:
        """The quotients rounded down, and the remainders."""
        of: Any = self
        how: dict[str, Any] = {"level": level, "fill_value": fill_value}
        return of.floordiv(other, **how), of.mod(other, **how)

    def rdivmod(self, other: object, level: LevelOrLevels = None, fill_value: object = None) -> Any:
        """Divides `other`; see `divmod`."""
        of: Any = self
        how: dict[str, Any] = {"level": level, "fill_value": fill_value}
        return of.rfloordiv(other, **how), of.rmod(other, **how)

    def __divmod__(self, other: object) -> Any:
        of: Any = self
        return of // other, of % other

    def __rdivmod__(self, other: object) -> Any:
        return other // self, other % self


class FrameOperatorMethods(Operators, FlexMethods, Unary, Clip, FrameBase):
    """Operators on a frame."""

    def _apply(self, operation: Operation, other: object, by_row: bool = False) -> Self:
        other = self._as_operand(other, by_row)
        if isinstance(other, FrameBase):
            return self._with_frame(operation, other)._with_attrs_of(other)
        if not isinstance(other, SeriesBase):
            return self._with_each(operation, self._table, Scalar(other))
        if not by_row:
            return self._with_each_column(operation, other)._with_attrs_of(other)
        a = self._table
        b = in_capacity_of(other._table, a)
        if not same_labels(a, b):
            a, b = align_tables(a, b, is_distinct=True, level=operation.level)
        return self._with_each(operation, a, b.columns[0])._with_attrs_of(other)

    def _with_each(self, operation: Operation, table: Table, operand: object) -> Self:
        """Combines each column with the same operand."""
        others = [operand] * len(table.columns)
        return self._like(_combined(operation, table, others, self._labels))

    def _as_operand(self, other: Any, is_by_row: bool) -> Any:
        """Converts the other operand to a scalar, a series or a frame."""
        if isinstance(other, pd.DataFrame):
            return self.frame_class(other, sharding=self._layout)
        if isinstance(other, pd.Series):
            return self.series_class(other, sharding=self._layout if is_by_row else None)
        if isinstance(other, (FrameBase, SeriesBase)) or _is_scalar(other):
            return other
        if getattr(other, "ndim", 1) == 2:
            shape = (self._table.capacity if self._is_traced else len(self), len(self._labels))
            if tuple(other.shape) != shape:
                raise ValueError(
                    "Unable to coerce to DataFrame, shape must be "
                    f"{shape}: given {tuple(other.shape)}"
                )
            return self._with_columns(
                [as_column(other[:, n], self._table, name) for n, name in enumerate(self._labels)]
            )
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

    def _with_each_column(self, operation: Operation, other: SeriesBase) -> Self:
        index = other.index
        if _needs_same_labels(operation) and not self._labels.index.equals(index):
            raise ValueError(
                "Operands are not aligned. Do `left, right = left.align(right, axis=1)` "
                "before operating."
            )
        labels, positions, other_positions = align_labels(
            self._labels, Labels(index), operation.level
        )
        column = other._only
        if column.is_numeric and operation.fill_value is None and not is_traced(column.valid):
            others: Sequence[Any] = spread(other._table, other_positions)
        else:
            others = spread_columns(other._table, other_positions, self._table)
        table = _columns_or_nan(self._table, positions)
        return self._made(_combined(operation, table, others, labels), labels)

    def _with_frame(self, operation: Operation, other: FrameBase) -> Self:
        a = self._table
        b = in_capacity_of(other._table, a)
        has_same_rows = same_labels(a, b)
        has_same_labels = self._labels.index.equals(other._labels.index)
        if _needs_same_labels(operation) and not (has_same_rows and has_same_labels):
            raise ValueError(
                "Can only compare identically-labeled (both index and columns) DataFrame objects"
            )
        if not has_same_rows:
            a, b = align_tables(a, b, level=operation.level)
        if has_same_labels:
            return self._like(_combined(operation, a, b.columns, self._labels))
        labels, positions, other_positions = align_labels(
            self._labels, other._labels, operation.level
        )
        shared = [n for n in range(len(labels)) if min(positions[n], other_positions[n]) >= 0]
        if operation.op in LOGIC and not shared:
            a = _combined(Operation(operation.op), a, _absent_flags(a), self._labels)
            b = _combined(Operation("and", True), b, _absent_flags(b), other._labels)
            columns = [
                a.columns[p] if p >= 0 else b.columns[q]
                for p, q in zip(positions, other_positions, strict=True)
            ]
            return self._made(a.with_columns(columns), labels)
        a, b = _columns_or_nan(a, positions), _columns_or_nan(b, other_positions)
        if operation.op not in LOGIC:
            return self._made(_combined(operation, a, b.columns, labels), labels)
        # In logic, a column of only one frame is NaN in the result, whatever its type.
        columns = [as_column(np.nan, a, None)] * len(labels)
        both = a.with_columns([a.columns[n] for n in shared])
        others = [b.columns[n] for n in shared]
        results = _combined(operation, both, others, [labels[n] for n in shared])
        for n, column in zip(shared, results.columns, strict=True):
            columns[n] = column
        return self._made(a.with_columns(columns), labels)


def _absent_flags(table: Table) -> list[Any]:
    """What pandas combines columns with that the other frame does not have, in logic."""
    return [
        as_column(np.nan, table, None) if column.family == "masked" else Scalar(False)
        for column in table.columns
    ]


def _columns_or_nan(table: Table, positions: Sequence[int]) -> Table:
    """Takes columns by position; -1 gives a column of NaN."""
    columns = [
        as_column(np.nan, table, None) if position < 0 else table.columns[position]
        for position in positions
    ]
    return table.with_columns(columns)


define_flex_methods(SeriesOperatorMethods, of_series)
define_flex_methods(FrameOperatorMethods, of_frame)
