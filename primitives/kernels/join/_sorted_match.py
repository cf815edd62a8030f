# SPDX-License-Identifier: Apache-2.0
"""Matches of two sides by sorts, for TPU: no gather and no scatter.

The left rows of a word come before its right rows, so running counts of the right rows tell each
left row where its matches begin and end. A second sort returns these to the order of the left rows.
Pairs are left rows that are repeated; see `repeat_by_shifts`. Their right rows are in any order,
which would take a gather; see `gather_by_sorts`.
"""

import jax
import jax.numpy as jnp
import numpy as np

from ...contract._key_bits import OrderedWord
from ...contract._typing import Array
from ..move._compact import select_words
from ..move._expand import repeat_by_shifts, saturating_ends
from ..move._gather_by_sorts import gather_by_sorts
from ..move._run_ends import first_of_equals, last_of_runs
from ..sort._put_back import put_back
from ..sort._radix_sort import sort_columns
from ._grouped_sides import Side, one_after_the_other
from ._pair_counts import GroupedHow, pairs_of_row, total_pairs
from ._row_match import PADDING, RIGHT, RowMatch, pairs_of_position


def match_by_sort(left: Side, right: Side, column: OrderedWord, how: GroupedHow) -> RowMatch:
    """Finds the matches of each left row."""
    num_left, num_right = left.words.shape[0], right.words.shape[0]
    words = one_after_the_other(left.words, right.words, left.num_valid)
    num_valid = left.num_valid + right.num_valid
    both = (column._replace(word=words),)
    (ordered,), ids, _ = sort_columns(both, num_valid, words="order", with_ids=True)
    positions = jax.lax.iota(jnp.int32, num_left + num_right)
    is_valid = positions < num_valid
    is_left = is_valid & (ids < left.num_valid)
    is_right = is_valid & ~is_left
    is_head = first_of_equals((ordered,)) & is_valid
    is_last = last_of_runs(is_head, num_valid)
    num_before = jnp.cumsum(is_right, dtype=jnp.int32)
    # Counts ascend, so the next end of a run is the least one ahead.
    ends = jnp.where(is_last, num_before, np.int32(2**31 - 1))
    ends = jax.lax.cummin(ends, reverse=True)
    num_matches = jnp.where(is_left, ends - num_before, 0)
    # A run that begins with a right row has no left one.
    alone = jnp.where(is_head & is_right, ends - num_before + 1, 0)
    if how == "outer":
        # Left rows come first in a run, so its head tells whether it has one.
        heads = jax.lax.cummax(jnp.where(is_head, 2 * positions + is_left.astype(jnp.int32), 0))
        is_alone = is_right & ((heads & 1) == 0)
        begins = jnp.where(is_left, ids, jnp.where(is_right, RIGHT, PADDING))
        # Each right row without a match begins one pair.
        num_matches_of_rows = jnp.where(is_alone, 1, num_matches)
        num_pairs = pairs_of_position(begins, num_matches_of_rows)
        total = total_pairs(jnp.ones_like(begins), num_pairs, "inner")
    else:
        of_left = (num_before, num_matches)
        begins, num_matches_of_rows = rows_of_side(is_left, ids, of_left, num_left, num_valid)
        total = total_pairs(is_left.astype(jnp.int32), num_matches, how)
    right_ids = ids - left.num_valid
    (right_rows,), _ = select_words(is_right, (right_ids,), num_right, num_valid)
    return RowMatch(
        begins,
        num_matches_of_rows,
        right_rows,
        total,
        jnp.sum(is_left & (num_matches == 0), dtype=jnp.int32),
        jnp.sum(alone, dtype=jnp.int32),
    )


def rows_of_side(
    is_side: Array, row_ids: Array, columns: tuple[Array, ...], num_rows: int, num_valid: Array
) -> tuple[Array, ...]:
    """Returns the sorted rows of one side to the order of the side.

    Args:
        is_side: flags the valid rows of the side.
        row_ids: the row of the side that each sorted row was; int32.
        columns: words to return.
        num_rows: the number of rows of the side, padding included.
        num_valid: number of valid rows of both sides.
    """
    (row_ids, *columns_of_side), count = select_words(
        is_side, (row_ids, *columns), num_rows, num_valid
    )
    rows = jax.lax.iota(jnp.int32, num_rows)
    return put_back(jnp.where(rows < count, row_ids, rows), columns_of_side)


def outer_pairs_by_shifts(
    left_rows: Array, num_matches: Array, right_rows: Array, capacity: int
) -> tuple[Array, Array]:
    """The left and the right rows of the pairs of an outer `RowMatch`; -1 for no row."""
    is_right = left_rows == RIGHT
    # The right rows before a left row, and before a right row without a match.
    begins = jnp.cumsum(is_right, dtype=jnp.int32) - is_right.astype(jnp.int32)
    num_copies = pairs_of_position(left_rows, num_matches)
    has_right = is_right | (num_matches > 0)
    left_rows = jnp.maximum(left_rows, -1)
    return _write_pairs(left_rows, num_copies, has_right, begins, right_rows, capacity)


def pairs_by_shifts(
    begins: Array,
    num_matches: Array,
    right_rows: Array,
    num_left: Array,
    how: GroupedHow,
    capacity: int,
) -> tuple[Array, Array]:
    """The left and the right rows of the pairs of a `RowMatch`; -1 for no match."""
    rows = jax.lax.iota(jnp.int32, begins.shape[0])
    num_copies = jnp.where(rows < num_left, pairs_of_row(num_matches, how), 0)
    if how in ("semi", "anti"):
        right_rows = right_rows[:0]
    return _write_pairs(rows, num_copies, num_matches > 0, begins, right_rows, capacity)


def _write_pairs(
    left_rows: Array,
    num_copies: Array,
    has_right: Array,
    begins: Array,
    right_rows: Array,
    capacity: int,
) -> tuple[Array, Array]:
    """Repeats left rows, -1 for none, beside the right rows from `begins` on."""
    if left_rows.shape[0] == 0 or capacity == 0:
        nothing = jnp.full_like(num_copies, -1, shape=(capacity,))
        return nothing, nothing
    ends = saturating_ends(num_copies, capacity)
    firsts = jnp.pad(ends[:-1], (1, 0))
    # The lowest bit tells whether there is a right row.
    marked_rows = 2 * (left_rows + 1).astype(jnp.uint32) | has_right.astype(jnp.uint32)
    # What to add to the position of a pair.
    columns = (marked_rows, begins - firsts) if right_rows.shape[0] else (marked_rows,)
    marked_rows, *distances = repeat_by_shifts(firsts, num_copies > 0, columns, capacity)
    positions = jax.lax.iota(jnp.int32, capacity)
    is_pair = positions < ends[-1]
    left_rows = jnp.where(is_pair, (marked_rows >> np.uint32(1)).astype(jnp.int32) - 1, -1)
    if not distances:
        return left_rows, jnp.full_like(left_rows, -1)
    has_match = is_pair & ((marked_rows & np.uint32(1)) != 0)
    index = jnp.where(has_match, positions + distances[0], 0)
    (found,) = gather_by_sorts((right_rows,), index)
    return left_rows, jnp.where(has_match, found, -1)
