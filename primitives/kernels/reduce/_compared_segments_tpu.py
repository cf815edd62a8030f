# SPDX-License-Identifier: Apache-2.0
"""Minima, maxima and products of few segments on TPU.

A table holds a result for each segment in each lane. A line of 128 ids is compared with all
segments, one register for 8 of them, and each lane combines its row with the entry of its segment.
The lanes are combined at the end, so neither a sort nor a scatter is needed.
"""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

from ...contract._scan_operators import NamedOperator, combine_named
from ...contract._typing import Array
from ..base._pallas import LANES, REGISTER_ROWS, SUBLANES, call_on_tpu

# A block of 256 KiB of 32-bit words, which leaves memory for the next one.
BLOCK_LINES = 512
# Segments that are compared in one pass over a block: their results stay in registers.
CHUNK_SEGMENTS = 128
# On v5e a minimum of 1,024 segments takes 1.27 static cycles a row for 16 lines, and 1.35 for 4.
_MOST_UNROLLED = 16
_SIGN = np.uint32(2**31)


def reduce_compared(
    op: NamedOperator,
    rows: Array,
    ids: Array,
    num_segments: int,
    initial: Array,
    interpret: Any = False,
) -> Array:
    """Combines numbers of 32 bits by segment; `initial` is the identity element.

    Floats are combined lane by lane, then over the lanes.

    Args:
        op: how two rows combine.
        rows: int32, uint32 or float32, of shape `(rows,)`.
        ids: segment of each row, int32; rows out of range are dropped.
        num_segments: number of segments.
        initial: the result of a segment without rows.
        interpret: how Pallas interprets the kernel in place of compiling it.
    """
    if rows.dtype == np.uint32:
        # A core compares integers with a sign, and multiplies both kinds alike.
        flip = np.uint32(0) if op == "mul" else _SIGN
        numbers, start = (
            jax.lax.bitcast_convert_type(each ^ flip, np.int32) for each in (rows, initial)
        )
        reduced = reduce_compared(op, numbers, ids, num_segments, start, interpret)
        return jax.lax.bitcast_convert_type(reduced, np.uint32) ^ flip
    num_rows = ids.shape[0]
    block_lines = min(BLOCK_LINES, pl.cdiv(num_rows, REGISTER_ROWS) * SUBLANES)
    missing = -num_rows % (block_lines * LANES)
    lines = [
        jnp.pad(ids, (0, missing), constant_values=-1).reshape(-1, LANES),
        jnp.pad(rows, (0, missing)).reshape(-1, LANES),
    ]
    chunk = min(CHUNK_SEGMENTS, pl.cdiv(num_segments, SUBLANES) * SUBLANES)
    table = (pl.cdiv(num_segments, chunk) * chunk, LANES)
    block = pl.BlockSpec((block_lines, LANES), lambda i: (i, 0))
    whole = pl.BlockSpec(table, lambda i: (0, 0))
    (results,) = call_on_tpu(
        functools.partial(_kernel, op=op, chunk=chunk),
        [*lines, jnp.full(table, initial)],
        [(table, rows.dtype)],
        grid=(lines[0].shape[0] // block_lines,),
        in_specs=[block, block, whole],
        out_specs=[whole],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary",)),
        name="reduce_segments",
        interpret=interpret,
    )
    return _over_lanes(op, results)[:num_segments]


def _over_lanes(op: NamedOperator, results: Array) -> Array:
    """Combines the lanes, the first half with the second one."""
    while results.shape[1] > 1:
        half = results.shape[1] // 2
        results = combine_named(op, results[:, :half], results[:, half:])
    return results[:, 0]


def _kernel(
    ids_ref: Any,
    rows_ref: Any,
    initial_ref: Any,
    results_ref: Any,
    *,
    op: NamedOperator,
    chunk: int,
) -> None:
    @pl.when(pl.program_id(0) == 0)
    def _() -> None:
        results_ref[...] = initial_ref[...]

    unrolled = math.gcd(ids_ref.shape[0], _MOST_UNROLLED)

    def reduce_chunk(i: Any, _: Any) -> Any:
        first = pl.multiple_of(i * chunk, chunk)
        segments = jax.lax.broadcasted_iota(jnp.int32, (chunk, LANES), 0)

        def several(j: Any, results: Array) -> Array:
            for k in range(unrolled):
                line = pl.ds(j * unrolled + k, 1)
                is_segment = ids_ref[line, :] - first == segments
                rows = jnp.broadcast_to(rows_ref[line, :], segments.shape)
                results = jnp.where(is_segment, combine_named(op, results, rows), results)
            return results

        here = pl.ds(first, chunk)
        num_rounds = ids_ref.shape[0] // unrolled
        results_ref[here, :] = jax.lax.fori_loop(0, num_rounds, several, results_ref[here, :])
        return _

    jax.lax.fori_loop(0, results_ref.shape[0] // chunk, reduce_chunk, 0)
