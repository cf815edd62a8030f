# SPDX-License-Identifier: Apache-2.0
"""Sinks: files that appear when they are complete."""

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..table._row_index import RowIndex
from ..table._take import position
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
        yield temporary
        _sync(temporary)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
        _sync(folder)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)
        if isinstance(error, OSError) and error.errno is not None and error.filename is None:
            raise OSError(
                error.errno, f"stream: cannot write the file: {error.strerror or error}", path
            ) from error
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
                table = _arrow_of(batch, is_default)
                file = pq.ParquetWriter(temporary, table.schema, compression=compression)
                writer = stack.enter_context(file)
            else:
                table = _in_schema(_arrow_of(batch, is_default), writer.schema)
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


def _arrow_of(frame: Any, is_default: bool) -> pa.Table:
    """The rows of a batch in Arrow. Labels of a range that is not 0, 1, ... become a column."""
    table = frame._table
    if not table.index.is_range:
        return frame.to_arrow()
    if not is_default:
        row_ids = position(table.capacity, table.layout)
        return frame._like(table.replace(index=table.index.at(row_ids))).to_arrow()
    rows = frame._with_range().to_arrow()
    metadata = json.loads(rows.schema.metadata[b"pandas"])
    # The metadata would hold the number of rows of this batch.
    metadata["index_columns"] = []
    return rows.replace_schema_metadata({b"pandas": json.dumps(metadata).encode()})


def _is_default(index: RowIndex) -> bool:
    return index.is_range and (index.start, index.step, index.names) == (0, 1, (None,))


def _in_schema(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A batch with the types of the first one."""
    try:
        return table.cast(schema)
    except (pa.ArrowInvalid, ValueError) as error:
        raise TypeError(
            "to_parquet: all batches must have the types of the first one, "
            f"{dict(zip(schema.names, map(str, schema.types), strict=True))}: {error}. Call "
            "astype() first."
        ) from error
