# SPDX-License-Identifier: Apache-2.0
"""Matches of two sides by runs, for CUDA: one sort of both sides, and one pass over it.

The left rows of a word come before its right rows. A running count of the right rows tells where
the matches of each run begin, and the first row of a run whether it has a left row.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...contract._key_bits import OrderedWord
from ...contract._typing import Array
from ..move._compact import select_words
from ..scan._reduce_by_key_cuda import reduce_by_key_on_cuda
from ..sort._number_runs import number_runs
from ..sort._radix_sort import sort_columns
from ._grouped_sides import Side, one_after_the_other


class RunMatch(NamedTuple):
    """The groups of both sides, which are the runs of their sorted words.

    Attributes:
        groups: the group id of each valid left row, then of each right row; -1 in padding.
        offsets: the start of each group in `right_rows`, and the end of the last group.
        right_rows: the right rows grouped by group id, in row order.
        num_groups: the number of groups.
        num_matches: the number of matches of each left row; zero in padding.
        num_unmatched_right: the number of right rows in groups without a left row.
    """

    groups: Array
    offsets: Array
    right_rows: Array
    num_groups: Array
    num_matches: Array
    num_unmatched_right: Array


def match_by_runs(left: Side, right: Side, column: OrderedWord) -> RunMatch:
    """Finds the matches of each left row; there is at least one row."""
    num_left, num_right = left.words.shape[0], right.words.shape[0]
    num_rows = num_left + num_right
    words = one_after_the_other(left.words, right.words, left.num_valid)
    num_valid = left.num_valid + right.num_valid
    both = (column._replace(word=words),)
    # Words are compared for equality alone.
    wanted = "exact" if column.is_invertible else "order"
    (sorted_words,), ids, _ = sort_columns(both, num_valid, words=wanted, with_ids=True)
    is_right = (ids >= left.num_valid) & (ids < num_valid)
    # Right rows up to each row, less one.
    num_before = number_runs(is_right, jnp.int32(num_rows))
    found = reduce_by_key_on_cuda(
        (ids, num_before),
        None,
        num_valid,
        num_rows,
        compared=sorted_words,
        with_run_ids=True,
        row_ids=ids,
    )
    groups, (first_ids, first_before) = found.run_ids, found.first_rows
    assert groups is not None
    is_group = jax.lax.iota(jnp.int32, num_rows) < found.count
    has_left = first_ids < left.num_valid
    # A right row counts itself.
    begins = first_before + has_left.astype(jnp.int32)
    ends = jnp.broadcast_to(right.num_valid, (num_rows + 2,))
    offsets = jnp.where(jnp.pad(is_group, (0, 2)), jnp.pad(begins, (0, 2)), ends)
    counts = offsets[1:-1] - offsets[:-2]
    (right_ids,), _ = select_words(is_right, (ids,), num_right, num_valid)
    is_left = jax.lax.iota(jnp.int32, num_left) < left.num_valid
    group = jnp.where(is_left, groups[:num_left], 0)
    num_matches = _take(offsets, group + 1) - _take(offsets, group)
    return RunMatch(
        groups,
        offsets,
        jnp.maximum(right_ids - left.num_valid, np.int32(0)),
        found.count,
        jnp.where(is_left, num_matches, 0),
        jnp.sum(jnp.where(has_left, 0, counts), dtype=jnp.int32),
    )


def _take(rows: Array, row_ids: Array) -> Array:
    return rows.at[row_ids].get(mode="promise_in_bounds")
