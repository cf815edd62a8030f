# SPDX-License-Identifier: Apache-2.0
"""Reductions of many segments on TPU, by a sort of the segment ids.

A sort moves the rows of a segment together, and a scan combines them. The last row of each run
then moves to the position of its segment by shifts: to the front first, then to the back. On v5e
this takes two static cycles a row, and a scatter eight.
"""

import jax
import jax.numpy as jnp

from ....shardings._compat import like_varying
from ...contract._key_bits import OrderedWord
from ...contract._scan_operators import NamedOperator, Scan
from ...contract._typing import Array
from ..move._log_shift import place_by_shifts
from ..move._run_ends import first_of_equals
from ..scan._segmented_scan import scan_rows
from ..sort._radix_sort import sort_columns


def reduce_sorted(
    op: NamedOperator, rows: Array, ids: Array, num_segments: int, initial: Array
) -> Array:
    """Combines numbers of 32 bits by segment; `initial` is the identity element.

    Floats are combined in the order of the scan.

    Args:
        op: how two rows combine.
        rows: int32, uint32 or float32, of shape `(rows,)`.
        ids: segment of each row, int32; rows out of range are dropped.
        num_segments: number of segments.
        initial: the result of a segment without rows.
    """
    keys = _sort_keys(ids, num_segments)
    if op in ("min", "max"):
        # Sorted with the ids, the extreme rows are at the ends of the runs.
        keys, reduced = jax.lax.sort((keys, rows), num_keys=2, is_stable=False)
        is_head = first_of_equals((keys,))
    elif jnp.issubdtype(rows.dtype, jnp.floating):
        column = OrderedWord(keys, 0, num_segments.bit_length(), is_whole=True)
        (keys,), _, (rows,) = sort_columns((column,), None, (rows,), words="order")
        is_head, reduced = _scanned(op, keys, rows)
    else:
        # Integers wrap around, in any order of the rows.
        keys, rows = jax.lax.sort((keys, rows), num_keys=1, is_stable=False)
        is_head, reduced = _scanned(op, keys, rows)
    is_result = is_head if op == "min" else jnp.roll(is_head, -1)
    return _at_segments(is_result, keys, reduced, num_segments, initial)


def count_sorted(ids: Array, num_segments: int) -> Array:
    """Counts the rows of each segment, int32."""
    keys = jax.lax.sort(_sort_keys(ids, num_segments), is_stable=False)
    is_head = first_of_equals((keys,))
    positions = jax.lax.iota(jnp.int32, keys.shape[0])
    heads = jax.lax.cummax(jnp.where(is_head, positions, 0))
    counts = positions + 1 - heads
    return _at_segments(jnp.roll(is_head, -1), keys, counts, num_segments, jnp.int32(0))


def _sort_keys(ids: Array, num_segments: int) -> Array:
    """Segment ids, uint32; `num_segments` for rows out of range, which come last."""
    is_member = (ids >= 0) & (ids < num_segments)
    return jnp.where(is_member, ids, num_segments).astype(jnp.uint32)


def _scanned(op: NamedOperator, keys: Array, rows: Array) -> tuple[Array, Array]:
    # XLA on TPU (libtpu 0.0.42) ends the process if it fuses the flags with what computes them.
    is_head = jax.lax.optimization_barrier(first_of_equals((keys,)))
    num_rows = like_varying(jnp.int32(rows.shape[0]), keys)
    return is_head, scan_rows(rows, is_head, num_rows, Scan(op, False, False))


def _at_segments(
    is_result: Array, keys: Array, reduced: Array, num_segments: int, initial: Array
) -> Array:
    """The flagged row of each run at the position of its segment, `initial` elsewhere."""
    is_result &= keys < num_segments
    words, nothing = (jax.lax.bitcast_convert_type(each, jnp.uint32) for each in (reduced, initial))
    # Zeros elsewhere stand for `initial`.
    targets = keys.astype(jnp.int32)
    (words,) = place_by_shifts(is_result, targets, (words ^ nothing,), num_segments)
    return jax.lax.bitcast_convert_type(words ^ nothing, reduced.dtype)
