# SPDX-License-Identifier: Apache-2.0
"""The k first rows in the order of a column of 32-bit words, on TPU.

A block of words stays in vector memory, as several steps of equal shape. A head is the first word
of all steps at one position of their shape. Each round takes the first head of all, and finds the
next one at its position, so it reads a part of the block. A sort of what the blocks found merges
them.

References:
    Knuth, "The Art of Computer Programming", volume 3, 5.2.3: tournament sort.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

from ...contract._typing import Array
from ..base._pallas import LANES, SUBLANES, as_scalar_argument, call_on_tpu

# A block of 1 MiB of 32-bit words, which leaves memory for the next one.
BLOCK_LINES = 2048
# Eight vector registers, which the comparisons of a step keep.
STEP_LINES = 64
_LARGEST = np.int32(2**31 - 1)
_SIGN = np.uint32(2**31)


def top_k_tpu(words: Array, k: int, num_valid: Array, interpret: Any = False) -> Array:
    """Row ids of the `k` smallest words, smallest first, ties by row id; int32.

    Args:
        words: uint32, of shape `(rows,)`.
        k: at most 1,024, and at most the number of rows.
        num_valid: number of valid rows, at the front. Padding rows come last.
        interpret: how Pallas interprets the kernel in place of compiling it.
    """
    # A core compares integers with a sign.
    numbers = jax.lax.bitcast_convert_type(words ^ _SIGN, np.int32)
    num_rows = words.shape[0]
    block_lines = min(BLOCK_LINES, pl.cdiv(num_rows, STEP_LINES * LANES) * STEP_LINES)
    missing = -num_rows % (block_lines * LANES)
    lines = (jnp.pad(numbers, (0, missing)) if missing else numbers).reshape(-1, LANES)
    num_blocks = lines.shape[0] // block_lines
    found = pl.BlockSpec((1, SUBLANES, LANES), lambda i: (i, 0, 0))
    numbers, row_ids = call_on_tpu(
        functools.partial(_kernel, k=k),
        (as_scalar_argument(num_valid), lines),
        [((num_blocks, SUBLANES, LANES), np.int32)] * 2,
        grid=(num_blocks,),
        in_specs=[
            pl.BlockSpec((1, 1), lambda i: (0, 0), memory_space=pltpu.SMEM),
            pl.BlockSpec((block_lines, LANES), lambda i: (i, 0)),
        ],
        out_specs=[found, found],
        scratch_shapes=[pltpu.VMEM((STEP_LINES, LANES), np.dtype(np.int32))] * 2,
        name="top_k",
        interpret=interpret,
    )
    numbers, row_ids = (
        each.reshape(num_blocks, -1)[:, :k].reshape(-1) for each in (numbers, row_ids)
    )
    if num_blocks > 1:
        _, row_ids = jax.lax.sort((numbers, row_ids), num_keys=2)
    return row_ids[:k]


def _kernel(
    num_valid_ref: Any,
    words_ref: Any,
    found_ref: Any,
    row_ids_ref: Any,
    head_words: Any,
    head_ids: Any,
    *,
    k: int,
) -> None:
    num_steps = words_ref.shape[0] // STEP_LINES
    first_row = pl.program_id(0) * (words_ref.shape[0] * LANES)
    num_valid = num_valid_ref[0, 0]

    def next_heads(line: Any, num_lines: int, word: Array, row_id: Array) -> tuple[Array, Array]:
        """The first row of all steps after a row, by position, in some lines of a step."""
        shape = (num_lines, LANES)
        position = (line + jax.lax.broadcasted_iota(jnp.int32, shape, 0)) * LANES
        position += jax.lax.broadcasted_iota(jnp.int32, shape, 1)
        best_words = best_ids = jnp.full(shape, _LARGEST, jnp.int32)
        # From the last step to the first, so that the lower of equal rows is met later.
        for step in reversed(range(num_steps)):
            words = words_ref[pl.ds(line + step * STEP_LINES, num_lines), :]
            ids = position + (first_row + step * (STEP_LINES * LANES))
            # Padding follows every valid row.
            words = jnp.where(ids < num_valid, words, _LARGEST)
            is_later = (words > word) | ((words == word) & (ids > row_id))
            is_best = is_later & (words <= best_words)
            best_words = jnp.where(is_best, words, best_words)
            best_ids = jnp.where(is_best, ids, best_ids)
        return best_words, best_ids

    least = jnp.full((SUBLANES, LANES), -(2**31), jnp.int32)
    for line in range(0, STEP_LINES, SUBLANES):
        lines = slice(line, line + SUBLANES)
        head_words[lines, :], head_ids[lines, :] = next_heads(
            line, SUBLANES, least, jnp.full_like(least, -1)
        )
    place = jax.lax.broadcasted_iota(jnp.int32, found_ref.shape[1:], 0) * LANES
    place += jax.lax.broadcasted_iota(jnp.int32, found_ref.shape[1:], 1)

    def find_next(j: Any, found: tuple[Array, Array]) -> tuple[Array, Array]:
        word = _least(head_words[...])
        row_id = _least(jnp.where(head_words[...] == word, head_ids[...], _LARGEST))
        # The register of the head.
        line = ((row_id[0, 0] - first_row) >> 7) & (STEP_LINES - SUBLANES)
        lines = pl.ds(pl.multiple_of(line, SUBLANES), SUBLANES)
        words, ids = head_words[lines, :], head_ids[lines, :]
        later_words, later_ids = next_heads(line, SUBLANES, words, ids)
        is_taken = ids == row_id
        head_words[lines, :] = jnp.where(is_taken, later_words, words)
        head_ids[lines, :] = jnp.where(is_taken, later_ids, ids)
        is_place = place == j
        return jnp.where(is_place, word, found[0]), jnp.where(is_place, row_id, found[1])

    nothing = jnp.zeros(place.shape, jnp.int32)
    found_ref[0], row_ids_ref[0] = jax.lax.fori_loop(0, k, find_next, (nothing, nothing))


def _least(numbers: Array) -> Array:
    """The smallest number, of shape `(1, 1)`."""
    return jnp.min(jnp.min(numbers, axis=0, keepdims=True), axis=1, keepdims=True)
