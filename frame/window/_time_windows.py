# SPDX-License-Identifier: Apache-2.0
"""`rolling` over spans of time: windows of varying numbers of rows."""

import functools
from collections.abc import Hashable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ...primitives.staging import tiered
from ..table._column import NAT, Array, Column
from ..table._layout import Layout
from ..table._table import Count, Table, is_row
from ..table._take import before, position
from ..table._tracing import at_once, is_traced
from ..table._untyped import untyped_pandas
from ._reduce_windows import Values, WindowReduction, reduce_ordered, reduce_values
from ._window_order import ORDER_METHODS, WindowEnds


class TimeSpan(NamedTuple):
    """The span of each window: the time of each row, and the length in units of the times.

    Attributes:
        times: the times.
        length: the length of each window.
        closed: which ends belong to a window: "right", "left", "both" or "neither".
        center: whether a window is centered on its row.
    """

    times: Column
    length: int
    closed: str = "right"
    center: bool = False


class TimePlan(NamedTuple):
    """The options of windows. Static under `jit`."""

    closed: str
    center: bool
    layout: Layout


def as_time_span(times: Column, window: object, closed: Any, center: Any) -> TimeSpan:
    """The span that a window names, over times."""
    try:
        span: Any = pd.Timedelta(untyped_pandas.tseries.frequencies.to_offset(window))
    except ValueError:
        raise ValueError(
            f"passed window {window} is not compatible with a datetimelike index"
        ) from None
    unit: Any = times.type.unit
    length = span.as_unit(unit)._value
    if length <= 0:
        raise ValueError(f"rolling: a span of time must be positive in units of {unit}, got {span}")
    if center and length % 2:
        raise NotImplementedError(
            f"rolling: half of a centered span must be whole in units of {unit}, got {span}. "
            "Convert the times to a finer unit by dt.as_unit()."
        )
    return TimeSpan(times, length, closed or "right", center)


def check_times(times: Column, segment_ids: Array | None, num_rows: Count, name: Hashable) -> None:
    """Raises unless times ascend, in each segment, and none is missing. Not inside `jit`."""
    if is_traced(times, segment_ids, num_rows):
        return
    has_nat, is_sorted = map(bool, at_once(_checks, times.data, segment_ids, num_rows))
    name = "index" if name is None else name
    if has_nat:
        raise ValueError(f"{name} values must not have NaT")
    if not is_sorted and segment_ids is None:
        raise ValueError(f"{name} values must be monotonic: sort them in ascending order first.")
    if not is_sorted:
        raise ValueError(
            f"Each group within {name} must be monotonic. Sort the values in {name} first, in "
            "ascending order."
        )


@tiered
def _checks(times: Array, segment_ids: Array | None, num_rows: Count) -> tuple[Array, Array]:
    rows = is_row(times.shape[0], num_rows)
    is_sorted = ~rows | (times >= before(times)) | _is_first(segment_ids, times.shape[0])
    return jnp.any(rows & (times == NAT)), jnp.all(is_sorted)


def _is_first(segment_ids: Array | None, num_rows: int) -> Array:
    """Flags the first row of each segment."""
    is_first = jnp.arange(num_rows, dtype=jnp.int32) == 0
    return is_first if segment_ids is None else is_first | (segment_ids != before(segment_ids))


def reduce_spans(
    columns: tuple[Column, ...],
    table: Table,
    span: TimeSpan,
    segment_ids: Array | None,
    least: int,
    q: object,
    how: WindowReduction,
) -> list[Column]:
    """Reduces the window of each row; NaN for fewer than `least` values.

    Rows are sorted by segment, and in each segment by time. Windows end with their segment.
    """
    data = tuple(column.data for column in columns)
    missing = tuple(column.missing() if column.can_miss else None for column in columns)
    reduced = _reduced(
        Values(data, missing, table.num_rows, np.int32(least), q),
        (span.times.data, segment_ids),
        np.int64(span.length),
        how,
        TimePlan(span.closed, span.center, table.layout),
    )
    return [Column(values) for values in reduced]


@functools.partial(tiered, static_argnums=(3, 4))
def _reduced(
    values: Values,
    place: tuple[Array, Array | None],
    length: Array,
    how: WindowReduction,
    plan: TimePlan,
) -> tuple[Array, ...]:
    bounds = _bounds_by_time(*place, values.num_rows, length, plan)
    if how.method not in ORDER_METHODS:
        return reduce_values(values, {"window": bounds}, how, True, plan.layout)
    own = position(values.data[0].shape[0], plan.layout)
    last = own if bounds.last is None else jnp.asarray(bounds.last)
    ends = WindowEnds(jnp.asarray(bounds.first), last)
    return reduce_ordered(values, ends, how, plan.layout)


def _bounds_by_time(
    times: Array, segment_ids: Array | None, num_rows: Count, length: Array, plan: TimePlan
) -> primitives.local.WindowBounds:
    """The windows of rows in a span of time before each row's, or around it. Traced."""
    layout = plan.layout
    ends = times + length // 2 if plan.center else times
    start_side = "left" if plan.closed in ("left", "both") else "right"
    is_open = plan.closed in ("left", "neither")
    keys = () if segment_ids is None else (segment_ids,)

    def rows_before(bounds: Array, side: Any) -> Array:
        return primitives.searchsorted(
            (*keys, times), (*keys, bounds), side=side, num_valid=num_rows, **layout.on_mesh
        )

    start = rows_before(ends - length, start_side)
    # By default each window ends with its own row.
    last = None
    if is_open or plan.center:
        last = rows_before(ends, "left" if is_open else "right") - 1
    # Windows are as long as the periods of time that blocks are.
    period = times // length
    heads = _is_first(segment_ids, times.shape[0]) | (period != before(period))
    return primitives.local.WindowBounds(start, last, heads)
