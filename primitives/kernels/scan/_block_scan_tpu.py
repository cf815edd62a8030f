# SPDX-License-Identifier: Apache-2.0
"""A scan by any associative function, as a Pallas kernel for TPU.

A block is lines of 128 lanes; its rows follow each other along the lanes, then along the lines.
Each row is combined with the one 1, 2, 4, ... lanes before it; then the last lane of each line,
which holds the total of the line, likewise with lines. The total of all blocks before waits in
scratch memory.

References:
    Hillis, Steele (1986), "Data parallel algorithms", within a block; Blelloch (1990), "Prefix sums
    and their applications", over blocks.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

from ...contract._typing import Array
from ..base._pallas import LANES, SUBLANES, as_lines, as_scalar_argument, call_on_tpu, of_lines

# A sum of 2^18 floats takes 0.041 static cycles a row on v5e in blocks of 512 lines, 0.051 of 256,
# and 0.077 of 128, which wait for lanes to move.
BLOCK_LINES = 512

# One array for each operand: the rows that a scan combines.
Operands: TypeAlias = tuple[Array, ...]
Combine: TypeAlias = Callable[[Operands, Operands], Operands]
Load: TypeAlias = Callable[[Operands, Array], Operands]


def scan_columns(
    combine: Combine,
    load: Load,
    columns: Sequence[Array],
    num_valid: Array,
    reverse: bool,
    num_results: int | None = None,
    interpret: Any = False,
) -> Operands:
    """Scans columns together.

    Args:
        combine: an associative function of two tuples of 32-bit arrays, elementwise. The first
            holds the rows that come earlier in the scan.
        load: maps rows of the columns, and whether each is valid, to the operands of `combine`.
            A reversed scan starts with the padding.
        columns: arrays of shape `(rows,)`, of at most 32 bits.
        num_valid: number of valid rows, at the front.
        reverse: scans from the last row to the first.
        num_results: number of results, the first operands; all of them by default.
        interpret: how Pallas interprets the kernel in place of compiling it.

    Returns:
        The results; padding rows are zero.
    """
    num_rows = columns[0].shape[0]
    lines = [as_lines(column) for column in columns]
    num_lines = lines[0].shape[0]
    block_lines = min(BLOCK_LINES, num_lines)
    grid = pl.cdiv(num_lines, block_lines)
    flags = jax.ShapeDtypeStruct((SUBLANES, LANES), np.bool_)
    read = tuple(jax.ShapeDtypeStruct(flags.shape, column.dtype) for column in columns)
    operands = jax.eval_shape(load, read, flags)
    results = operands[:num_results]
    block = pl.BlockSpec((block_lines, LANES), lambda i: (grid - 1 - i if reverse else i, 0))
    scanned = call_on_tpu(
        functools.partial(
            _kernel, combine=combine, load=load, reverse=reverse, num_columns=len(columns)
        ),
        (as_scalar_argument(num_valid), *lines),
        [((num_lines, LANES), operand.dtype) for operand in results],
        grid=(grid,),
        in_specs=[
            pl.BlockSpec((1, 1), lambda i: (0, 0), memory_space=pltpu.SMEM),
            *[block] * len(columns),
        ],
        out_specs=[block] * len(results),
        scratch_shapes=[pltpu.VMEM((SUBLANES, LANES), operand.dtype) for operand in operands],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary",)),
        name="scan",
        interpret=interpret,
    )
    return tuple(of_lines(result, num_rows) for result in scanned)


def restarting(combine: Combine) -> Combine:
    """A scan that restarts at heads; the last operand flags them with a number that is not zero."""

    def restarted(left: Operands, right: Operands) -> Operands:
        is_head = right[-1] != 0
        combined = combine(left[:-1], right[:-1])
        kept = (jnp.where(is_head, new, old) for new, old in zip(right, combined, strict=False))
        return (*kept, left[-1] | right[-1])

    return restarted


def _kernel(
    num_valid_ref: Any,
    *refs: Any,
    combine: Combine,
    load: Load,
    reverse: bool,
    num_columns: int,
) -> None:
    is_later = pl.program_id(0) > 0
    block = pl.num_programs(0) - 1 - pl.program_id(0) if reverse else pl.program_id(0)
    columns = tuple(ref[...] for ref in refs[:num_columns])
    shape = columns[0].shape
    line = jax.lax.broadcasted_iota(jnp.int32, shape, 0)
    lane = jax.lax.broadcasted_iota(jnp.int32, shape, 1)
    # A block may reach past the lines, where it holds anything.
    is_valid = (block * shape[0] + line) * LANES + lane < num_valid_ref[0, 0]
    operands = load(columns, is_valid)
    num_results = len(refs) - num_columns - len(operands)
    results, carries = refs[num_columns:][:num_results], refs[num_columns + num_results :]
    carry = tuple(ref[:1, :] for ref in carries)
    scanned, total = _scan_block(combine, operands, carry, is_later, reverse)
    for ref, operand in zip(results, scanned, strict=False):
        ref[...] = jnp.where(is_valid, operand, jnp.zeros((), operand.dtype))
    for ref, operand in zip(carries, total, strict=True):
        ref[:1, :] = operand


def _scan_block(
    combine: Combine, operands: Operands, carry: Operands, is_later: Any, reverse: bool
) -> tuple[Operands, Operands]:
    """Scans a block after `carry`, the total before it in each lane; returns the total after it."""
    shape = operands[0].shape
    line = jax.lax.broadcasted_iota(jnp.int32, shape, 0)
    lane = jax.lax.broadcasted_iota(jnp.int32, shape, 1)
    if reverse:
        line, lane = shape[0] - 1 - line, LANES - 1 - lane

    def moved(rows: Operands, distance: int, axis: int) -> Operands:
        distance = shape[axis] - distance if reverse else distance
        return tuple(pltpu.roll(leaf, distance, axis) for leaf in rows)

    def scan_axis(rows: Operands, position: Array, axis: int) -> Operands:
        distance = 1
        while distance < shape[axis]:
            combined = combine(moved(rows, distance, axis), rows)
            rows = _where(position >= distance, combined, rows)
            distance *= 2
        return rows

    in_line = scan_axis(operands, lane, 1)
    last = 0 if reverse else LANES - 1
    totals = tuple(jnp.broadcast_to(leaf[:, last : last + 1], shape) for leaf in in_line)
    totals = scan_axis(totals, line, 0)
    # What comes before each line: the lines before it in the block, and the blocks before.
    before = moved(totals, 1, 0)
    carries = tuple(jnp.broadcast_to(leaf, shape) for leaf in carry)
    before = _where(is_later, combine(carries, before), before)
    before = _where(line >= 1, before, carries)
    scanned = _where((line >= 1) | is_later, combine(before, in_line), in_line)
    end = 0 if reverse else shape[0] - 1
    total = tuple(leaf[end : end + 1] for leaf in totals)
    return scanned, _where(is_later, combine(carry, total), total)


def _where(flags: Array, rows: Operands, others: Operands) -> Operands:
    return tuple(jnp.where(flags, row, other) for row, other in zip(rows, others, strict=True))
