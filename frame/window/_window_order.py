# SPDX-License-Identifier: Apache-2.0
"""Order statistics, ranks, distinct values, and the first and last values of windows."""

import functools
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives._global._quantile import mean_of_both, unless_overflow
from ...primitives._range_ranks import Ranges, count_in_ranges, select_in_ranges
from ..table._column import Array
from ..table._layout import Layout
from ..table._table import Count, is_row
from ..table._take import before, gather, position

ORDER_METHODS = ("first", "last", "median", "quantile", "nunique", "rank")

_LAST = np.int32(np.iinfo(np.int32).max)


class WindowEnds(NamedTuple):
    """The first and the last row of each row's window; the last one is before that if empty."""

    first: Array
    last: Array


def ends_of_rows(
    capacity: int,
    segment_ids: Array | None,
    width: Count,
    ahead: Count,
    num_rows: Count,
    moves_ends: bool,
    layout: Layout,
) -> WindowEnds:
    """The windows of `width` rows that end `ahead` rows after their own. Traced.

    Windows stop at the ends of runs of equal segment ids.
    """
    own = position(capacity, layout)
    first, final = jnp.zeros_like(own), jnp.asarray(num_rows, jnp.int32) - np.int32(1)
    if segment_ids is not None:
        scan = functools.partial(
            primitives.segmented_scan, own, segment_ids=segment_ids, num_valid=num_rows,
            **layout.on_mesh,
        )  # fmt: skip
        first, final = scan(op="min"), jnp.minimum(scan(op="max", reverse=True), final)
    ends = own + ahead if moves_ends else own
    start = jnp.maximum(ends - jnp.asarray(width, jnp.int32) + np.int32(1), first)
    return WindowEnds(start, jnp.minimum(ends, final) if moves_ends else own)


def ordered_windows(
    x: Array,
    is_value: Array,
    ends: WindowEnds,
    num_rows: Count,
    q: object,
    how: Any,
    layout: Layout,
) -> tuple[Array, Array]:
    """The number of values of each window, and a result, arbitrary for none. Traced."""
    own = position(x.shape[0], layout)
    start, last = (one.astype(jnp.int32) for one in ends)
    is_value = is_value & is_row(x.shape[0], num_rows, layout)
    so_far = _scan(is_value.astype(jnp.int32), "add", layout)
    counts = gather(so_far, last, layout) - gather(so_far, start - np.int32(1), layout)
    counts = jnp.where(start <= last, counts, 0)
    if how.method in ("first", "last"):
        return counts, _end_value(x, is_value, own, start, last, how.method, layout)
    ranges = Ranges(start, last + np.int32(1))
    order = primitives.radix_argsort((jnp.where(is_value, x, jnp.nan),), **layout.on_mesh)
    order = layout.constrain(order.astype(jnp.int32))
    numbers = _inverse(order, layout)
    in_order = gather(x, order, layout)
    if how.method in ("median", "quantile"):
        q = x.dtype.type(0.5) if how.method == "median" else q
        interpolation = "midpoint" if how.method == "median" else how.interpolation
        return counts, _quantile(in_order, numbers, ranges, counts, q, interpolation, layout)
    num_values = jnp.sum(is_value, dtype=jnp.int32)
    is_equal = (in_order == before(in_order)) & (own > 0) & (own < num_values)
    if how.method == "nunique":
        # A value is new to a window if the row before it with this value is not in the window.
        earlier = jnp.where(is_equal, before(order) + np.int32(1), 0)
        earlier = jnp.where(own < num_values, earlier, np.int32(x.shape[0]))
        earlier = gather(earlier, numbers, layout)
        bound = jnp.minimum(start + np.int32(1), np.int32(x.shape[0]))
        (found,) = count_in_ranges(earlier, ranges, [bound], **layout.on_mesh)
        return counts, found.astype(x.dtype)
    return counts, _rank(is_value, is_equal, numbers, ranges, counts, last, how, layout)


def _inverse(order: Array, layout: Layout) -> Array:
    """For each row its position in an order of all rows."""
    if not layout.sends_rows:
        own = position(order.shape[0], layout)
        return order.at[order].set(own, unique_indices=True, mode="promise_in_bounds")
    return layout.constrain(primitives.radix_argsort((order,), **layout.on_mesh)).astype(jnp.int32)


def _scan(x: Array, op: Any, layout: Layout, *, reverse: bool = False) -> Array:
    return primitives.inclusive_scan(x, op, reverse=reverse, **layout.on_mesh)


def _end_value(
    x: Array, is_value: Array, own: Array, start: Array, last: Array, method: str, layout: Layout
) -> Array:
    """The first or the last value of each window."""
    if method == "first":
        rows = _scan(jnp.where(is_value, own, _LAST), "min", layout, reverse=True)
        rows = gather(rows, start, layout)
    else:
        rows = _scan(jnp.where(is_value, own, np.int32(-1)), "max", layout)
        rows = gather(rows, last, layout)
    return gather(x, rows, layout)


def _quantile(
    in_order: Array,
    numbers: Array,
    ranges: Ranges,
    counts: Array,
    q: object,
    interpolation: str,
    layout: Layout,
) -> Array:
    """The quantile of each window."""
    dtype = in_order.dtype
    # These products are not negative. XLA cannot contract their absolute value with a sum, so that
    # they are rounded as in pandas.
    at = jnp.abs(jnp.asarray(q, dtype) * jnp.maximum(counts - np.int32(1), 0).astype(dtype))
    low = jnp.floor(at).astype(jnp.int32)
    fraction = at - low.astype(dtype)
    high = jnp.where(fraction > 0, low + np.int32(1), low)
    if interpolation == "lower":
        ranks = [low]
    elif interpolation == "higher":
        ranks = [high]
    elif interpolation == "nearest":
        is_low = (fraction < 0.5) | ((fraction == 0.5) & (low % 2 == 0))
        ranks = [jnp.where(is_low, low, high)]
    else:
        ranks = [low, high]
    chosen = select_in_ranges(numbers, ranges, ranks, **layout.on_mesh)
    lower, *others = (gather(in_order, one, layout) for one in chosen)
    if not others:
        return lower
    (higher,) = others
    if interpolation == "midpoint":
        weight, between = dtype.type(0.5), mean_of_both(lower, higher, fraction)
    else:
        weight, between = fraction, lower + jnp.abs((higher - lower) * fraction)
    between = unless_overflow(between, lower, higher, weight)
    return jnp.where(fraction > 0, between, lower)


def _rank(
    is_value: Array,
    is_equal: Array,
    numbers: Array,
    ranges: Ranges,
    counts: Array,
    last: Array,
    how: Any,
    layout: Layout,
) -> Array:
    """The rank of the last value of each window in it; NaN if that is missing."""
    own = position(numbers.shape[0], layout)
    end = np.int32(numbers.shape[0])
    # The numbers of the first of equal values, and of the next greater one.
    first = _scan(jnp.where(is_equal, 0, own), "max", layout)
    heads = jnp.where(is_equal, end, own)
    after = primitives.exclusive_scan(heads, "min", reverse=True, **layout.on_mesh)
    after = jnp.minimum(after, end)
    of_last = gather(numbers, last, layout)
    limits = [gather(first, of_last, layout), gather(after, of_last, layout)]
    below, upto = count_in_ranges(numbers, ranges, limits, **layout.on_mesh)
    if not how.ascending:
        below, upto = counts - upto, counts - below
    dtype = jnp.result_type(float)
    if how.rank == "min":
        rank = (below + np.int32(1)).astype(dtype)
    elif how.rank == "max":
        rank = upto.astype(dtype)
    else:
        rank = (below + upto + np.int32(1)).astype(dtype) / 2
    if how.pct:
        rank = rank / jnp.maximum(counts, 1).astype(dtype)
    return jnp.where(gather(is_value, last, layout), rank, jnp.nan)
