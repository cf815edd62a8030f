# SPDX-License-Identifier: Apache-2.0
"""Lines of a CSV file that Arrow refuses: those with too few values, and those of whitespace.

pandas pads the former with missing values and skips the latter. A file is rewritten only after
Arrow has met such a line.
"""

import re
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pyarrow as pa

from ._csv_lines import CsvText
from ._csv_options import CsvFormat

_BLANK = re.compile(rb"^[ \t]+\r?$", re.MULTILINE)
_TOO_FEW = re.compile(r"Expected (\d+) columns, got (\d+)")


class ShortLineError(pd.errors.ParserError):
    """A line has too few values, or whitespace alone."""


def is_short_line(text: str) -> bool:
    """Whether an error of Arrow is that of a line with too few values.

    If one value is expected, the line of the labels may have been one of whitespace.
    """
    found = _TOO_FEW.search(text)
    return found is not None and (found[1] == "1" or int(found[2]) < int(found[1]))


def check_blank_lines(text: CsvText, labels: list[str]) -> None:
    """Raises if Arrow takes a line of whitespace for a value.

    It can only do so in files of one column, and in the line of the labels.

    Raises:
        ShortLineError: it does.
    """
    if len(labels) == 1 and _BLANK.search(content_of_text(text)):
        raise ShortLineError(f"read_csv: {text.name!r} has a line of whitespace.")


def with_even_lines(
    text: CsvText, style: CsvFormat, num_skipped: int, num_columns: int | None
) -> CsvText:
    """The text with empty values at the ends of short lines, and without whitespace in blank ones.

    The numbers of lines stay. `num_columns` is that of the first line if left out.
    """
    content = content_of_text(text)
    lines = content.splitlines(keepends=True)
    parts = lines[:num_skipped]
    for record in records_of_lines(lines[num_skipped:], style):
        body = record.rstrip(b"\r\n")
        if style.skip_blank_lines and not body.strip(b" \t"):
            parts.append(record[len(body) :])
            continue
        count = _count(body, style)
        num_columns = num_columns or count
        padding = style.sep.encode() * (num_columns - count)
        parts.append(body + padding + record[len(body) :])
    data = pa.py_buffer(b"".join(parts))
    return CsvText(lambda: pa.BufferReader(data), text.name)


def content_of_text(text: CsvText) -> bytes:
    """The bytes of a text."""
    opened: Any = text.open()
    if isinstance(opened, str):
        with open(opened, "rb") as file:
            return file.read()
    return opened.read()


def records_of_lines(lines: list[bytes], style: CsvFormat) -> Iterator[bytes]:
    """Lines, joined where a line break is in quotes."""
    if style.quotechar is None:
        yield from lines
        return
    quote, waiting = style.quotechar.encode(), b""
    for line in lines:
        waiting += line
        if _without_escapes(waiting, style).count(quote) % 2 == 0:
            yield waiting
            waiting = b""
    if waiting:
        yield waiting


def _count(record: bytes, style: CsvFormat) -> int:
    """The number of values of a line."""
    record = _without_escapes(record, style)
    if style.quotechar is not None and style.quotechar.encode() in record:
        quote = re.escape(style.quotechar.encode())
        record = re.sub(quote + rb"[^" + quote + rb"]*" + quote, b"", record)
    return record.count(style.sep.encode()) + 1


def _without_escapes(record: bytes, style: CsvFormat) -> bytes:
    if style.escapechar is None:
        return record
    return re.sub(re.escape(style.escapechar.encode()) + rb".", b"", record, flags=re.DOTALL)
