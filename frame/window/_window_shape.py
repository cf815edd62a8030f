# SPDX-License-Identifier: Apache-2.0
"""The arguments of `rolling` and `expanding`, checked."""

import datetime
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..table._arguments import as_scalar
from ..table._column import Column
from ..table._ndframe import FrameBase, NDFrame
from ..table._table import Table
from ..table._types import LabelOrLabels
from ._time_windows import TimeSpan, as_time_span

_CLOSED = ("right", "left", "both", "neither")


class OnColumn(NamedTuple):
    """A column that `rolling` leaves as it is, `on`.

    Attributes:
        name: its label.
        column: its values.
        before: the labels of the columns before it in the result; None if it is the last one.
    """

    name: Hashable
    column: Column
    before: Sequence[Hashable] | None

    def place(self, labels: Sequence[Hashable]) -> int:
        """Where pandas puts the column among others."""
        before = labels if self.before is None else self.before
        return sum(label in before for label in labels)


class WindowShape(NamedTuple):
    """The checked arguments of `rolling` and `expanding`.

    Attributes:
        window: rows of each window; None for all rows up to each one.
        min_periods: the least number of values of a window with a result.
        center: whether a window is centered on its row.
        closed: which end rows a window includes.
        step: distance between the rows of the result.
        on: the column of the result that is not reduced.
        span: the span of time of each window, in place of a number of rows.
    """

    window: int | None
    min_periods: int
    center: bool = False
    closed: str = "right"
    step: int = 1
    on: OnColumn | None = None
    span: TimeSpan | None = None


def without_on(of: object, on: LabelOrLabels) -> tuple[Any, OnColumn | None]:
    """The columns to reduce, and the column `on`, if it is given."""
    if on is None:
        return of, None
    if not isinstance(on, Hashable) or isinstance(on, (pd.Index, NDFrame)):
        raise NotImplementedError(
            f"rolling: on must be the label of a column, got {type(on).__name__}. Assign it first."
        )
    if not isinstance(of, FrameBase) or on not in of._labels:
        raise ValueError(
            f"invalid on specified as {on}, must be a column (of DataFrame), an Index or None"
        )
    labels, at = list(of._labels), of._labels.position(on)
    rest = [other for other in range(len(labels)) if other != at]
    return of._columns_at(rest), OnColumn(on, of._table.columns[at], labels[:at])


def as_rolling(
    table: Table,
    on: OnColumn | None,
    window: object,
    min_periods: object,
    center: object,
    win_type: object,
    closed: object,
    step: object,
    method: str,
) -> WindowShape:
    """Checks the arguments of `rolling` over the rows of a table."""
    if win_type is not None:
        raise NotImplementedError(f"rolling: win_type must be None, got {win_type!r}.")
    if method != "single":
        raise NotImplementedError(f"rolling: method must be 'single', got {method!r}.")
    if not isinstance(center, bool):
        raise ValueError(f"center must be a boolean, got {center!r}")
    if closed is not None and closed not in _CLOSED:
        raise ValueError(f"closed must be 'right', 'left', 'both' or 'neither', got {closed!r}")
    times = table.index.levels if on is None else (on.column,)
    is_span = isinstance(window, (str, datetime.timedelta, np.timedelta64, pd.offsets.Tick))
    if is_span and len(times) == 1 and times[0].type.is_time:
        if step is not None:
            raise NotImplementedError(
                "rolling: step is for windows of rows. Select rows of the result."
            )
        least = 1 if min_periods is None else _whole("min_periods", min_periods)
        span = as_time_span(times[0], window, closed, center)
        return WindowShape(span.length, least, center, span.closed, 1, on, span)
    window = as_scalar(window)
    if isinstance(window, bool) or not isinstance(window, (int, np.integer)):
        raise ValueError(
            f"window must be an integer 0 or greater, got {window!r}. A span of time needs labels "
            "or a column on= of datetimes or timedeltas."
        )
    if window < 0:
        raise ValueError(f"window must be an integer 0 or greater, got {window}")
    least = int(window) if min_periods is None else _whole("min_periods", min_periods)
    if least > window:
        raise ValueError(f"min_periods {least} must be <= window {window}")
    step = 1 if step is None else _whole("step", step)
    if not step:
        raise ValueError("step must be 1 or greater, got 0")
    return WindowShape(int(window), least, center, closed or "right", step, on)


def as_expanding(min_periods: object, method: str) -> WindowShape:
    """Checks the arguments of `expanding`."""
    if method != "single":
        raise NotImplementedError(f"expanding: method must be 'single', got {method!r}.")
    return WindowShape(None, _whole("min_periods", min_periods))


def _whole(name: str, value: object) -> int:
    value = as_scalar(value)
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name} must be an integer, got {value!r}")
    if value < 0:
        raise ValueError(f"{name} must be >= 0, got {value}")
    return int(value)
