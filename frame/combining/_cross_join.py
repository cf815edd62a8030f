# SPDX-License-Identifier: Apache-2.0
"""Every row of one table beside every row of another."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ..table._column import Array
from ..table._layout import Layout
from ..table._table import NO_ROWS, Count, Table, as_count
from ..table._take import position
from ..table._tracing import is_in_jit
from ._row_pairs import MOST_ROWS, RowPairs, SideRows, needed_of, numbers_of, rounded


@functools.partial(jax.jit, static_argnums=(1, 2))
def _product(
    numbers: tuple[Count, Count], capacity: int, layout: Layout
) -> tuple[Array, Array, Array]:
    num_left, num_right = (jnp.asarray(number, jnp.int32) for number in numbers)
    place = position(capacity, layout)
    width = jnp.maximum(num_right, np.int32(1))
    fits = num_left <= np.int32(MOST_ROWS) // width
    count = jnp.where(fits, num_left * num_right, np.int32(MOST_ROWS))
    return place // width, place % width, count


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
        left_rows, right_rows, count = _product((left.num_rows, right.num_rows), room, layout)
        num_rows, needed = jnp.minimum(count, np.int32(room)), needed_of(left, right, count, room)
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
        numbers = as_count(num_left), as_count(num_right)
        left_rows, right_rows, _ = _product(numbers, room, layout)
        num_rows, needed = as_count(count), NO_ROWS
    return RowPairs(
        SideRows(left_rows, "all", layout), SideRows(right_rows, "all", layout), num_rows, needed
    )
