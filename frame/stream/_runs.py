# SPDX-License-Identifier: Apache-2.0
"""Sorted runs on disk, and their merge in bounded memory (Knuth, volume 3, section 5.4)."""

import contextlib
import dataclasses
import itertools
import os
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..combining._concat import concat
from ..io._construction import table_of_arrow
from ..table._layout import Layout
from ..table._ndframe import FrameBase
from ._arrow_rows import arrow_of, in_schema
from ._files import naming, writing

# The number of the run that a row is from, among the columns of a merge.
_RUN = "number of the run"
# Runs that are merged at one time. Each keeps a file open and a piece loaded, so more runs than
# these are merged in several passes.
_FAN_IN = 16
# Blocks of fewer rows would cost more than they save.
_LEAST_PIECE_ROWS = 16


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

    def __init__(self, order: Order, piece_rows: int):
        self.order = order
        self._rows = piece_rows
        self._folder = tempfile.TemporaryDirectory(prefix="jaxframes-")
        self._paths: list[str] = []
        self._numbers = itertools.count()
        self._layout = Layout()
        self._labels: Any = None

    def __enter__(self) -> "SortedRuns":
        return self

    def __exit__(self, *error: Any) -> None:
        self._folder.cleanup()

    def __len__(self) -> int:
        return len(self._paths)

    def add(self, frame: Any) -> None:
        """Sorts rows and writes them as one run, after those before."""
        self._layout, self._labels = frame._layout, frame._labels
        self._paths.append(self._written(iter([self.order.sorted(frame)])))

    def _written(self, frames: Iterator[Any]) -> str:
        """Writes sorted rows as a run; returns the name of its file."""
        path = os.path.join(self._folder.name, f"{next(self._numbers)}.parquet")
        group_rows = max(self._rows // _FAN_IN, _LEAST_PIECE_ROWS)
        with writing(path), contextlib.ExitStack() as stack:
            writer = None
            for frame in frames:
                rows = arrow_of(frame, is_default=False)
                if writer is None:
                    writer = stack.enter_context(pq.ParquetWriter(path, rows.schema))
                writer.write_table(in_schema(rows, writer.schema), row_group_size=group_rows)
        return path

    def merged(self) -> Iterator[Any]:
        """The rows of all runs in order, stably, as frames of at most about `piece_rows` rows."""
        while len(self._paths) > _FAN_IN:
            groups = [
                self._paths[start : start + _FAN_IN]
                for start in range(0, len(self._paths), _FAN_IN)
            ]
            self._paths = []
            for group in groups:
                self._paths.append(self._written(self._merge(group)))
                for path in group:
                    os.remove(path)
        return self._merge(self._paths)

    def _merge(self, paths: Sequence[str]) -> Iterator[Any]:
        """Merges runs piece by piece.

        The rows of a run that are not loaded come after its last loaded row. So the merged rows up
        to the first of these last rows are final.
        """
        piece_rows = max(self._rows // max(len(paths), 1), _LEAST_PIECE_ROWS)
        readers = [_Run(path, piece_rows) for path in paths]
        num_loaded = [0] * len(readers)
        held: Any = None
        while True:
            tables = []
            for number, reader in enumerate(readers):
                table = reader.read(piece_rows - num_loaded[number])
                if table.num_rows:
                    run = pa.array([number] * table.num_rows, pa.int32())
                    tables.append(table.append_column(_RUN, run))
                    num_loaded[number] += table.num_rows
            parts = [part for part in (held, self._frame(tables)) if part is not None]
            if not parts:
                return
            rows = concat(parts) if len(parts) > 1 else parts[0]
            rows = self.order.then_by_run.sorted(rows)
            runs = rows[_RUN].to_numpy()
            last = len(runs) - 1
            for number, reader in enumerate(readers):
                if not reader.is_exhausted:
                    last = min(last, int((runs == number).nonzero()[0][-1]))
            for number in range(len(readers)):
                num_loaded[number] -= int((runs[: last + 1] == number).sum())
            final = rows.iloc[: last + 1].drop(columns=[_RUN])
            final._labels = self._labels
            yield final
            held = rows.iloc[last + 1 :] if last + 1 < len(runs) else None

    def _frame(self, tables: Sequence[pa.Table]) -> Any:
        if not tables:
            return None
        table = pa.concat_tables(tables, promote_options="permissive")
        metadata = tables[0].schema.metadata
        columns, labels = table_of_arrow(table.replace_schema_metadata(metadata), self._layout)
        return FrameBase.frame_class._of(columns, labels)


class _Run:
    """Reads a run piece by piece."""

    def __init__(self, path: str, piece_rows: int):
        self._path = path
        with naming(path):
            # Buffers filled ahead would hold the whole run.
            file = pq.ParquetFile(path, pre_buffer=False)
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
