# SPDX-License-Identifier: Apache-2.0
"""Eager join: sizes the result exactly and records which sides contain nulls."""

import functools
from typing import Any

import jax
import jax.numpy as jnp

from ... import primitives
from ..table._column import Array
from ..table._layout import ONE_DEVICE, Layout
from ..table._table import NO_ROWS, Count, Table, as_count, is_row
from ..table._take import position
from ._row_pairs import (
    MOST_ROWS,
    Keys,
    RowPairs,
    SideRows,
    first_rows,
    in_order,
    paired_rows,
    rounded,
    through,
)


def counted_pairs(
    left: Table,
    right: Table,
    left_keys: Keys,
    right_keys: Keys,
    how: str,
    sort: bool,
    capacity: int | None,
) -> RowPairs:
    """Pairs rows with equal keys, outside `jit`; see `pair_rows`."""
    layout = left.layout
    numbers = left.num_rows_on_host, right.num_rows_on_host
    pair = _on_one_device if layout.mesh is None else _on_mesh
    pairs, count = pair(left_keys, right_keys, numbers, how, sort, capacity, layout)
    # Null rows of each side: unmatched rows of the other side that the join keeps.
    left_holes = pairs.num_unmatched_right if how in ("right", "outer") else 0
    right_holes = pairs.num_unmatched_left if how in ("left", "outer") else 0
    # The side that determines the order of the pairs, and its dropped rows.
    ordered = None if sort or how == "outer" else "right" if how == "right" else "left"
    dropped = pairs.num_unmatched_left if how == "inner" else 0

    def side_rows(side: str, row_ids: Array, num_rows: int, num_holes: Any) -> SideRows:
        presence = "all"
        if num_holes := int(num_holes):
            presence = "none" if num_holes == count else "some"
        elif count == num_rows:
            # As many pairs as rows, and no row dropped: the identity on the ordered side.
            is_same = not int(dropped) if side == ordered else is_in_place(row_ids)
            presence = "same" if is_same else "all"
        return SideRows(row_ids, presence, layout)

    def is_in_place(row_ids: Array) -> bool:
        return bool(_is_in_place(row_ids, as_count(count), layout))

    return RowPairs(
        side_rows("left", pairs.left_rows, numbers[0], left_holes),
        side_rows("right", pairs.right_rows, numbers[1], right_holes),
        as_count(count),
        NO_ROWS,
    )


def _on_one_device(
    left_keys: Keys,
    right_keys: Keys,
    numbers: tuple[int, int],
    how: Any,
    sort: bool,
    capacity: int | None,
    layout: Layout,
) -> tuple[primitives.Joined, int]:
    num_valid: tuple[Count, Count] = as_count(numbers[0]), as_count(numbers[1])
    order = None
    if sort and how == "right":
        order, right_keys = _in_order(right_keys, num_valid[1])
    elif sort and how != "outer":
        order, left_keys = _in_order(left_keys, num_valid[0])
    joined = primitives.join(
        left_keys,
        right_keys,
        how=how,
        capacity=functools.partial(_capacity_for, capacity=capacity, layout=layout),
        num_valid=num_valid,
    )
    if order is not None and how == "right":
        joined = joined._replace(right_rows=_through(order, joined.right_rows))
    elif order is not None:
        joined = joined._replace(left_rows=_through(order, joined.left_rows))
    return joined, int(joined.count)


def _on_mesh(
    left_keys: Keys,
    right_keys: Keys,
    numbers: tuple[int, int],
    how: str,
    sort: bool,
    capacity: int | None,
    layout: Layout,
) -> tuple[primitives.Joined, int]:
    # Counting first would send as much as pairing. Guess the capacity instead: if the keys of one
    # side are unique, the pairs are at most as many as the rows of the other.
    guess = {"right": numbers[1], "outer": sum(numbers)}.get(how, numbers[0])
    limit = layout.capacity_for(guess) if capacity is None else rounded(capacity, layout)
    counts = as_count(numbers[0]), as_count(numbers[1])
    pairs = paired_rows(left_keys, right_keys, counts, how, sort, limit, layout)
    count = int(pairs.count)
    if count > limit:
        limit = _capacity_for(count, capacity, layout)
        pairs = paired_rows(left_keys, right_keys, counts, how, sort, limit, layout)
    elif capacity is None and layout.capacity_for(count) < limit:
        left_rows, right_rows = first_rows(pairs[:2], layout.capacity_for(count), layout)
        pairs = pairs._replace(left_rows=left_rows, right_rows=right_rows)
    return pairs, count


def _capacity_for(count: int, capacity: int | None, layout: Layout) -> int:
    """The capacity for `count` pairs, checked against the user's."""
    if count >= MOST_ROWS:
        raise ValueError(
            "merge: the result must have fewer than 2**31 - 1 rows, got more. Drop keys that are "
            "frequent on both sides, or merge the left side in parts."
        )
    if capacity is None:
        return layout.capacity_for(count)
    limit = rounded(capacity, layout)
    if count > limit:
        raise primitives.CapacityError("merge", count, limit)
    return limit


@jax.jit
def _in_order(keys: Keys, num_rows: Count) -> tuple[Array, Keys]:
    return in_order(keys, num_rows, ONE_DEVICE)


@jax.jit
def _through(order: Array, row_ids: Array) -> Array:
    return through(order, row_ids, ONE_DEVICE)


@functools.partial(jax.jit, static_argnums=2)
def _is_in_place(row_ids: Array, num_rows: Count, layout: Layout) -> Array:
    is_padding = ~is_row(row_ids.shape[0], num_rows, layout)
    return jnp.all(is_padding | (row_ids == position(row_ids.shape[0], layout)))
