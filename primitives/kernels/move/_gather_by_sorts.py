# SPDX-License-Identifier: Apache-2.0
"""Gathers of single words by shifts and two sorts, for TPU, where a gather costs more.

In the order of their ids, positions read the rows from the first to the last. So the rows that are
named move to the front by shifts, and those named again are repeated. A second sort takes what was
read to its positions. Ids that ascend need no sort.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from ...contract._typing import Array
from ._expand import spread_by_shifts
from ._log_shift import compact_by_shifts, move_to_targets
from ._run_ends import first_of_equals


def gather_by_sorts(columns: Sequence[Array], row_ids: Array) -> tuple[Array, ...]:
    """Takes rows of columns by ids in range.

    Args:
        columns: int32 or uint32, of shape `(rows,)`.
        row_ids: int32.
    """
    sorted_ids, positions = _sort_ids(row_ids, columns[0].shape[0])
    read = gather_ascending(columns, sorted_ids)
    _, *taken = jax.lax.sort((positions, *read), num_keys=1, is_stable=False)
    return tuple(taken)


def gather_ascending(columns: Sequence[Array], row_ids: Array) -> tuple[Array, ...]:
    """`gather_by_sorts` for row ids that do not descend."""
    num_rows, num_ids = columns[0].shape[0], row_ids.shape[0]
    order = jax.lax.iota(jnp.int32, num_ids)
    is_head = first_of_equals((row_ids,))
    num_named = jnp.sum(is_head, dtype=jnp.int32)
    capacity = min(num_rows, num_ids)
    named_ids, begins = compact_by_shifts(is_head, (row_ids, order), capacity)
    # A one moves to each row that is named.
    (is_named,) = move_to_targets(named_ids, (jnp.ones_like(begins),), num_named, num_rows)
    named_rows = compact_by_shifts(is_named != 0, columns, capacity)
    return spread_by_shifts(begins, named_rows, num_named, num_ids)


def _sort_ids(row_ids: Array, num_rows: int) -> tuple[Array, Array]:
    """The ids in order, and the position of each; one operand of the sort, if both fit."""
    num_ids = row_ids.shape[0]
    positions = jax.lax.iota(jnp.uint32, num_ids)
    bits = (num_ids - 1).bit_length()
    words = jax.lax.bitcast_convert_type(row_ids, jnp.uint32)
    if (num_rows - 1).bit_length() + bits > 32:
        pair = jax.lax.sort((words, positions), num_keys=1, is_stable=False)
    else:
        packed = jax.lax.sort(words << np.uint32(bits) | positions, is_stable=False)
        # A shift by 32 bits would be undefined: then there is one row.
        ids = packed >> np.uint32(bits) if bits < 32 else jnp.zeros_like(packed)
        pair = ids, packed & np.uint32(2**bits - 1)
    ids, order = pair
    return ids.astype(jnp.int32), order.astype(jnp.int32)
