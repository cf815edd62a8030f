# SPDX-License-Identifier: Apache-2.0
"""The pairs of rows that make up a join, eager and inside `jit`."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives.staging import tiered
from ..align._join_types import JoinType
from ..table._arguments import as_row_capacity
from ..table._column import Array, Column, show_holes
from ..table._holes import assumes_holes
from ..table._layout import Layout
from ..table._table import NO_ROWS, Count, Table, as_count, is_row
from ..table._take import gather, position, resized, take_columns
from ..table._tracing import is_in_jit, is_traced

Keys = tuple[Array, ...]
# Row ids are int32.
MOST_ROWS = 2**31 - 1


class SideRows(NamedTuple):
    """The rows of one side in a merge.

    Attributes:
        row_ids: row of this side for each row of the merge; -1 if absent.
        presence: "same", the identity; "all", no row is absent; "some", rows may be absent; "none",
            all rows are absent.
        layout: layout of the rows.
    """

    row_ids: Array
    presence: Literal["same", "all", "some", "none"]
    layout: Layout

    @property
    def has_holes(self) -> bool:
        """Whether rows may be absent."""
        return self.presence in ("some", "none")

    def take(self, columns: Sequence[Column]) -> tuple[Column, ...]:
        """Takes columns of this side for the rows of the merge, in pandas' dtypes.

        Inside `jit` integers and bools keep their dtype and get a mask.
        """
        if self.presence == "same":
            return resized(columns, self.row_ids.shape[0], self.layout)
        taken = take_columns(columns, self.row_ids, self.layout, holes=self.has_holes, widens=True)
        if not self.has_holes or is_traced(self.row_ids):
            return taken
        return tuple(
            column if before.valid is not None and is_traced(column) else show_holes(column)
            for before, column in zip(columns, taken, strict=True)
        )


class RowPairs(NamedTuple):
    """The rows of a merge.

    Attributes:
        left: the rows of the left side.
        right: the rows of the right side.
        num_rows: number of pairs.
        needed: see `Table.needed`.
        labels: row labels of an anti join: positions in the corresponding left join.
    """

    left: SideRows
    right: SideRows
    num_rows: Count
    needed: Count
    labels: Array | None = None


def pair_rows(
    left: Table,
    right: Table,
    keys: tuple[Keys, Keys],
    join: JoinType,
    *,
    sort: bool = False,
    capacity: int | None = None,
) -> RowPairs:
    """Pairs rows with equal keys, in pandas' order.

    The keys of both sides have the same dtypes; a cross join does not read them. `sort` orders the
    pairs by key. Inside `jit`, `capacity` is required except for anti and cross joins.

    Raises:
        CapacityError: `capacity` is too small for an eager call.
        ValueError: `capacity` is missing inside `jit`, or there are 2^31 - 1 pairs or more.
    """
    if join.order == 1:
        # The left join of the swapped sides, which has pandas' order.
        swapped = pair_rows(
            right, left, (keys[1], keys[0]), join.of_swapped_sides, sort=sort, capacity=capacity
        )
        return swapped._replace(left=swapped.right, right=swapped.left)
    if not join.has_keys:
        # Placeholders: the primitive reads only their lengths.
        keys = (left.is_row(),), (right.is_row(),)
    traced = is_in_jit(keys, left.num_rows, right.num_rows, left.needed, right.needed)
    return (_traced if traced else _eager)(left, right, keys, join, sort, capacity)


def _traced(
    left: Table,
    right: Table,
    keys: tuple[Keys, Keys],
    join: JoinType,
    sort: bool,
    capacity: int | None,
) -> RowPairs:
    layout, numbers = left.layout, (left.num_rows, right.num_rows)
    if capacity is None:
        capacity = _most_pairs(left.capacity, right.capacity, join)
    limit = as_row_capacity(capacity, layout, "merge")
    joined, labels = _join_in_jit(keys, numbers, join, sort, limit, layout)
    lost = jnp.where(joined.count > np.int32(limit), joined.count, NO_ROWS)
    absent = "some" if join.has_matches else "none"
    return RowPairs(
        SideRows(joined.left_rows, "some" if join.keeps[1] else "all", layout),
        SideRows(joined.right_rows, absent if join.keeps[0] else "all", layout),
        jnp.minimum(joined.count, np.int32(limit)),
        jnp.maximum(lost, jnp.maximum(left.needed, right.needed)),
        labels,
    )


def _most_pairs(num_left: int, num_right: int, join: JoinType) -> int:
    """The capacity of a traced join that needs no `capacity=`; raises for others."""
    if not join.has_matches:
        return num_left
    if join.has_keys:
        raise ValueError(
            "merge: inside jit capacity must be the maximum number of result rows, got None. "
            "Pass capacity= (the left side's, if the right keys are unique), or merge outside jit."
        )
    if num_left * num_right >= MOST_ROWS:
        raise ValueError(
            "merge: a cross merge must have fewer than 2**31 - 1 rows, got a capacity of "
            f"{num_left:,} times {num_right:,}. Pass capacity=."
        )
    return num_left * num_right


def _eager(
    left: Table,
    right: Table,
    keys: tuple[Keys, Keys],
    join: JoinType,
    sort: bool,
    capacity: int | None,
) -> RowPairs:
    """Sizes the result exactly and records which sides contain nulls."""
    layout = left.layout
    num_left, num_right = left.num_rows_on_host, right.num_rows_on_host
    numbers = as_count(num_left), as_count(num_right)
    fit = functools.partial(_capacity_for, capacity=capacity, layout=layout)
    if not layout.sends_rows and join.has_keys and join.has_matches:
        joined, labels = _join(keys, numbers, join, sort, fit, layout)
        count = joined.count.item()
    else:
        # On a mesh, counting first would send as much as pairing. Guess the capacity instead: if
        # the right keys are unique, the pairs are at most as many as the left rows.
        guess = num_left + num_right if all(join.keeps) else num_left
        if not join.has_keys:
            guess = num_left * num_right
        if not join.has_keys and guess >= MOST_ROWS:
            raise ValueError(
                f"merge: a cross merge must have fewer than 2**31 - 1 rows, got {guess:,}. "
                "Merge the left side in parts."
            )
        limit = (
            layout.capacity_for(guess)
            if capacity is None
            else as_row_capacity(capacity, layout, "merge")
        )
        joined, labels = _join_in_jit(keys, numbers, join, sort, limit, layout)
        count = int(joined.count)
        if count > limit:
            joined, labels = _join_in_jit(keys, numbers, join, sort, fit(count), layout)
        elif capacity is None and layout.capacity_for(count) < limit:
            rows = (*joined[:2], labels)
            left_rows, right_rows, labels = _first_rows(rows, layout.capacity_for(count), layout)
            joined = joined._replace(left_rows=left_rows, right_rows=right_rows)
    # Null rows of each side: unmatched rows of the other side that the join keeps.
    if assumes_holes():
        right_holes, left_holes = map(int, join.keeps)
    else:
        right_holes = joined.num_unmatched_left.item() if join.keeps[0] else 0
        left_holes = joined.num_unmatched_right.item() if join.keeps[1] else 0

    def presence(row_ids: Array, num_rows: int, num_holes: int, is_ordered: bool) -> Any:
        if num_holes:
            return "none" if num_holes == count else "some"
        if count != num_rows or not join.has_keys:
            return "all"
        # As many pairs as rows, and no row dropped: the identity on the ordered side.
        if is_ordered:
            return "all" if not join.keeps[0] and joined.num_unmatched_left.item() else "same"
        is_same = _is_in_place(row_ids, as_count(count), layout).item()
        return "same" if is_same else "all"

    if not join.has_matches:
        # pandas keeps the dtypes of the right side if the result is empty.
        left_presence, right_presence = "all", "none" if count or assumes_holes() else "all"
    else:
        is_ordered = not sort and join.order is not None
        left_presence = presence(joined.left_rows, num_left, left_holes, is_ordered)
        right_presence = presence(joined.right_rows, num_right, right_holes, False)
    return RowPairs(
        SideRows(joined.left_rows, left_presence, layout),
        SideRows(joined.right_rows, right_presence, layout),
        as_count(count),
        NO_ROWS,
        labels,
    )


def _capacity_for(count: int, capacity: int | None, layout: Layout) -> int:
    """The capacity for `count` pairs, checked against the user's."""
    if count >= MOST_ROWS:
        raise ValueError(
            "merge: the result must have fewer than 2**31 - 1 rows, got more. Drop keys that are "
            "frequent on both sides, or merge the left side in parts."
        )
    if capacity is None:
        return layout.capacity_for(count)
    limit = as_row_capacity(capacity, layout, "merge")
    if count > limit:
        raise primitives.CapacityError("merge", count, limit)
    return limit


def _join(
    keys: tuple[Keys, Keys],
    numbers: tuple[Count, Count],
    join: JoinType,
    sort: bool,
    capacity: int | Callable[[int], int],
    layout: Layout,
) -> tuple[primitives.Joined, Array | None]:
    """Joins keys; an anti join also gives row labels."""
    left_keys, right_keys = keys
    order, labels = None, None
    if sort and join.has_keys and join.order is not None:
        order, left_keys = _in_order(left_keys, numbers[0], layout)
    if not join.has_matches:
        joined, labels = _without_match(left_keys, right_keys, numbers, capacity, layout)
    else:
        how: Any = join.how
        joined = primitives.join(
            left_keys, right_keys, how=how, capacity=capacity, num_valid=numbers, **layout.on_mesh
        )
    if order is not None:
        joined = joined._replace(left_rows=_through(order, joined.left_rows, layout))
    return joined, labels


_join_in_jit = tiered(_join, static_argnums=(2, 3, 4, 5))


def _without_match(
    left_keys: Keys, right_keys: Keys, numbers: tuple[Count, Count], capacity: Any, layout: Layout
) -> tuple[primitives.Joined, Array]:
    """Left rows without a match, and their positions in the left join.

    The positions become row labels. A left row has one position per match, and at least one.
    """
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
    rows = position(num_left, layout), labels
    unmatched = primitives.compact(is_unmatched, rows, capacity=capacity, **layout.on_mesh)
    row_ids, labels = unmatched.rows
    absent = layout.constrain(jnp.full(row_ids.shape, -1, row_ids.dtype))
    return joined._replace(left_rows=row_ids, right_rows=absent, count=unmatched.count), labels


@functools.partial(tiered, static_argnums=2)
def _in_order(keys: Keys, num_rows: Count, layout: Layout) -> tuple[Array, Keys]:
    """The order of the keys, and the sorted keys."""
    order = primitives.radix_argsort(keys, num_valid=num_rows, **layout.on_mesh)
    return order, gather(keys, order, layout)


@functools.partial(tiered, static_argnums=2)
def _through(order: Array, row_ids: Array, layout: Layout) -> Array:
    """Maps sorted positions back to row ids."""
    return jnp.where(row_ids < 0, np.int32(-1), gather(order, row_ids, layout))


@functools.partial(tiered, static_argnums=(1, 2))
def _first_rows(rows: object, capacity: int, layout: Layout) -> Any:
    return layout.constrain(jax.tree.map(lambda row_ids: row_ids[:capacity], rows))


@functools.partial(tiered, static_argnums=2)
def _is_in_place(row_ids: Array, num_rows: Count, layout: Layout) -> Array:
    is_padding = ~is_row(row_ids.shape[0], num_rows, layout)
    return jnp.all(is_padding | (row_ids == position(row_ids.shape[0], layout)))


def are_distinct(keys: Keys, table: Table) -> bool:
    """Whether the keys of a table are unique."""
    num_rows = table.num_rows_on_host
    groups = primitives.factorize(
        keys, capacity=table.capacity, num_valid=num_rows, **table.layout.on_mesh
    )
    return int(groups.count) == num_rows
