# SPDX-License-Identifier: Apache-2.0
"""Runs of rows with equal keys, in sorted rows or in rows without sorting."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._key_bits import OrderedWord, ordered_words
from ..contract._take import take_rows, take_rows_or_zeros, take_words
from ..contract._typing import Array
from ..kernels.move._compact import flagged_rows
from ..kernels.sort._radix_sort import argsort_columns, sort_words_with_row_ids
from ._compact import select_rows


class KeyRuns(NamedTuple):
    """Rows with adjacent equal keys, and the start of each run.

    Attributes:
        row_ids: the original position of each sorted row; None if rows were not sorted.
        is_head: flags the first row of each run; False in padding.
        segment_ids: the run of each row, counted from zero; -1 in padding.
        num_valid: number of valid rows, at the front.
    """

    row_ids: Array | None
    is_head: Array
    segment_ids: Array
    num_valid: Array

    def moved(self, rows: Any) -> Any:
        """Sorts rows like the keys."""
        return rows if self.row_ids is None else take_rows(rows, self.row_ids)

    def first_rows(self, rows: Any, capacity: int) -> tuple[Any, Array]:
        """Takes the first row of each run from unsorted rows; returns them and the number of runs.

        Rows past the last run are zero.
        """
        if self.row_ids is None:
            return select_rows(rows, self.is_head, capacity, self.num_valid)
        heads, num_runs = flagged_rows(self.is_head, capacity, self.num_valid)
        if self.row_ids.shape[0]:
            heads = take_rows(self.row_ids, heads, is_unique=False)
        return take_rows_or_zeros(
            rows, heads, jax.lax.iota(jnp.int32, capacity) < num_runs
        ), num_runs

    def lengths(self, capacity: int) -> Array:
        """The length of each run, int32, padded with zeros."""
        # One head more than requested ends the last run within the capacity.
        heads, num_runs = flagged_rows(self.is_head, capacity + 1, self.num_valid)
        is_run = jax.lax.iota(jnp.int32, capacity + 1) < num_runs
        return jnp.diff(jnp.where(is_run, heads, self.num_valid))

    def of_rows(self, values: Array) -> Array:
        """Returns values of sorted rows to the original positions of the rows."""
        if self.row_ids is None:
            return values
        room = jnp.zeros_like(values)
        return room.at[self.row_ids].set(values, unique_indices=True, mode="promise_in_bounds")


def find_runs(columns: tuple[Array, ...], num_valid: Array, is_sorted: bool) -> KeyRuns:
    """Finds the runs of equal keys, after a sort unless the keys are sorted."""
    words = ordered_words(columns, (False,) * len(columns))
    if is_sorted:
        return runs_of_words(words, None, num_valid)
    if len(words) == 1:
        sorted_word, row_ids = sort_words_with_row_ids(words[0], num_valid)
        return runs_of_words((words[0]._replace(word=sorted_word),), row_ids, num_valid)
    row_ids = argsort_columns(words, num_valid)
    return runs_of_words(take_words(words, row_ids), row_ids, num_valid)


def runs_of_words(
    words: tuple[OrderedWord, ...], row_ids: Array | None, num_valid: Array
) -> KeyRuns:
    """The runs of equal words among rows without sorting."""
    is_valid = jax.lax.iota(jnp.int32, words[0].word.shape[0]) < num_valid
    is_head = jnp.zeros_like(is_valid)
    for column in words:
        ordered = column.ordered()
        is_first = ordered[:1] == ordered[:1]
        is_head |= jnp.concatenate([is_first, ordered[1:] != ordered[:-1]])
    is_head &= is_valid
    segment_ids = jnp.cumsum(is_head, dtype=jnp.int32) - 1
    return KeyRuns(row_ids, is_head, jnp.where(is_valid, segment_ids, np.int32(-1)), num_valid)
