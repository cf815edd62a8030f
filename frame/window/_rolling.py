# SPDX-License-Identifier: Apache-2.0
"""Rolling and expanding windows over rows."""

import functools
from collections.abc import Hashable, Sequence
from typing import Any, Self

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..table._column import Array, Column
from ..table._column_labels import Labels
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._object_functions import with_floats_of_objects
from ..table._recode import without_missing
from ..table._table import Count, is_row
from ..table._tracing import at_once, is_traced
from ..table._types import LabelOrLabels
from ..table._unsupported import LACKING, not_supported
from ._cumulative import Cumulative
from ._diff import Changes
from ._ewm import ExponentialWindowMethods
from ._paired_windows import WindowRows
from ._reduce_windows import (
    CHECKED_METHODS,
    SHORT_WINDOW,
    RowSpan,
    Values,
    WindowPlan,
    WindowReduction,
    reduce_windows,
)
from ._row_windows import without_bools
from ._shift import Shifting
from ._time_windows import check_times, reduce_spans
from ._window_apply import WindowApply
from ._window_shape import WindowShape, as_expanding, as_rolling, without_on
from ._window_statistics import WindowStatistics


class Windows(WindowApply, WindowStatistics):
    """The result of `rolling` and `expanding`; its methods reduce each row's window."""

    def __init__(self, of: object, shape: WindowShape):
        super().__init__(of, shape)
        self._window, self._min_periods, self._center, self._closed, self._step = shape[:5]
        self._on, self._span = shape.on, shape.span

    def __repr__(self) -> str:
        if self._window is None:
            return "Expanding [method=single]"
        return f"Rolling [window={self._window},center={self._center},method=single]"

    def __getitem__(self, key: Any) -> Self:
        labels, on = key if isinstance(key, list) else [key], self._on
        is_with_on = on is not None and isinstance(key, list) and on.name in key
        for label in labels:
            is_on = is_with_on and on is not None and label == on.name
            if not is_on and (not isinstance(self._of, FrameBase) or label not in self._of._labels):
                raise KeyError(f"Column not found: {label}")
        if on is None:
            return super().__getitem__(key)
        before = None
        if is_with_on:
            at = key.index(on.name)
            before, key = key[:at], [label for label in key if label != on.name]
        selected = super().__getitem__(key)
        selected._on = on._replace(before=before)
        return selected

    def __getattr__(self, name: str) -> Any:
        # Windows that `copy` has just made have no frame yet.
        of = self.__dict__.get("_of")
        if isinstance(of, FrameBase) and name in of._labels:
            return self[name]
        if name.startswith("_"):
            raise AttributeError(name)
        kind = "rolling" if self._window is not None else "expanding"
        if name in LACKING["Windows"]:
            raise not_supported("Windows", kind, name)
        raise AttributeError(f"{kind} windows have no attribute {name!r}")

    def _take(self, how: WindowReduction, numeric_only: bool, q: object = None) -> Any:
        method = how.method
        of, segment_ids, carried = self._rows(method, numeric_only)
        table = of._table
        if not table.columns:
            return of
        reach, moves_ends = self._reach(table.capacity)
        missing = tuple(
            without_missing(c).missing()
            if c.can_miss and (method == "count" or not c.is_float)
            else None
            for c in table.columns
        )
        data = tuple(column.data for column in table.columns)
        width = self._short_width(method, reach, moves_ends)
        # Short windows read the flags of values in any case.
        is_unchecked = width is not None or method not in CHECKED_METHODS
        gaps = is_unchecked or has_gaps(data, missing, table.num_rows)
        plan = WindowPlan(how, self._window is None, width, moves_ends, gaps, table.layout)
        values = self._values(data, missing, table.num_rows, q)
        return self._shown(of, reduce_windows(values, segment_ids, reach, plan), carried)

    def _values(self, data: Any, missing: Any, num_rows: Count, q: object = None) -> Values:
        least = np.int32(min(self._min_periods, 2**31 - 1))
        return Values(data, missing, num_rows, least, q)

    def _numbers(self, method: str, numeric_only: bool) -> Any:
        if self._step != 1:
            raise NotImplementedError(f"step not implemented for {method}. Select rows first.")
        return self._reduced_rows(method, numeric_only)

    def _check_numbers(self, of: NDFrame) -> None:
        for column, label in zip(of._table.columns, of._names, strict=True):
            _check(column, label, of)

    def _with_last(
        self, columns: Sequence[Column], last: Column, rows: WindowRows, how: WindowReduction
    ) -> Sequence[Column]:
        if not columns:
            return ()
        every, table = (*columns, last), rows.table
        reach, moves_ends = self._reach(table.capacity)
        data = tuple(column.data for column in every)
        missing = tuple(column.missing() if column.can_miss else None for column in every)
        plan = WindowPlan(how, self._window is None, None, moves_ends, True, table.layout)
        values = self._values(data, missing, table.num_rows)
        return list(map(Column, reduce_windows(values, rows.segment_ids, reach, plan)))

    def _shown(self, of: Any, reduced: Sequence[Array], carried: Column | None) -> Any:
        result = self._with_on(of._with_columns([Column(one) for one in reduced]), carried)
        return result if self._step == 1 else result.iloc[:: self._step]

    def _rows(self, method: str, numeric_only: bool) -> tuple[Any, Array | None, Column | None]:
        """The rows to reduce in the order of windows, ids of segments, and times, or `on`."""
        of, segment_ids, carried = self._in_order(self._reduced_rows(method, numeric_only))
        if method != "count":
            for column, label in zip(of._table.columns, of._names, strict=True):
                _check(column, label, of)
        return of, segment_ids, carried

    def _carried(self) -> Column | None:
        if self._span is not None:
            return self._span.times
        return None if self._on is None else self._on.column

    def _with_on(self, result: Any, column: Column | None) -> Any:
        """The result with the column `on`, as pandas puts it: not if it became the labels."""
        on, table = self._on, result._table
        if on is None or isinstance(result, SeriesBase) or on.name in table.index.names:
            return result
        labels = list(result._labels)
        at = on.place(labels)
        columns = [*table.columns[:at], column, *table.columns[at:]]
        names = [*labels[:at], on.name, *labels[at:]]
        return result._make_frame(columns, Labels.of(names, result._labels.index.names), table)

    def _short_width(self, method: str, reach: RowSpan, moves_ends: bool) -> int | None:
        """The length of a window with a program of its own; None for windows that share one."""
        if self._window is None or moves_ends:
            return None
        width = int(reach.width)
        is_short = width <= SHORT_WINDOW and method in ("sum", "mean", "min", "max")
        return width if is_short else None

    def _reduced_rows(self, method: str, numeric_only: bool) -> Any:
        """The rows that windows are made of: without other columns, or with objects as floats."""
        if not numeric_only:
            return with_floats_of_objects(self._of)
        if isinstance(self._of, SeriesBase):
            if self._of._only.is_numeric and not self._of._only.is_bool:
                return self._of
            raise NotImplementedError(f"Rolling.{method} does not implement numeric_only")
        return without_bools(self._of)

    def _reach(self, capacity: int) -> tuple[RowSpan, bool]:
        if self._window is None:
            return RowSpan(np.int32(capacity), np.int32(0)), False
        ends_before = self._closed in ("left", "neither")
        ahead = (self._window - 1) // 2 if self._center or not self._window else 0
        ahead -= ends_before
        width = self._window + (self._closed in ("left", "both")) - ends_before
        # Longer windows hold the same rows.
        ahead = min(ahead, capacity)
        width = min(width, 2 * capacity)
        return RowSpan(np.int32(width), np.int32(ahead)), ahead != 0


class TimeWindows(Windows):
    """The result of `rolling` over spans of time."""

    def __init__(self, of: object, shape: WindowShape):
        super().__init__(of, shape)
        table, segment_ids, times = self._in_order(of)
        assert times is not None
        name = None if self._on is None else self._on.name
        check_times(times, segment_ids, table._table.num_rows, name)

    def _take(self, how: WindowReduction, numeric_only: bool, q: object = None) -> Any:
        of, segment_ids, times = self._rows(how.method, numeric_only)
        assert times is not None
        assert self._span is not None
        table = of._table
        if not table.columns:
            return of
        span = self._span._replace(times=times)
        least = self._min_periods
        columns = reduce_spans(table.columns, table, span, segment_ids, least, q, how)
        return self._with_on(of._with_columns(columns), times)

    def _with_last(
        self, columns: Sequence[Column], last: Column, rows: WindowRows, how: WindowReduction
    ) -> Sequence[Column]:
        if not columns:
            return ()
        assert self._span is not None
        assert rows.times is not None
        span, least = self._span._replace(times=rows.times), self._min_periods
        every = (*columns, last)
        return reduce_spans(every, rows.table, span, rows.segment_ids, least, None, how)


def _check(column: Column, label: Hashable, of: object) -> None:
    if not column.is_numeric:
        if isinstance(of, SeriesBase):
            raise pd.errors.DataError("No numeric types to aggregate")
        raise pd.errors.DataError(
            f"Cannot aggregate non-numeric type: {column.dtype_name}, in column {label!r}"
        )
    if column.dtype.kind == "c":
        raise NotImplementedError(
            f"rolling: columns must be real, got {column.dtype_name} in column {label!r}. "
            "Take the real and imaginary parts first."
        )


class WindowMethods(Changes, Cumulative, ExponentialWindowMethods, Shifting):
    """Window, cumulative, shift and difference methods of a frame or a series."""

    def rolling(
        self,
        window: object,
        min_periods: int | None = None,
        center: bool = False,
        win_type: object = None,
        on: LabelOrLabels = None,
        closed: object = None,
        step: object = None,
        method: str = "single",
    ) -> Windows:
        """A window of `window` rows for each row, or every `step` rows; infinities are missing.

        A span of time, such as "2h", gives windows of the rows that the span before each row's
        time holds: before its label, or its value in the column `on`. Times must ascend, which
        inside `jit` is not checked.

        Args:
            window: the number of rows, or a span of time: its name, an offset or a timedelta.
            min_periods: the least number of values of a window with a result; by default `window`,
                or 1 for a span of time.
            center: whether a window is centered on its row.
            win_type: must be None.
            on: the label of a column that is not reduced: the times, for a span of time.
            closed: which ends belong to a window: "right", the default, "left", "both" or
                "neither".
            step: the distance between rows of the result; for windows of rows.
            method: must be "single".

        Differences from pandas:
            Windows have no weights. Times must not descend. The result has the column `on` also if
            it equals the labels.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1, 2, 6]).rolling(2, min_periods=1).max().tolist()
            [1.0, 2.0, 6.0]
        """
        of, column = without_on(self, on)
        arguments = (window, min_periods, center, win_type, closed, step, method)
        shape = as_rolling(self._table, column, *arguments)
        return Windows(of, shape) if shape.span is None else TimeWindows(of, shape)

    def expanding(self, min_periods: int = 1, method: str = "single") -> Windows:
        """A window of all rows up to each row.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1, 2, 6]).expanding().mean().tolist()
            [1.0, 1.5, 3.0]
        """
        return Windows(self, as_expanding(min_periods, method))


def has_gaps(data: tuple[Array, ...], missing: tuple[Array | None, ...], num_rows: Count) -> bool:
    """Whether a value may be missing or infinite; checked only for concrete values."""
    floats = tuple(x for x in data if jnp.issubdtype(x.dtype, jnp.floating))
    flags = tuple(gaps for gaps in missing if gaps is not None)
    if not floats and not flags:
        return False
    if is_traced(floats, flags, num_rows):
        return True
    return bool(at_once(_any_gap, floats, flags, num_rows))


@tiered
def _any_gap(floats: tuple[Array, ...], flags: tuple[Array, ...], num_rows: Count) -> Array:
    gaps = [~jnp.isfinite(x) for x in floats] + list(flags)
    valid = is_row(gaps[0].shape[0], num_rows)
    return functools.reduce(jnp.logical_or, [jnp.any(one & valid) for one in gaps])
