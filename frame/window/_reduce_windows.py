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

# Windows of at most this many rows have a program for each length, which reads them row by row.
SHORT_WINDOW = 16


class Reach(NamedTuple):
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
    """The options of a reduction over windows. Static under `jit`.

    Attributes:
        method: "sum", "mean", "min", "max", "var", "std" or "count".
        ddof: subtracted from the number of values in the divisor of a variance.
        is_expanding: whether every window starts with the first row.
        short_width: the static length of short windows; None for windows that share a program.
        moves_ends: whether windows may end before or after their own row.
        has_gaps: whether a value may be missing or infinite.
        layout: the layout of the rows.
    """

    method: str
    ddof: int
    is_expanding: bool
    short_width: int | None
    moves_ends: bool
    has_gaps: bool
    layout: Layout


@functools.partial(tiered, static_argnums=6)
def reduce_windows(
    data: tuple[Array, ...],
    missing: tuple[Array | None, ...],
    segment_ids: Array | None,
    reach: Reach,
    least: Count,
    num_rows: Count,
    plan: WindowPlan,
) -> tuple[Array, ...]:
    """Columns of float64, one value for each row's window; NaN for fewer than `least` values.

    Windows stop at the ends of runs of equal `segment_ids`.
    """
    dtype = wide(np.float64)
    columns = tuple(x.astype(dtype) for x in data)
    masks = tuple(
        _values_of(x, gaps, plan) if plan.has_gaps else None
        for x, gaps in zip(data, missing, strict=True)
    )
    window: Any = reach.width if plan.short_width is None else plan.short_width
    reduce = functools.partial(
        primitives.windowed_reduce,
        window=None if plan.is_expanding else window,
        op=plan.method,
        offset=reach.ahead if plan.moves_ends else 0,
        num_valid=num_rows,
        segment_ids=segment_ids,
        ddof=plan.ddof,
        **plan.layout.on_mesh,
    )
    values, counts = reduce(columns, where=masks)
    if plan.method == "count":
        # Missing values count towards the length of a window.
        (all_rows,) = reduce(columns[:1]).counts
        return tuple(jnp.where(all_rows >= least, n.astype(dtype), np.nan) for n in counts)
    least = least if plan.method == "sum" else jnp.maximum(least, np.int32(1))
    return tuple(
        jnp.where(count >= least, value, np.nan)
        for value, count in zip(values, counts, strict=True)
    )


def _values_of(x: Array, missing: Array | None, plan: WindowPlan) -> Array | None:
    """Flags of the values to reduce; None for all values."""
    flags = [] if missing is None else [~missing]
    if plan.method != "count" and jnp.issubdtype(x.dtype, jnp.floating):
        flags.append(jnp.isfinite(x))
    return functools.reduce(jnp.logical_and, flags) if flags else None
