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
    """The span of each window: its length in units of the times, and whether both ends belong."""

    length: int
    is_closed: bool


class TimePlan(NamedTuple):
    """The options of a reduction. Static under `jit`."""

    method: str
    ddof: int
    is_closed: bool
    layout: Layout


def as_time_span(table: Table, window: Any, closed: Any) -> TimeSpan:
    """The span that a window names, for a table whose labels are datetimes in order."""
    (times,) = table.index.levels
    if closed not in (None, "right", "both"):
        raise NotImplementedError(
            f"rolling: closed of a span of time must be 'right' or 'both', got {closed!r}."
        )
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
    if not is_traced(times, table.num_rows):
        has_nat, is_sorted = map(bool, at_once(_checks, times.data, table.num_rows))
        if has_nat:
            raise ValueError("index values must not have NaT")
        if not is_sorted:
            raise ValueError("index must be monotonic: sort_index() first.")
    return TimeSpan(length, closed == "both")


@tiered
def _checks(times: Array, num_rows: Count) -> tuple[Array, Array]:
    rows = is_row(times.shape[0], num_rows)
    is_first = jnp.arange(times.shape[0], dtype=jnp.int32) == 0
    return jnp.any(rows & (times == NAT)), jnp.all(~rows | is_first | (times >= before(times)))


def reduce_spans(
    columns: tuple[Column, ...], table: Table, span: TimeSpan, least: int, method: str, ddof: int
) -> list[Column]:
    """Reduces the window of each row; NaN for fewer than `least` values."""
    reduced = _reduced(
        tuple(column.data for column in columns),
        tuple(column.missing() if column.can_miss else None for column in columns),
        table.index.levels[0].data,
        table.num_rows,
        np.int64(span.length),
        np.int32(least),
        TimePlan(method, ddof, span.is_closed, table.layout),
    )
    return [Column(values) for values in reduced]


@functools.partial(tiered, static_argnums=6)
def _reduced(
    data: tuple[Array, ...],
    missing: tuple[Array | None, ...],
    times: Array,
    num_rows: Count,
    length: Array,
    least: Array,
    plan: TimePlan,
) -> tuple[Array, ...]:
    layout = plan.layout
    period = times // length
    side = "left" if plan.is_closed else "right"
    start = primitives.searchsorted(
        times, times - length, side=side, num_valid=num_rows, **layout.on_mesh
    )
    is_in_previous = gather(period, start, layout) < period

    def windows(
        state: State, combine: Callable[[State, State], State], nothing: tuple[Any, ...]
    ) -> State:
        scan = functools.partial(
            primitives.segmented_scan,
            state,
            combine,
            segment_ids=period,
            num_valid=num_rows,
            **layout.on_mesh,
        )
        front = scan()
        # A reverse scan combines from the last row on.
        end = gather(scan(reverse=True), start, layout)
        end = tuple(
            jnp.where(is_in_previous, x, jnp.full_like(x, none))
            for x, none in zip(end, nothing, strict=True)
        )
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
