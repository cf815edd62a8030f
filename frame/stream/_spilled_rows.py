# SPDX-License-Identifier: Apache-2.0
"""Rows that leave memory for a while: Arrow files, of which each piece is read by itself."""

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ._arrow_rows import in_schema, joined_rows
from ._files import naming, writing

# pyarrow.compute has no types.
_compute: Any = pc
_COMPRESSED = pa.ipc.IpcWriteOptions()


class SpillWriter:
    """Writes rows to a file of a path. Errors name it. A context manager."""

    def __init__(self, path: str, schema: pa.Schema):
        self._path, self._schema = path, schema
        self._files = contextlib.ExitStack()
        with writing(path):
            file = self._files.enter_context(pa.OSFile(path, "wb"))
            writer = pa.ipc.new_file(file, schema, options=_COMPRESSED)
            self._writer = self._files.enter_context(writer)

    def __enter__(self) -> "SpillWriter":
        return self

    def __exit__(self, *error: object) -> None:
        # A file that cannot be written cannot be closed either: the first error counts.
        with contextlib.suppress(OSError) if error[0] is not None else writing(self._path):
            self._files.close()

    def write(self, table: pa.Table) -> None:
        """Writes a table as one piece."""
        with writing(self._path):
            rows = in_schema(_as_integers(table, self._schema), self._schema)
            self._writer.write_table(rows.combine_chunks())


def _as_integers(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Converts floats, which were integers beside missing values, back to 64-bit integers.

    The greatest integers are rounded up to a float past their range. The greatest one takes its
    place, and is rounded to the same float again.
    """
    for place, field in enumerate(schema):
        column = table.column(place)
        if not (pa.types.is_float64(column.type) and field.type in (pa.int64(), pa.uint64())):
            continue
        greatest = np.iinfo(field.type.to_pandas_dtype()).max
        is_past = _compute.greater_equal(column, float(greatest))
        inside = _compute.cast(_compute.if_else(is_past, 0.0, column), field.type)
        column = _compute.if_else(is_past, pa.scalar(greatest, field.type), inside)
        table = table.set_column(place, field, column)
    return table


class SpilledRows:
    """The pieces of a file of `SpillWriter`, in the order in which they were written."""

    def __init__(self, path: str):
        self._path = path
        with naming(path):
            self._reader = pa.ipc.open_file(pa.OSFile(path))
        self.schema = self._reader.schema

    def __len__(self) -> int:
        """The number of pieces."""
        return self._reader.num_record_batches

    def __getitem__(self, number: int) -> pa.Table:
        """Reads a piece."""
        with naming(self._path):
            return pa.Table.from_batches([self._reader.get_batch(number)])


def in_pieces(tables: Iterable[pa.Table], num_rows: int) -> Iterator[pa.Table]:
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
                yield joined_rows(held)
                held, num_held = [], 0
    if held:
        yield joined_rows(held)
