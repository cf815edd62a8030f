# SPDX-License-Identifier: Apache-2.0
"""Recurrences of exponentially weighted windows."""

import functools
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives._accumulators import correlation
from ...primitives.staging import tiered
from ..table._column import Array
from ..table._dtypes import wide
from ..table._layout import Layout
from ..table._table import Count, is_row
from ..table._take import before, position


class ScanPlan(NamedTuple):
    """What is computed. Static under `jit`."""

    statistic: str
    adjust: bool
    ignore_na: bool
    layout: Layout


@functools.partial(tiered, static_argnums=4)
def weighted(
    columns: tuple[Array, ...],
    segment_ids: Array | None,
    alpha: Array,
    least: Array,
    plan: ScanPlan,
    elapsed: tuple[Array, Array, Count] | None = None,
) -> tuple[Array, ...]:
    """A statistic of the values of each column up to each row; missing for fewer than `least`.

    `elapsed` has the times of the rows, the time in which a weight decays as in one row, and the
    number of rows.
    """
    steps = None if elapsed is None else _steps(*elapsed, segment_ids, plan.layout)
    return tuple(_statistic(data, segment_ids, alpha, least, plan, steps) for data in columns)


def _steps(
    times: Array, length: Array, num_rows: Count, segment_ids: Array | None, layout: Layout
) -> Array:
    """The time since the row before, in units of `length`; zero for the first of a segment.

    Zero for padding too: its times may be so early that a weight, and all derivatives, overflow.
    """
    capacity = times.shape[0]
    is_next = (position(capacity, layout) > 0) & is_row(capacity, num_rows, layout)
    if segment_ids is not None:
        is_next = is_next & (segment_ids == before(segment_ids))
    between = (times - before(times)).astype(wide(np.float64))
    return jnp.where(is_next, between / length, 0)


def _statistic(
    data: Array,
    segment_ids: Array | None,
    alpha: Array,
    least: Array,
    plan: ScanPlan,
    steps: Array | None,
) -> Array:
    scan = functools.partial(_scan, segment_ids=segment_ids, plan=plan)
    x = data.astype(wide(np.float64))
    is_value = jnp.isfinite(x)
    x = jnp.where(is_value, x, 0)
    counts = scan(is_value.astype(jnp.int32), "add")
    if plan.statistic == "sum":
        total = scan((_kept(is_value, alpha, x.dtype, plan), x), "recurrence")
        return jnp.where(counts >= least, total, jnp.nan)
    shares = _shares(is_value, counts, alpha, x.dtype, scan, plan, steps)
    mean = _mean(x, shares, scan)
    is_mean = plan.statistic == "mean"
    result = mean if is_mean else _variance(x, mean, shares, scan, plan)
    return jnp.where(counts >= least, result, jnp.nan)


@functools.partial(tiered, static_argnums=5)
def weighted_pairs(
    columns: tuple[Array, ...],
    other: Array,
    segment_ids: Array | None,
    alpha: Array,
    least: Array,
    plan: ScanPlan,
) -> tuple[Array, ...]:
    """The covariance or correlation of each column and another one up to each row.

    Rows where a value of either is missing or infinite have no part in it.
    """
    return tuple(_of_pair(data, other, segment_ids, alpha, least, plan) for data in columns)


def _of_pair(
    x: Array, y: Array, segment_ids: Array | None, alpha: Array, least: Array, plan: ScanPlan
) -> Array:
    scan = functools.partial(_scan, segment_ids=segment_ids, plan=plan)
    x, y = (data.astype(wide(np.float64)) for data in (x, y))
    is_value = jnp.isfinite(x) & jnp.isfinite(y)
    counts = scan(is_value.astype(jnp.int32), "add")
    is_first = is_value & (counts == 1)
    shares = _shares(is_value, counts, alpha, x.dtype, scan, plan)
    changes = []
    for data in (x, y):
        # From the first value on, so that equal values have no variance at all.
        first = scan(jnp.where(is_first, data, 0), "add")
        data = jnp.where(is_value, data - first, 0)
        changes.append(data - before(_mean(data, shares, scan)))
    dx, dy = changes
    products = _squares(dx * dy, shares, scan)
    if plan.statistic == "corr":
        variances = [_squares(change**2, shares, scan) for change in changes]
        result = correlation(products, *variances)
    else:
        result = _unless_biased(products, shares, scan, plan)
    return jnp.where(counts >= least, result, jnp.nan)


def _kept(
    is_value: Array, alpha: Array, dtype: Any, plan: ScanPlan, steps: Array | None = None
) -> Array:
    """The factor of the weights of the values before each row."""
    one = jnp.ones(is_value.shape, dtype)
    decay = one * (1 - alpha) if steps is None else (1 - alpha) ** steps
    return jnp.where(is_value, decay, one) if plan.ignore_na else decay


class _Shares(NamedTuple):
    """The weights of a mean, which add up to one: of the values before a row, and of its own.

    A row without a value has none. Neither is one minus the other, which would lose digits.
    """

    earlier: Array
    own: Array


def _shares(
    is_value: Array,
    counts: Array,
    alpha: Array,
    dtype: Any,
    scan: Any,
    plan: ScanPlan,
    steps: Array | None = None,
) -> _Shares:
    """The shares of each row.

    From shares, a mean outlives any gap: weights themselves become zero after a long one.
    """
    if plan.adjust:
        # A value weighs one.
        keep, own = _kept(is_value, alpha, dtype, plan, steps), jnp.ones((), dtype)
        weight = scan((keep, is_value.astype(dtype)), "recurrence")
        old = keep * before(weight)
    elif steps is not None:
        # A value weighs what the mean has lost, in the time since the last value.
        goes_on = jnp.where(before(is_value), 0, jnp.ones((), dtype))
        gap = steps if plan.ignore_na else scan((goes_on, steps), "recurrence")
        old = (1 - alpha) ** gap
        own = 1 - old
    else:
        # The mean weighs one, and a value `alpha`.
        own = alpha
        decay = jnp.ones(is_value.shape, dtype) * (1 - alpha)
        row_ids = position(counts.shape[0], plan.layout)
        # The last mean has lost weight in each row since the last value.
        last = scan(jnp.where(is_value, row_ids, np.int32(-1)), "max")
        previous = before(last + np.int32(1)) - np.int32(1)
        gap = (row_ids - previous).astype(dtype)
        old = decay if plan.ignore_na else decay**gap
    is_first = counts == 1
    earlier = jnp.where(is_first, 0, old / (old + own))
    own = jnp.where(is_first, 1, own / (old + own))
    return _Shares(jnp.where(is_value, earlier, 1), jnp.where(is_value, own, 0))


def _mean(x: Array, shares: _Shares, scan: Any) -> Array:
    """The mean of the values up to each row."""
    mean = scan((shares.earlier, shares.own * x), "recurrence")
    return mean


def _variance(x: Array, mean: Array, shares: _Shares, scan: object, plan: ScanPlan) -> Array:
    """West's recurrences of the mean square, and of the sum of squared weights."""
    squares = _squares((x - before(mean)) ** 2, shares, scan)
    return _unless_biased(squares, shares, scan, plan)


def _squares(changes: Array, shares: _Shares, scan: Any) -> Array:
    """The mean square, from the squared distance of each value to the mean before it."""
    spread = shares.earlier * shares.own
    # A first value has no mean before it.
    spread = jnp.where(spread > 0, spread * changes, 0)
    squares = scan((shares.earlier, spread), "recurrence")
    return squares


def _unless_biased(squares: Array, shares: _Shares, scan: Any, plan: ScanPlan) -> Array:
    """The mean square, corrected for the weights unless the statistic is a biased one."""
    if plan.statistic.startswith("biased"):
        return squares
    # One minus the sum of squared weights, as a sum of positive terms.
    rest = scan((shares.earlier**2, 2 * shares.earlier * shares.own), "recurrence")
    # As in pandas, values whose weight rounds to zero beside one leave a single value.
    is_known = rest > jnp.finfo(rest.dtype).eps
    return jnp.where(is_known, squares / jnp.where(is_known, rest, 1), jnp.nan)


def _scan(x: Any, op: Any, segment_ids: Array | None, plan: ScanPlan) -> Any:
    on_mesh = plan.layout.on_mesh
    if op == "recurrence":
        return primitives.linear_recurrence(*x, segment_ids=segment_ids, **on_mesh)
    if segment_ids is None:
        return primitives.inclusive_scan(x, op, **on_mesh)
    return primitives.segmented_scan(x, op, segment_ids=segment_ids, **on_mesh)
