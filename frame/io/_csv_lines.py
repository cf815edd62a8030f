# SPDX-License-Identifier: Apache-2.0
"""The text of a CSV file: where it comes from, and some lines of it."""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
from pyarrow import csv

from ._csv_options import CsvFormat, without_comments
from ._files._places import compression_of, content_of, place_of


class CsvText(NamedTuple):
    """A file as Arrow opens it, more than once.

    Attributes:
        open: opens the file.
        name: its name, for errors.
        path: the path of a file whose bytes Arrow reads as they are; None for others.
    """

    open: Callable[[], Any]
    name: str
    path: str | None = None


def csv_text(
    source: Any,
    style: CsvFormat,
    *,
    comment: str | None = None,
    compression: object = "infer",
    filesystem: object = None,
    storage_options: Mapping[str, object] | None = None,
) -> CsvText:
    """The text of a path, a URL or a file object, without compression and comments."""
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        place = place_of(source, "read_csv", filesystem, storage_options)
        kind = compression_of(source, compression, "read_csv")
        if place.is_local and kind is None and comment is None:
            return CsvText(lambda: place.path, name, place.path)
        content = place.read_content("read_csv", kind)
    else:
        name = "the buffer"
        content = content_of(source, compression, "read_csv", style.encoding)
    if comment is not None:
        if len(comment) != 1:
            raise ValueError("Only length-1 comment characters supported")
        content = without_comments(content, comment, style.quotechar)
    data = pa.py_buffer(content)
    return CsvText(lambda: pa.BufferReader(data), name)


def pieces_of_text(
    text: CsvText, options: csv.ReadOptions, parse: csv.ParseOptions, num_rows: int
) -> Iterator[pa.Buffer]:
    """The rows of a file, `num_rows` at a time, as files of their own without a header.

    The types of each piece are those of its rows, as in pandas.
    """
    labels = options.column_names or csv.open_csv(text.open(), options, parse).schema.names
    plain = csv.ConvertOptions(
        column_types=dict.fromkeys(labels, pa.string()), strings_can_be_null=False
    )
    waiting: list[pa.RecordBatch] = []
    count = 0
    with csv.open_csv(text.open(), options, parse, plain) as reader:
        for batch in reader:
            waiting.append(batch)
            count += batch.num_rows
            while count >= num_rows:
                rows = pa.Table.from_batches(waiting)
                yield _as_text(rows.slice(0, num_rows))
                waiting, count = rows.slice(num_rows).to_batches(), count - num_rows
    if count:
        yield _as_text(pa.Table.from_batches(waiting))


def _as_text(rows: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    csv.write_csv(rows, sink, csv.WriteOptions(include_header=False))
    return sink.getvalue()


def parse_error(error: pa.ArrowInvalid, name: str) -> Exception:
    """pandas' error for a line that cannot be read, with the file and the line."""
    text = str(error)
    before, mark, after = text.partition("Row #")
    number, _, rest = after.partition(": ")
    if not mark or not number.isdigit():
        return pd.errors.ParserError(f"read_csv: cannot read {name!r}. {text}")
    column = before.removeprefix("In CSV ").removesuffix(": ")
    where = f"line {number} of {name!r}"
    what = rest if "parse error" in before else f"{column}: {rest}"
    return pd.errors.ParserError(f"read_csv: cannot read {where}. {what}")
