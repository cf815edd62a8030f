# SPDX-License-Identifier: Apache-2.0
"""Sinks: files that appear when they are complete."""

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import pyarrow.parquet as pq

from ..io._replacing import replacing
from ..table._row_index import RowIndex
from ._arrow_rows import arrow_of, in_schema
from ._files import writing
from ._pipeline import Stage


def write_parquet(
    stage: Stage, path: Any, *, index: bool | None = None, compression: str = "snappy"
) -> None:
    """Writes a stage as Parquet, a row group for each batch."""
    with _new_file(path) as temporary, contextlib.ExitStack() as stack:
        writer: pq.ParquetWriter | None = None
        is_default = False
        for batch in _frames(stage):
            batch = batch._with_range() if index is False else batch
            if writer is None:
                is_default = _is_default(batch._table.index)
                table = arrow_of(batch, is_default)
                file = pq.ParquetWriter(temporary, table.schema, compression=compression)
                writer = stack.enter_context(file)
            else:
                table = in_schema(arrow_of(batch, is_default), writer.schema)
            writer.write_table(table)


def write_csv(
    stage: Stage, path: Any, *, sep: str = ",", header: bool = True, index: bool = True
) -> None:
    """Writes a stage as comma-separated values, batch after batch."""
    with _new_file(path) as temporary, open(temporary, "w", newline="") as file:
        for batch in _frames(stage):
            file.write(batch.to_csv(sep=sep, header=header, index=index))
            header = False


@contextlib.contextmanager
def _new_file(path: Any) -> Iterator[str]:
    """A file that replaces `path`, if no error occurs; errors of writing it name `path`."""
    with replacing(path, "stream", is_synced=True) as temporary, writing(os.fspath(path)):
        yield temporary


def _frames(stage: Stage) -> Iterator[Any]:
    """The batches with rows, or one without rows."""
    is_empty = True
    for batch in stage.batches():
        if len(batch):
            is_empty = False
            yield batch
    if is_empty:
        yield stage.empty


def _is_default(index: RowIndex) -> bool:
    return index.is_range and (index.start, index.step, index.names) == (0, 1, (None,))
