# SPDX-License-Identifier: Apache-2.0
"""Counts, histograms and exact reductions of few segments on CUDA, by tables in shared memory.

Atomics on one table of results in memory take turns where rows share a segment: sums of 16 million
int32 into 64 segments take 25 times as long on an H100.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...contract._typing import Array
from ..base._cuda import call_on_cuda

_MOST_TABLE_BYTES = 32768  # kMostTableBytes in cuda_tables.h
MOST_COUNTED_SEGMENTS = _MOST_TABLE_BYTES // 4
_MOST_BINS = 2048  # kMostBins
# The position of an operator is its number in the kernel.
_OPERATORS = ("add", "min", "max")
_COMBINE = (jax.lax.add, jax.lax.min, jax.lax.max)
_INTEGERS = ("int32", "uint32", "int64", "uint64")
_BINNED = ("int32", "int64", "float32", "float64")


def can_reduce_in_tables(method: str, rows: Array, ids: Array, num_segments: int) -> bool:
    """Whether the kernel supports an operator, and rows of this dtype and shape."""
    is_known = method in _OPERATORS and rows.dtype.name in _INTEGERS and rows.ndim == 1
    return is_known and can_count_in_tables(ids, num_segments, rows.dtype)


def can_count_in_tables(ids: Array, num_segments: int, dtype: Any = jnp.int32) -> bool:
    """Whether a table of so many segments fits, and the kernel reads the ids."""
    num_bytes = num_segments * np.dtype(dtype).itemsize
    return ids.dtype == jnp.int32 and 0 < num_bytes <= _MOST_TABLE_BYTES


def reduce_in_tables(
    method: str, rows: Array, ids: Array, num_segments: int, initial: Any
) -> Array:
    """Reduces integers by segment, from `initial` on; ids out of range are left out."""
    results = _reduced(rows, ids, num_segments, method, rows.dtype)
    combine = _COMBINE[_OPERATORS.index(method)]
    return combine(results, jnp.full_like(results, initial))


def count_in_tables(ids: Array, num_segments: int) -> Array:
    """The number of rows of each segment, int32; ids out of range are left out."""
    return _reduced(jnp.zeros((0,), jnp.int32), ids, num_segments, "add", jnp.int32)


def _reduced(rows: Array, ids: Array, num_segments: int, method: str, dtype: Any) -> Array:
    (results,) = call_on_cuda(
        "segment_reduce",
        (ids[None], rows[None]),
        (((num_segments,), dtype),),
        None,
        op=np.int32(_OPERATORS.index(method)),
    )
    return results


def can_bin_in_tables(x: Array, edges: Array) -> bool:
    """Whether the kernel supports numbers and edges of these dtypes, and so many bins."""
    has_dtypes = x.dtype.name in _BINNED and edges.dtype.name in _BINNED[2:]
    return has_dtypes and edges.shape[0] - 1 <= _MOST_BINS


def count_bins_in_tables(x: Array, edges: Array, num_valid: Array, is_uniform: bool) -> Array:
    """Counts the first `num_valid` numbers in each bin, int32."""
    (counts,) = call_on_cuda(
        "histogram",
        (x[None], edges[None], num_valid[None]),
        (((edges.shape[0] - 1,), jnp.int32),),
        None,
        is_uniform=np.int64(is_uniform),
    )
    return counts
