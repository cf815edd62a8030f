# SPDX-License-Identifier: Apache-2.0
"""Sorted runs on disk, and their merge in bounded memory (Knuth, volume 3, section 5.4)."""

import contextlib
import dataclasses
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..combining._concat import concat
from ..io._construction import table_of_arrow
from ..table._column import host_array
from ..table._layout import Layout
from ..table._ndframe import FrameBase
from ._arrow_rows import arrow_of, in_schema
from ._files import naming, writing
from ._memory import giving_back
from ._reader import at_capacity
from ._temporary_folder import TemporaryFolder

# The number of the run that a row is from, among the columns of a merge.
_RUN = "number of the run"
# Runs that are merged at one time. Each keeps a file open and a piece loaded, so more runs than
# these are merged in several passes.
_FAN_IN = 16
# Blocks of fewer rows would cost more than they save.
_LEAST_PIECE_ROWS = 16
# Files that are read once: dictionaries and statistics would not be used.
FAST: dict[str, Any] = {
    "compression": "lz4", "use_dictionary": False, "write_statistics": False,
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Order:
    """An order of rows.

    Attributes:
        by: the labels of the sort keys.
        ascending: the direction of each.
        na_position: where missing values go.
    """

    by: tuple[Any, ...]
    ascending: tuple[bool, ...]
    na_position: str = "last"

    def sorted(self, frame: Any) -> Any:
        """Sorts rows stably."""
        return frame.sort_values(
            list(self.by), ascending=list(self.ascending), na_position=self.na_position,
            kind="stable",
        )  # fmt: skip

    @property
    def then_by_run(self) -> "Order":
        """The order of a merge: equal rows in the order of their runs."""
        return Order((*self.by, _RUN), (*self.ascending, True), self.na_position)


class SortedRuns:
    """Sorted runs of rows, each in a file of a temporary folder. A context manager."""

    def __init__(self, order: Order, piece_rows: int, template: Any = None):
        """Makes a temporary folder.

        Args:
            order: the order of the rows.
            piece_rows: the number of rows of a run that is written, and of the merged frames.
            template: a frame without rows that has the types of all; those of each run if None.
        """
        self.order = order
        self._rows = piece_rows
        self._schema = None if template is None else arrow_of(template, is_default=False).schema
        self._held: list[Any] = []
        self._folder = TemporaryFolder()
        self._paths: list[str] = []
        self._numbers = itertools.count()
        self._layout = Layout()
        self._labels: Any = None

    def __enter__(self) -> "SortedRuns":
        return self

    def __exit__(self, *error: Any) -> None:
        self._held = []
        self._folder.cleanup()

    def __len__(self) -> int:
        """The number of runs; rows that are not written yet count as one."""
        return len(self._paths) + bool(self._held)

    def add(self, frame: Any) -> None:
        """Adds rows after those before; writes a sorted run when there are enough."""
        if not len(frame):
            return
        self._layout, self._labels = frame._layout, frame._labels
        self._held.append(frame)
        if sum(map(len, self._held)) >= self._rows:
            self._write_held()

    def _write_held(self) -> None:
        frames, self._held = self._held, []
        rows = concat(frames) if len(frames) > 1 else frames[0]
        table = arrow_of(self.order.sorted(rows), is_default=False)
        self._paths.append(self._written(iter([table])))

    def _written(self, tables: Iterator[pa.Table]) -> str:
        """Writes sorted rows as a run; returns the name of its file."""
        path = os.path.join(self._folder.name, f"{next(self._numbers)}.parquet")
        group_rows = max(self._rows // _FAN_IN, _LEAST_PIECE_ROWS)
        with writing(path), contextlib.ExitStack() as stack:
            writer = None
            for rows in tables:
                if writer is None:
                    schema = self._schema or rows.schema
                    writer = stack.enter_context(pq.ParquetWriter(path, schema, **FAST))
                writer.write_table(in_schema(rows, writer.schema), row_group_size=group_rows)
        return path

    def merged(self) -> Iterator[Any]:
        """The rows of all runs in order, stably, as frames of one capacity."""
        if self._held:
            self._write_held()
        while len(self._paths) > _FAN_IN:
            groups = [
                self._paths[start : start + _FAN_IN]
                for start in range(0, len(self._paths), _FAN_IN)
            ]
            self._paths = []
            for group in groups:
                self._paths.append(self._written(giving_back(self._merge(group))))
                for path in group:
                    os.remove(path)
        least = 0
        for table in giving_back(_in_pieces(self._merge(self._paths), self._rows)):
            least = least or table.num_rows
            frame = at_capacity(self._frame(table), least)
            frame._labels = self._labels
            yield frame

    def _merge(self, paths: Sequence[str]) -> Iterator[pa.Table]:
        """Merges runs piece by piece.

        The rows of a run that are not loaded come after its last loaded row. So the merged rows up
        to the first of these last rows are final. Only the keys go to the device.
        """
        piece_rows = max(self._rows // max(len(paths), 1), _LEAST_PIECE_ROWS)
        readers = [Run(path, piece_rows) for path in paths]
        if len(readers) == 1:
            while not readers[0].is_exhausted:
                yield readers[0].read(piece_rows)
            return
        num_loaded = [0] * len(readers)
        tables: list[pa.Table] = []
        while True:
            for number, reader in enumerate(readers):
                table = reader.read(piece_rows - num_loaded[number])
                if table.num_rows:
                    run = pa.array([number] * table.num_rows, pa.int32())
                    tables.append(table.append_column(_RUN, run))
                    num_loaded[number] += table.num_rows
            if not tables:
                return
            rows = pa.concat_tables(tables, promote_options="permissive").combine_chunks()
            order = self._ordered(rows, piece_rows * len(readers))
            runs = rows[_RUN].to_numpy()[order]
            last = len(runs) - 1
            for number, reader in enumerate(readers):
                if not reader.is_exhausted:
                    last = min(last, int((runs == number).nonzero()[0][-1]))
            final, others = order[: last + 1], order[last + 1 :]
            for number, count in enumerate(np.bincount(runs[: last + 1]).tolist()):
                num_loaded[number] -= count
            yield rows.take(pa.array(final)).drop_columns([_RUN])
            tables = [rows.take(pa.array(others))] if len(others) else []

    def _ordered(self, rows: pa.Table, most_rows: int) -> np.ndarray:
        """The positions of rows in their order."""
        # The columns of a run are those of the frame, then the row labels.
        labels = list(self._labels)
        keys = [rows.column(labels.index(label)) for label in self.order.by]
        names = [f"k{position}" for position in range(len(keys))]
        positions = pa.array(np.arange(rows.num_rows, dtype=np.int32))
        table = pa.table([*keys, rows[_RUN], positions], [*names, _RUN, "position"])
        order = dataclasses.replace(self.order, by=tuple(names)).then_by_run
        frame = order.sorted(at_capacity(self._frame(table), most_rows))
        return host_array(frame._column("position").data)[: rows.num_rows]

    def _frame(self, table: pa.Table) -> Any:
        columns, labels = table_of_arrow(table, self._layout)
        return FrameBase.frame_class._of(columns, labels)


def _in_pieces(tables: Iterable[pa.Table], num_rows: int) -> Iterator[pa.Table]:
    """Cuts and joins tables to pieces of a number of rows."""
    held: list[pa.Table] = []
    num_held = 0
    for table in tables:
        while table.num_rows:
            part = table.slice(0, num_rows - num_held)
            held.append(part)
            num_held += part.num_rows
            table = table.slice(part.num_rows)
            if num_held == num_rows:
                yield pa.concat_tables(held, promote_options="permissive")
                held, num_held = [], 0
    if held:
        yield pa.concat_tables(held, promote_options="permissive")


class Run:
    """Reads a run piece by piece."""

    def __init__(self, path: str, piece_rows: int):
        self._path = path
        with naming(path):
            # Buffers filled ahead would hold the whole run.
            file = pq.ParquetFile(path, pre_buffer=False, buffer_size=2**20)
            self._batches = file.iter_batches(batch_size=piece_rows, use_threads=False)
            self._held = file.schema_arrow.empty_table()
            self._left = file.metadata.num_rows

    @property
    def is_exhausted(self) -> bool:
        """Whether all rows were read."""
        return not self._left

    def read(self, num_rows: int) -> pa.Table:
        """The next rows."""
        with naming(self._path):
            while self._held.num_rows < min(num_rows, self._left):
                batch = pa.Table.from_batches([next(self._batches)])
                self._held = pa.concat_tables([self._held, batch])
        rows = self._held.slice(0, max(num_rows, 0))
        self._held = self._held.slice(rows.num_rows)
        self._left -= rows.num_rows
        return rows
