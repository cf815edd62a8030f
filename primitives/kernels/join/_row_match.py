# SPDX-License-Identifier: Apache-2.0
"""Matches of each row, found by one sort of both sides, without numbered groups."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from ...contract._typing import Array

# In place of the left row of a position of an outer join: a right row, and padding.
RIGHT, PADDING = np.int32(-1), np.int32(-2)


class RowMatch(NamedTuple):
    """The matches of each left row; of an outer join the rows of both sides in their order.

    Attributes:
        begins: where the matches of each left row begin in `right_rows`; of an outer join the left
            row at each position, `RIGHT` or `PADDING`.
        num_matches: the number of matches of a left row; zero in padding. In an outer join, the
            number of pairs that a right row begins: those of a word without a left row begin as
            many pairs as there are of them, one each or all at the last one.
        right_rows: the right rows in the order of their words, then of their ids.
        total: the number of pairs: int64, or int32 without x64 mode, which saturates.
        num_unmatched_left: the number of left rows without a match.
        num_unmatched_right: the number of right rows without a match.
    """

    begins: Array
    num_matches: Array
    right_rows: Array
    total: Array
    num_unmatched_left: Array
    num_unmatched_right: Array


def pairs_of_position(left_rows: Array, num_matches: Array) -> Array:
    """The number of pairs that each position of an outer join begins."""
    return jnp.where(left_rows >= 0, jnp.maximum(num_matches, 1), num_matches)
