# SPDX-License-Identifier: Apache-2.0
"""The local steps of an exchange: rows are taken into blocks, and from blocks that arrived.

A matrix of rows is `[rows, words]`, and its blocks are `[blocks, rows, words]`. A TPU stores the
last axis in 128 lanes, so that a row of two words may take 64 times its bytes. There a few words
move by column: a matrix is `[words, rows]`, and its blocks are `[blocks, words, rows]`.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from ...shardings._compat import like_varying
from ..contract._typing import Array

# Below this number of runs a comparison with every offset is faster than a binary search.
_FEW_RUNS = 32

# Up to this number of words, rows move by column on TPU; each column is a gather of its own.
MOST_COLUMNS = 32

# XLA compares the indices into a smaller table with each entry on TPU, and stores the flags.
_LEAST_TABLE = 4096

# See `of_run`.
OfRun = Callable[[Array, Array, Array, Array], Array]


class Blocks(NamedTuple):
    """How rows and their blocks lie, and the steps for this layout.

    Attributes:
        row_axis: the axis of a matrix that counts its rows.
        of_run: looks up the table entry of the run of each position; see `of_run`.
        look_up: looks up entries of a short table by their indices.
        take: takes rows at positions `[blocks, positions]` into blocks.
        joined: the rows of all blocks, as one matrix.
        take_received: takes rows at positions of such a matrix, and zeros where there is no row.
    """

    row_axis: int
    of_run: OfRun
    look_up: Callable[[Array, Array], Array]
    take: Callable[[Array, Array], Array]
    joined: Callable[[Array], Array]
    take_received: Callable[[Array, Array, Array], Array]


def of_run(begins: Array, positions: Array, table: Array, blocks: Array) -> Array:
    """Looks up, for each position, the table entry of its run.

    Args:
        begins: first position of each run, `[runs]` or `[blocks, runs]`, ascending from zero. Empty
            runs have no positions.
        positions: the positions, `[positions]`.
        table: one entry for each run, in the shape of `begins`.
        blocks: the numbers of the blocks, 0, 1, ..., `[blocks]`; not read for one axis of runs.

    Returns:
        Entries, `[positions]` or `[blocks, positions]`.
    """
    num_runs = begins.shape[-1]
    if begins.ndim == 2:
        return jax.vmap(of_run, in_axes=(0, None, 0, None))(begins, positions, table, blocks)
    if num_runs > _FEW_RUNS:
        run = jnp.searchsorted(begins[1:], positions, side="right")
        return table.at[run].get(mode="promise_in_bounds")
    # As a sum of steps the entries need no memory: XLA fuses them into the gather that reads them.
    first, *steps = jnp.unstack(jnp.diff(table, prepend=jnp.zeros_like(table[:1])))
    entries = jnp.broadcast_to(first, positions.shape)
    for begin, step in zip(jnp.unstack(begins)[1:], steps, strict=True):
        entries += jax.lax.convert_element_type(positions >= begin, table.dtype) * step
    return entries


def of_run_by_sums(begins: Array, positions: Array, table: Array, blocks: Array) -> Array:
    """`of_run` for TPU, which sums along an axis faster than it searches, in less memory.

    The entries are the running sums of their steps. Positions are 0, 1, ...
    """
    # One axis for all blocks: a scatter into `[blocks, positions]` takes 128 lanes a position.
    num_positions = positions.shape[0]
    if begins.ndim == 1:
        blocks = jnp.zeros((1,), jnp.int32)
    # Empty runs add their steps at one position, and runs past the last one at the next block.
    begins_of_blocks = jnp.minimum(begins.reshape(blocks.shape[0], -1), num_positions)
    at = (num_positions * blocks[:, None] + begins_of_blocks).reshape(-1)
    steps = jnp.diff(table.reshape(-1), prepend=jnp.zeros((1,), table.dtype))
    at_begins = jnp.zeros((blocks.shape[0] * num_positions,), table.dtype)
    at_begins = like_varying(at_begins, begins, table).at[at].add(steps, mode="drop")
    entries = jnp.cumsum(at_begins, dtype=table.dtype)
    return entries.reshape(*begins.shape[:-1], num_positions)


def _look_up(table: Array, indices: Array) -> Array:
    return table.at[indices].get(mode="promise_in_bounds")


def _look_up_on_tpu(table: Array, indices: Array) -> Array:
    return _look_up(jnp.pad(table, (0, max(_LEAST_TABLE - table.shape[0], 0))), indices)


def _take(rows: Array, positions: Array) -> Array:
    # Positions after the last row of a block repeat some row; they are never read.
    return rows.at[jnp.clip(positions, 0, rows.shape[0] - 1)].get(mode="promise_in_bounds")


def _joined(blocks: Array) -> Array:
    return blocks.reshape(-1, blocks.shape[-1])


def _take_received(rows: Array, positions: Array, is_row: Array) -> Array:
    return jnp.where(is_row[:, None], _take(rows, positions), jnp.zeros((), rows.dtype))


def _take_columns(columns: Array, positions: Array) -> Array:
    """Takes the same positions of each column, which becomes the axis before the last."""
    # A gather of all columns would take rows, of 128 lanes each.
    taken = [_take(columns[word], positions) for word in range(columns.shape[0])]
    return jnp.stack(taken, axis=positions.ndim - 1)


def _joined_columns(blocks: Array) -> Array:
    return jnp.moveaxis(blocks, 1, 0).reshape(blocks.shape[1], -1)


def _take_received_columns(columns: Array, positions: Array, is_row: Array) -> Array:
    return jnp.where(is_row, _take_columns(columns, positions), jnp.zeros((), columns.dtype))


BY_ROW = Blocks(0, of_run, _look_up, _take, _joined, _take_received)
BY_ROW_ON_TPU = BY_ROW._replace(of_run=of_run_by_sums, look_up=_look_up_on_tpu)
BY_COLUMN = Blocks(
    1, of_run_by_sums, _look_up_on_tpu, _take_columns, _joined_columns, _take_received_columns
)
