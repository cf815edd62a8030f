# SPDX-License-Identifier: Apache-2.0
"""Every row of one table beside every row of another."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ..table._layout import Layout
from ..table._table import NO_ROWS, Count, Table, as_count
from ..table._tracing import is_in_jit
from ._row_pairs import MOST_ROWS, RowPairs, SideRows, needed_of, numbers_of, rounded


def all_pairs(left: Table, right: Table, *, capacity: int | None = None) -> RowPairs:
    """Pairs each row of one table with each of the other, by left row, then right row."""
    layout = left.layout
    if is_in_jit(*numbers_of(left, right)):
        most = left.capacity * right.capacity
        if capacity is None and most >= MOST_ROWS:
            raise ValueError(
                "merge: a cross merge must have fewer than 2**31 - 1 rows, got room for "
                f"{left.capacity:,} times {right.capacity:,}. Pass capacity=."
            )
        room = rounded(most if capacity is None else capacity, layout)
        pairs = _cross(left, right, (left.num_rows, right.num_rows), room)
        num_rows = jnp.minimum(pairs.count, np.int32(room))
        needed = needed_of(left, right, pairs.count, room)
    else:
        num_left, num_right = left.num_rows_on_host, right.num_rows_on_host
        count = num_left * num_right
        if count >= MOST_ROWS:
            raise ValueError(
                f"merge: a cross merge must have fewer than 2**31 - 1 rows, got {count:,}. "
                "Merge the left side in parts."
            )
        room = layout.capacity_for(count) if capacity is None else rounded(capacity, layout)
        if count > room:
            raise primitives.CapacityError("merge", count, room)
        pairs = _cross(left, right, (as_count(num_left), as_count(num_right)), room)
        num_rows, needed = as_count(count), NO_ROWS
    left_rows, right_rows = (SideRows(rows, "all", layout) for rows in pairs[:2])
    return RowPairs(left_rows, right_rows, num_rows, needed)


def _cross(
    left: Table, right: Table, numbers: tuple[Count, Count], capacity: int
) -> primitives.Joined:
    lengths = left.capacity, right.capacity
    return _cross_of_lengths(numbers, lengths, capacity, left.layout)


@functools.partial(jax.jit, static_argnums=(1, 2, 3))
def _cross_of_lengths(
    numbers: tuple[Count, Count], lengths: tuple[int, int], capacity: int, layout: Layout
) -> primitives.Joined:
    # Keys that are not compared: the join takes their lengths alone.
    left, right = (layout.constrain(jnp.zeros(length, jnp.bool_)) for length in lengths)
    return primitives.join(
        left, right, how="cross", capacity=capacity, num_valid=numbers, **layout.on_mesh
    )
