# SPDX-License-Identifier: Apache-2.0
"""Sinks: files that appear when they are complete."""

import codecs
import contextlib
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..io._csv import with_written_times
from ..io._files._places import Place, compressing, compression_of
from ..table._row_index import RowIndex
from ..table._types import Options
from ._arrow_rows import arrow_of, in_schema
from ._parts import Parts
from ._replacing import new_file_at
from ._stage import Stage


def write_parquet(
    stage: Stage,
    place: Place,
    *,
    index: bool | None = None,
    compression: str = "snappy",
    partition_cols: Any = None,
    max_rows_per_file: int | None = None,
) -> None:
    """Writes a stage as Parquet, a row group for each batch.

    The result is one file, or a folder if partition columns or a limit of rows are given.
    """
    keys = [partition_cols] if isinstance(partition_cols, str) else list(partition_cols or ())
    _check_rows_per_file(max_rows_per_file)
    if not keys and max_rows_per_file is None:
        _write_file(arrow_tables(stage, index, is_one_file=True), place, compression)
        return
    with Parts(place.path, keys, max_rows_per_file, compression) as parts:
        for table in arrow_tables(stage, index, is_one_file=False):
            parts.write(table)


def _write_file(tables: Iterator[pa.Table], place: Place, compression: str) -> None:
    """Writes tables into one file, all with the types of the first one."""
    with new_file_at(place) as temporary, contextlib.ExitStack() as stack:
        encoder: _Encoder | None = None
        for table in tables:
            if encoder is None:
                file = pq.ParquetWriter(
                    temporary, table.schema, compression=compression, write_page_checksum=True
                )
                encoder = stack.enter_context(_Encoder(stack.enter_context(file)))
            encoder.write(table)


class _Encoder:
    """Writes tables in a thread: the next one is computed meanwhile. A context manager."""

    def __init__(self, writer: pq.ParquetWriter):
        self._writer = writer
        self._thread = ThreadPoolExecutor(1, "jaxframes writer")
        self._written: Future[None] | None = None
        self._is_writing = True

    def __enter__(self) -> "_Encoder":
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        # The writer must not be closed while the thread writes: an interrupt waits.
        interrupt: KeyboardInterrupt | None = None
        while self._is_writing:
            try:
                if self._written is not None:
                    # An interrupted `join` takes the thread for ended.
                    wait([self._written])
                self._thread.shutdown()
                self._is_writing = False
            except KeyboardInterrupt as raised:
                interrupt = raised
        if interrupt is not None:
            raise interrupt
        if kind is None:
            self._wait()

    def write(self, table: pa.Table) -> None:
        """Writes a table when the one before it is written."""
        table = in_schema(table, self._writer.schema)
        self._wait()
        self._written = self._thread.submit(self._writer.write_table, table)

    def _wait(self) -> None:
        if self._written is not None:
            self._written.result()


def arrow_tables(stage: Stage, index: bool | None, is_one_file: bool) -> Iterator[pa.Table]:
    """The batches in Arrow. The first one decides whether labels are positions."""
    is_default = None
    for batch in _frames(stage):
        batch = batch._with_range() if index is False else batch
        if is_one_file and stage.is_whole and stage.pieces is None:
            yield batch.to_arrow()
            return
        is_default = _is_default(batch._table.index) if is_default is None else is_default
        yield arrow_of(batch, is_default)


def _check_rows_per_file(value: object) -> None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value > 0
    if value is not None and not is_count:
        raise ValueError(
            f"to_parquet: max_rows_per_file must be a positive integer, got {value!r}."
        )


def write_csv(
    stage: Stage,
    place: Place,
    *,
    header: bool | Sequence[str] = True,
    encoding: str | None = None,
    errors: str = "strict",
    compression: object = "infer",
    **options: Any,
) -> None:
    """Writes a stage as comma-separated values, batch after batch."""
    path = place.path
    if path is None or hasattr(path, "write"):
        raise TypeError(
            f"to_csv: a plan over batches is written to a named file, got {path!r}. Give a path."
        )
    if options.get("mode", "w") != "w":
        raise NotImplementedError("to_csv: a plan over batches writes a new file. Omit mode=.")
    kind = compression_of(path, compression, "to_csv")
    with (
        new_file_at(place) as temporary,
        open(temporary, "wb") as content,
        compressing(content, kind, os.fspath(path)) as file,
    ):
        encoder = codecs.getincrementalencoder(encoding or "utf-8")(errors)
        for batch in _frames(stage):
            file.write(encoder.encode(_text_of(batch, header, options)))
            header = False
        file.write(encoder.encode("", final=True))


def _text_of(batch: Any, header: Any, options: Options) -> str:
    """The text of a batch, whose form does not depend on what the batch holds."""
    if options.get("engine") == "pyarrow" or options.get("date_format") is not None:
        return batch.to_csv(header=header, **options)
    rest = {name: one for name, one in options.items() if name != "engine"}
    return with_written_times(batch.to_pandas()).to_csv(header=header, **rest)


def _frames(stage: Stage) -> Iterator[Any]:
    """The batches with rows, or one without rows."""
    if stage.is_whole and stage.pieces is None:
        # Its dtypes are those of the result, with rows or without.
        yield stage.run()
        return
    is_empty = True
    for batch in stage.batches():
        if len(batch):
            is_empty = False
            yield batch
    if is_empty:
        yield stage.empty


def _is_default(index: RowIndex) -> bool:
    return index.is_range and (index.first, index.step, index.names) == (0, 1, (None,))
