# SPDX-License-Identifier: Apache-2.0
"""Repeats rows, each a number of times, by shifts: the inverse of a compaction.

The first copies of the rows move to their positions, and a sum of the differences between rows
fills the positions behind them: integers wrap around, so every bit is right.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from ...contract._typing import Array
from ._compact import select_words
from ._log_shift import move_to_targets


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
        The row of each column at each position; arbitrary from the end of the last row on.
    """
    fits = is_repeated & (begins < capacity)
    num_rows = min(begins.shape[0], capacity)
    all_rows = jnp.int32(begins.shape[0])
    kept, count = select_words(fits, (begins, *columns), num_rows, all_rows)
    targets, *kept = kept
    return spread_by_shifts(targets, kept, count, capacity)


def spread_by_shifts(
    targets: Array, columns: Sequence[Array], count: Array, capacity: int
) -> tuple[Array, ...]:
    """Moves rows to ascending positions, and repeats each up to the next one.

    Args:
        targets: the position of each row, int32.
        columns: int32 or uint32, of the same length.
        count: number of rows, at the front.
        capacity: number of rows of the result.

    Returns:
        The row of each column at each position; zeros before the first one.
    """
    # The differences from the row before, so that their sums are the rows.
    steps = [column - jax.lax.pad(column, column.dtype.type(0), [(1, -1, 0)]) for column in columns]
    steps = move_to_targets(targets, steps, count, capacity)
    return tuple(jnp.cumsum(column, dtype=column.dtype) for column in steps)


def saturating_ends(num_copies: Array, capacity: int) -> Array:
    """The end of the copies of each row, int32; `capacity` if it is more than that."""
    limit = np.uint32(capacity)
    # At most one more than fits: a wrapped sum had one between the limit and 2**32 before it.
    copies = jnp.minimum(num_copies.astype(jnp.uint32), limit + np.uint32(1))
    ends = jnp.cumsum(copies, dtype=jnp.uint32)
    is_past = jax.lax.cummax((ends > limit).astype(jnp.int32)) != 0
    return jnp.where(is_past, limit, ends).astype(jnp.int32)
