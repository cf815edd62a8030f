# SPDX-License-Identifier: Apache-2.0
"""Batches of a plan for training loops: of one capacity, shuffled, and resumable."""

import dataclasses
import hashlib
from collections.abc import Generator, Iterator
from typing import Any

import numpy as np

from ..combining._concat import stacked
from ..plan._identity import identity
from ..plan._node import Node, Scan, in_order
from ..plan._optimize import optimized
from ..plan._run import run
from ..table._ndframe import FrameBase
from ..table._types import Options
from ._identity import portable_text
from ._limits import rows_of_batches
from ._pipeline import pipeline
from ._reader import at_capacity, batches_of, check_sources, with_capacity
from ._stage import Stage, close
from ._stage_dtypes import in_declared_dtypes

# Rows that are decoded at one time, unless batches are larger.
DECODED_ROWS = 2**16


@dataclasses.dataclass(frozen=True)
class Position:
    """A position in a stream: that of a buffer of rows, and the batches given from it.

    Attributes:
        epoch: the number of passes before this one.
        buffer: the number of buffers before this one in the pass.
        chunk: the decoded chunk with the first row of the buffer.
        offset: the rows of the chunk's result before the buffer.
        step: the batches of the buffer that were given.
    """

    epoch: int = 0
    buffer: int = 0
    chunk: int = 0
    offset: int = 0
    step: int = 0


@dataclasses.dataclass(frozen=True)
class Recipe:
    """What the batches are made of. Equal recipes give equal batches.

    Attributes:
        plan: a plan whose steps give each batch the dtypes of all rows.
        size, drop_remainder, shuffle_buffer, seed, epochs, batch_rows, sharding: see
            `LazyFrame.batches`.
    """

    plan: Node
    size: int
    drop_remainder: bool
    shuffle_buffer: int | None
    seed: int
    epochs: int | None
    batch_rows: int | None
    sharding: Any

    @property
    def chunk_rows(self) -> int:
        """The rows that are decoded at one time."""
        return self.batch_rows or max(self.size, DECODED_ROWS)

    @property
    def buffer_rows(self) -> int:
        """The rows of a buffer, a multiple of the size of a batch."""
        return -(-(self.shuffle_buffer or 1) // self.size) * self.size

    @property
    def fingerprint(self) -> str:
        """Identifies the plan, its files and the order of its rows, on every machine."""
        order = (self.size, self.drop_remainder, self.shuffle_buffer, self.seed, self.chunk_rows)
        text = "\n".join([identity(self.plan, portable_text), repr(order)])
        return hashlib.sha256(text.encode()).hexdigest()[:16]


class Batches:
    """An iterator of frames of one capacity, made by `LazyFrame.batches`.

    A thread decodes the next rows, and the next batch is on the device before it is asked for.

    Example:
        >>> from jaxframes.frame import JaxFrame
        >>> plan = JaxFrame({"x": [1, 2, 3, 4, 5]}).lazy()
        >>> batches = plan.batches(2)
        >>> next(batches).x.tolist()
        [1, 2]
        >>> resumed = plan.batches(2, state=batches.state())
        >>> [batch.x.tolist() for batch in resumed]
        [[3, 4], [5]]
    """

    def __init__(self, recipe: Recipe, state: Any = None):
        check_sources(recipe.plan)
        self._recipe = recipe
        self._fingerprint = recipe.fingerprint
        self._position = self._position_of(state)
        self._made = _batches(recipe, self._position)
        self._next: Any = None

    def __iter__(self) -> "Batches":
        return self

    def __next__(self) -> Any:
        if self._next is None:
            self._next = next(self._made, ())
        if not self._next:
            raise StopIteration
        batch, self._position = self._next
        # Dispatched now, so that it is ready when the loop comes back.
        self._next = next(self._made, ())
        return batch

    def state(self) -> dict[str, int | str]:
        """The position behind the last batch, as numbers and strings that JSON holds."""
        return {"plan": self._fingerprint, **dataclasses.asdict(self._position)}

    def close(self) -> None:
        """Ends the thread that reads ahead."""
        self._made.close()
        self._next = ()

    def _position_of(self, state: Options | None) -> Position:
        if state is None:
            return Position()
        values = dict(state)
        if values.pop("plan", None) != self._fingerprint:
            raise ValueError(
                "batches: the state must come from the same plan, files, size, drop_remainder, "
                f"shuffle_buffer, seed and batch_rows, got {state!r}."
            )
        return Position(**values)


def limited(recipe: Recipe, memory_limit: object) -> Recipe:
    """The recipe with the number of rows at one time that follows from a limit, if there is one."""
    if memory_limit is None:
        return recipe
    scans = [node for node in in_order(optimized(recipe.plan, None)) if isinstance(node, Scan)]
    num_rows = rows_of_batches(scans, recipe.batch_rows, memory_limit)
    return dataclasses.replace(recipe, batch_rows=num_rows)


def recipe_of(caller: str, plan: Node, size: int, **options: Any) -> Recipe:
    """A recipe with checked numbers."""
    counts = {"size": size, **{name: options[name] for name in _COUNTS}}
    for name, value in counts.items():
        is_count = isinstance(value, int) and not isinstance(value, bool) and value > 0
        if not is_count and (value is not None or name == "size"):
            raise ValueError(f"{caller}: {name} must be a positive integer, got {value!r}.")
    seed = options["seed"]
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise ValueError(f"{caller}: seed must be an integer of at least 0, got {seed!r}.")
    return Recipe(plan, size, **options)


_COUNTS = ("shuffle_buffer", "epochs", "batch_rows")


def _batches(recipe: Recipe, position: Position) -> Generator[tuple[Any, Position], None, None]:
    """The batches from a position on, each with the position behind it."""
    size = recipe.size
    while recipe.epochs is None or position.epoch < recipe.epochs:
        has_rows = position != Position(position.epoch)
        for rows, start in _buffers(recipe, position):
            has_rows = True
            order = _order(recipe, start, len(rows))
            for step in range(start.step, -(-len(rows) // size)):
                first, last = step * size, min((step + 1) * size, len(rows))
                if recipe.drop_remainder and last - first < size:
                    break
                batch = rows
                if order is not None:
                    batch = rows.iloc[order[first:last]]
                if recipe.sharding is not None:
                    batch = FrameBase.frame_class(batch, sharding=recipe.sharding)
                # No padding that a loss would average: `to_jax` has just the rows inside `jit` too.
                batch = with_capacity(batch, batch._layout.divisible(size))
                table = batch._table
                batch = batch._like(table.replace(index=table.index.with_start_as_data()))
                yield batch, dataclasses.replace(start, step=step + 1)
        if not has_rows:
            return
        position = Position(position.epoch + 1)


def _order(recipe: Recipe, start: Position, num_rows: int) -> Any:
    """A permutation of a buffer; None without shuffling."""
    if recipe.shuffle_buffer is None:
        return None
    key = [recipe.seed, start.epoch, start.buffer]
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(key))).permutation(num_rows)


def _buffers(recipe: Recipe, position: Position) -> Iterator[tuple[Any, Position]]:
    """Buffers of rows with their positions. All but the last one of a pass are full."""
    capacity = recipe.buffer_rows
    held: list[Any] = []
    num_held, start = 0, position
    chunks = _chunks(recipe, position.chunk)
    offset = position.offset
    try:
        for chunk, rows in chunks:
            while offset < len(rows):
                if not held:
                    start = dataclasses.replace(start, chunk=chunk, offset=offset)
                taken = min(capacity - num_held, len(rows) - offset)
                held.append(rows.iloc[offset : offset + taken])
                num_held, offset = num_held + taken, offset + taken
                if num_held == capacity:
                    yield _joined(held, capacity), start
                    held, num_held = [], 0
                    start = Position(start.epoch, start.buffer + 1)
            offset = 0
        if held:
            yield _joined(held, capacity), start
    finally:
        chunks.close()


def _joined(parts: list[object], num_rows: int) -> Any:
    return at_capacity(stacked(parts), num_rows)


def _chunks(recipe: Recipe, first: int) -> Any:
    """The result of the plan for each decoded chunk, from chunk `first` on, with its number."""
    check_sources(recipe.plan)
    root = optimized(recipe.plan, None)

    def read(scan: Scan, first: int = 0) -> Iterator[Any]:
        return batches_of(scan, recipe.chunk_rows, first)

    results, start = in_declared_dtypes(_stage(root, read, recipe)).batches_from(first)
    try:
        for number, rows in enumerate(results, start):
            if number >= first:
                yield number, rows
    finally:
        close(results)


def _stage(root: Any, read: Any, recipe: Recipe) -> Stage:
    try:
        return pipeline(root, read, recipe.chunk_rows)
    except NotImplementedError:
        if recipe.batch_rows is not None:
            raise
    # Without a given size the result may be held in memory.
    whole = optimized(recipe.plan, None)
    return Stage(lambda: run(whole), True, whole.empty)
