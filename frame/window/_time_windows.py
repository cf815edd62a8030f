# SPDX-License-Identifier: Apache-2.0
"""`rolling` over spans of time: windows of varying numbers of rows.

Rows are cut into periods as long as a window. A window then is the end of the previous period
and the front of its own, which two scans that restart with each period hold: the algorithm of van
Herk, and of Gil and Werman, over time in place of rows.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ...primitives.staging import tiered
from ..table._column import NAT, Array, Column
from ..table._dtypes import wide
from ..table._layout import Layout
from ..table._table import Count, Table, is_row
from ..table._take import before, gather
from ..table._tracing import at_once, is_traced

State = tuple[Array, ...]


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
    """The options of a reduction. Static under `jit`."""

    method: str
    ddof: int
    closed: str
    center: bool
    layout: Layout


def as_time_span(times: Column, window: Any, closed: Any, center: Any) -> TimeSpan:
    """The span that a window names, over times."""
    try:
        span = pd.Timedelta(pd.tseries.frequencies.to_offset(window))  # pyright: ignore
    except ValueError:
        raise ValueError(
            f"passed window {window} is not compatible with a datetimelike index"
        ) from None
    unit: Any = times.type.unit
    length = span.as_unit(unit)._value  # pyright: ignore
    if length <= 0:
        raise ValueError(f"rolling: a span of time must be positive in units of {unit}, got {span}")
    if center and length % 2:
        raise NotImplementedError(
            f"rolling: half of a centered span must be whole in units of {unit}, got {span}. "
            "Convert the times to a finer unit by dt.as_unit()."
        )
    return TimeSpan(times, length, closed or "right", center)


def check_times(times: Column, segment_ids: Array | None, num_rows: Count, name: Any) -> None:
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
    method: str,
    ddof: int,
) -> list[Column]:
    """Reduces the window of each row; NaN for fewer than `least` values.

    Rows are sorted by segment, and in each segment by time. Windows end with their segment.
    """
    reduced = _reduced(
        tuple(column.data for column in columns),
        tuple(column.missing() if column.can_miss else None for column in columns),
        (span.times.data, segment_ids),
        table.num_rows,
        np.int64(span.length),
        np.int32(least),
        TimePlan(method, ddof, span.closed, span.center, table.layout),
    )
    return [Column(values) for values in reduced]


@functools.partial(tiered, static_argnums=6)
def _reduced(
    data: tuple[Array, ...],
    missing: tuple[Array | None, ...],
    place: tuple[Array, Array | None],
    num_rows: Count,
    length: Array,
    least: Array,
    plan: TimePlan,
) -> tuple[Array, ...]:
    layout, (times, segment_ids) = plan.layout, place
    ends = times + length // 2 if plan.center else times
    own, of_end = times // length, ends // length
    start_side = "left" if plan.closed in ("left", "both") else "right"
    is_open = plan.closed in ("left", "neither")
    keys = () if segment_ids is None else (segment_ids,)

    def rows_before(bounds: Array, side: Any) -> Array:
        return primitives.searchsorted(
            (*keys, times), (*keys, bounds), side=side, num_valid=num_rows, **layout.on_mesh
        )

    start = rows_before(ends - length, start_side)
    is_in_previous = gather(own, start, layout) < of_end
    # By default each window ends with its own row.
    last = is_in_period = None
    if is_open or plan.center:
        last = rows_before(ends, "left" if is_open else "right") - 1
        is_in_period = (last >= 0) & (gather(own, last, layout) == of_end)
        if segment_ids is not None:
            is_in_period = is_in_period & (gather(segment_ids, last, layout) == segment_ids)
    periods = own
    if segment_ids is not None:
        is_first = _is_first(segment_ids, times.shape[0]) | (own != before(own))
        periods = primitives.inclusive_scan(is_first.astype(jnp.int32), "add", **layout.on_mesh)

    def windows(
        state: State, combine: Callable[[State, State], State], nothing: tuple[Any, ...]
    ) -> State:
        scan = functools.partial(
            primitives.segmented_scan,
            state,
            combine,
            segment_ids=periods,
            num_valid=num_rows,
            **layout.on_mesh,
        )

        def where(flags: Array, values: State) -> State:
            return tuple(
                jnp.where(flags, x, jnp.full_like(x, none))
                for x, none in zip(values, nothing, strict=True)
            )

        front = scan()
        if last is not None and is_in_period is not None:
            front = where(is_in_period, gather(front, last, layout))
        # A reverse scan combines from the last row on.
        end = where(is_in_previous, gather(scan(reverse=True), start, layout))
        return combine(end, front)

    every_row = jnp.ones(times.shape, jnp.int32)
    zero = np.int32(0)
    results = []
    for values, gaps in zip(data, missing, strict=True):
        x = values.astype(wide(np.float64))
        is_value = jnp.ones(x.shape, jnp.bool_) if gaps is None else ~gaps
        if plan.method != "count":
            is_value = is_value & jnp.isfinite(x)
        flags = is_value.astype(jnp.int32)
        if plan.method == "count":
            counts, rows = windows((flags, every_row), _add, (zero, zero))
            results.append(jnp.where(rows >= least, counts.astype(x.dtype), jnp.nan))
            continue
        one = x.dtype.type
        if plan.method in ("min", "max"):
            limit = one(np.inf if plan.method == "min" else -np.inf)
            state = (flags, jnp.where(is_value, x, limit))
            combine = _least if plan.method == "min" else _greatest
            counts, result = windows(state, combine, (zero, limit))
        elif plan.method in ("sum", "mean"):
            state = (flags, jnp.where(is_value, x, one(0)))
            counts, result = windows(state, _add, (zero, one(0)))
            if plan.method == "mean":
                result = result / jnp.maximum(counts, 1).astype(x.dtype)
        else:
            state = (flags, jnp.where(is_value, x, one(0)), jnp.zeros_like(x))
            counts, _, squares = windows(state, _merge_moments, (zero, one(0), one(0)))
            divisor = (counts - np.int32(plan.ddof)).astype(x.dtype)
            result = jnp.where(divisor > 0, squares / jnp.maximum(divisor, 1), jnp.nan)
            result = jnp.sqrt(result) if plan.method == "std" else result
        fewest = least if plan.method == "sum" else jnp.maximum(least, np.int32(1))
        results.append(jnp.where(counts >= fewest, result, jnp.nan))
    return tuple(results)


def _add(a: State, b: State) -> State:
    return tuple(x + y for x, y in zip(a, b, strict=True))


def _least(a: State, b: State) -> State:
    return a[0] + b[0], jnp.minimum(a[1], b[1])


def _greatest(a: State, b: State) -> State:
    return a[0] + b[0], jnp.maximum(a[1], b[1])


def _merge_moments(a: State, b: State) -> State:
    """Merges counts, means and sums of squared deviations (Chan, Golub, LeVeque 1979)."""
    (n_a, mean_a, squares_a), (n_b, mean_b, squares_b) = a, b
    total = n_a + n_b
    share = n_b.astype(mean_a.dtype) / jnp.maximum(total, 1).astype(mean_a.dtype)
    apart = mean_b - mean_a
    squares = squares_a + squares_b + apart * apart * share * n_a.astype(mean_a.dtype)
    return total, mean_a + apart * share, squares
