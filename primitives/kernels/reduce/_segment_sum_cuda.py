# SPDX-License-Identifier: Apache-2.0
"""Sums of floats by segment on CUDA: the same bits in every run and on every card.

The order of the additions depends on the positions of the rows and the number of segments alone.
"""

import jax.numpy as jnp

from ...contract._typing import Array
from ..base._cuda import call_on_cuda

_NUMBER_DTYPES = ("float32", "float64")


def can_sum_on_cuda(rows: Array, ids: Array) -> bool:
    """Whether the kernel supports rows and ids of these dtypes and shapes."""
    is_plain = rows.ndim == 1 and rows.shape[0] > 0
    return is_plain and rows.dtype.name in _NUMBER_DTYPES and ids.dtype == jnp.int32


def sums_on_cuda(rows: Array, ids: Array, num_segments: int) -> Array:
    """The sum of each segment; ids out of range are left out."""
    num_rows = rows.shape[0]
    (sums,) = call_on_cuda(
        "segment_sum",
        (ids[None], jnp.zeros((1,), ids.dtype), jnp.full((1,), num_rows, jnp.int32), rows[None]),
        (((num_segments,), rows.dtype),),
        (num_rows, num_segments, rows.dtype.itemsize),
    )
    return sums
