# SPDX-License-Identifier: Apache-2.0
"""Rows on disk, partitioned by the hash of their keys (Kitsuregawa, Tanaka, Moto-oka 1983)."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ..table._column_labels import Labels
from ..table._ndframe import FrameBase
from ..table._types import Options
from ._arrow_rows import arrow_of, frame_of_arrow, in_schema
from ._hashes import hashes_of
from ._numbering import like, plain
from ._spilled_rows import SpilledRows, SpillWriter, in_pieces
from ._steps import StepFiles

# The most parts of one level: 1 / 64 of a batch is still worth a piece of a file.
FAN_OUT_BITS = 6
# A part that is still too large after these levels has few distinct keys.
MOST_LEVELS = 4


def bits_for(num_rows: int, most_rows: int) -> int:
    """The bits of a hash that divide rows so that a part has fewer than `most_rows`.

    Twice as many parts as an even division needs: their sizes vary.
    """
    num_parts = -(-2 * num_rows // most_rows)
    return min(max(num_parts - 1, 1).bit_length(), FAN_OUT_BITS)


class Partitions:
    """Rows by the hash of their keys, in files of pieces that belong to one part each."""

    def __init__(
        self,
        keys: Sequence[int],
        files: StepFiles,
        level: int = 0,
        template: Any = None,
        bits: int | None = None,
    ):
        """Starts without rows.

        Args:
            keys: the positions of the key columns.
            files: where the rows are.
            level: which bits of the hash number the parts.
            template: a frame without rows that has the labels of all; the first frame if None.
            bits: the number of these bits; the most if None. See `bits_for`.
        """
        self._keys, self._files, self.level = keys, files, level
        self._bits = FAN_OUT_BITS if bits is None else bits
        self._fan_out = 2**self._bits
        self._sizes = [0] * self._fan_out
        self._template = template
        self._schema: pa.Schema | None = None
        # The path of each file, and the part of each of its pieces.
        self._written: list[tuple[str, list[int]]] = []
        self._open = files.closed_with(contextlib.ExitStack())
        self._writer: SpillWriter | None = None

    def add(self, frame: FrameBase) -> None:
        """Appends the rows of a frame to their parts, in their order."""
        num_rows = len(frame)
        if not num_rows:
            return
        if self._template is None:
            self._template = frame.head(0)
        hashes = hashes_of([frame._table.columns[key] for key in self._keys], num_rows)
        shift = np.uint64(64 - FAN_OUT_BITS * self.level - self._bits)
        parts = ((hashes >> shift) & np.uint64(self._fan_out - 1)).astype(np.uint8)
        order = np.argsort(parts, kind="stable")
        rows = arrow_of(plain(frame), is_default=False)
        self._schema = self._schema or rows.schema
        rows = in_schema(rows, self._schema).take(pa.array(order))
        sizes = np.bincount(parts, minlength=self._fan_out)
        first = 0
        for part, size in enumerate(sizes.tolist()):
            if size:
                self._write(part, rows.slice(first, size))
                self._sizes[part] += size
            first += size

    def _write(self, part: int, rows: pa.Table) -> None:
        if self._writer is None:
            path = self._files.new_path()
            name = self._open.enter_context(self._files.writing(path))
            self._writer = self._open.enter_context(SpillWriter(name, rows.schema))
            self._written.append((path, []))
        self._writer.write(rows)
        self._written[-1][1].append(part)

    def _close(self) -> None:
        """Completes the file that is written; rows that follow go to another one."""
        self._writer = None
        self._open.close()

    def state(self) -> dict[str, Any]:
        """The names of the files; see `_steps.Kept`."""
        self._close()
        return {
            "files": [os.path.basename(path) for path, _ in self._written],
            "pieces": [pieces for _, pieces in self._written],
            "sizes": self._sizes,
            "labels": [] if self._template is None else list(map(str, self._template._labels)),
        }

    def restore(self, state: Options) -> None:
        """Takes the rows of files; see `_steps.Kept`."""
        paths = map(self._files.path_of, state["files"])
        self._written = list(zip(paths, state["pieces"], strict=True))
        self._sizes = state["sizes"]
        if self._written:
            rows = SpilledRows(self._written[0][0]).schema.empty_table()
            self._schema = rows.schema
            if self._template is None:
                frame = frame_of_arrow(rows, self._files.layout)
                labels = Labels.of(state["labels"])
                self._template = frame._make_frame(frame._table.columns, labels)

    def parts(self) -> "list[Partition]":
        """All parts, of which some may be empty. Nothing may be added any more."""
        self._close()
        return [Partition(self, part) for part in range(self._fan_out)]

    @property
    def largest(self) -> int:
        """The number of rows of the largest part."""
        return max(self._sizes)

    @property
    def num_rows(self) -> int:
        """The number of rows of all parts."""
        return sum(self._sizes)

    def frames(self, part: int, piece_rows: int) -> Iterator[Any]:
        """Reads a part as frames of one capacity."""
        least = min(piece_rows, self.largest)
        for rows in in_pieces(self._pieces(part), piece_rows):
            yield like(frame_of_arrow(rows, self._files.layout, least), self._template)

    def _pieces(self, part: int) -> Iterator[pa.Table]:
        for path, parts in self._written:
            own = [number for number, one in enumerate(parts) if one == part]
            if own:
                yield from map(SpilledRows(path).__getitem__, own)


class Partition:
    """The rows of one part."""

    def __init__(self, partitions: Partitions, number: int):
        self._partitions, self._number = partitions, number
        self.num_rows = partitions._sizes[number]

    def frames(self, piece_rows: int) -> Iterator[Any]:
        """Reads the rows as frames of at most `piece_rows` rows."""
        return self._partitions.frames(self._number, piece_rows)
