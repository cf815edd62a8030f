# SPDX-License-Identifier: Apache-2.0
"""Sorted runs on disk, and their merge in bounded memory (Knuth, volume 3, section 5.4)."""

import collections
import contextlib
import dataclasses
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ..combining._concat import stacked
from ..io._construction import families_of
from ..table._column_labels import Labels
from ..table._ndframe import FrameBase
from ..table._nullable import Family
from ..table._to_host import host_array
from ..table._types import Options
from ._arrow_rows import arrow_of, frame_of_arrow, joined_rows
from ._memory import giving_back
from ._spilled_rows import SpilledRows, SpillWriter, in_pieces
from ._steps import StepFiles

# Runs that are merged at one time. Each keeps a file open and a part of a piece loaded, so more are
# merged in several passes.
_FAN_IN = 64
# Pieces of fewer rows would cost more than they save.
_LEAST_PIECE_ROWS = 16
# A table takes kilobytes: those of one row are joined when there are so many.
_MOST_TABLES = 256


@dataclasses.dataclass(frozen=True)
class Order:
    """An order of rows.

    Attributes:
        by: the labels of the sort keys.
        ascending: the direction of each.
        na_position: where missing values go.
        missing_first: the sort keys with missing values first in spite of that.
    """

    by: tuple[Any, ...]
    ascending: tuple[bool, ...]
    na_position: str = "last"
    missing_first: frozenset[Any] = frozenset()

    def sorted(self, frame: Any) -> Any:
        """Sorts rows stably."""
        by, ascending, rows = [], [], frame
        for label, is_ascending in zip(self.by, self.ascending, strict=True):
            if label in self.missing_first:
                by.append(f"{label} is there")
                ascending.append(True)
                rows = rows.assign(**{by[-1]: rows[label].notna()})
            by.append(label)
            ascending.append(is_ascending)
        rows = rows.sort_values(
            by, ascending=ascending, na_position=self.na_position, kind="stable"
        )
        return rows[list(frame._labels)] if self.missing_first else rows

    def with_labels(self, labels: Sequence[object]) -> "Order":
        """The same order by keys of other labels."""
        missing_first = frozenset(
            new for old, new in zip(self.by, labels, strict=True) if old in self.missing_first
        )
        return dataclasses.replace(self, by=tuple(labels), missing_first=missing_first)


class SortedRuns:
    """Sorted runs of rows, each in a file of a step."""

    def __init__(
        self,
        order: Order,
        piece_rows: int,
        files: StepFiles,
        *,
        template: Any = None,
        labels: Labels | None = None,
    ):
        """Starts without rows.

        Args:
            order: the order of the rows.
            piece_rows: the number of rows of the merged frames; a run has half as many or more.
            files: where the runs are.
            template: a frame without rows that has the types of all; those of each run if None.
            labels: the column labels of kept runs; those of their files, as strings, if None.
        """
        self.order = order
        self._rows = piece_rows
        self._schema = None if template is None else arrow_of(template, is_default=False).schema
        self._held: list[Any] = []
        self._files = files
        # The number of merges that a run comes from, and its path.
        self._runs: list[tuple[int, str]] = []
        self._layout = files.layout
        self._labels: Any = labels

    def __len__(self) -> int:
        """The number of runs; rows that are not written yet count as one."""
        return len(self._runs) + bool(self._held)

    def state(self) -> dict[str, Any]:
        """The names of the runs, after all rows are written; see `_steps.Kept`."""
        if self._held:
            self._write_held()
        return {
            "files": [os.path.basename(path) for _, path in self._runs],
            "merges": [num_merges for num_merges, _ in self._runs],
        }

    def restore(self, state: Options) -> None:
        """Takes the runs of a state; see `_steps.Kept`."""
        paths = map(self._files.path_of, state["files"])
        self._runs = list(zip(state["merges"], paths, strict=True))
        if self._runs and self._labels is None:
            rows = SpilledRows(self._runs[0][1]).schema.empty_table()
            self._labels = frame_of_arrow(rows, self._layout)._labels

    def add(self, frame: FrameBase) -> None:
        """Adds rows after those before; writes a sorted run when there are enough."""
        if not len(frame):
            return
        self._layout, self._labels = frame._layout, frame._labels
        self._held.append(frame)
        if 2 * sum(map(len, self._held)) >= self._rows:
            self._write_held()

    def _write_held(self) -> None:
        frames, self._held = self._held, []
        rows = stacked(frames)
        table = arrow_of(self.order.sorted(rows), is_default=False)
        self._runs.append((0, self._written(iter([table]))))

    def _written(self, tables: Iterator[pa.Table]) -> str:
        """Writes sorted rows as a run; returns its path."""
        path = self._files.new_path()
        with self._files.writing(path) as name, contextlib.ExitStack() as files:
            writer: SpillWriter | None = None
            first_rows: list[pa.Table] = []
            for rows in in_pieces(tables, self._piece_rows):
                if writer is None:
                    schema = self._schema or rows.schema
                    writer = files.enter_context(SpillWriter(name, schema))
                writer.write(rows)
                # A slice would hold all rows.
                first_rows.append(rows.take([0]))
                if len(first_rows) == _MOST_TABLES:
                    first_rows = [_joined(first_rows)]
            if writer is not None:
                writer.write(_joined(first_rows))
        return path

    @property
    def _piece_rows(self) -> int:
        """The rows of a piece: those of all runs that are merged at one time are half a batch."""
        return max(self._rows // (2 * _FAN_IN), _LEAST_PIECE_ROWS)

    def merged(self) -> Iterator[Any]:
        """The rows of all runs in order, stably, as frames of one capacity."""
        if self._held:
            self._write_held()
        while len(self._runs) > _FAN_IN:
            self._merge_some()
        least = 0
        paths = [path for _, path in self._runs]
        for table in giving_back(in_pieces(self._merge(paths), self._rows)):
            least = least or table.num_rows
            frame = frame_of_arrow(table, self._layout, least)
            frame._labels = self._labels
            yield frame

    def _merge_some(self) -> None:
        """Merges the first runs of those that come from the fewest merges."""
        least = min(num_merges for num_merges, _ in self._runs)
        first = [num_merges for num_merges, _ in self._runs].index(least)
        paths = [path for num_merges, path in self._runs if num_merges == least][:_FAN_IN]
        merged = paths[0] if len(paths) == 1 else self._written(giving_back(self._merge(paths)))
        self._runs[first : first + len(paths)] = [(least + 1, merged)]
        if len(paths) > 1:
            self._files.replace(paths)

    def _merge(self, paths: Sequence[str]) -> Iterator[pa.Table]:
        """Merges runs with each piece read once (Knuth's forecasting, section 5.4.6).

        Pieces are read in the order of their first rows. So the rows before the first row of the
        next piece are final, and of each run only a part of its last piece is not. Only the keys
        go to the device.
        """
        runs = list(map(_Run, paths))
        if len(runs) < 2:
            for run in runs:
                yield from run.pieces()
            return
        waiting = collections.deque(self._forecast(runs))
        while waiting or any(run.num_loaded for run in runs):
            num_loaded = 0
            while waiting and num_loaded < max(self._rows // 2, 1):
                num_loaded += runs[waiting.popleft()].load()
            # Equal rows are in the order of their runs: that of the tables.
            tables = [run.loaded for run in runs]
            if waiting:
                tables.insert(waiting[0] + 1, runs[waiting[0]].first_of_next)
            rows = _joined(tables)
            final = self._ordered(rows)
            if waiting:
                bound = sum(table.num_rows for table in tables[: waiting[0] + 1])
                final = final[: int((final == bound).nonzero()[0][0])]
            numbers = np.arange(len(tables), dtype=np.uint8)
            owners = np.repeat(numbers, [table.num_rows for table in tables])
            counts = np.bincount(owners[final], minlength=len(tables))
            if waiting:
                counts = np.delete(counts, waiting[0] + 1)
            for run, count in zip(runs, counts.tolist(), strict=True):
                run.drop(count)
            if len(final):
                yield rows.take(pa.array(final))

    def _forecast(self, runs: Sequence["_Run"]) -> list[int]:
        """The runs of all pieces, in the order of the first rows of these."""
        numbers = np.repeat(np.arange(len(runs)), [len(run) for run in runs])
        return numbers[self._ordered(_joined([run.first_rows for run in runs]))].tolist()

    def _ordered(self, rows: pa.Table) -> np.ndarray:
        """The positions of rows in their order, stably."""
        # One capacity for all numbers of runs: half a batch, a piece of each run, and one more row.
        capacity = self._rows // 2 + (_FAN_IN + 1) * self._piece_rows + 1
        # The columns of a run are those of the frame, then the row labels.
        labels, families = list(self._labels), families_of(rows.schema)
        stored = [labels.index(label) for label in self.order.by]
        names = [f"k{position}" for position in range(len(stored))]
        positions = pa.array(np.arange(rows.num_rows, dtype=np.int32))
        table = pa.table([*map(rows.column, stored), positions], [*names, "position"])
        # Nullable keys would be floats, and wide integers equal.
        told: dict[str, Family] = {
            name: families[rows.column_names[at]]
            for name, at in zip(names, stored, strict=True)
            if rows.column_names[at] in families
        }
        order = self.order.with_labels(names)
        frame = order.sorted(frame_of_arrow(table, self._layout, capacity, told))
        return host_array(frame._column("position").data)[: rows.num_rows]


def _joined(tables: list[pa.Table]) -> pa.Table:
    """Concatenates tables of a run, which are of one type but for those without values."""
    return joined_rows(tables).combine_chunks()


class _Run:
    """A sorted run: its pieces, and after them the first row of each."""

    def __init__(self, path: str):
        self._rows = SpilledRows(path)
        self._num_read = 0
        self.first_rows = self._rows[len(self)]
        self.loaded = self._rows.schema.empty_table()

    def __len__(self) -> int:
        return len(self._rows) - 1

    @property
    def num_loaded(self) -> int:
        return self.loaded.num_rows

    @property
    def first_of_next(self) -> pa.Table:
        return self.first_rows.slice(self._num_read, 1)

    def load(self) -> int:
        """Loads the next piece; returns the number of its rows."""
        rows = self._rows[self._num_read]
        self._num_read += 1
        self.loaded = pa.concat_tables([self.loaded, rows])
        return rows.num_rows

    def drop(self, num_rows: int) -> None:
        self.loaded = self.loaded.slice(num_rows)

    def pieces(self) -> Iterator[pa.Table]:
        return map(self._rows.__getitem__, range(len(self)))
