# SPDX-License-Identifier: Apache-2.0
"""Where windows begin and end, and the blocks of rows that they are put together from.

A window lies in the block of its last row, and in the one before. In the block of its last row it
begins with the first row, or it ends with the last one: so a scan from the front of the block, or
one from its end, holds that part.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._typing import Array, ArrayLike, Bool, Integer
from ._scan_segments import SegmentEncoding

# Scans of these never restart.
NO_BLOCKS = SegmentEncoding(None, None)


class WindowBounds(NamedTuple):
    """Windows by their first and last rows.

    Rows are cut into blocks, which every window is put together from: a window may begin in the
    block of its last row or in the block before. If it lies in one block, it begins with the first
    row of the block or ends with the last one. Spans of time have such bounds, with a block for
    each multiple of the span.

    Attributes:
        first: the position of the first row of each window, integers of shape `(rows,)`.
        last: that of the last row, before the first one for a window without rows; None if every
            window ends with its own row.
        block_heads: True at the first row of each block, bool of shape `(rows,)`.
    """

    first: Integer[ArrayLike, " rows"]
    last: Integer[ArrayLike, " rows"] | None
    block_heads: Bool[ArrayLike, " rows"]


class WindowPlan(NamedTuple):
    """The static parameters of windows and their reductions. Hashable.

    Attributes:
        op: the reduction.
        ddof: delta degrees of freedom of a variance.
        width: rows of each window where these are so few that each is read; else None.
        is_expanding: whether every window begins with the first row.
        moves_ends: whether windows may end elsewhere than with their own row.
    """

    op: str
    ddof: int
    width: int | None
    is_expanding: bool
    moves_ends: bool


class Reach(NamedTuple):
    """The rows of each window: `width` of them, the last one `offset` rows after its own."""

    width: Array
    offset: Array


class SegmentBounds(NamedTuple):
    """The segments that windows are clamped to.

    Attributes:
        first: position of the first row of each row's segment.
        last: position of the last one; None if all windows end with their own row.
    """

    first: Array
    last: Array | None


def segments_of_windows(
    encoding: SegmentEncoding, positions: Array, scan: Callable[..., Any], plan: WindowPlan
) -> SegmentBounds | None:
    """The segments of rows at positions of a sequence; None if the encoding is empty."""
    if not jax.tree.leaves(encoding):
        return None
    first = scan(positions, "min", encoding, False)
    return SegmentBounds(first, scan(positions, "max", encoding, True) if plan.moves_ends else None)


class RowSequence(NamedTuple):
    """The rows of all shards as one sequence, seen from one of them.

    Attributes:
        positions: of this shard's rows in the sequence.
        num_rows: rows of the sequence.
        segments: of this shard's rows; None if the sequence is a single segment.
        is_row: which rows of this shard are part of it; None if the others have no effect.
        scan: scans arrays over the sequence: `scan(rows, op, encoding, reverse)`. An empty encoding
            never restarts it.
        take: rows of the sequence: `take(rows, positions)`.
        holds_all: whether this shard holds all rows.
    """

    positions: Array
    num_rows: Array
    segments: SegmentBounds | None
    is_row: Array | None
    scan: Callable[..., Any]
    take: Callable[[Any, Array], Any]
    holds_all: bool = False


class Places(NamedTuple):
    """The place of each row's window among the blocks.

    Attributes:
        blocks: the blocks where scans restart.
        first: the position of its first row.
        num_rows: the number of its rows, zero or more.
        is_split: whether the scan from the end of a block, at its first row, holds a part of it.
        has_front: whether the scan from the front of a block, at its last row, holds a part of it.
        taken_first: the position whose scans are read at its first row.
        taken_last: that for its last row; None for the row itself.
    """

    blocks: SegmentEncoding
    first: Array
    num_rows: Array
    is_split: Array
    has_front: Array
    taken_first: Array
    taken_last: Array | None


def windows_of_rows(reach: Reach, sequence: RowSequence, plan: WindowPlan) -> Places:
    """The windows of a number of rows, clamped to their segments. Blocks are as long."""
    positions = sequence.positions
    width = jnp.maximum(reach.width, 1)
    block = positions // width
    heads = None if plan.is_expanding else block * width == positions
    start, end = jnp.zeros_like(sequence.num_rows), sequence.num_rows - 1
    if sequence.segments is not None:
        start = sequence.segments.first
        heads = positions == start if heads is None else heads | (positions == start)
        if sequence.segments.last is not None:
            end = jnp.minimum(sequence.segments.last, end)
    last = positions + reach.offset
    # All windows start as far from their row, unless they are clamped to their segment.
    unclamped_first = last - reach.width + 1
    first = start if plan.is_expanding else jnp.maximum(unclamped_first, start)
    first = jnp.broadcast_to(first, positions.shape)
    num_rows = jnp.maximum(jnp.minimum(last, end) - first + 1, 0)
    # If a window begins in its last block, the front of that block is all of it.
    last_block = last // width if plan.moves_ends else block
    is_split = (first // width < last_block) & (num_rows > 0)
    has_front = num_rows > 0
    if plan.moves_ends:
        # A window may end after its segment, and its last block may begin there.
        has_front = has_front & (last_block <= end // width)
    is_clamped = sequence.segments is not None
    taken_last = None
    if plan.moves_ends:
        taken_last = jnp.minimum(last, end) if is_clamped else last
    taken_first = first if is_clamped else unclamped_first
    return Places(
        SegmentEncoding(heads, None), first, num_rows, is_split, has_front, taken_first, taken_last
    )


def windows_between(bounds: WindowBounds, sequence: RowSequence, plan: WindowPlan) -> Places:
    """The windows of given bounds."""
    del plan
    positions, heads = sequence.positions, jnp.asarray(bounds.block_heads)
    first = _positions_within(bounds.first, 0, sequence.num_rows)
    head = jnp.where(heads, positions, jnp.zeros_like(positions))
    # The first row of each row's block, then that of the block of each window's last row.
    head = sequence.scan(head, "max", NO_BLOCKS, False)
    if bounds.last is None:
        last, taken_last = positions, None
    else:
        taken_last = last = _positions_within(bounds.last, -1, sequence.num_rows - 1)
        head = sequence.take(head, last)
    num_rows = jnp.maximum(last - first + 1, 0)
    return Places(
        SegmentEncoding(heads, None),
        first,
        num_rows,
        is_split=(num_rows > 0) & (first != head),
        has_front=(num_rows > 0) & (first <= head),
        taken_first=first,
        taken_last=taken_last,
    )


def _positions_within(given: ArrayLike, least: int, most: Array) -> Array:
    """Positions of any integer dtype in the dtype of the limits, clipped before they are cast."""
    given = jnp.asarray(given)
    if np.can_cast(given.dtype, most.dtype):
        return jnp.clip(given.astype(most.dtype), least, most)
    # Such an integer holds the upper limit, and the lower one if it has a sign.
    if jnp.issubdtype(given.dtype, jnp.signedinteger):
        given = jnp.maximum(given, given.dtype.type(least))
    return jnp.minimum(given, most.astype(given.dtype)).astype(most.dtype)
