# SPDX-License-Identifier: Apache-2.0
"""When a TPU counts and adds the rows of segments on its matrix unit, and the calls."""

import jax.numpy as jnp
import numpy as np

from ...contract._typing import Array

# The sums of all segments stay in vector memory.
MOST_SEGMENTS = 4096


def can_count_on_tpu(ids: Array, num_segments: int) -> bool:
    """Whether the kernel counts so many segments."""
    return ids.shape[0] > 0 and 0 < num_segments <= MOST_SEGMENTS


def can_sum_on_tpu(rows: Array, ids: Array, num_segments: int) -> bool:
    """Whether the kernel adds rows of this dtype and shape."""
    is_narrow = jnp.issubdtype(rows.dtype, jnp.integer) and rows.dtype.itemsize <= 4
    is_number = rows.ndim == 1 and (is_narrow or rows.dtype == np.float32)
    return is_number and can_count_on_tpu(ids, num_segments)


def counts_on_tpu(ids: Array, num_segments: int) -> Array:
    """Counts the rows of each segment, int32; ids are int32, those out of range are dropped."""
    # Pallas takes a while to import, and programs for other platforms do without.
    from ._segment_sum_tpu import count_segments_tpu

    return count_segments_tpu(ids, num_segments)


def sums_on_tpu(rows: Array, ids: Array, num_segments: int) -> Array:
    """Adds rows by segment; ids are int32, those out of range are dropped."""
    from ._segment_sum_tpu import sum_segments_tpu

    # Narrow integers wrap around as wide ones do.
    wide = rows if rows.dtype.itemsize == 4 else rows.astype(jnp.int32)
    return sum_segments_tpu(wide, ids, num_segments).astype(rows.dtype)
