# SPDX-License-Identifier: Apache-2.0
"""Reductions of segments on TPU, without a scatter: when there is a way, and the calls.

The matrix unit counts and adds the rows of few segments, and registers hold their minima, maxima
and products. Rows of more segments are sorted.
"""

import jax.numpy as jnp
import numpy as np

from ...contract._scan_operators import NamedOperator
from ...contract._typing import Array

# The sums of all segments stay in vector memory.
MOST_SUMMED = 4096
# Each row is compared with all segments: a minimum takes 1.2 static cycles a row on v5e for 1,024
# segments, and 1.4 by a sort.
MOST_COMPARED = 1024
# A sort of fewer rows takes longer to compile than it saves.
_LEAST_SORTED_ROWS = 4096
# Shifts of the results cost as much as a scatter of the rows if there are more segments.
_MOST_SEGMENTS_PER_ROW = 16


def can_count_on_tpu(ids: Array, num_segments: int) -> bool:
    """Whether there is a way to count the rows of so many segments."""
    is_few = ids.shape[0] > 0 and 0 < num_segments <= MOST_SUMMED
    return is_few or _can_sort(ids, num_segments)


def can_sum_on_tpu(rows: Array, ids: Array, num_segments: int) -> bool:
    """Whether there is a way to add rows of this dtype and shape."""
    return _is_number(rows) and can_count_on_tpu(ids, num_segments)


def can_reduce_on_tpu(rows: Array, ids: Array, num_segments: int) -> bool:
    """Whether there is a way to multiply rows, or to find their minima or maxima."""
    is_few = ids.shape[0] > 0 and 0 < num_segments <= MOST_COMPARED
    return _is_number(rows) and (is_few or _can_sort(ids, num_segments))


def _is_number(rows: Array) -> bool:
    is_narrow = jnp.issubdtype(rows.dtype, jnp.integer) and rows.dtype.itemsize <= 4
    return rows.ndim == 1 and (is_narrow or rows.dtype == np.float32)


def _can_sort(ids: Array, num_segments: int) -> bool:
    num_rows = ids.shape[0]
    return num_rows >= _LEAST_SORTED_ROWS and num_segments <= _MOST_SEGMENTS_PER_ROW * num_rows


def counts_on_tpu(ids: Array, num_segments: int) -> Array:
    """Counts the rows of each segment, int32; ids are int32, those out of range are dropped."""
    if num_segments <= MOST_SUMMED:
        # Pallas takes a while to import, and programs for other platforms do without.
        from ._segment_sum_tpu import count_segments_tpu

        return count_segments_tpu(ids, num_segments)
    from ._sorted_segments_tpu import count_sorted

    return count_sorted(ids, num_segments)


def sums_on_tpu(rows: Array, ids: Array, num_segments: int) -> Array:
    """Adds rows by segment; ids are int32, those out of range are dropped."""
    # Narrow integers wrap around as wide ones do.
    wide = _as_wide(rows)
    if num_segments <= MOST_SUMMED:
        from ._segment_sum_tpu import sum_segments_tpu

        return sum_segments_tpu(wide, ids, num_segments).astype(rows.dtype)
    from ._sorted_segments_tpu import reduce_sorted

    zero = jnp.zeros((), wide.dtype)
    sums = reduce_sorted("add", wide, ids, num_segments, zero)
    # A sum of negative zeros is 0.0, as if it had started with 0.0.
    return jnp.where(sums == 0, zero, sums).astype(rows.dtype)


def reductions_on_tpu(
    op: NamedOperator, rows: Array, ids: Array, num_segments: int, initial: Array
) -> Array:
    """Combines rows by segment, "mul", "min" or "max"; `initial` is the identity element."""
    wide, initial = _as_wide(rows), _as_wide(initial)
    if num_segments <= MOST_COMPARED:
        from ._compared_segments_tpu import reduce_compared

        reduced = reduce_compared(op, wide, ids, num_segments, initial)
    else:
        from ._sorted_segments_tpu import reduce_sorted

        reduced = reduce_sorted(op, wide, ids, num_segments, initial)
    return reduced.astype(rows.dtype)


def _as_wide(rows: Array) -> Array:
    return rows if rows.dtype.itemsize == 4 else rows.astype(jnp.int32)
