# SPDX-License-Identifier: Apache-2.0
"""Distinct rows over batches: in memory, or on disk by the hash of their keys."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..combining._concat import concat
from ._numbering import can_spill
from ._partitions import MOST_LEVELS, Partitions


class DistinctRows:
    """The distinct rows of the frames so far. A context manager.

    Rows leave memory when there are more than a limit, to the part of a hash of their keys. A part
    that is too large is partitioned again by further bits.
    """

    def __init__(
        self,
        keys: Sequence[str],
        most_rows: int,
        keep: str = "first",
        level: int = 0,
    ):
        """Starts without rows.

        Args:
            keys: the labels of the compared columns.
            most_rows: the number of distinct rows that may stay in memory.
            keep: the row that stays of equal ones, "first" or "last".
            level: the number of levels of parts above this one.
        """
        self._keys, self._keep = list(keys), keep
        self._most_rows, self._level = most_rows, level
        self._held: list[Any] = []
        self._parts: Partitions | None = None
        self._files = contextlib.ExitStack()

    def __enter__(self) -> "DistinctRows":
        return self

    def __exit__(self, *error: Any) -> None:
        self._held = []
        self._files.close()

    @property
    def is_spilled(self) -> bool:
        """Whether rows are on disk."""
        return self._parts is not None

    def add(self, frame: Any) -> None:
        """Adds the distinct rows of a frame."""
        self._held.append(self._distinct(frame))
        sizes = [len(part) for part in self._held]
        if sum(sizes[1:]) > sizes[0]:
            self._merge()
        held = self._held[0]
        if len(held) <= self._most_rows or self._level == MOST_LEVELS:
            return
        if can_spill((*held._table.columns, *held._table.index.stored)):
            self._spill()

    def _distinct(self, frame: Any) -> Any:
        return frame.drop_duplicates(subset=self._keys, keep=self._keep)

    def _merge(self) -> None:
        if len(self._held) > 1:
            self._held = [self._distinct(concat(self._held))]

    def _spill(self) -> None:
        if self._parts is None:
            positions = [self._held[0]._labels.position(key) for key in self._keys]
            self._parts = self._files.enter_context(Partitions(positions, self._level))
        for frame in self._held:
            self._parts.add(frame)
        self._held = []

    def frames(self) -> Iterator[Any]:
        """The distinct rows: one frame in the order of the rows, or the parts in any order.

        Rows that `add` got before come before those that it got later, in each part.
        """
        if self._parts is None:
            self._merge()
            yield from self._held
            return
        self._spill()
        for part in self._parts.parts():
            if part.num_rows:
                yield from self._distinct_of(part.frames(self._most_rows))

    def _distinct_of(self, frames: Iterable[Any]) -> Iterator[Any]:
        with DistinctRows(self._keys, self._most_rows, self._keep, self._level + 1) as rows:
            for frame in frames:
                rows.add(frame)
            yield from rows.frames()
