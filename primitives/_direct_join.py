# SPDX-License-Identifier: Apache-2.0
"""Joins by direct addressing: one side has distinct integer keys in a dense range."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from ._direct_index import known_ranges
from ._sized import in_steps
from .contract._typing import Array
from .kernels.join._direct_match import DirectMatches, key_table, look_up, matched_pairs
from .kernels.join._join import Pairs
from .local import Joined
from .local.parts import How, KeySides
from .tiers._tiered import tiered

# Per row of both sides. A slot is a number that is written in order, several times as fast as a
# hash table is probed at random, and rows in the order of their keys read the slots in order, too.
MOST_SLOTS_PER_ROW = 8
# The positions of slots are int32.
MOST_SLOTS = 2**30


class DirectJoin(NamedTuple):
    """A join in which each row of one side has at most one match.

    Attributes:
        matches: the matches of the rows.
        num_pairs: the number of pairs, on the host.
        how: "left", or "inner" if some left rows have no match and are dropped.
        is_swapped: whether the left and right sides are exchanged.
    """

    matches: DirectMatches
    num_pairs: int
    how: How
    is_swapped: bool

    def pairs(self, capacity: int) -> Joined:
        """Returns the pairs in the form and order of `local.join`."""
        matches = self.matches
        if self.how == "inner":
            pairs = _matched_pairs(matches, capacity)
        else:
            left_rows = _in_place(matches.num_left, capacity)
            right_rows = _resized(matches.right_rows, capacity)
            num_unmatched = matches.num_unmatched_left, matches.num_unmatched_right
            pairs = Pairs(left_rows, right_rows, matches.num_left, *num_unmatched)
        return Joined(*(pairs.swapped() if self.is_swapped else pairs))


def match_directly(sides: KeySides, how: How) -> DirectJoin | None:
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
    num_left, num_right = sides.num_a.item(), sides.num_b.item()
    num_slots = int(greatest) - int(least) + 1
    most_slots = min(MOST_SLOTS_PER_ROW * (num_left + num_right), MOST_SLOTS)
    # Fewer slots than rows: some key is repeated. Without rows the bounds are reversed.
    if not 0 < num_right <= num_slots <= most_slots:
        return None
    least = right_keys.dtype.type(least)
    table = _key_table(right_keys, least, sides.num_b, in_steps(num_slots))
    if table.num_distinct.item() < num_right:
        return None
    matches = _look_up(table, left_keys, sides.num_a, sides.num_b, len(right_keys))
    num_pairs = num_left if how == "left" else matches.num_matches.item()
    # If every row has a match, an inner join keeps them all.
    how = "left" if num_pairs == num_left else how
    return DirectJoin(matches, num_pairs, how, is_swapped)


_key_table = tiered(key_table, static_argnums=3)
_look_up = tiered(look_up, static_argnums=4)
_matched_pairs = tiered(matched_pairs, static_argnums=1)


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
