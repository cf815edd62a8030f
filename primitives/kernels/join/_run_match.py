# SPDX-License-Identifier: Apache-2.0
"""Matches of two sides by runs, for CUDA: one sort of both sides, and one pass over it.

The right rows of a word come before its left rows, so a running count of the right rows tells each
left row where its matches begin and how many there are. The pass returns both to the position of
the left row.
"""

import jax
import jax.numpy as jnp
import numpy as np

from ...contract._key_bits import OrderedWord
from ...contract._typing import Array
from ..base._cuda import call_on_cuda
from ..base._foreign import as_words
from ..sort._number_runs import number_runs
from ..sort._radix_sort import compared_words, sort_columns
from ._grouped_sides import Side, selected_one_after_the_other
from ._pair_counts import GroupedHow, expand, pairs_of_row, total_pairs
from ._row_match import RIGHT, RowMatch, pairs_of_position


def match_by_runs(left: Side, right: Side, column: OrderedWord, how: GroupedHow) -> RowMatch:
    """Finds the matches of each left row."""
    num_left, num_right = left.words.shape[0], right.words.shape[0]
    num_rows = num_left + num_right
    is_outer = how == "outer"
    words = selected_one_after_the_other(right.words, left.words, right.num_valid)
    both = (column._replace(word=words),)
    wanted = compared_words(both)
    num_valid = left.num_valid + right.num_valid
    (sorted_words,), ids, _ = sort_columns(both, num_valid, words=wanted, with_ids=True)
    num_results = num_rows if is_outer else num_left
    begins, num_matches, right_rows = call_on_cuda(
        "match_rows",
        tuple(
            array[None] for array in (as_words(sorted_words), ids, left.num_valid, right.num_valid)
        ),
        (((num_results,), jnp.int32), ((num_results,), jnp.int32), ((num_right,), jnp.int32)),
        (num_rows,),
        outer=np.bool_(is_outer),
    )
    if is_outer:
        is_left = begins >= 0
        num_pairs = pairs_of_position(begins, num_matches)
        total = total_pairs(jnp.ones_like(begins), num_pairs, "inner")
        num_unmatched_right = jnp.sum(jnp.where(is_left, 0, num_matches), dtype=jnp.int32)
    else:
        is_left = jax.lax.iota(jnp.int32, num_left) < left.num_valid
        total = total_pairs(is_left.astype(jnp.int32), num_matches, how)
        # The first left row of a word counts the right rows of the word.
        is_first = begins < 0
        begins = jnp.where(is_first, ~begins, begins)
        num_matched = jnp.sum(jnp.where(is_first, num_matches, 0), dtype=jnp.int32)
        num_unmatched_right = right.num_valid - num_matched
    num_unmatched_left = jnp.sum(is_left & (num_matches == 0), dtype=jnp.int32)
    return RowMatch(begins, num_matches, right_rows, total, num_unmatched_left, num_unmatched_right)


def pairs_by_runs(
    begins: Array,
    num_matches: Array,
    right_rows: Array,
    num_left: Array,
    how: GroupedHow,
    capacity: int,
) -> tuple[Array, Array]:
    """The left and the right rows of the pairs of a `RowMatch`; -1 for no match."""
    rows = jax.lax.iota(jnp.int32, begins.shape[0])
    if how == "outer":
        left_rows = begins
        num_pairs = pairs_of_position(left_rows, num_matches)
        # The right rows up to each position are those before its matches, and its matches.
        num_right = number_runs(left_rows == RIGHT, jnp.int32(left_rows.shape[0])) + np.int32(1)
        begins = num_right - num_matches
    else:
        left_rows = None
        num_pairs = jnp.where(rows < num_left, pairs_of_row(num_matches, how), 0)
    items, copies, count = expand(num_pairs, capacity)
    is_pair = jax.lax.iota(jnp.int32, capacity) < count
    if begins.shape[0] == 0:
        nothing = jnp.full_like(items, -1)
        return nothing, nothing
    row_of_item = items if left_rows is None else jnp.maximum(_take(left_rows, items), -1)
    of_left = jnp.where(is_pair, row_of_item, -1)
    if how in ("semi", "anti") or right_rows.shape[0] == 0:
        return of_left, jnp.full_like(of_left, -1)
    # All items of an inner join have matches.
    has_match = is_pair if how == "inner" else is_pair & (_take(num_matches, items) > 0)
    found = jnp.where(has_match, _take(begins, items) + copies, 0)
    return of_left, jnp.where(has_match, _take(right_rows, found), -1)


def _take(rows: Array, row_ids: Array) -> Array:
    return rows.at[row_ids].get(mode="promise_in_bounds")
