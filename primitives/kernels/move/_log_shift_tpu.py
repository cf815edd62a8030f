# SPDX-License-Identifier: Apache-2.0
"""The shifts of a move, as one Pallas kernel for TPU; see `_log_shift`.

XLA writes all columns once for each step. The kernel takes the steps within a block in vector
memory. What a step shifts into a block comes from the block before it in the grid, which left it in
scratch memory as it was before the same step.
"""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

from ...contract._typing import Array
from ..base._pallas import LANES, SUBLANES, as_lines, call_on_tpu, of_lines

# A move of one column by 16 steps takes 0.10 static cycles a row on v5e, and 0.14 by XLA. Blocks of
# 256 lines leave one step more to XLA.
BLOCK_LINES = 512


def num_steps_in_blocks(num_rows: int) -> int:
    """The number of steps, from the shortest on, that the kernel takes."""
    return (min(num_rows, BLOCK_LINES * LANES) - 1).bit_length()


def move_in_blocks(
    columns: Sequence[Array],
    distances: Array,
    to_front: bool,
    *,
    is_last: bool,
    interpret: Any = False,
) -> tuple[tuple[Array, ...], Array]:
    """Takes the first `num_steps_in_blocks` steps of a move to the front, or the last to the back.

    Args:
        columns: arrays of 32 bits, of shape `(rows,)`.
        distances: int32. The kernel reads the bits of its own steps.
        to_front: the direction.
        is_last: whether no steps follow, so that nobody reads the distances.
        interpret: how Pallas interprets the kernel in place of compiling it.

    Returns:
        The moved rows, and their distances: zeros if `is_last`.
    """
    num_rows = distances.shape[0]
    words = [jax.lax.bitcast_convert_type(column, np.int32) for column in columns]
    lines = [as_lines(word) for word in (distances, *words)]
    num_lines = lines[0].shape[0]
    block_lines = min(BLOCK_LINES, num_lines)
    grid = pl.cdiv(num_lines, block_lines)
    num_steps = num_steps_in_blocks(num_rows)
    block = pl.BlockSpec((block_lines, LANES), lambda i: (grid - 1 - i if to_front else i, 0))
    longest = _longest(num_steps)
    # One result alone has no table of addresses, which takes temporary memory.
    written = lines[1:] if is_last else lines
    moved = call_on_tpu(
        functools.partial(_kernel, num_steps=num_steps, num_lines=num_lines, to_front=to_front),
        lines,
        [(line.shape, line.dtype) for line in written],
        grid=(grid,),
        in_specs=[block] * len(lines),
        out_specs=[block] * len(written),
        scratch_shapes=[
            pltpu.VMEM((rows, LANES), jnp.int32)
            for rows in (block_lines + max(longest, SUBLANES), 2 * longest + SUBLANES)
            for _ in lines
        ],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary",)),
        name="move_rows",
        interpret=interpret,
    )
    results = tuple(
        jax.lax.bitcast_convert_type(of_lines(word, num_rows), column.dtype)
        for word, column in zip(moved[-len(columns) :], columns, strict=True)
    )
    return results, jnp.zeros_like(distances) if is_last else of_lines(moved[0], num_rows)


def _kernel(*refs: Any, num_steps: int, num_lines: int, to_front: bool) -> None:
    """Each group of references begins with that of the distances, but results may lack theirs."""
    size = (len(refs) + 1) // 4
    given, results, scratch = refs[:size], refs[size : -2 * size], refs[-2 * size :]
    work, passed_on = scratch[:size], scratch[size:]
    shape = given[0].shape
    line = jax.lax.broadcasted_iota(jnp.int32, shape, 0)
    lane = jax.lax.broadcasted_iota(jnp.int32, shape, 1)
    is_first = pl.program_id(0) == 0
    # The lines that are shifted into the block lie behind it, or in front of it.
    margin = work[0].shape[0] - shape[0]
    start = 0 if to_front else margin
    block = pl.ds(start, shape[0])
    for given_ref, work_ref in zip(given, work, strict=True):
        work_ref[block, :] = given_ref[...]
    if num_lines % shape[0]:
        # A block may reach past the lines, where it holds anything; such rows stay.
        number = pl.num_programs(0) - 1 - pl.program_id(0) if to_front else pl.program_id(0)
        is_line = number * shape[0] + line < num_lines
        work[0][block, :] = jnp.where(is_line, given[0][...], 0)

    def take_step(step: Any, num_lines: int, at: Any) -> None:
        """Takes a step of so many lines, or of fewer rows than a line; `at` is its scratch."""
        num_shifted = max(num_lines, 1)
        leaving = pl.ds(0 if to_front else margin + shape[0] - num_shifted, num_shifted)
        entering = pl.ds(shape[0] if to_front else margin - num_shifted, num_shifted)
        for place, (work_ref, passed_ref) in enumerate(zip(work, passed_on, strict=True)):
            passed = pl.ds(at, num_shifted)
            shifted = passed_ref[passed, :]
            # Rows of distance zero do not move, whatever the scratch memory holds beside them.
            work_ref[entering, :] = jnp.where(is_first, 0, shifted) if place == 0 else shifted
            passed_ref[passed, :] = work_ref[leaving, :]
        here = [work_ref[block, :] for work_ref in work]
        if num_lines:
            source = pl.ds(start + num_lines if to_front else start - num_lines, shape[0])
            arriving = [work_ref[source, :] for work_ref in work]
        else:
            arriving = [_shifted_lanes(ref, step, shape[0], start, to_front, lane) for ref in work]
        is_arrival = (arriving[0] & step) != 0
        # A row that has left does not move again.
        has_left = (here[0] & step) != 0
        kept = [jnp.where(has_left, 0, word) for word in (here[:1] if to_front else here)]
        for work_ref, arrival, other in zip(
            work, arriving, [*kept, *here[len(kept) :]], strict=True
        ):
            work_ref[block, :] = jnp.where(is_arrival, arrival, other)

    num_lane_steps = min(num_steps, LANES.bit_length() - 1)
    lane_steps_at = 2 * _longest(num_steps)

    def take_lane_step(i: Any, _: None) -> None:
        bit = i if to_front else num_lane_steps - 1 - i
        take_step(jax.lax.shift_left(jnp.int32(1), bit), 0, lane_steps_at + bit)

    # Short steps are long programs, and one of them serves for all.
    long_steps = [1 << bit for bit in range(num_lane_steps, num_steps)]
    for step in () if to_front else reversed(long_steps):
        take_step(step, step // LANES, step // LANES)
    jax.lax.fori_loop(0, num_lane_steps, take_lane_step, None)
    for step in long_steps if to_front else ():
        take_step(step, step // LANES, step // LANES)
    for result_ref, work_ref in zip(results, work[size - len(results) :], strict=True):
        result_ref[...] = work_ref[block, :]


def _shifted_lanes(
    work_ref: Any, step: Any, num_lines: int, start: int, to_front: bool, lane: Array
) -> Array:
    """The rows of a block so many lanes further on, or before."""
    first = start if to_front else start - SUBLANES
    rows = work_ref[pl.ds(first, num_lines + SUBLANES), :]
    if to_front:
        rows = pltpu.roll(rows, LANES - step, 1)
        next_lines = pltpu.roll(rows, rows.shape[0] - 1, 0)
        return jnp.where(lane < LANES - step, rows[:num_lines], next_lines[:num_lines])
    rows = pltpu.roll(rows, step, 1)
    lines_before = pltpu.roll(rows, 1, 0)
    return jnp.where(lane >= step, rows[SUBLANES:], lines_before[SUBLANES:])


def _longest(num_steps: int) -> int:
    """The lines of the longest step."""
    return max((1 << num_steps) // (2 * LANES), 1)
