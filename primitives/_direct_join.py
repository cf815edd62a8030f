# SPDX-License-Identifier: Apache-2.0
"""Joins with a side that a table of its keys finds: integers, close together, each there once."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from . import local
from ._sized import in_steps
from ._typing import Array
from .local._join import How, Joined
from .local._sides import KeySides

# For each row of the side that is looked up: a join by hashes writes no less for it.
MOST_SLOTS_PER_ROW = 4
MOST_SLOTS = 2**30
SAMPLE_ROWS = 1 << 14


class DirectMatches(NamedTuple):
    """The only row of the other side that each row of one side matches.

    Attributes:
        right_rows: for each left row its match, -1 where it has none.
        num_left: how many left rows count.
        num_pairs: how many pairs there are, on the host.
        how: "left", or "inner" where some left row is in no pair.
        is_swapped: whether left is right.
    """

    right_rows: Array
    num_left: Array
    num_pairs: int
    how: How
    is_swapped: bool

    def pairs(self, capacity: int) -> Joined:
        """The pairs, as `local.join` has them."""
        if self.how == "inner":
            joined = _matched(self.right_rows, capacity)
        else:
            left_rows = _in_place(self.num_left, capacity)
            joined = Joined(left_rows, _resized(self.right_rows, capacity), self.num_left)
        if self.is_swapped:
            return Joined(joined.right_rows, joined.left_rows, joined.count)
        return joined


def match_directly(sides: KeySides, how: How) -> DirectMatches | None:
    """Matches rows outside `jit` by a direct-address table, where one side has keys for it.

    A table has a slot for each integer from the least key of that side to the greatest. There is
    none, and None is returned, where keys are no single column of integers, come twice, or are far
    apart, and for joins that ask for more than the match of each row.

    Cost:
        Work O(rows). A few numbers are read back.

    References:
        Cormen, Leiserson, Rivest, Stein (2009), "Introduction to Algorithms", 11.1.
    """
    is_swapped = how == "right"
    if is_swapped:
        sides, how = sides.swapped(), "left"
    if how not in ("left", "inner") or len(sides.a) != 1 or len(sides.b) != 1:
        return None
    left_keys, right_keys = sides.a[0], sides.b[0]
    if not jnp.issubdtype(right_keys.dtype, jnp.integer):
        return None
    bounds = local.integer_range(right_keys, num_valid=sides.num_b)
    least, greatest, *counts = jax.device_get((*bounds, sides.num_a, sides.num_b))
    num_left, num_right = map(int, counts)
    num_slots = int(greatest) - int(least) + 1
    # Fewer slots than rows: some key comes twice. Without rows the bounds are the wrong way round.
    if not 0 < num_right <= num_slots <= min(MOST_SLOTS_PER_ROW * num_right, MOST_SLOTS):
        return None
    table, num_distinct = _table(right_keys, least, sides.num_b, in_steps(num_slots))
    if int(num_distinct) < num_right:
        return None
    right_rows, num_found = _look_up(table, left_keys, least, greatest, sides.num_a)
    num_pairs = num_left if how == "left" else int(num_found)
    # Where every row has a match there is none to be left out.
    how = "left" if num_pairs == num_left else how
    return DirectMatches(right_rows, sides.num_a, num_pairs, how, is_swapped)


@functools.partial(jax.jit, static_argnums=3)
def _table(keys: Array, least: Any, num_valid: Array, num_slots: int) -> tuple[Array, Array]:
    """The row of each key at its distance from the least, -1 where there is none; and how many
    slots are taken. Where a key comes twice among the first rows, both are of those rows alone.
    """

    def of_first(num_rows: int) -> tuple[Array, Array]:
        row_ids = jax.lax.iota(jnp.int32, num_rows)
        slots = jnp.where(row_ids < num_valid, _distance(keys[:num_rows], least), num_slots)
        table = jnp.full((num_slots,), -1, jnp.int32).at[slots].set(row_ids, mode="drop")
        return table, jnp.sum(table >= 0, dtype=jnp.int32)

    num_rows = keys.shape[0]
    if num_rows <= 4 * SAMPLE_ROWS:
        return of_first(num_rows)
    # Keys that come twice mostly do so early: among few rows of a million at random, hundreds.
    table, num_distinct = of_first(SAMPLE_ROWS)
    is_distinct = num_distinct == jnp.minimum(num_valid, SAMPLE_ROWS)
    return jax.lax.cond(is_distinct, lambda: of_first(num_rows), lambda: (table, num_distinct))


@jax.jit
def _look_up(
    table: Array, keys: Array, least: Any, greatest: Any, num_valid: Array
) -> tuple[Array, Array]:
    """The row that has each key, -1 for none and in padding; and how many keys some row has."""
    is_row = jax.lax.iota(jnp.int32, keys.shape[0]) < num_valid
    is_near = is_row & (keys >= least) & (keys <= greatest)
    slots = jnp.where(is_near, _distance(keys, least), 0)
    rows = jnp.where(is_near, table.at[slots].get(mode="promise_in_bounds"), -1)
    return rows, jnp.sum(rows >= 0, dtype=jnp.int32)


def _distance(keys: Array, least: Any) -> Array:
    """How far keys are from the least one: right where that is less than 2^31."""
    if keys.dtype.itemsize < 4:
        return keys.astype(jnp.int32) - least.astype(jnp.int32)
    return (keys - least).astype(jnp.int32)


@functools.partial(jax.jit, static_argnums=1)
def _matched(right_rows: Array, capacity: int) -> Joined:
    """The rows that have a match."""
    left_rows = jax.lax.iota(jnp.int32, right_rows.shape[0])
    # `compact` fills up with zeros: numbers from one on leave them for what is no pair.
    rows = left_rows + 1, right_rows + 1
    kept = local.compact(right_rows >= 0, rows, capacity=capacity)
    return Joined(kept.rows[0] - 1, kept.rows[1] - 1, kept.count)


@functools.partial(jax.jit, static_argnums=1)
def _in_place(num_valid: Array, capacity: int) -> Array:
    """Each row's own number, -1 in padding."""
    row_ids = jax.lax.iota(jnp.int32, capacity)
    return jnp.where(row_ids < num_valid, row_ids, -1)


def _resized(row_ids: Array, capacity: int) -> Array:
    """As many as there is room for, with -1 for what is missing."""
    missing = capacity - row_ids.shape[0]
    if missing > 0:
        return jnp.pad(row_ids, (0, missing), constant_values=-1)
    # Not by a compiled function: it would copy what need not change.
    return row_ids[:capacity] if missing else row_ids
