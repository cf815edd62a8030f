# SPDX-License-Identifier: Apache-2.0
"""`merge` over batches: with a side that fits in memory, or of parts on disk.

Where neither side fits, both are partitioned by the hash of their keys, and the parts are joined
(Kitsuregawa, Tanaka, Moto-oka 1983). The parts of hot keys, which no hash divides, are joined piece
by piece (Kim 1980).
"""

import contextlib
import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..plan._joins import join_type, merge_keys
from ..plan._node import Call
from ..table._ndframe import FrameBase, NDFrame
from ..table._types import Function, Options
from ._join import Held, Join
from ._numbering import can_spill
from ._partitions import MOST_LEVELS, Partition, Partitions, bits_for
from ._runs import SortedRuns
from ._stage import close, generated
from ._steps import BatchesFrom, Step, StepFiles, from_first

# The number of batches that a right side in memory may have. A left one has at most one.
HELD_BATCHES = 4

Whole = Callable[[Iterable[Any], Any], Any]


def is_streamed(call: Call) -> bool:
    """Whether a merge runs over batches."""
    arguments = call.arguments
    known = {"how", "on", "left_on", "right_on", "suffixes", "validate", "indicator"}
    keys = merge_keys(call)
    if keys is None or arguments.keys() - known or _validates_left(call):
        return False
    join = join_type(call)
    return join.has_matches and (not join.keeps[1] or _is_plain(call))


def check_keys(call: Call) -> None:
    """Raises if the rows of all batches decide the dtype of a key.

    A key of both sides has the dtype of the left one if each right row has a match, and a common
    dtype otherwise.

    Raises:
        NotImplementedError: a right or outer merge has such a key.
    """
    keys = merge_keys(call)
    if keys is None or not join_type(call).keeps[1]:
        return
    left, right = (node.empty for node in call.inputs)
    for label, other in zip(*keys, strict=True):
        a, b = left._column(label), right._column(other)
        are_numbers = label == other and a.is_numeric and b.is_numeric
        if are_numbers and a.dtype_name != b.dtype_name:
            raise NotImplementedError(
                f"merge: over batches the key {label!r} of a right or outer merge must have one "
                f"dtype on both sides, got {a.dtype_name} and {b.dtype_name}. Cast one with "
                "astype first."
            )


def _validates_left(call: Call) -> bool:
    return call.arguments.get("validate") not in (None, "m:1", "many_to_one", "m:m", "many_to_many")


def _is_plain(call: Call) -> bool:
    columns = [column for node in (call, *call.inputs) for column in node.empty._table.columns]
    return can_spill(columns)


@dataclasses.dataclass(frozen=True)
class JoinSteps:
    """Where a join has rows on disk.

    Attributes:
        result: the rows of the result.
        left: the parts of the left side.
        right: those of the right side.
    """

    result: Step
    left: Step
    right: Step


def merged(
    call: Call,
    left: BatchesFrom,
    right: BatchesFrom,
    batch_rows: int,
    joined: Whole,
    steps: JoinSteps,
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
        steps: where rows on disk are.
        in_order: whether rows are sorted on disk if they are found in another order.
    """
    keys = merge_keys(call)
    assert keys is not None
    join = Join(call, *keys, batch_rows)
    with contextlib.ExitStack() as stack:
        parts = _Parts(join, left, right, batch_rows, stack, steps)
        files = stack.enter_context(steps.result.files())
        if files.is_complete:
            rows: Iterator[Any] = iter(())
        elif parts.are_kept:
            rows = parts.rows()
        else:
            is_in_order, rows = _rows(join, left, right, batch_rows, joined, parts, stack)
            if is_in_order:
                yield from rows
                return
        if not in_order and not files.is_complete:
            yield from map(join.finished, rows)
            return
        runs = SortedRuns(join.order, batch_rows, files, template=join.template)
        files.add_batches(runs, from_first(rows))
        yield from map(join.finished, runs.merged())


def _rows(
    join: Join,
    left: BatchesFrom,
    right: BatchesFrom,
    batch_rows: int,
    joined: Whole,
    parts: "_Parts",
    stack: contextlib.ExitStack,
) -> tuple[bool, Iterator[Any]]:
    """Whether a side in memory lets rows be found in order, and the rows of the result."""
    call = join.call
    left_empty, right_empty = (node.empty for node in call.inputs)
    right_batches = stack.enter_context(contextlib.closing(generated(right(0)[0])))
    right_held, right_fits = _held(right_batches, HELD_BATCHES * batch_rows)
    if not join.type.keeps[1] and (right_fits or not _is_plain(call)):
        other = joined([*right_held, *right_batches], right_empty)
        return True, _with_held(join, left(0)[0], other)
    if call.arguments.get("validate") in ("m:1", "many_to_one"):
        raise NotImplementedError(
            f"merge: validate must be None where the right side has more than "
            f"{HELD_BATCHES * batch_rows} rows. "
            "Drop duplicates of the right keys before."
        )
    left_batches = stack.enter_context(contextlib.closing(generated(left(0)[0])))
    if right_fits:
        other = joined(_numbered(right_held, join.right_side), join.right_side(right_empty, 0))
        left_rows = _numbered(left_batches, join.left_side)
        # One right piece asks for the left pieces once.
        return False, join.joined(lambda: left_rows, [other])
    left_held, left_fits = _held(left_batches, batch_rows)
    right_all = _chained(right_held, right_batches)
    if left_fits:
        own = joined(_numbered(left_held, join.left_side), join.left_side(left_empty, 0))
        return False, join.joined(lambda: iter([own]), _numbered(right_all, join.right_side))
    return False, parts.rows(_chained(left_held, left_batches), right_all)


def _held(batches: Iterator[Any], most_rows: int) -> tuple[list[Any], bool]:
    """The first batches, up to a number of rows, and whether these are all."""
    held: list[Any] = []
    while sum(map(len, held)) <= most_rows:
        batch = next(batches, None)
        if batch is None:
            return held, True
        held.append(batch)
    return held, False


def _chained(held: list[object], batches: Iterable[object]) -> Iterator[Any]:
    """Batches that are held, which leave memory, and those after them."""
    held.reverse()
    while held:
        yield held.pop()
    yield from batches


def _numbered(batches: Iterable[Any], side: Callable[[Any, int], Any]) -> Iterator[Any]:
    """Batches with row numbers."""
    first_row = 0
    for batch in batches:
        yield side(batch, first_row)
        first_row += len(batch)


def _with_held(join: Join, batches: Iterator[Any], other: FrameBase) -> Iterator[Any]:
    """Joins each left batch with the right side, in the order of the left rows."""
    held = Held(other, join)
    try:
        for batch in batches:
            for rows in held.slices(batch):
                yield join.call.run(rows, other)
    finally:
        close(batches)


class _Parts:
    """Two sides of which neither fits in memory, in parts on disk."""

    def __init__(
        self,
        join: Join,
        left: BatchesFrom,
        right: BatchesFrom,
        batch_rows: int,
        stack: contextlib.ExitStack,
        steps: JoinSteps,
    ):
        self._join, self._batch_rows, self._left, self._right = join, batch_rows, left, right
        self._files = [stack.enter_context(step.files()) for step in (steps.left, steps.right)]

    @property
    def are_kept(self) -> bool:
        """Whether an interrupted job has put rows into parts."""
        return any(files.kept_state is not None for files in self._files)

    def rows(
        self, left: Iterator[Any] | None = None, right: Iterator[Any] | None = None
    ) -> Iterator[Any]:
        """The rows of the result. Batches that were read before are read from their start on."""
        join, (left_files, right_files) = self._join, self._files
        left_keys, right_keys = join.key_positions
        other = _Side(join.right_side, right_keys, right_files, join.call.inputs[1].empty)
        own = _Side(join.left_side, left_keys, left_files, join.call.inputs[0].empty)
        right_files.add_batches(other, self._right if right is None else from_first(right))
        left_files.add_batches(own, self._left if left is None else from_first(left))
        yield from _of_parts(join, own.parts, other.parts, self._batch_rows, left_files.temporary)


class _Side:
    """One side in parts; see `_steps.Kept`."""

    def __init__(self, side: Function, keys: list[int], files: StepFiles, empty: object):
        self._side, self._num_rows = side, 0
        self.parts = Partitions(keys, files, template=side(empty, 0))

    def add(self, batch: NDFrame) -> None:
        """Adds the rows of a batch with their numbers."""
        self.parts.add(self._side(batch, self._num_rows))
        self._num_rows += len(batch)

    def state(self) -> dict[str, Any]:
        """The files of the parts, and the number of their rows."""
        return {"parts": self.parts.state(), "rows": self._num_rows}

    def restore(self, state: Options) -> None:
        """Takes a state."""
        self.parts.restore(state["parts"])
        self._num_rows = state["rows"]


def _of_parts(
    join: Join,
    left: Partitions,
    right: Partitions,
    batch_rows: int,
    new_files: Callable[[], StepFiles],
) -> Iterator[Any]:
    """Joins two sides part by part."""
    for own, other in zip(left.parts(), right.parts(), strict=True):
        # No hash divides a key that has half of the rows of both sides.
        is_hot = 2 * own.num_rows > left.num_rows and 2 * other.num_rows > right.num_rows
        level = None if is_hot or left.level + 1 >= MOST_LEVELS else left.level + 1
        yield from _of_part(join, own, other, batch_rows, new_files, level)


def _of_part(
    join: Join,
    left: Partition,
    right: Partition,
    batch_rows: int,
    new_files: Callable[[], StepFiles],
    level: int | None,
) -> Iterator[Any]:
    """Joins one part: with a side in memory if it fits, else divided further or piece by piece.

    Args:
        level: that of the parts of this part; None if it cannot be divided.
    """
    left_fits, right_fits = (part.num_rows <= batch_rows for part in (left, right))
    if level is not None and not left_fits and not right_fits:
        with new_files() as files:
            bits = bits_for(min(left.num_rows, right.num_rows), batch_rows)
            own, other = (Partitions(k, files, level, bits=bits) for k in join.key_positions)
            for frame in right.frames(batch_rows):
                other.add(frame)
            for frame in left.frames(batch_rows):
                own.add(frame)
            yield from _of_parts(join, own, other, batch_rows, new_files)
        return
    yield from join.joined(lambda: left.frames(batch_rows), right.frames(batch_rows))
