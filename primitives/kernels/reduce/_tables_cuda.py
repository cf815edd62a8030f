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
# The position of an operator, and of a form, is its number in the kernel.
_OPERATORS = ("add", "min", "max")
_FORMS = ("numbers", "truth", "first rows")
_COMBINE = (jax.lax.add, jax.lax.min, jax.lax.max)
_INTEGERS = ("int32", "uint32", "int64", "uint64")
_FLOATS = ("float32", "float64")
_BINNED = ("int32", "int64", "float32", "float64")
# First rows are found by words of 64 bits, half of them the position.
_FOUND = ("int32", "uint32", "float32")
_SIGN_BIT = np.uint32(1 << 31)
_NO_ROW = np.uint32(2**32 - 1)


def can_reduce_in_tables(method: str, rows: Array, ids: Array, num_segments: int) -> bool:
    """Whether the kernel supports an operator, and rows of this dtype and shape."""
    is_known = method in _OPERATORS and rows.dtype.name in _INTEGERS and rows.ndim == 1
    return is_known and can_count_in_tables(ids, num_segments, rows.dtype)


def can_count_in_tables(ids: Array, num_segments: int, dtype: Any = jnp.int32) -> bool:
    """Whether a table of so many segments fits, and the kernel reads the ids."""
    num_bytes = num_segments * np.dtype(dtype).itemsize
    return ids.dtype == jnp.int32 and 0 < num_bytes <= _MOST_TABLE_BYTES


def can_order_in_tables(rows: Array, ids: Array, num_segments: int) -> bool:
    """Whether the kernel maps floats of this dtype and shape to words in their order."""
    is_known = rows.dtype.name in _FLOATS and rows.ndim == 1
    return is_known and can_count_in_tables(ids, num_segments, rows.dtype)


def can_flag_in_tables(rows: Array, ids: Array, num_segments: int) -> bool:
    """Whether the kernel tells which rows of this dtype and shape are not zero."""
    is_known = rows.dtype.name in ("bool", *_INTEGERS, *_FLOATS) and rows.ndim == 1
    return is_known and can_count_in_tables(ids, num_segments)


def can_find_in_tables(rows: Array, ids: Array, num_segments: int) -> bool:
    """Whether the kernel finds the first of the best rows of this dtype and shape."""
    is_known = rows.dtype.name in _FOUND and rows.ndim == 1
    return is_known and can_count_in_tables(ids, num_segments, jnp.uint64)


def reduce_in_tables(
    method: str, rows: Array, ids: Array, num_segments: int, initial: Any
) -> Array:
    """Reduces integers by segment, from `initial` on; ids out of range are left out.

    Floats are reduced as `extreme_words`, by "min" or "max".
    """
    is_float = rows.dtype.name in _FLOATS
    dtype = np.dtype(f"uint{8 * rows.dtype.itemsize}") if is_float else rows.dtype
    return _from(initial, method, _reduced("numbers", rows, ids, num_segments, method, dtype))


def flag_in_tables(method: str, rows: Array, ids: Array, num_segments: int, initial: Any) -> Array:
    """Reduces int32 by "min" or "max": one for each row that is not zero, and zero."""
    return _from(initial, method, _reduced("truth", rows, ids, num_segments, method, jnp.int32))


def reduce_positions_in_tables(method: str, ids: Array, num_segments: int, initial: Any) -> Array:
    """Reduces the positions of rows by "min" or "max", int32."""
    return _from(initial, method, _reduced_positions(ids, num_segments, method))


def count_in_tables(ids: Array, num_segments: int) -> Array:
    """The number of rows of each segment, int32; ids out of range are left out."""
    return _reduced_positions(ids, num_segments, "add")


def find_in_tables(
    method: str, rows: Array, ids: Array, num_segments: int, no_row: Any
) -> tuple[Array, Array]:
    """The word of the best row of each segment by "min" or "max", and the first such row.

    Words are those of `extreme_words`, with equal ones for zeros of both signs.
    """
    found = _reduced("first rows", rows, ids, 2 * num_segments, method, jnp.uint32)
    # The number of 64 bits has the position in its lower half, the first in memory.
    positions, words = found[::2], found[1::2]
    positions = ~positions if method == "max" else positions
    if rows.dtype == jnp.int32:
        words = jax.lax.bitcast_convert_type(words ^ _SIGN_BIT, jnp.int32)
    return words, jnp.where(positions == _NO_ROW, no_row, positions.astype(jnp.int32))


def _from(initial: Any, method: str, results: Array) -> Array:
    combine = _COMBINE[_OPERATORS.index(method)]
    return combine(results, jnp.full_like(results, initial))


def _reduced_positions(ids: Array, num_segments: int, method: str) -> Array:
    nothing = jnp.zeros((0,), jnp.int32)
    return _reduced("numbers", nothing, ids, num_segments, method, jnp.int32)


def _reduced(form: str, rows: Array, ids: Array, length: int, method: str, dtype: Any) -> Array:
    (results,) = call_on_cuda(
        "segment_reduce",
        (ids[None], rows[None]),
        (((length,), dtype),),
        None,
        form=np.int32(_FORMS.index(form)),
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
