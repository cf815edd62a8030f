# SPDX-License-Identifier: Apache-2.0
"""Rolling and expanding windows over rows."""

import datetime
import functools
from typing import Any, NamedTuple, Self

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..table._arguments import as_scalar
from ..table._column import Array, Column
from ..table._ndframe import FrameBase, SeriesBase
from ..table._table import Count, Table, is_row
from ..table._tracing import at_once, is_traced
from ..table._unsupported import LACKING, instead_of
from ._cumulative import Cumulative
from ._diff import Changes
from ._ewm import ExponentialWindowMethods
from ._reduce_windows import SHORT_WINDOW, Reach, WindowPlan, reduce_windows
from ._row_windows import RowWindows
from ._shift import Shifting
from ._time_windows import TimeSpan, as_time_span, reduce_spans

_CLOSED = ("right", "left", "both", "neither")


class WindowShape(NamedTuple):
    """The checked arguments of `rolling` and `expanding`.

    Attributes:
        window: rows of each window; None for all rows up to each one.
        min_periods: the least number of values of a window with a result.
        center: whether a window is centered on its row.
        closed: which end rows a window includes.
        step: distance between the rows of the result.
    """

    window: int | None
    min_periods: int
    center: bool = False
    closed: str = "right"
    step: int = 1


class Windows(RowWindows):
    """The result of `rolling` and `expanding`; its methods reduce each row's window."""

    def __init__(self, of: Any, shape: WindowShape):
        super().__init__(of, shape)
        self._window, self._min_periods, self._center, self._closed, self._step = shape

    def __repr__(self) -> str:
        if self._window is None:
            return "Expanding [method=single]"
        return f"Rolling [window={self._window},center={self._center},method=single]"

    def __getitem__(self, key: Any) -> Self:
        labels = key if isinstance(key, list) else [key]
        for label in labels:
            if not isinstance(self._of, FrameBase) or label not in self._of._labels:
                raise KeyError(f"Column not found: {label}")
        return super().__getitem__(key)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if isinstance(self._of, FrameBase) and name in self._of._labels:
            return self[name]
        kind = "rolling" if self._window is not None else "expanding"
        if name in LACKING["Windows"]:
            raise NotImplementedError(
                f"{kind}: {name} is not supported. Use {instead_of('Windows', name)}."
            )
        raise AttributeError(f"{kind} windows have no attribute {name!r}")

    def sum(self, numeric_only: bool = False) -> Any:
        """The sum of each window; missing for fewer than `min_periods` values.

        Each short window length compiles its own program; longer windows share one.

        Differences from pandas:
            The error of a sum is at most `window * eps` times the sum of absolute values in the
            window. pandas' sums carry rounding errors of values that have left the window.
        """
        return self._take("sum", numeric_only)

    def mean(self, numeric_only: bool = False) -> Any:
        """The mean of each window; see `sum`.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1, 2, 6]).rolling(2).mean().tolist()
            [nan, 1.5, 4.0]
        """
        return self._take("mean", numeric_only)

    def min(self, numeric_only: bool = False) -> Any:
        """The least value of each window."""
        return self._take("min", numeric_only)

    def max(self, numeric_only: bool = False) -> Any:
        """The greatest value of each window."""
        return self._take("max", numeric_only)

    def var(self, ddof: int = 1, numeric_only: bool = False) -> Any:
        """The variance of each window; see `sum`."""
        return self._take("var", numeric_only, as_scalar(ddof, "ddof"))

    def std(self, ddof: int = 1, numeric_only: bool = False) -> Any:
        """The standard deviation of each window; see `sum`."""
        return self._take("std", numeric_only, as_scalar(ddof, "ddof"))

    def count(self, numeric_only: bool = False) -> Any:
        """The number of non-missing values in each window."""
        return self._take("count", numeric_only)

    def _take(self, method: str, numeric_only: bool, ddof: int = 1) -> Any:
        of = self._numeric(method) if numeric_only else self._of
        of, segment_ids = self._segmented(of)
        table = of._table
        if not table.columns:
            return of
        if method != "count":
            for column, label in zip(table.columns, of._names, strict=True):
                _check(column, label, of)
        reach, moves_ends = self._reach(table.capacity)
        missing = tuple(
            c.missing() if c.can_miss and (method == "count" or not c.is_float) else None
            for c in table.columns
        )
        least = np.int32(min(self._min_periods, 2**31 - 1))
        data = tuple(column.data for column in table.columns)
        width = self._short_width(method, moves_ends)
        # Short windows read the flags of values in any case.
        gaps = width is not None or has_gaps(data, missing, table.num_rows)
        plan = WindowPlan(
            method, int(ddof), self._window is None, width, moves_ends, gaps, table.layout
        )
        reduced = reduce_windows(data, missing, segment_ids, reach, least, table.num_rows, plan)
        result = of._with_columns([Column(one) for one in reduced])
        return result if self._step == 1 else result.iloc[:: self._step]

    def _short_width(self, method: str, moves_ends: bool) -> int | None:
        """The length of a window with a program of its own; None for windows that share one."""
        if self._window is None or moves_ends:
            return None
        width = self._window + (self._closed == "both")
        is_short = width <= SHORT_WINDOW and method in ("sum", "mean", "min", "max")
        return width if is_short else None

    def _numeric(self, method: str) -> Any:
        if isinstance(self._of, SeriesBase):
            if self._of._only.is_numeric and not self._of._only.is_bool:
                return self._of
            raise NotImplementedError(f"Rolling.{method} does not implement numeric_only")
        return self._of._columns_at(self._of._pick(lambda c: c.is_numeric and not c.is_bool))

    def _reach(self, capacity: int) -> tuple[Reach, bool]:
        if self._window is None:
            return Reach(np.int32(capacity), np.int32(0)), False
        ends_before = self._closed in ("left", "neither")
        ahead = (self._window - 1) // 2 if self._center or not self._window else 0
        ahead -= ends_before
        width = self._window + (self._closed in ("left", "both")) - ends_before
        # Longer windows hold the same rows.
        ahead = min(ahead, capacity)
        width = min(width, 2 * capacity)
        return Reach(np.int32(width), np.int32(ahead)), ahead != 0


class TimeWindows(Windows):
    """The result of `rolling` over spans of time."""

    def __init__(self, of: Any, span: TimeSpan, min_periods: int):
        super().__init__(of, WindowShape(span.length, min_periods))
        self._span = span

    def _take(self, method: str, numeric_only: bool, ddof: int = 1) -> Any:
        of = self._numeric(method) if numeric_only else self._of
        table = of._table
        if method != "count":
            for column, label in zip(table.columns, of._names, strict=True):
                _check(column, label, of)
        return of._with_columns(
            reduce_spans(table.columns, table, self._span, self._min_periods, method, int(ddof))
        )


def _check(column: Column, label: Any, of: Any) -> None:
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
        window: Any,
        min_periods: int | None = None,
        center: bool = False,
        win_type: Any = None,
        on: Any = None,
        closed: Any = None,
        step: Any = None,
        method: str = "single",
    ) -> Windows:
        """A window of `window` rows for each row, or every `step` rows; infinities are missing.

        A span of time, such as "2h", gives windows of the rows that the span before each row's
        label holds. The labels must be datetimes in ascending order, which inside `jit` is not
        checked.

        Differences from pandas:
            Only sum, mean, min, max, var, std and count are supported, without weights. Windows
            over spans of time end with their row, and `on` must be None.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1, 2, 6]).rolling(2, min_periods=1).max().tolist()
            [1.0, 2.0, 6.0]
        """
        levels = self._table.index.levels
        is_span = isinstance(window, (str, datetime.timedelta, np.timedelta64, pd.offsets.Tick))
        if is_span and len(levels) == 1 and levels[0].kind == "datetime" and on is None:
            if center or win_type is not None or step is not None:
                raise NotImplementedError(
                    "rolling: center, win_type and step are for windows of rows."
                )
            least = 1 if min_periods is None else _whole("min_periods", min_periods)
            return TimeWindows(self, as_time_span(self._table, window, closed), least)
        arguments = (window, min_periods, center, win_type, on, closed, step, method)
        return Windows(self, as_rolling(self._table, *arguments))

    def expanding(self, min_periods: int = 1, method: str = "single") -> Windows:
        """A window of all rows up to each row.

        Differences from pandas:
            Only sum, mean, min, max, var, std and count are supported.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1, 2, 6]).expanding().mean().tolist()
            [1.0, 1.5, 3.0]
        """
        return Windows(self, as_expanding(min_periods, method))


def as_rolling(
    table: Table,
    window: Any,
    min_periods: Any,
    center: Any,
    win_type: Any,
    on: Any,
    closed: Any,
    step: Any,
    method: str,
) -> WindowShape:
    """Checks the arguments of `rolling` over the rows of a table."""
    for name, value in {"win_type": win_type, "on": on}.items():
        if value is not None:
            raise NotImplementedError(f"rolling: {name} must be None, got {value!r}.")
    if method != "single":
        raise NotImplementedError(f"rolling: method must be 'single', got {method!r}.")
    window = as_scalar(window)
    if isinstance(window, bool) or not isinstance(window, (int, np.integer)):
        if any(level.is_time for level in (c.type for c in table.index.levels)):
            raise NotImplementedError(
                f"rolling: window must be a number of rows, got {window!r}. "
                "Resample to a regular frequency first."
            )
        raise ValueError(f"window must be an integer 0 or greater, got {window!r}")
    if window < 0:
        raise ValueError(f"window must be an integer 0 or greater, got {window}")
    least = int(window) if min_periods is None else _whole("min_periods", min_periods)
    if least > window:
        raise ValueError(f"min_periods {least} must be <= window {window}")
    if not isinstance(center, bool):
        raise ValueError(f"center must be a boolean, got {center!r}")
    if closed is not None and closed not in _CLOSED:
        raise ValueError(f"closed must be 'right', 'left', 'both' or 'neither', got {closed!r}")
    step = 1 if step is None else _whole("step", step)
    if not step:
        raise ValueError("step must be 1 or greater, got 0")
    return WindowShape(int(window), least, center, closed or "right", step)


def as_expanding(min_periods: Any, method: str) -> WindowShape:
    """Checks the arguments of `expanding`."""
    if method != "single":
        raise NotImplementedError(f"expanding: method must be 'single', got {method!r}.")
    return WindowShape(None, _whole("min_periods", min_periods))


def _whole(name: str, value: Any) -> int:
    value = as_scalar(value)
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name} must be an integer, got {value!r}")
    if value < 0:
        raise ValueError(f"{name} must be >= 0, got {value}")
    return int(value)


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
