# SPDX-License-Identifier: Apache-2.0
"""`diff` and `pct_change`: changes from one row to a later one."""

import functools
from collections.abc import Hashable
from typing import Any, Self

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..ops._column_ops import combine
from ..ops._safe_gradient import by_row
from ..table._arguments import as_scalar, axis_number
from ..table._column import NAT, NUMBER, Array, Column, ColumnType, Scalar, fill_missing
from ..table._dtypes import wide
from ..table._from_host import column_from
from ..table._layout import Layout
from ..table._ndframe import NDFrame
from ..table._table import Count
from ..table._tracing import is_traced
from ..table._types import Axis
from ._shift import NO_VALUE, moved_rows, shift_columns, steps_of, whole_periods


def _difference(column: Column, label: Hashable) -> tuple[np.dtype, ColumnType]:
    """The dtype of a column's difference, int64 for times alone, and its type."""
    if column.type.is_time:
        return column.dtype, ColumnType("timedelta", unit=column.type.unit)
    if column.kind == "category":
        raise TypeError(
            f"diff: categories have no differences, got column {label!r}. "
            "Convert it to a suitable dtype first."
        )
    if not column.is_numeric:
        raise TypeError(
            f"diff: operation 'sub' not supported for column {label!r} of {column.dtype_name}"
        )
    if column.is_bool or column.is_float:
        return column.dtype, NUMBER
    is_small = column.dtype in (np.int8, np.int16)
    return wide(np.float32 if is_small else np.float64), NUMBER


def _time_difference(column: Column, before: Array, num_rows: Count) -> Column:
    (result,) = combine("sub", [(column, Column(before, None, column.type))], num_rows)
    return result


@functools.partial(tiered, static_argnums=(3, 4))
def _diff(
    arrays: Any,
    periods: Count,
    num_rows: Count,
    dtypes: tuple[np.dtype, ...],
    layout: Layout,
) -> Any:
    """The differences, or for times the values before."""
    moved, is_hole = moved_rows(arrays, periods, num_rows, layout)
    results = []
    for (x, valid), (before, was_valid), dtype in zip(arrays, moved, dtypes, strict=True):
        if dtype == np.int64:
            results.append((jnp.where(is_hole, np.int64(NAT), before), None))
        elif dtype == np.bool_:
            results.append(
                (x ^ before, ~is_hole if valid is None else ~is_hole & valid & was_valid)
            )
        else:
            # As in pandas, integers wrap around before the cast, except int8 and int16.
            if dtype == np.float32:
                x, before = x.astype(dtype), before.astype(dtype)
            results.append((jnp.where(is_hole, np.nan, (x - before).astype(dtype)), None))
    return tuple(results)


@functools.partial(tiered, static_argnums=3)
def _relative_change(
    data: tuple[Array, ...], periods: Count, num_rows: Count, layout: Layout
) -> tuple[Array, ...]:
    moved, is_hole = moved_rows(data, periods, num_rows, layout)
    return tuple(
        jnp.where(is_hole, x.dtype.type(np.nan), by_row(_ratio, 1.0, num_rows, x, before))
        for x, before in zip(data, moved, strict=True)
    )


def _ratio(x: Array, before: Array) -> Array:
    return x / before - x.dtype.type(1)


class Changes(NDFrame):
    """The difference methods of frames and series."""

    def diff(self, periods: int = 1, axis: Axis = 0) -> Self:
        """The difference of each value from the one `periods` rows before it.

        Differences from pandas:
            Bools stay bools in `diff(0)`, and inside `jit` in frames without rows.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([3, 1, 2]).diff().tolist()
            [nan, -2.0, 1.0]
        """
        periods = as_scalar(periods)
        is_whole = isinstance(periods, (int, np.integer)) and not isinstance(periods, bool)
        if not is_whole and not (isinstance(periods, float) and periods.is_integer()):
            raise ValueError(f"diff: periods must be an integer, got {periods!r}.")
        is_across = bool(axis_number(axis, self))
        periods = whole_periods("diff", int(periods), across=is_across)
        if is_across:
            frame: Any = self
            return frame - frame.shift(periods, axis=1)
        table = self._table
        if not table.columns:
            return self
        if any(_by_operators(column) for column in table.columns):
            return self._with_columns(self._changes_by_operators("sub", periods))
        columns = tuple(map(fill_missing, table.columns))
        dtypes, types = zip(*map(_difference, columns, self._names), strict=True)
        arrays = tuple(column.arrays for column in columns)
        steps = steps_of(periods, columns)
        changes = _diff(arrays, steps, table.num_rows, dtypes, self._layout)
        results = [
            _time_difference(column, data, table.num_rows)
            if column.type.is_time
            else Column(data, valid, kind)
            for column, (data, valid), kind in zip(columns, changes, types, strict=True)
        ]
        if not is_traced(table.num_rows) and not table.num_rows_on_host:
            # pandas converts bools to objects even without rows.
            empty = column_from(pd.Series([], dtype=object), table.capacity, self._layout, "diff")
            results = [empty if column.is_bool else column for column in results]
        return self._with_columns(results)

    def pct_change(
        self, periods: int = 1, fill_method: object = None, freq: object = None, *, axis: Axis = 0
    ) -> Self:
        """The relative change from the value `periods` rows before, or columns with `axis=1`.

        Differences from pandas:
            Bools raise a TypeError; pandas divides by them row by row.
        """
        if fill_method is not None:
            raise ValueError(f"fill_method must be None; got fill_method={fill_method!r}.")
        if freq is not None:
            raise NotImplementedError(
                f"pct_change: freq must be None, got {freq!r}. Count periods in rows."
            )
        periods = whole_periods("pct_change", periods)
        if axis_number(axis, self):
            frame: Any = self
            return frame / frame.shift(periods, axis=1) - 1
        table = self._table
        if not table.columns:
            return self
        if any(_by_operators(column) for column in table.columns):
            return self._with_columns(self._changes_by_operators("truediv", periods))
        data = tuple(
            _as_floats(column, label)
            for column, label in zip(table.columns, self._names, strict=True)
        )
        steps = steps_of(periods, table.columns)
        changes = _relative_change(data, steps, table.num_rows, self._layout)
        return self._with_columns([Column(change) for change in changes])

    def _changes_by_operators(self, op: str, periods: int) -> list[Column]:
        """The differences, or the relative changes, some of nullable columns or of objects."""
        changes = []
        for column, label in zip(self._table.columns, self._names, strict=True):
            series = self._make_series(column, label)
            if not _by_operators(column):
                of = series.diff if op == "sub" else series.pct_change
                changes.append(of(periods)._only)
                continue
            (before,) = shift_columns(
                [column], periods, self._table.num_rows, self._layout, NO_VALUE
            )
            op_of = "xor" if column.is_bool and op == "sub" else op
            (change,) = combine(op_of, [(column, before)], self._table.num_rows, [label])
            if op == "truediv":
                (change,) = combine("sub", [(change, Scalar(1))], self._table.num_rows, [label])
            changes.append(change)
        return changes


def _by_operators(column: Column) -> bool:
    """Whether differences of a column are those of its operators."""
    return column.is_nullable or column.kind == "object"


def _as_floats(column: Column, label: Hashable) -> Array:
    if column.kind == "timedelta":
        return _floats(column.data, True)
    if not column.is_numeric or column.is_bool:
        raise TypeError(
            f"pct_change: operation 'truediv' not supported for column {label!r} "
            f"of {column.dtype_name}"
        )
    column = fill_missing(column)
    return column.data if column.is_float else _floats(column.data, False)


@functools.partial(tiered, static_argnums=1)
def _floats(data: Array, are_times: bool) -> Array:
    """Integers as floats; NaN for a missing time."""
    floats = data.astype(wide(np.float64))
    return jnp.where(data == NAT, np.nan, floats) if are_times else floats
