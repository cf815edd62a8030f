# SPDX-License-Identifier: Apache-2.0
"""Texts that are rewritten for what Arrow's parser has not: lines to skip, runs of whitespace."""

import re
from collections.abc import Collection
from typing import Any

import pyarrow as pa

from ._csv_even import content_of_text, records_of_lines
from ._csv_lines import CsvText
from ._csv_options import CsvFormat


def without_lines(text: CsvText, style: CsvFormat, skipped: Any, skipfooter: int) -> CsvText:
    """The text without lines at its end, and without those that pandas' `skiprows` names.

    Args:
        text: the text.
        style: tells where lines end: not in quotes.
        skipped: the numbers of lines, or a function that tells whether to skip one.
        skipfooter: the number of lines at the end.
    """
    is_skipped = skipped if callable(skipped) else frozenset(map(int, skipped)).__contains__
    records = _records(text, style)
    kept = records[: len(records) - skipfooter] if skipfooter else records
    return _of(text, [one for number, one in enumerate(kept) if not is_skipped(number)])


def with_tabs(text: CsvText, style: CsvFormat) -> CsvText:
    """The text with a tab for each run of whitespace between values, and none around a line."""
    return _of(text, _replaced(text, style, rb"[ \t]+", b"\t", strips=b" \t"))


def without_initial_spaces(text: CsvText, style: CsvFormat) -> CsvText:
    """The text without the spaces in front of values."""
    sep = style.sep.encode()
    return _of(text, _replaced(text, style, re.escape(sep) + rb" +", sep, strips=b" "))


def _replaced(
    text: CsvText, style: CsvFormat, pattern: bytes, by: bytes, strips: bytes
) -> Collection[bytes]:
    """The lines with what a pattern finds outside quotes replaced."""
    quote = re.escape((style.quotechar or "").encode())
    quoted = quote + rb"[^" + quote + rb"]*" + quote + rb"|" if quote else b""
    of_values = re.compile(quoted + rb"(" + pattern + rb")")
    lines = []
    for record in _records(text, style):
        body = record.rstrip(b"\r\n")
        ending = record[len(body) :]
        # Only whitespace that separates values is taken from the end of a line.
        body = body.strip(strips) if b"\t" in strips else body.lstrip(strips)
        lines.append(of_values.sub(lambda found: by if found[1] else found[0], body) + ending)
    return lines


def _records(text: CsvText, style: CsvFormat) -> list[bytes]:
    return list(records_of_lines(content_of_text(text).splitlines(keepends=True), style))


def _of(text: CsvText, lines: Collection[bytes]) -> CsvText:
    data = pa.py_buffer(b"".join(lines))
    return CsvText(lambda: pa.BufferReader(data), text.name)
