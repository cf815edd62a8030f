# SPDX-License-Identifier: Apache-2.0
"""Counts of buckets, and the position of each row by bucket, on TPU.

A table holds a counter for each bucket in each lane. A line of 128 ids is compared with all buckets
at once, one register for 8 of them, so neither a sort nor a scatter is needed. For positions a tile
of 128 lines is transposed: each lane then meets 128 successive rows, one after the other, and the
counters of a lane start behind those of the lanes before it.

References:
    Merrill, Grimshaw (2011), "High performance and scalable radix sorting": counters of each
    thread, then an exclusive scan of them.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

from ...contract._typing import Array
from ..base._pallas import LANES, SUBLANES, as_lines, as_scalar_argument, call_on_tpu, of_lines

# A block of 256 KiB of 32-bit words, which leaves memory for the next one.
COUNTED_LINES = 512
_INT = np.dtype(np.int32)
_SEQUENTIAL = pltpu.CompilerParams(dimension_semantics=("arbitrary",))
# Steps without a branch between them; more only lengthen the program.
_MOST_UNROLLED = 16


def count_buckets_tpu(
    ids: Array, num_buckets: int, num_valid: Array, interpret: Any = False
) -> Array:
    """Counts the valid rows of each bucket, int32; other ids are dropped.

    Args:
        ids: bucket of each row, int32.
        num_buckets: number of buckets; a table of their counters should fit the registers.
        num_valid: number of valid rows, at the front.
        interpret: how Pallas interprets the kernel in place of compiling it.
    """
    lines = as_lines(ids)
    block_lines = min(COUNTED_LINES, lines.shape[0])
    table_lines = _table_lines(num_buckets)
    (counts,) = call_on_tpu(
        _count,
        (as_scalar_argument(num_valid), lines),
        [((table_lines, LANES), np.int32)],
        grid=(pl.cdiv(lines.shape[0], block_lines),),
        in_specs=[_scalar(), pl.BlockSpec((block_lines, LANES), lambda i: (i, 0))],
        out_specs=[pl.BlockSpec((table_lines, LANES), lambda i: (0, 0))],
        scratch_shapes=[pltpu.VMEM((block_lines, LANES), _INT)],
        compiler_params=_SEQUENTIAL,
        name="count_buckets",
        interpret=interpret,
    )
    return jnp.sum(counts, axis=1, dtype=np.int32)[:num_buckets]


def bucket_positions_tpu(
    ids: Array, offsets: Array, num_valid: Array, interpret: Any = False
) -> Array:
    """The position of each row in the stable order of rows by bucket, int32.

    Args:
        ids: bucket of each row, int32; each valid row has one.
        offsets: position of the first row of each bucket, int32.
        num_valid: number of valid rows, at the front. Padding rows keep their positions.
        interpret: how Pallas interprets the kernel in place of compiling it.
    """
    num_rows, num_buckets = ids.shape[0], offsets.shape[0]
    table_lines = _table_lines(num_buckets)
    starts = jnp.pad(offsets, (0, table_lines - num_buckets))
    lines = as_lines(ids)
    tile = pl.BlockSpec((LANES, LANES), lambda i: (i, 0))
    table = pl.BlockSpec((table_lines, LANES), lambda i: (0, 0))
    (positions,) = call_on_tpu(
        _place,
        (
            as_scalar_argument(num_valid),
            lines,
            jnp.broadcast_to(starts[:, None], (table_lines, LANES)),
        ),
        [(lines.shape, np.int32)],
        grid=(pl.cdiv(lines.shape[0], LANES),),
        in_specs=[_scalar(), tile, table],
        out_specs=[tile],
        scratch_shapes=[
            pltpu.VMEM((table_lines, LANES), _INT),
            pltpu.VMEM((LANES, LANES), _INT),
            pltpu.VMEM((LANES, LANES), _INT),
        ],
        compiler_params=_SEQUENTIAL,
        name="bucket_positions",
        interpret=interpret,
    )
    return of_lines(positions, num_rows)


def _table_lines(num_buckets: int) -> int:
    return -(-num_buckets // SUBLANES) * SUBLANES


def _scalar() -> Any:
    return pl.BlockSpec((1, 1), lambda i: (0, 0), memory_space=pltpu.SMEM)


def _row_ids(shape: tuple[int, int]) -> Array:
    """The ids of the rows in this block."""
    line = jax.lax.broadcasted_iota(jnp.int32, shape, 0)
    lane = jax.lax.broadcasted_iota(jnp.int32, shape, 1)
    return (pl.program_id(0) * shape[0] + line) * LANES + lane


def _count(num_valid_ref: Any, ids_ref: Any, counts_ref: Any, valid_ids: Any) -> None:
    @pl.when(pl.program_id(0) == 0)
    def _() -> None:
        counts_ref[...] = jnp.zeros_like(counts_ref)

    is_valid = _row_ids(ids_ref.shape) < num_valid_ref[0, 0]
    valid_ids[...] = jnp.where(is_valid, ids_ref[...], -1)
    counts_ref[...] = _count_lines(valid_ids, counts_ref[...])


def _count_lines(ids_ref: Any, counts: Array) -> Array:
    buckets = jax.lax.broadcasted_iota(jnp.int32, counts.shape, 0)

    def count_line(i: Any, counts: Array) -> Array:
        return counts + (ids_ref[pl.ds(i, 1), :] == buckets).astype(np.int32)

    return _for_each(ids_ref.shape[0], count_line, counts)


def _place(
    num_valid_ref: Any,
    ids_ref: Any,
    starts_ref: Any,
    positions_ref: Any,
    next_ref: Any,
    ids_of_lanes: Any,
    positions_of_lanes: Any,
) -> None:
    # The next position of each bucket, the same in all lanes.
    @pl.when(pl.program_id(0) == 0)
    def _() -> None:
        next_ref[...] = starts_ref[...]

    row_ids = _row_ids(ids_ref.shape)
    is_valid = row_ids < num_valid_ref[0, 0]
    # Lane l holds the rows of line l, from the first one down.
    ids_of_lanes[...] = jnp.where(is_valid, ids_ref[...], -1).T
    buckets = jax.lax.broadcasted_iota(jnp.int32, next_ref.shape, 0)
    lane = jax.lax.broadcasted_iota(jnp.int32, next_ref.shape, 1)

    counts = _count_lines(ids_of_lanes, jnp.zeros_like(next_ref))
    through = counts
    distance = 1
    while distance < LANES:
        through += jnp.where(lane >= distance, pltpu.roll(through, distance, 1), 0)
        distance *= 2

    def place_line(i: Any, following: Array) -> Array:
        is_bucket = ids_of_lanes[pl.ds(i, 1), :] == buckets
        placed = jnp.where(is_bucket, following, 0)
        positions_of_lanes[pl.ds(i, 1), :] = jnp.sum(placed, axis=0, keepdims=True, dtype=np.int32)
        return following + is_bucket.astype(np.int32)

    _for_each(LANES, place_line, next_ref[...] + through - counts)
    positions_ref[...] = jnp.where(is_valid, positions_of_lanes[...].T, row_ids)
    next_ref[...] += jnp.broadcast_to(through[:, LANES - 1 :], next_ref.shape)


def _for_each(num_lines: int, step: Any, table: Array) -> Array:
    """Applies `step` to each line and the table so far."""

    # A block has whole registers of lines.
    unrolled = math.gcd(num_lines, _MOST_UNROLLED)

    def several(i: Any, table: Array) -> Array:
        for j in range(unrolled):
            table = step(i * unrolled + j, table)
        return table

    return jax.lax.fori_loop(0, num_lines // unrolled, several, table)
