# SPDX-License-Identifier: Apache-2.0
"""The first and the last row of each row's window, and the periods that windows are made of.

Rows are cut into periods as long as a window. A window then is the end of the period before that of
its last row, and the front of that period, which two scans that restart with each period hold: the
algorithm of van Herk, and of Gil and Werman.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ... import primitives
from ..table._column import Array
from ..table._layout import Layout
from ..table._table import Count
from ..table._take import before, gather, position
from ._reduce_windows import Reach

State = tuple[Array, ...]


class Bounds(NamedTuple):
    """The windows of rows.

    Attributes:
        start: the first row of each window.
        last: its last row, before the first one if it is empty; None if it is its own row.
        is_split: whether a window begins in the period before that of its end.
        has_front: whether it has rows of that period; None if it has.
        periods: the period of each row, in runs of equal numbers.
    """

    start: Array
    last: Array | None
    is_split: Array
    has_front: Array | None
    periods: Array


def is_first_of_segment(segment_ids: Array | None, num_rows: int) -> Array:
    """Flags the first row of each segment."""
    is_first = jnp.arange(num_rows, dtype=jnp.int32) == 0
    return is_first if segment_ids is None else is_first | (segment_ids != before(segment_ids))


def bounds_by_row(
    capacity: int,
    segment_ids: Array | None,
    reach: Reach,
    num_rows: Count,
    moves_ends: bool,
    layout: Layout,
) -> Bounds:
    """The windows of `reach.width` rows that end `reach.ahead` rows after their own. Traced.

    Windows stop at the ends of runs of equal segment ids.
    """
    own = position(capacity, layout)
    first, final = jnp.zeros_like(own), jnp.asarray(num_rows, jnp.int32) - np.int32(1)
    if segment_ids is not None:

        def scan(op: Any, *, reverse: bool) -> Array:
            return primitives.segmented_scan(
                own, op, segment_ids=segment_ids, num_valid=num_rows, reverse=reverse,
                **layout.on_mesh,
            )  # fmt: skip

        first = scan("min", reverse=False)
        final = jnp.minimum(scan("max", reverse=True), final)
    width = jnp.maximum(jnp.asarray(reach.width, jnp.int32), np.int32(1))
    ends = own + reach.ahead if moves_ends else own
    start = jnp.maximum(ends - jnp.asarray(reach.width, jnp.int32) + np.int32(1), first)
    last = jnp.minimum(ends, final)
    is_window = start <= last
    period = own // width
    periods = numbered_periods(period, segment_ids, layout)
    is_split = is_window & (start // width < ends // width)
    if not moves_ends:
        return Bounds(start, None, is_split, is_window, periods)
    return Bounds(start, last, is_split, is_window & (last // width == ends // width), periods)


def numbered_periods(periods: Array, segment_ids: Array | None, layout: Layout) -> Array:
    """Numbers the periods of all segments."""
    if segment_ids is None:
        return periods
    is_first = is_first_of_segment(segment_ids, periods.shape[0]) | (periods != before(periods))
    return primitives.inclusive_scan(is_first.astype(jnp.int32), "add", **layout.on_mesh)


def combine_windows(
    state: State,
    combine: Callable[[State, State], State],
    nothing: tuple[Any, ...],
    bounds: Bounds,
    num_rows: Count,
    layout: Layout,
) -> State:
    """Combines the states of the rows of each window; `nothing` is the state of no rows. Traced."""

    def scan(*, reverse: bool = False) -> State:
        return primitives.segmented_scan(
            state, combine, segment_ids=bounds.periods, num_valid=num_rows, reverse=reverse,
            **layout.on_mesh,
        )  # fmt: skip

    def where(flags: Array, values: State) -> State:
        return tuple(
            jnp.where(flags, x, jnp.full_like(x, none))
            for x, none in zip(values, nothing, strict=True)
        )

    front = scan()
    if bounds.last is not None:
        front = gather(front, bounds.last, layout)
    if bounds.has_front is not None:
        front = where(bounds.has_front, front)
    # A reverse scan combines from the last row on.
    end = where(bounds.is_split, gather(scan(reverse=True), bounds.start, layout))
    return combine(end, front)
