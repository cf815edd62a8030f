# SPDX-License-Identifier: Apache-2.0
"""The pairs of rows that make up a join."""

import functools
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ..table._column import Array, Column, show_holes
from ..table._layout import Layout
from ..table._table import Count, Table
from ..table._take import gather, resized, take_columns
from ..table._tracing import is_traced

Keys = tuple[Array, ...]
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
        taken = take_columns(columns, self.row_ids, self.layout, holes=self.has_holes)
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


def numbers_of(left: Table, right: Table) -> tuple[Count, ...]:
    """The counts of two tables that are traced inside `jit`."""
    return left.num_rows, right.num_rows, left.needed, right.needed


def rounded(capacity: Any, layout: Layout) -> int:
    """Validates a user's capacity and rounds it up to a multiple of the shards."""
    if not isinstance(capacity, (int, np.integer)) or isinstance(capacity, bool):
        raise TypeError(f"merge: capacity must be a static int, got {type(capacity).__name__}.")
    if capacity < 0:
        raise ValueError(f"merge: capacity must not be negative, got {capacity}.")
    return -(-max(int(capacity), 1) // layout.num_shards) * layout.num_shards


def needed_of(left: Table, right: Table, count: Count, capacity: int) -> Count:
    """`Table.needed` of a result with `count` rows if `capacity` rows fit."""
    lost = jnp.where(count > np.int32(capacity), count, np.int32(0))
    return jnp.maximum(lost, jnp.maximum(left.needed, right.needed))


@functools.partial(jax.jit, static_argnums=(3, 4, 5, 6))
def paired_rows(
    left_keys: Keys,
    right_keys: Keys,
    numbers: tuple[Count, Count],
    how: Any,
    sort: bool,
    capacity: int,
    layout: Layout,
) -> primitives.Joined:
    """Joins keys inside a compiled function, with row ids padded to the capacity."""
    order = None
    if sort and how == "right":
        order, right_keys = in_order(right_keys, numbers[1], layout)
    elif sort and how != "outer":
        order, left_keys = in_order(left_keys, numbers[0], layout)
    joined = primitives.join(
        left_keys, right_keys, how=how, capacity=capacity, num_valid=numbers, **layout.on_mesh
    )
    left_rows, right_rows = (
        rows if rows.shape[0] == capacity else jnp.pad(rows, (0, capacity - rows.shape[0]))
        for rows in joined[:2]
    )
    if order is not None and how == "right":
        right_rows = through(order, right_rows, layout)
    elif order is not None:
        left_rows = through(order, left_rows, layout)
    return joined._replace(left_rows=left_rows, right_rows=right_rows)


def in_order(keys: Keys, num_rows: Count, layout: Layout) -> tuple[Array, Keys]:
    """Sorts keys inside a compiled function; returns their order and the sorted keys."""
    order = primitives.radix_argsort(keys, num_valid=num_rows, **layout.on_mesh)
    return order, gather(keys, order, layout)


def through(order: Array, row_ids: Array, layout: Layout) -> Array:
    """Maps sorted positions back to row ids, inside a compiled function."""
    return jnp.where(row_ids < 0, np.int32(-1), gather(order, row_ids, layout))


@functools.partial(jax.jit, static_argnums=(1, 2))
def first_rows(rows: tuple[Array, ...], capacity: int, layout: Layout) -> tuple[Array, ...]:
    """Truncates arrays of rows to `capacity`."""
    return layout.constrain(tuple(row_ids[:capacity] for row_ids in rows))
