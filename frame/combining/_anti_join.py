# SPDX-License-Identifier: Apache-2.0
"""The rows of one side of a merge that the other side has no match for."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ..table._column import Array
from ..table._layout import Layout
from ..table._table import NO_ROWS, Count, Table, as_count, is_row
from ..table._take import gather, position
from ._row_pairs import (
    Keys,
    RowPairs,
    SideRows,
    first_rows,
    in_order,
    needed_of,
    rounded,
)


def rows_without_match(
    left: Table,
    right: Table,
    left_keys: Keys,
    right_keys: Keys,
    sort: bool,
    capacity: int | None,
    traced: bool,
) -> RowPairs:
    """The left rows whose keys no right row has."""
    layout = left.layout
    numbers = left.num_rows, right.num_rows
    if not traced:
        numbers = as_count(left.num_rows_on_host), as_count(right.num_rows_on_host)
    room = left.capacity if capacity is None else rounded(capacity, layout)
    rows, labels, count = _without_match(left_keys, right_keys, numbers, sort, room, layout)
    num_rows, needed = jnp.minimum(count, np.int32(room)), needed_of(left, right, count, room)
    if not traced:
        num_found = int(count)
        if num_found > room:
            raise primitives.CapacityError("merge", num_found, room)
        if capacity is None and layout.capacity_for(num_found) < room:
            room = layout.capacity_for(num_found)
            rows, labels = first_rows((rows, labels), room, layout)
        num_rows, needed = as_count(num_found), NO_ROWS
    no_rows = layout.constrain(jnp.full(rows.shape, -1, rows.dtype))
    found = "none" if traced or int(num_rows) else "all"
    if found == "all":
        no_rows = rows
    return RowPairs(
        SideRows(rows, "all", layout), SideRows(no_rows, found, layout), num_rows, needed, labels
    )


@functools.partial(jax.jit, static_argnums=(3, 4, 5))
def _without_match(
    left_keys: Keys,
    right_keys: Keys,
    numbers: tuple[Count, Count],
    sort: bool,
    capacity: int,
    layout: Layout,
) -> tuple[Array, Array, Array]:
    """Left rows without a match, and where they stand in a left join: each row of it has a label.

    A left row takes as many places there as it has matches, and one if it has none.
    """
    order = None
    if sort:
        order, left_keys = in_order(left_keys, numbers[0], layout)
    num_left, num_right = left_keys[0].shape[0], right_keys[0].shape[0]
    ones = jnp.ones_like(right_keys[0], dtype=jnp.int32)
    distinct = primitives.reduce_by_key(
        right_keys, ones, "sum", capacity=num_right, num_valid=numbers[1], **layout.on_mesh
    )
    joined = primitives.join(
        left_keys,
        distinct.unique_keys,
        how="left",
        capacity=num_left,
        num_valid=(numbers[0], distinct.num_runs),
        **layout.on_mesh,
    )
    is_alone = (joined.right_rows < 0) & is_row(num_left, numbers[0], layout)
    matches = gather(distinct.values, joined.right_rows, layout)
    places = primitives.exclusive_scan(jnp.maximum(matches, np.int32(1)), "add", **layout.on_mesh)
    left_rows = position(num_left, layout) if order is None else order
    kept = primitives.compact(is_alone, (left_rows, places), capacity=capacity, **layout.on_mesh)
    return *kept.rows, kept.count
