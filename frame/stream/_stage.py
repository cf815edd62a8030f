# SPDX-License-Identifier: Apache-2.0
"""Stages of a pipeline: how the result of a step is made, batch by batch or at once."""

import dataclasses
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any

from ..combining._concat import stacked
from ..plan._node import Node
from ..table._ndframe import NDFrame
from ..table._row_index import RowIndex
from ..table._types import Function

# Frames are concatenated in groups of this many, so that few programs serve all numbers of batches.
_FAN_IN = 8


@dataclasses.dataclass(frozen=True)
class Stage:
    """How the result of a step is made.

    Attributes:
        run: gives an iterator of batches, or the whole result.
        is_whole: whether `run` gives the whole result.
        empty: the result for sources without rows.
        pieces: gives a whole result as batches, if it may be larger than memory.
        later: gives the batches from a number on, without those before; None unless each is made of
            one batch of a source.
        unordered: gives the batches with their rows in any order, if this saves a sort on disk.
    """

    run: Callable[[], Any]
    is_whole: bool
    empty: Any
    pieces: Callable[[], Iterator[Any]] | None = None
    later: Callable[[int], Iterator[Any]] | None = None
    unordered: Callable[[], Iterator[Any]] | None = None

    def batches(self) -> Iterator[Any]:
        """The result as batches."""
        if not self.is_whole:
            return self.run()
        return iter([self.run()]) if self.pieces is None else self.pieces()

    def in_any_order(self) -> Iterator[Any]:
        """The result as batches, with its rows in any order."""
        return self.in_any_order_from(0)[0]

    def batches_from(self, number: int) -> tuple[Iterator[Any], int]:
        """Batches, and the number of the first one: `number` where those before can be left out."""
        if self.later is None:
            return self.batches(), 0
        return self.later(number), number

    def in_any_order_from(self, number: int) -> tuple[Iterator[Any], int]:
        """The same as `batches_from`, with the rows of all batches in any order."""
        return self.batches_from(number) if self.unordered is None else (self.unordered(), 0)

    def whole(self) -> Any:
        """The whole result."""
        return self.run() if self.is_whole else joined(self.run(), self.empty)


def whole_stage(node: Node, run: Callable[[], object]) -> Stage:
    return Stage(run, True, node.empty)


def unstreamed(method: str) -> NotImplementedError:
    """The error for a method that needs all rows at once."""
    return NotImplementedError(
        f"{method}: cannot run over batches of rows, because it needs all rows at once. Call "
        "collect() without batch_rows= and memory_limit=."
    )


def applied(call: Function, stage: Stage, empty: object) -> Stage:
    """A function of each batch, or of the whole result and its pieces."""

    def of_batches(batches: Function | None) -> Any:
        return None if batches is None else lambda *first: each(call, batches(*first))

    run = stage.run
    return Stage(
        (lambda: call(run())) if stage.is_whole else of_batches(run),
        stage.is_whole,
        empty,
        of_batches(stage.pieces),
        of_batches(stage.later),
        of_batches(stage.unordered),
    )


def each(call: Function, batches: Iterator[Any]) -> Iterator[Any]:
    """Calls a function with each batch; closing the result closes the batches."""
    try:
        yield from map(call, batches)
    finally:
        close(batches)


def close(batches: Any) -> None:
    """Ends the thread that reads ahead of an iterator."""
    if hasattr(batches, "close"):
        batches.close()


def generated(items: Iterable[object]) -> Generator[Any, None, None]:
    """The same items by a generator, which can be closed."""
    yield from items


def numbered(batches: Iterable[Any]) -> Iterator[Any]:
    """Labels the rows of all batches 0, 1, ..."""
    start = 0
    for batch in batches:
        yield batch._like(batch._table.replace(index=RowIndex((), (None,), start)))
        start += len(batch)


def joined(batches: Iterable[Any], empty: object) -> Any:
    """Concatenates batches; `empty` if there are none."""
    batches = list(batches)
    parts = [batch for batch in batches if len(batch)]
    # Of the others the dtypes count: integers become floats for rows that a later step drops.
    dtypes = set(map(_dtypes, parts))
    for batch in batches:
        if _dtypes(batch) not in dtypes:
            dtypes.add(_dtypes(batch))
            parts.append(batch)
    parts = parts or [empty]
    while len(parts) > 1:
        groups = [parts[start : start + _FAN_IN] for start in range(0, len(parts), _FAN_IN)]
        parts = [stacked(group) for group in groups]
    return parts[0]


def _dtypes(batch: NDFrame) -> tuple[str, ...]:
    return tuple(column.dtype_name for column in batch._table.columns)
