# SPDX-License-Identifier: Apache-2.0
"""Reductions of columns over the window of each row, in one compiled call."""

import functools
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives.staging import tiered
from ..table._column import Array
from ..table._dtypes import wide
from ..table._layout import Layout
from ..table._table import Count
from ..table._types import Options
from ._window_order import ORDER_METHODS, WindowEnds, ends_of_rows, ordered_windows

# Windows of at most this many rows have a program for each length, which reads them row by row.
SHORT_WINDOW = 16
PAIR_METHODS = ("cov", "corr")
# Reductions that a host reads missing values for first: without them they take half the scans.
CHECKED_METHODS = ("sum", "mean", "min", "max", "var", "std", "count")


class RowSpan(NamedTuple):
    """The rows of each window: `width` rows that end `ahead` rows after the window's own row."""

    width: Count
    ahead: Count


class WindowReduction(NamedTuple):
    """A reduction of windows. Static under `jit`.

    Attributes:
        method: its name.
        ddof: subtracted from the number of values in the divisor of a variance.
        interpolation: the value between two order statistics.
        rank: the rank of equal values.
        ascending: whether the least value has the first rank.
        pct: whether ranks are fractions.
    """

    method: str
    ddof: int = 1
    interpolation: str = "linear"
    rank: str = "average"
    ascending: bool = True
    pct: bool = False


class WindowPlan(NamedTuple):
    """The options of a reduction over windows of rows. Static under `jit`.

    Attributes:
        how: the reduction.
        is_expanding: whether every window starts with the first row.
        short_width: the static length of short windows; None for windows that share a program.
        moves_ends: whether windows may end before or after their own row.
        has_gaps: whether a value may be missing or infinite.
        layout: the layout of the rows.
    """

    how: WindowReduction
    is_expanding: bool
    short_width: int | None
    moves_ends: bool
    has_gaps: bool
    layout: Layout


class Values(NamedTuple):
    """The columns that windows reduce, and the numbers of their methods.

    Attributes:
        data: the columns; for a covariance or correlation the last one is the other one of each.
        missing: flags of missing values of each, beside the NaNs of floats; None for none.
        num_rows: the number of rows.
        least: the least number of values of a window with a result.
        q: the quantile; None for other methods.
    """

    data: tuple[Array, ...]
    missing: tuple[Array | None, ...]
    num_rows: Count
    least: Count
    q: Any


@functools.partial(tiered, static_argnums=3)
def reduce_windows(
    values: Values, segment_ids: Array | None, reach: RowSpan, plan: WindowPlan
) -> tuple[Array, ...]:
    """Reduces windows of rows, which stop at the ends of runs of equal `segment_ids`."""
    if plan.how.method in ORDER_METHODS:
        moves = plan.moves_ends, plan.layout
        capacity = values.data[0].shape[0]
        ends = ends_of_rows(capacity, segment_ids, *reach, values.num_rows, *moves)
        return reduce_ordered(values, ends, plan.how, plan.layout)
    window: Any = reach.width if plan.short_width is None else plan.short_width
    windows = {
        "window": None if plan.is_expanding else window,
        "offset": reach.ahead if plan.moves_ends else 0,
        "segment_ids": segment_ids,
    }
    return reduce_values(values, windows, plan.how, plan.has_gaps, plan.layout)


def reduce_ordered(
    values: Values, ends: WindowEnds, how: WindowReduction, layout: Layout
) -> tuple[Array, ...]:
    """Columns of float64, an order statistic of each row's window; NaN for too few values."""
    results = []
    for x, missing in zip(values.data, values.missing, strict=True):
        x = x.astype(wide(np.float64))
        is_value = _is_value(x, missing, how.method)
        is_value = jnp.ones(x.shape, jnp.bool_) if is_value is None else is_value
        counts, result = ordered_windows(x, is_value, ends, values.num_rows, values.q, how, layout)
        results.append(_unless_few(result, counts, values, how.method))
    return tuple(results)


def reduce_values(
    values: Values, windows: Options, how: WindowReduction, has_gaps: bool, layout: Layout
) -> tuple[Array, ...]:
    """Columns of float64, a value for each row's window; NaN for fewer than `least` values.

    Args:
        values: the columns. Infinities are missing, except for counts.
        windows: the arguments of `primitives.windowed_reduce` that tell the windows.
        how: the reduction.
        has_gaps: whether a value may be missing or infinite.
        layout: the layout of the rows.
    """
    columns = tuple(x.astype(wide(np.float64)) for x in values.data)
    masks = tuple(
        _is_value(x, missing, how.method) if has_gaps else None
        for x, missing in zip(values.data, values.missing, strict=True)
    )
    settings: dict[str, Any] = {**windows, "num_valid": values.num_rows, **layout.on_mesh}
    reduce = functools.partial(primitives.windowed_reduce, **settings)
    if how.method == "count":
        # Missing values count towards the length of a window.
        counts = reduce(columns, op="count", where=masks).counts
        (all_rows,) = reduce(columns[:1], op="count").counts
        dtype = columns[0].dtype
        return tuple(jnp.where(all_rows >= values.least, n.astype(dtype), np.nan) for n in counts)
    other = None
    if how.method in PAIR_METHODS:
        *columns, other = columns
        *masks, of_other = masks
        columns, masks = tuple(columns), tuple(_both(mask, of_other) for mask in masks)
    op = "std" if how.method == "sem" else how.method
    results, counts = reduce(columns, op=op, where=masks, ddof=how.ddof, other=other)
    if how.method == "sem":
        # As in pandas, infinities are counted.
        present = tuple(map(_is_present, columns, values.missing))
        sizes = reduce(columns, op="count", where=present).counts
        results = tuple(
            result / jnp.sqrt(jnp.maximum(size, 1).astype(result.dtype))
            for result, size in zip(results, sizes, strict=True)
        )
    return tuple(
        _unless_few(result, count, values, how.method)
        for result, count in zip(results, counts, strict=True)
    )


def _unless_few(result: Array, counts: Array, values: Values, method: str) -> Array:
    least = values.least
    fewest = least if method in ("sum", "nunique") else jnp.maximum(least, np.int32(1))
    return jnp.where(counts >= fewest, result, np.nan)


def _both(flags: Array | None, others: Array | None) -> Array | None:
    if flags is None or others is None:
        return others if flags is None else flags
    return flags & others


def _is_value(x: Array, missing: Array | None, method: str) -> Array | None:
    """Flags of the values to reduce; None for all values."""
    present = None if missing is None else ~missing
    if method == "count" or not jnp.issubdtype(x.dtype, jnp.floating):
        return present
    return _both(present, jnp.isfinite(x))


def _is_present(x: Array, missing: Array | None) -> Array:
    return ~jnp.isnan(x) if missing is None else ~(jnp.isnan(x) | missing)
