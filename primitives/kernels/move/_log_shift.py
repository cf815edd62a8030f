# SPDX-License-Identifier: Apache-2.0
"""Moves of rows that keep their order, by shifts of whole columns by 1, 2, 4, ... rows.

A move to the front closes gaps between rows, and a move to the back makes them. A row moves by the
bits of its distance, one step for each. Rows never meet on their way: the gap between two rows is
at least the difference of their distances, and steps from the lowest bit up take no more of it
than that. A move to the back takes the same steps in reverse.

On TPU a shift costs a thousandth of a gather, and a kernel takes most of the steps at once.

References:
    Warren (2012), "Hacker's delight", second edition, section 7-4 (compress), with rows for bits.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...contract._bit_fields import as_word_columns, of_word_columns
from ...contract._platform import by_platform
from ...contract._typing import Array
from ..base._foreign import in_groups
from ..base._pallas import on_tpu

# A kernel holds all steps of its columns in its program.
_MOST_ROW_BYTES = 16
# XLA moves fewer rows in less time than it takes to compile the kernel.
_LEAST_ROWS_IN_BLOCKS = 4096


def compact_by_shifts(is_kept: Array, rows: Sequence[Array], capacity: int) -> tuple[Array, ...]:
    """Moves flagged rows to the front: the first `capacity` of them, padded with zeros.

    Args:
        is_kept: flags, `bool[rows]`.
        rows: arrays that satisfy `is_words`.
        capacity: number of rows of the result.
    """
    num_gaps = jnp.cumsum(~is_kept, dtype=jnp.int32)
    distances = jnp.where(is_kept, num_gaps, 0)
    columns = move_to_front(as_word_columns(rows), distances)
    count = jnp.sum(is_kept, dtype=jnp.int32)
    is_row = jax.lax.iota(jnp.int32, capacity) < count
    columns = [jnp.where(is_row, resized(column, capacity), 0) for column in columns]
    return of_word_columns(columns, rows)


def place_by_shifts(
    is_kept: Array, targets: Array, columns: Sequence[Array], capacity: int
) -> tuple[Array, ...]:
    """Moves flagged rows to positions of their own; zeros elsewhere.

    Args:
        is_kept: flags, `bool[rows]`.
        targets: the position of each row, int32; ascending among flagged rows.
        columns: arrays of shape `(rows,)` that satisfy `is_words`.
        capacity: number of rows of the result.
    """
    num_rows = min(is_kept.shape[0], capacity)
    targets, *kept = compact_by_shifts(is_kept, (targets, *columns), num_rows)
    return move_to_targets(targets, kept, jnp.sum(is_kept, dtype=jnp.int32), capacity)


def move_to_targets(
    targets: Array, columns: Sequence[Array], count: Array, capacity: int
) -> tuple[Array, ...]:
    """Moves the first `count` rows to ascending positions; zeros elsewhere."""
    positions = jax.lax.iota(jnp.int32, capacity)
    is_row = positions < count
    columns = tuple(jnp.where(is_row, resized(column, capacity), 0) for column in columns)
    distances = jnp.where(is_row, resized(targets, capacity) - positions, 0)
    return move_to_back(columns, distances)


def resized(column: Array, num_rows: int) -> Array:
    """Cuts a column off, or pads it with zeros."""
    missing = num_rows - column.shape[0]
    return jax.lax.pad(column, jnp.zeros((), column.dtype), [(0, missing, 0)])


@jax.jit
def move_to_front(columns: Sequence[Array], distances: Array) -> tuple[Array, ...]:
    """Moves each row to the front by its distance.

    Args:
        columns: arrays of shape `(rows,)`.
        distances: int32; zero for rows that do not count, which others replace. The distances of
            the rows that count do not descend, and no two of these rows meet.

    Returns:
        The rows at their targets, arbitrary elsewhere.
    """

    def to_front(columns: Sequence[Array], distances: Array, first: int) -> tuple[Array, ...]:
        for step in _steps(distances)[first:]:
            columns, distances = _shifted_rows(columns, distances, step, -step)
        return tuple(columns)

    def in_blocks(columns: Sequence[Array], distances: Array) -> tuple[Array, ...]:
        from ._log_shift_tpu import move_in_blocks, num_steps_in_blocks

        num_taken = num_steps_in_blocks(distances.shape[0])
        is_last = num_taken == len(_steps(distances))
        columns, distances = move_in_blocks(columns, distances, True, is_last=is_last)
        return to_front(columns, distances, num_taken)

    return _by_way(in_blocks, functools.partial(to_front, first=0), columns, distances)


@jax.jit
def move_to_back(columns: Sequence[Array], distances: Array) -> tuple[Array, ...]:
    """Moves each row to the back by its distance, the inverse of `move_to_front`.

    The positions that rows leave become zero.
    """

    def to_back(columns: Sequence[Array], distances: Array, last: int) -> Any:
        for step in reversed(_steps(distances)[last:]):
            is_leaving = (distances & np.int32(step)) != 0
            kept = tuple(jnp.where(is_leaving, 0, column) for column in columns)
            columns, distances = _shifted_rows(columns, distances, step, step, kept)
        return tuple(columns), distances

    def in_blocks(columns: Sequence[Array], distances: Array) -> tuple[Array, ...]:
        from ._log_shift_tpu import move_in_blocks, num_steps_in_blocks

        columns, distances = to_back(columns, distances, num_steps_in_blocks(distances.shape[0]))
        return move_in_blocks(columns, distances, False, is_last=True)[0]

    def by_steps(columns: Sequence[Array], distances: Array) -> tuple[Array, ...]:
        return to_back(columns, distances, 0)[0]

    return _by_way(in_blocks, by_steps, columns, distances)


def _by_way(
    in_blocks: Callable[..., tuple[Array, ...]],
    by_steps: Callable[..., tuple[Array, ...]],
    columns: Sequence[Array],
    distances: Array,
) -> tuple[Array, ...]:
    """Moves columns of 32 bits in blocks, where there is the kernel; a call takes up to four."""
    columns = tuple(columns)
    is_narrow = all(column.dtype.itemsize == 4 for column in columns)
    if distances.shape[0] < _LEAST_ROWS_IN_BLOCKS or not is_narrow:
        return by_steps(columns, distances)

    def by_kernel(columns: tuple[Array, ...], distances: Array) -> tuple[Array, ...]:
        return in_groups(in_blocks, columns, distances, row_bytes=_MOST_ROW_BYTES)

    return by_platform(columns, distances, default=by_steps, **on_tpu(by_kernel))


def _steps(distances: Array) -> list[int]:
    return [1 << bit for bit in range((distances.shape[0] - 1).bit_length())]


def _shifted_rows(
    columns: Sequence[Array],
    distances: Array,
    step: int,
    shift: int,
    kept: Sequence[Array] | None = None,
) -> tuple[tuple[Array, ...], Array]:
    """Moves the rows whose distance has the bit of a step; `kept` are columns without them."""
    bit = np.int32(step)
    arriving = _source(distances, shift)
    has_arrival = (arriving & bit) != 0

    def with_arrivals(arrivals: Array, others: Array) -> Array:
        # Zeros in place of the rows that nothing reaches would make XLA pad the column in memory.
        reached, rest = _target(others, shift)
        reached = jnp.where(has_arrival, arrivals, reached)
        return jnp.concatenate([reached, rest] if shift < 0 else [rest, reached])

    moved = tuple(
        with_arrivals(_source(column, shift), other)
        for column, other in zip(columns, columns if kept is None else kept, strict=True)
    )
    # A row that has left does not move again.
    staying = jnp.where((distances & bit) != 0, 0, distances)
    return moved, with_arrivals(arriving, staying)


def _source(column: Array, shift: int) -> Array:
    """The rows that a shift leaves in the column."""
    return column[-shift:] if shift < 0 else column[: column.shape[0] - shift]


def _target(column: Array, shift: int) -> tuple[Array, Array]:
    """The rows that a shift moves others to, and the rest."""
    num_rows = column.shape[0]
    if shift < 0:
        return column[: num_rows + shift], column[num_rows + shift :]
    return column[shift:], column[:shift]
