# SPDX-License-Identifier: Apache-2.0
"""Sinks: files that appear when they are complete."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from typing import Any

import pyarrow.parquet as pq

from ..table._row_index import RowIndex
from ._arrow_rows import arrow_of, in_schema
from ._files import writing
from ._pipeline import Stage


@contextlib.contextmanager
def replacing(path: Any) -> Iterator[str]:
    """Gives the name of a new file beside `path`, which replaces it if no error occurs.

    The file is synced before it is renamed, and its folder after that, so that a crash at any
    moment leaves the old file or the whole new one.
    """
    path = os.fspath(path)
    folder, name = os.path.split(os.path.abspath(path))
    if os.path.isdir(path):
        raise IsADirectoryError(f"stream: {path!r} is a folder. Give the name of a file.")
    handle, temporary = tempfile.mkstemp(prefix=f".{name}.", suffix=".part", dir=folder)
    os.close(handle)
    try:
        with writing(path):
            yield temporary
        _sync(temporary)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
        _sync(folder)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)
        raise


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_parquet(
    stage: Stage, path: Any, *, index: bool | None = None, compression: str = "snappy"
) -> None:
    """Writes a stage as Parquet, a row group for each batch."""
    with replacing(path) as temporary, contextlib.ExitStack() as stack:
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
    with replacing(path) as temporary, open(temporary, "w", newline="") as file:
        for batch in _frames(stage):
            file.write(batch.to_csv(sep=sep, header=header, index=index))
            header = False


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
