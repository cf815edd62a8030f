# SPDX-License-Identifier: Apache-2.0
"""`merge` over batches: with a side that fits in memory, or of parts on disk.

Where neither side fits, both are partitioned by the hash of their keys, and the parts are joined
(Kitsuregawa, Tanaka, Moto-oka 1983). The parts of hot keys, which no hash divides, are joined piece
by piece (Kim 1980).
"""

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any

from ..plan._node import Call
from ..plan._relations import merge_keys
from ._join import Held, Join
from ._numbering import can_spill
from ._partitions import MOST_LEVELS, Part, Partitions
from ._runs import SortedRuns

# The number of batches that a side in memory, and the result of one call, may have.
HELD_BATCHES = 1

Batches = Callable[[], Iterator[Any]]
Whole = Callable[[Iterable[Any], Any], Any]


def is_streamed(call: Call) -> bool:
    """Whether a merge runs over batches."""
    arguments = call.arguments
    how = arguments.get("how", "inner")
    known = {"how", "on", "left_on", "right_on", "suffixes", "validate", "indicator"}
    keys = merge_keys(call)
    if keys is None or arguments.keys() - known or _validates_left(call):
        return False
    return how in ("inner", "left", "cross") or (how in ("right", "outer") and _is_plain(call))


def _validates_left(call: Call) -> bool:
    return call.arguments.get("validate") not in (None, "m:1", "many_to_one", "m:m", "many_to_many")


def _is_plain(call: Call) -> bool:
    columns = [column for node in (call, *call.inputs) for column in node.empty._table.columns]
    return can_spill(columns)


def merged(
    call: Call,
    left: Batches,
    right: Batches,
    batch_rows: int,
    joined: Whole,
    *,
    in_order: bool = True,
) -> Iterator[Any]:
    """Joins two streams, in pandas' order.

    Args:
        call: the recorded merge.
        left: gives the batches of the left side.
        right: gives those of the right side.
        batch_rows: the number of rows of a batch.
        joined: concatenates batches; takes a frame without rows, too.
        in_order: whether rows are sorted on disk if they are found in another order.
    """
    keys = merge_keys(call)
    assert keys is not None
    held_rows = HELD_BATCHES * batch_rows
    join = Join(call, *keys, held_rows)
    left_empty, right_empty = (node.empty for node in call.inputs)
    with contextlib.ExitStack() as stack:
        right_batches = stack.enter_context(contextlib.closing(_generator(right())))
        right_held, right_fits = _held(right_batches, held_rows)
        keeps_order = join.how in ("inner", "left", "cross")
        if keeps_order and (right_fits or not _is_plain(call)):
            other = joined([*right_held, *right_batches], right_empty)
            yield from _with_held(join, left(), other)
            return
        if call.arguments.get("validate") in ("m:1", "many_to_one"):
            raise NotImplementedError(
                f"merge: validate must be None where the right side has more than {held_rows} "
                "rows. Drop duplicates of the right keys before."
            )
        left_batches = stack.enter_context(contextlib.closing(_generator(left())))
        right_rows = _numbered(right_held, right_batches, join.right_side)
        if right_fits:
            other = joined(right_rows, join.right_side(right_empty, 0))
            left_rows = _numbered([], left_batches, join.left_side)
            # One right piece asks for the left pieces once.
            rows = join.joined(lambda: left_rows, [other])
        else:
            left_held, left_fits = _held(left_batches, held_rows)
            left_rows = _numbered(left_held, left_batches, join.left_side)
            if left_fits:
                own = joined(left_rows, join.left_side(left_empty, 0))
                rows = join.joined(lambda: iter([own]), right_rows)
            else:
                rows = _of_parts(join, left_rows, right_rows, batch_rows)
        if not in_order:
            yield from map(join.finished, rows)
            return
        runs = stack.enter_context(SortedRuns(join.order, batch_rows, join.template))
        for frame in rows:
            runs.add(frame)
        # The sides leave memory before the result is read.
        del rows, left_rows, right_rows
        for frame in runs.merged():
            yield join.finished(frame)


def _generator(batches: Iterable[Any]) -> Generator[Any, None, None]:
    yield from batches


def _held(batches: Iterator[Any], most_rows: int) -> tuple[list[Any], bool]:
    """The first batches, up to a number of rows, and whether these are all."""
    held: list[Any] = []
    while sum(map(len, held)) <= most_rows:
        batch = next(batches, None)
        if batch is None:
            return held, True
        held.append(batch)
    return held, False


def _numbered(
    held: list[Any], batches: Iterable[Any], side: Callable[[Any, int], Any]
) -> Iterator[Any]:
    """Batches with row numbers: those that are held, which leave memory, and those after them."""
    first_row = 0
    held.reverse()
    while held:
        batch = held.pop()
        yield side(batch, first_row)
        first_row += len(batch)
    for batch in batches:
        yield side(batch, first_row)
        first_row += len(batch)


def _with_held(join: Join, batches: Iterator[Any], other: Any) -> Iterator[Any]:
    """Joins each left batch with the right side, in the order of the left rows."""
    held = Held(other, join)
    try:
        for batch in batches:
            for rows in held.slices(batch):
                yield join.call.run(rows, other)
    finally:
        if hasattr(batches, "close"):
            batches.close()  # pyright: ignore[reportAttributeAccessIssue]


def _of_parts(
    join: Join, left: Iterable[Any], right: Iterable[Any], batch_rows: int, level: int = 0
) -> Iterator[Any]:
    """Joins two sides of which neither fits in memory, part by part."""
    with contextlib.ExitStack() as stack:
        left_parts, right_parts = (
            stack.enter_context(Partitions(positions, level)) for positions in join.key_positions
        )
        for frame in right:
            right_parts.add(frame)
        for frame in left:
            left_parts.add(frame)
        for own, other in zip(left_parts.parts(), right_parts.parts(), strict=True):
            # No hash divides a key that has half of the rows of both sides.
            is_hot = (
                2 * own.num_rows > left_parts.num_rows and 2 * other.num_rows > right_parts.num_rows
            )
            can_divide = level + 1 < MOST_LEVELS and not is_hot
            yield from _of_part(join, own, other, batch_rows, level, can_divide)


def _of_part(
    join: Join, left: Part, right: Part, batch_rows: int, level: int, can_divide: bool
) -> Iterator[Any]:
    """Joins one part: with a side in memory if it fits, else divided further or piece by piece."""
    left_fits, right_fits = (part.num_rows <= HELD_BATCHES * batch_rows for part in (left, right))
    if can_divide and not left_fits and not right_fits:
        frames = left.frames(batch_rows), right.frames(batch_rows)
        yield from _of_parts(join, *frames, batch_rows, level + 1)
        return
    left_rows, right_rows = batch_rows, batch_rows
    if right_fits:
        right_rows *= HELD_BATCHES
    elif left_fits:
        left_rows *= HELD_BATCHES
    yield from join.joined(lambda: left.frames(left_rows), right.frames(right_rows))
