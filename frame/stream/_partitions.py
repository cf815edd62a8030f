# SPDX-License-Identifier: Apache-2.0
"""Rows on disk, partitioned by the hash of their keys (Kitsuregawa, Tanaka, Moto-oka 1983)."""

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ..io._construction import table_of_arrow
from ..table._layout import Layout
from ..table._ndframe import FrameBase
from ._arrow_rows import arrow_of, in_schema
from ._hashes import hashes_of
from ._numbering import like, plain
from ._spilled_rows import SpilledRows, SpillWriter, in_pieces
from ._temporary_folder import TemporaryFolder

# The parts of one level: each has a file, and 1 / 64 of a batch is still worth writing.
FAN_OUT_BITS = 6
# A part that is still too large after these levels has few distinct keys.
MOST_LEVELS = 4


class Partitions:
    """Rows by the hash of their keys, each part in a file. A context manager."""

    def __init__(self, keys: Sequence[int], level: int = 0):
        """Makes a temporary folder.

        Args:
            keys: the positions of the key columns.
            level: which bits of the hash number the parts.
        """
        self._keys, self.level = keys, level
        self._fan_out = 2**FAN_OUT_BITS
        self._folder = TemporaryFolder()
        self._files = contextlib.ExitStack()
        self._writers: dict[int, SpillWriter] = {}
        self._sizes = [0] * self._fan_out
        self._schema: pa.Schema | None = None
        self._template: Any = None

    def __enter__(self) -> "Partitions":
        return self

    def __exit__(self, *error: Any) -> None:
        # A file that cannot be written cannot be closed either: the first error counts.
        with contextlib.suppress(OSError) if error[0] is not None else contextlib.nullcontext():
            self._files.close()
        self._folder.cleanup()

    def add(self, frame: Any) -> None:
        """Appends the rows of a frame to their parts, in their order."""
        num_rows = len(frame)
        if not num_rows:
            return
        if self._template is None:
            self._template = frame.head(0)
        hashes = hashes_of([frame._table.columns[key] for key in self._keys], num_rows)
        shift = np.uint64(64 - FAN_OUT_BITS * (self.level + 1))
        parts = ((hashes >> shift) & np.uint64(self._fan_out - 1)).astype(np.uint8)
        order = np.argsort(parts, kind="stable")
        rows = arrow_of(plain(frame), is_default=False)
        self._schema = self._schema or rows.schema
        rows = in_schema(rows, self._schema).take(pa.array(order))
        sizes = np.bincount(parts, minlength=self._fan_out)
        first = 0
        for part, size in enumerate(sizes.tolist()):
            if size:
                self._writer(part).write(rows.slice(first, size))
                self._sizes[part] += size
            first += size

    def _path(self, part: int) -> str:
        return os.path.join(self._folder.name, f"{part}.arrow")

    def _writer(self, part: int) -> SpillWriter:
        if part not in self._writers:
            writer = SpillWriter(self._path(part), self._schema)
            self._writers[part] = self._files.enter_context(writer)
        return self._writers[part]

    def parts(self) -> "list[Part]":
        """All parts, of which some may be empty. Nothing may be added any more."""
        self._files.close()
        return [Part(self, part) for part in range(self._fan_out)]

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
        if not self._sizes[part]:
            return
        layout: Layout = self._template._layout
        rows = SpilledRows(self._path(part))
        least = min(piece_rows, self.largest)
        for table in in_pieces(map(rows.__getitem__, range(len(rows))), piece_rows):
            columns, labels = table_of_arrow(table, layout, least=least)
            frame = FrameBase.frame_class._of(columns, labels)
            yield like(frame, self._template)


class Part:
    """The rows of one part."""

    def __init__(self, partitions: Partitions, number: int):
        self._partitions, self._number = partitions, number
        self.num_rows = partitions._sizes[number]

    def frames(self, piece_rows: int) -> Iterator[Any]:
        """Reads the rows as frames of at most `piece_rows` rows."""
        return self._partitions.frames(self._number, piece_rows)
