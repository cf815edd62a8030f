# SPDX-License-Identifier: Apache-2.0
"""Sources as batches: a thread decodes the next ones while the device computes."""

import collections
import contextlib
import dataclasses
import queue
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds

from ..io._construction import table_of_arrow
from ..io._dataset_schema import stored_names
from ..io._files._malformed import PARQUET, check_arrow
from ..plan._node import Node, Scan, in_order
from ..plan._row_groups import as_filter, row_groups
from ..plan._sources import ArrowRows, CsvFile, Memory, ParquetFiles
from ..table._from_host import labels_at_positions
from ..table._layout import Layout
from ..table._ndframe import FrameBase
from ..table._take import resized
from ..table._types import Function
from ._files import WatchedFiles, check_schema, naming
from ._memory import giving_back
from ._stage import close, generated

# Batches decoded ahead of the one that the device works on.
DECODED_AHEAD = 2


@dataclasses.dataclass(frozen=True)
class Piece:
    """Decoded rows of a source.

    Attributes:
        table: the rows, which follow each other in the source.
        first: the position of the first row.
        num_skipped: the number of rows that were not decoded, in place of `table`.
    """

    table: pa.Table | None
    first: int
    num_skipped: int = 0


def batches_of(scan: Scan, batch_rows: int, start: int = 0) -> Iterator[Any]:
    """Reads a source as frames of one capacity.

    Args:
        scan: the source, with the columns and the predicate of the optimiser.
        batch_rows: the number of rows of each frame but the last.
        start: the number of frames to leave out at the front. Row groups before them are not read.
    """
    source: Any = scan.source
    if isinstance(source, Memory):
        yield from _slices(scan.run(), batch_rows, start)
        return
    pieces = _pieces(scan, batch_rows, start * batch_rows)
    # A source of few rows needs no capacity of a whole batch.
    least = batch_rows if start else 0
    categories: dict[str, pa.Array] = {}
    for rows in giving_back(read_ahead(_rechunked(pieces, batch_rows, start * batch_rows))):
        least = least or rows.table.num_rows
        _check_categories(rows.table, categories, source.text())
        is_decoded = not isinstance(source, ArrowRows)
        frame = [
            frame_of(
                rows, least, source.layout, scan.columns, is_decoded=is_decoded, nulls=source.nulls
            )
        ]
        # A name would hold the rows while the caller works.
        del rows
        yield frame.pop()


def _check_categories(table: pa.Table, categories: dict[str, pa.Array], source: str) -> None:
    """Raises unless each column of categories has those of the first batch."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        if not pa.types.is_dictionary(column.type):
            continue
        for chunk in column.chunks:
            first = categories.setdefault(name, chunk.dictionary)
            if not chunk.dictionary.equals(first):
                raise TypeError(
                    f"stream: column {name!r} of {source} must have the same categories in all "
                    f"batches, got {first.to_pylist()} and {chunk.dictionary.to_pylist()}. Call "
                    "collect() without batch_rows= and memory_limit=, or write strings."
                )


def can_stream(scan: Scan) -> bool:
    """Whether a source can be read in batches by this process."""
    source = scan.source
    return not isinstance(source, ParquetFiles) or source.can_skip_rows


def check_sources(plan: Node) -> None:
    """Raises if a file of a plan has vanished."""
    for node in in_order(plan):
        source = node.source if isinstance(node, Scan) else None
        if isinstance(source, ParquetFiles):
            WatchedFiles(list(source.paths))
        elif isinstance(source, CsvFile):
            WatchedFiles(list(source.files()))


def _slices(frame: Any, batch_rows: int, start: int) -> Iterator[Any]:
    least = min(batch_rows, len(frame))
    for first in range(start * batch_rows, len(frame), batch_rows):
        yield at_capacity(frame.iloc[first : first + batch_rows], least)


def _pieces(scan: Scan, batch_rows: int, skipped: int) -> Iterator[Piece]:
    """Decodes a source; `skipped` rows at the front may be left out, but still count."""
    source: Any = scan.source
    if isinstance(source, ParquetFiles):
        return _parquet(scan, source, batch_rows, skipped)
    if isinstance(source, CsvFile):
        return _csv(scan, source)
    if isinstance(source, ArrowRows):
        return _arrow(scan, source, batch_rows)
    raise TypeError(f"stream: unknown source {type(source).__name__}.")


def _parquet(scan: Scan, source: ParquetFiles, batch_rows: int, skipped: int) -> Iterator[Piece]:
    dataset = source._dataset()
    schema = dataset.schema
    watched = WatchedFiles(dataset.files)
    condition = None if scan.predicate is None else as_filter(scan.predicate.expression, schema)
    names = stored_names(schema, scan.columns)
    stored = names
    for path in dataset.files:
        with naming(path):
            own = ds.dataset(path, format=PARQUET).schema
        if stored is names:
            # The schema is that of the first file, with the columns that folders hold.
            stored = [name for name in names if name in own.names]
        check_schema(path, own, schema, stored)
    with naming(source.paths[0]):
        groups = row_groups(dataset, condition, scan.limit)
    passed = 0
    wanted: list[tuple[Any, int]] = []
    for fragment, first, size in zip(
        groups.fragments, groups.positions, groups.num_rows, strict=True
    ):
        passed += size
        if passed <= skipped:
            yield Piece(None, first, size)
        else:
            wanted.append((fragment, first))

    def decoded(fragment: Any) -> Iterator[pa.RecordBatch]:
        watched.check(fragment.path)
        with naming(fragment.path):
            # Buffers of a megabyte, not of a whole row group.
            options = ds.ParquetFragmentScanOptions(
                pre_buffer=False,
                use_buffered_stream=True,
                buffer_size=2**20,
                page_checksum_verification=True,
            )
            yield from fragment.to_batches(
                schema=schema, columns=names, batch_size=batch_rows, batch_readahead=1,
                fragment_readahead=1, fragment_scan_options=options,
            )  # fmt: skip

    fragments = [fragment for fragment, _ in wanted]
    is_ahead = max(groups.num_rows, default=0) <= batch_rows
    batches_of_each = _ahead(decoded, fragments) if is_ahead else map(decoded, fragments)
    with contextlib.closing(generated(batches_of_each)) as each:
        for (_, first), batches in zip(wanted, each, strict=True):
            for batch in batches:
                yield Piece(pa.Table.from_batches([batch]), first)
                first += batch.num_rows


def _ahead(make: Function, items: Sequence[object]) -> Iterator[list[Any]]:
    """Lists what is made of each item, in two threads: the next item beside the present one.

    Arrow decodes the columns of a row group one after the other.
    """
    made: collections.deque[Future[list[Any]]] = collections.deque()
    with ThreadPoolExecutor(2, "jaxframes decoder") as threads:
        for item in items:
            made.append(threads.submit(lambda item=item: list(make(item))))
            if len(made) > 1:
                yield made.popleft().result()
        while made:
            yield made.popleft().result()


def _csv(scan: Scan, source: CsvFile) -> Iterator[Piece]:
    names = list(scan.columns or []) or ([source.empty._labels[0]] if scan.columns == () else None)
    position = 0
    with naming(source.path), source.open(names) as reader:
        while (batch := _next_batch(reader, source.path)) is not None:
            yield Piece(pa.Table.from_batches([batch]), position)
            position += batch.num_rows


def _next_batch(reader: Any, path: str) -> pa.RecordBatch | None:
    """The next rows of a file of comma-separated values; None at its end."""
    try:
        return next(reader, None)
    except pa.ArrowInvalid as error:
        if "conversion error" not in str(error):
            raise
        raise pd.errors.ParserError(
            f"scan_csv: cannot read {path!r}. {error}. The first rows have numbers there. Use "
            "read_csv(...).lazy() for a column that is no number in all rows."
        ) from error


def _arrow(scan: Scan, source: ArrowRows, batch_rows: int) -> Iterator[Piece]:
    dataset = source._dataset
    position = 0
    names = stored_names(dataset.schema, scan.columns)
    for batch in dataset.to_batches(columns=names, batch_size=batch_rows):
        table = check_arrow(pa.Table.from_batches([batch]), "scan_arrow")
        yield Piece(table, position)
        position += batch.num_rows


@dataclasses.dataclass(frozen=True)
class Rows:
    """Rows of a batch.

    Attributes:
        table: the rows.
        runs: their positions in the source: the first of each run, and the length of the run.
    """

    table: pa.Table
    runs: tuple[tuple[int, int], ...]

    @property
    def is_one_run(self) -> bool:
        """Whether the rows follow each other in the source."""
        ends = (first + size for first, size in self.runs)
        return all(end == first for end, (first, _) in zip(ends, self.runs[1:], strict=False))

    def row_ids(self) -> np.ndarray:
        """The positions of the rows in the source."""
        return np.concatenate([np.arange(first, first + size) for first, size in self.runs])


def _rechunked(pieces: Iterable[Piece], batch_rows: int, skipped: int) -> Iterator[Rows]:
    """Cuts pieces into batches of equal length, after `skipped` rows."""
    held: list[Rows] = []
    num_held = 0
    for piece in pieces:
        if piece.table is None:
            skipped -= piece.num_skipped
            continue
        table, first = piece.table, piece.first
        left_out = min(skipped, table.num_rows)
        skipped -= left_out
        table, first = table.slice(left_out), first + left_out
        while table.num_rows:
            taken = table.slice(0, batch_rows - num_held)
            held.append(Rows(taken, ((first, taken.num_rows),)))
            num_held += taken.num_rows
            table, first = table.slice(taken.num_rows), first + taken.num_rows
            if num_held == batch_rows:
                yield _joined(held)
                held, num_held = [], 0
    if held:
        yield _joined(held)


def _joined(parts: list[Rows]) -> Rows:
    table = pa.concat_tables([part.table for part in parts])
    return Rows(table, tuple(run for part in parts for run in part.runs))


def frame_of(
    rows: Rows,
    least: int,
    layout: Layout,
    columns: Any,
    *,
    is_decoded: bool = True,
    nulls: Collection[str] = (),
) -> Any:
    """A frame of a batch, with the labels of the whole source and a capacity of `least` rows.

    Args:
        rows: the batch.
        least: the number of rows that the frame has room for.
        layout: where it goes.
        columns: its columns; all if None.
        is_decoded: whether the rows are decoded ones, not those of a user's Arrow data.
        nulls: the columns of integers and bools with nulls in some row of the source.
    """
    table, labels = table_of_arrow(
        rows.table, layout, least=least, in_place=is_decoded, nulls=nulls
    )
    frame: Any = FrameBase.frame_class._of(table, labels)
    index = table.index
    if index.is_range:
        if rows.is_one_run:
            first = rows.runs[0][0]
            index = dataclasses.replace(index, start=index.start + first * index.step)
        else:
            index = labels_at_positions(index, rows.row_ids(), table.capacity, layout)
        frame = frame._like(table.replace(index=index))
    if columns is not None:
        frame = frame._columns_named(columns)
    return at_capacity(frame, least)


def at_capacity(frame: Any, num_rows: int) -> Any:
    """The frame with the capacity of `num_rows` rows, so that all batches share programs."""
    return with_capacity(frame, frame._table.layout.capacity_for(num_rows))


def with_capacity(frame: Any, capacity: int) -> Any:
    """The frame with a capacity, which its rows fit."""
    table = frame._table
    arrays = (*table.columns, *table.index.stored)
    if not arrays or table.capacity == capacity:
        return frame
    return frame._like(table.with_stored(resized(arrays, capacity, table.layout)))


class _Failure:
    def __init__(self, error: BaseException):
        self.error = error


_END = object()


def read_ahead(items: Iterator[object], depth: int = DECODED_AHEAD) -> Iterator[Any]:
    """Yields items that a thread makes ahead; the thread ends when the iterator is closed."""
    ready: queue.Queue[Any] = queue.Queue(depth)
    is_closed = threading.Event()

    def put(item: object) -> bool:
        while not is_closed.is_set():
            try:
                ready.put(item, timeout=0.05)
            except queue.Full:
                continue
            return True
        return False

    def produce() -> None:
        try:
            for item in items:
                if not put(item):
                    return
            put(_END)
        except BaseException as error:
            put(_Failure(error))
        finally:
            close(items)

    thread = threading.Thread(target=produce, name="jaxframes reader", daemon=True)
    thread.start()
    try:
        while (item := ready.get()) is not _END:
            if isinstance(item, _Failure):
                raise item.error
            yield item
    finally:
        is_closed.set()
        thread.join()
