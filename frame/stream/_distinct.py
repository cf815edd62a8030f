# SPDX-License-Identifier: Apache-2.0
"""Distinct rows over batches: in memory, or on disk by the hash of their keys."""

from collections.abc import Iterator, Sequence
from typing import Any

from ..combining._concat import stacked
from ..table._ndframe import NDFrame
from ..table._types import Options
from ._numbering import ROW, can_spill, plain, with_numbers
from ._partitions import MOST_LEVELS, Partition, Partitions, bits_for
from ._steps import StepFiles


class DistinctRows:
    """The distinct rows of the frames so far.

    Rows leave memory when there are more than a limit, to the part of a hash of their keys. A part
    that is too large is partitioned again by further bits.
    """

    def __init__(
        self,
        keys: Sequence[str],
        most_rows: int,
        files: StepFiles,
        keep: str = "first",
        level: int = 0,
        bits: int | None = None,
    ):
        """Starts without rows.

        Args:
            keys: the labels of the compared columns.
            most_rows: the number of distinct rows that may stay in memory.
            files: where the rows on disk are.
            keep: the row that stays of equal ones, "first" or "last".
            level: the number of levels of parts above this one.
            bits: how the parts are numbered; see `Partitions`.
        """
        self._keys, self._keep = list(keys), keep
        self._most_rows, self._level, self._files = most_rows, level, files
        self._bits = bits
        self._held: list[Any] = []
        self._parts: Partitions | None = None

    @property
    def is_spilled(self) -> bool:
        """Whether rows are on disk."""
        return self._parts is not None

    def add(self, frame: NDFrame) -> None:
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
            self._held = [self._distinct(stacked(self._held))]

    def _spill(self) -> None:
        if self._parts is None:
            self._parts = self._partitions(list(self._held[0]._labels))
        for frame in self._held:
            self._parts.add(frame)
        self._held = []

    def _partitions(self, labels: list[str]) -> Partitions:
        keys = list(map(labels.index, self._keys))
        return Partitions(keys, self._files, self._level, bits=self._bits)

    def state(self) -> dict[str, Any] | None:
        """The files of all rows; None if a file would change them. See `_steps.Kept`."""
        self._merge()
        held = [frame for frame in self._held if len(frame)]
        if not all(can_spill((*one._table.columns, *one._table.index.stored)) for one in held):
            return None
        names = [self._files.write(frame) for frame in held]
        # A frame without rows has no file.
        self._held = list(map(self._files.read, names)) or self._held
        parts = None if self._parts is None else self._parts.state()
        return {"memory": {"files": names}, "parts": parts}

    def restore(self, state: Options) -> None:
        """Takes the rows of files; see `_steps.Kept`."""
        self._held = list(map(self._files.read, state["memory"]["files"]))
        if state["parts"] is not None:
            self._parts = self._partitions(state["parts"]["labels"])
            self._parts.restore(state["parts"])

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
                yield from self._distinct_of(part)

    def _distinct_of(self, part: Partition) -> Iterator[Any]:
        with self._files.temporary() as files:
            level, bits = self._level + 1, bits_for(part.num_rows, self._most_rows)
            rows = DistinctRows(self._keys, self._most_rows, files, self._keep, level, bits)
            for frame in part.frames(self._most_rows):
                rows.add(frame)
            yield from rows.frames()


class NumberedDistinctRows(DistinctRows):
    """The distinct rows of batches with columns `c0`, ..., and their row numbers."""

    _num_rows = 0

    def add(self, frame: NDFrame) -> None:
        """Adds the distinct rows of a batch."""
        numbered = with_numbers(plain(frame), ROW, self._num_rows)
        self._num_rows += len(frame)
        super().add(numbered)

    def state(self) -> dict[str, Any] | None:
        """The files of all rows, and the number of the rows before; see `_steps.Kept`."""
        state = super().state()
        return None if state is None else {**state, "rows": self._num_rows}

    def restore(self, state: Options) -> None:
        """Takes a state; see `_steps.Kept`."""
        super().restore(state)
        self._num_rows = state["rows"]
