# SPDX-License-Identifier: Apache-2.0
"""Cross join: all pairs of rows."""

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
    """Pairs every left row with every right row, ordered by left row, then right row."""
    layout, lengths = left.layout, (left.capacity, right.capacity)
    if is_in_jit(*numbers_of(left, right)):
        max_pairs = left.capacity * right.capacity
        if capacity is None and max_pairs >= MOST_ROWS:
            raise ValueError(
                "merge: a cross merge must have fewer than 2**31 - 1 rows, got a capacity of "
                f"{left.capacity:,} times {right.capacity:,}. Pass capacity=."
            )
        limit = rounded(max_pairs if capacity is None else capacity, layout)
        pairs = _cross((left.num_rows, right.num_rows), lengths, limit, layout)
        num_rows = jnp.minimum(pairs.count, np.int32(limit))
        needed = needed_of(left, right, pairs.count, limit)
    else:
        num_left, num_right = left.num_rows_on_host, right.num_rows_on_host
        count = num_left * num_right
        if count >= MOST_ROWS:
            raise ValueError(
                f"merge: a cross merge must have fewer than 2**31 - 1 rows, got {count:,}. "
                "Merge the left side in parts."
            )
        limit = layout.capacity_for(count) if capacity is None else rounded(capacity, layout)
        if count > limit:
            raise primitives.CapacityError("merge", count, limit)
        pairs = _cross((as_count(num_left), as_count(num_right)), lengths, limit, layout)
        num_rows, needed = as_count(count), NO_ROWS
    left_rows, right_rows = (SideRows(rows, "all", layout) for rows in pairs[:2])
    return RowPairs(left_rows, right_rows, num_rows, needed)


@functools.partial(jax.jit, static_argnums=(1, 2, 3))
def _cross(
    numbers: tuple[Count, Count], lengths: tuple[int, int], capacity: int, layout: Layout
) -> primitives.Joined:
    # The keys are placeholders: a cross join reads only their lengths.
    left, right = (layout.constrain(jnp.zeros(length, jnp.bool_)) for length in lengths)
    return primitives.join(
        left, right, how="cross", capacity=capacity, num_valid=numbers, **layout.on_mesh
    )
