# SPDX-License-Identifier: Apache-2.0
"""Repeats rows, each a number of times, by shifts: the inverse of a compaction.

The first copies of the rows move to their positions, and a sum of the differences between rows
fills the positions behind them: integers wrap around, so every bit is right.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp

from ...contract._typing import Array
from ._compact import select_words
from ._log_shift import move_to_back, resized


def repeat_by_shifts(
    begins: Array, is_repeated: Array, columns: Sequence[Array], capacity: int
) -> tuple[Array, ...]:
    """Repeats rows from their first positions on.

    Args:
        begins: the first position of each row, int32; ascending among rows that are repeated.
        is_repeated: flags the rows that have a copy. Others are left out.
        columns: int32 or uint32, one entry for each row.
        capacity: number of rows of the result.

    Returns:
        The number of the copy at each position, then its row of each column; arbitrary before the
        first row and from the end of the last one on.
    """
    fits = is_repeated & (begins < capacity)
    num_rows = min(begins.shape[0], capacity)
    kept, count = select_words(fits, (begins, *columns), num_rows, jnp.int32(begins.shape[0]))
    targets, *_ = kept = [resized(column, capacity) for column in kept]
    positions = jax.lax.iota(jnp.int32, capacity)
    is_row = positions < count
    # The differences from the row before, so that their sums are the rows.
    steps = [
        jnp.where(is_row, column - jax.lax.pad(column, column.dtype.type(0), [(1, -1, 0)]), 0)
        for column in kept
    ]
    distances = jnp.where(is_row, targets - positions, 0)
    steps = move_to_back(tuple(steps), distances)
    first, *repeated = (jnp.cumsum(column, dtype=column.dtype) for column in steps)
    return positions - first, *repeated
