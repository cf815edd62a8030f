# SPDX-License-Identifier: Apache-2.0
"""Anti join: rows without a match on the other side."""

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
    """Selects the left rows without a match on the right."""
    layout = left.layout
    numbers = left.num_rows, right.num_rows
    if not traced:
        numbers = as_count(left.num_rows_on_host), as_count(right.num_rows_on_host)
    limit = left.capacity if capacity is None else rounded(capacity, layout)
    rows, labels, count = _without_match(left_keys, right_keys, numbers, sort, limit, layout)
    if traced:
        num_rows, needed = jnp.minimum(count, np.int32(limit)), needed_of(left, right, count, limit)
    else:
        num_rows, needed = as_count(int(count)), NO_ROWS
        if num_rows > limit:
            raise primitives.CapacityError("merge", int(num_rows), limit)
        if capacity is None and layout.capacity_for(int(num_rows)) < limit:
            rows, labels = first_rows((rows, labels), layout.capacity_for(int(num_rows)), layout)
    no_matches = SideRows(layout.constrain(jnp.full(rows.shape, -1, rows.dtype)), "none", layout)
    all_rows = SideRows(rows, "all", layout)
    # pandas keeps the dtypes of the right side if the result is empty.
    right_side = no_matches if traced or num_rows else all_rows
    return RowPairs(all_rows, right_side, num_rows, needed, labels)


@functools.partial(jax.jit, static_argnums=(3, 4, 5))
def _without_match(
    left_keys: Keys,
    right_keys: Keys,
    numbers: tuple[Count, Count],
    sort: bool,
    capacity: int,
    layout: Layout,
) -> tuple[Array, Array, Array]:
    """Left rows without a match, their positions in the left join, and their count.

    The positions become row labels. A left row has one position per match, and at least one.
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
    is_unmatched = (joined.right_rows < 0) & is_row(num_left, numbers[0], layout)
    matches = gather(distinct.values, joined.right_rows, layout)
    labels = primitives.exclusive_scan(jnp.maximum(matches, np.int32(1)), "add", **layout.on_mesh)
    left_rows = position(num_left, layout) if order is None else order
    unmatched = primitives.compact(
        is_unmatched, (left_rows, labels), capacity=capacity, **layout.on_mesh
    )
    return *unmatched.rows, unmatched.count
