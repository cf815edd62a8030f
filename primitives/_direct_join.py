# SPDX-License-Identifier: Apache-2.0
"""Joins by direct addressing: one side has distinct integer keys in a dense range."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from . import local
from ._eager_reduction import known_ranges
from ._sized import in_steps
from .contract._typing import Array
from .kernels.join._join import Pairs
from .local import Joined
from .local.parts import How, KeySides
from .tiers._tiered import tiered

# Per row of the side in the table: a hash join writes at least as much for it.
MOST_SLOTS_PER_ROW = 4
MOST_SLOTS = 2**30
SAMPLE_ROWS = 1 << 14


class DirectMatches(NamedTuple):
    """Matches of a join in which each row of one side has at most one.

    Attributes:
        right_rows: the matching right row of each left row, or -1.
        num_left: the number of valid left rows.
        num_pairs: the number of pairs, on the host.
        how: "left", or "inner" if some left rows have no match and are dropped.
        is_swapped: whether the left and right sides are exchanged.
        num_unmatched_left: the number of left rows without a match.
        num_unmatched_right: the number of right rows without a match.
    """

    right_rows: Array
    num_left: Array
    num_pairs: int
    how: How
    is_swapped: bool
    num_unmatched_left: Array
    num_unmatched_right: Array

    def pairs(self, capacity: int) -> Joined:
        """Returns the pairs in the form and order of `local.join`."""
        if self.how == "inner":
            left_rows, right_rows, count = _matched(self.right_rows, capacity)
        else:
            left_rows, count = _in_place(self.num_left, capacity), self.num_left
            right_rows = _resized(self.right_rows, capacity)
        num_unmatched = self.num_unmatched_left, self.num_unmatched_right
        pairs = Pairs(left_rows, right_rows, count, *num_unmatched)
        return Joined(*(pairs.swapped() if self.is_swapped else pairs))


def match_directly(sides: KeySides, how: How) -> DirectMatches | None:
    """Matches rows eagerly by a direct-address table, if the keys of one side allow it.

    The table has a slot for each integer from the smallest key of that side to the largest. Returns
    None if the keys are not a single column of integers, are repeated or are sparse, and for joins
    that need more than the match of each row.

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
    ((least, greatest),) = known_ranges((right_keys,), sides.num_b)
    num_left, num_right = map(int, jax.device_get((sides.num_a, sides.num_b)))
    num_slots = int(greatest) - int(least) + 1
    # Fewer slots than rows: some key is repeated. Without rows the bounds are reversed.
    if not 0 < num_right <= num_slots <= min(MOST_SLOTS_PER_ROW * num_right, MOST_SLOTS):
        return None
    least, greatest = map(right_keys.dtype.type, (least, greatest))
    table, num_distinct = _table(right_keys, least, sides.num_b, in_steps(num_slots))
    if int(num_distinct) < num_right:
        return None
    right_rows, num_matches, num_alone = _look_up(table, left_keys, least, greatest, sides.num_a)
    num_unmatched = num_alone, _num_not_in(right_rows, sides.num_b, len(right_keys))
    num_pairs = num_left if how == "left" else int(num_matches)
    # If every row has a match, an inner join keeps them all.
    how = "left" if num_pairs == num_left else how
    return DirectMatches(right_rows, sides.num_a, num_pairs, how, is_swapped, *num_unmatched)


@functools.partial(tiered, static_argnums=3)
def _table(keys: Array, least: Any, num_valid: Array, num_slots: int) -> tuple[Array, Array]:
    """Builds the direct-address table: row ids by distance from the smallest key, -1 if empty.

    Returns the table and the number of occupied slots. If a key is repeated among the first rows,
    both describe those rows only.
    """

    def of_first(num_rows: int) -> tuple[Array, Array]:
        row_ids = jax.lax.iota(jnp.int32, num_rows)
        slots = jnp.where(row_ids < num_valid, _distance(keys[:num_rows], least), num_slots)
        table = jnp.full((num_slots,), -1, jnp.int32).at[slots].set(row_ids, mode="drop")
        return table, jnp.sum(table >= 0, dtype=jnp.int32)

    num_rows = keys.shape[0]
    if num_rows <= 4 * SAMPLE_ROWS:
        return of_first(num_rows)
    # Repeated keys usually show early: hundreds in a small sample of a million random rows.
    table, num_distinct = of_first(SAMPLE_ROWS)
    is_distinct = num_distinct == jnp.minimum(num_valid, SAMPLE_ROWS)
    return jax.lax.cond(is_distinct, lambda: of_first(num_rows), lambda: (table, num_distinct))


@tiered
def _look_up(
    table: Array, keys: Array, least: Any, greatest: Any, num_valid: Array
) -> tuple[Array, Array, Array]:
    """Returns the table's row of each key, -1 if absent or padding, and the numbers of both."""
    is_row = jax.lax.iota(jnp.int32, keys.shape[0]) < num_valid
    is_near = is_row & (keys >= least) & (keys <= greatest)
    slots = jnp.where(is_near, _distance(keys, least), 0)
    rows = jnp.where(is_near, table.at[slots].get(mode="promise_in_bounds"), -1)
    num_found = jnp.sum(rows >= 0, dtype=jnp.int32)
    return rows, num_found, num_valid - num_found


@functools.partial(tiered, static_argnums=2)
def _num_not_in(row_ids: Array, num_valid: Array, num_rows: int) -> Array:
    """Counts the valid ones of `num_rows` rows that no row id names; -1 names none."""

    def named_by(named: Array, ids: Array) -> Array:
        return named.at[jnp.where(ids < 0, num_rows, ids)].set(True, mode="drop")

    def missing(named: Array) -> Array:
        return num_valid - jnp.sum(named, dtype=jnp.int32)

    named = jnp.zeros((num_rows,), jnp.bool_)
    num_ids = row_ids.shape[0]
    block = max(SAMPLE_ROWS, num_rows)
    if num_ids < 4 * block:
        return missing(named_by(named, row_ids))

    # Many ids for each row: mostly all rows are named long before the last block.
    def is_open(state: tuple[Array, Array, Array]) -> Array:
        start, _, num_missing = state
        return (start < np.uint32(num_ids)) & (num_missing > 0)

    def name_block(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        start, named, _ = state
        # The last block overlaps the one before.
        first = jnp.minimum(start, np.uint32(num_ids - block))
        named = named_by(named, jax.lax.dynamic_slice_in_dim(row_ids, first, block))
        return start + np.uint32(block), named, missing(named)

    # Past the last id it may pass 2^31.
    start = jnp.zeros((), jnp.uint32)
    return jax.lax.while_loop(is_open, name_block, (start, named, missing(named)))[2]


def _distance(keys: Array, least: Any) -> Array:
    """Distances of keys from the smallest one; correct for distances below 2^31."""
    if keys.dtype.itemsize < 4:
        return keys.astype(jnp.int32) - least.astype(jnp.int32)
    return (keys - least).astype(jnp.int32)


@functools.partial(tiered, static_argnums=1)
def _matched(right_rows: Array, capacity: int) -> tuple[Array, Array, Array]:
    """Keeps the pairs of rows with a match."""
    left_rows = jax.lax.iota(jnp.int32, right_rows.shape[0])
    # `compact` pads with zeros: ids that start at one leave zero for padding.
    rows = left_rows + 1, right_rows + 1
    matched = local.compact(right_rows >= 0, rows, capacity=capacity)
    return matched.rows[0] - 1, matched.rows[1] - 1, matched.count


@functools.partial(tiered, static_argnums=1)
def _in_place(num_valid: Array, capacity: int) -> Array:
    """Row ids in order, -1 in padding."""
    row_ids = jax.lax.iota(jnp.int32, capacity)
    return jnp.where(row_ids < num_valid, row_ids, -1)


def _resized(row_ids: Array, capacity: int) -> Array:
    """Truncates row ids to a capacity, or pads them with -1."""
    missing = capacity - row_ids.shape[0]
    if missing > 0:
        return jnp.pad(row_ids, (0, missing), constant_values=-1)
    # Not a compiled function, which would copy an array that does not change.
    return row_ids[:capacity] if missing else row_ids
