# SPDX-License-Identifier: Apache-2.0
"""One call of `read_csv`: labels, types and rows of a text."""

import contextlib
import dataclasses
import itertools
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
from pyarrow import csv

from ..table._arguments import listed
from ..table._layout import ONE_DEVICE, Layout
from ..table._ndframe import FrameBase
from ..table._nullable import Family, backend_family, family_of
from ..table._row_index import RANGE
from ._construction import table_of_arrow
from ._csv_columns import (
    Header,
    chosen_labels,
    header_of,
    with_numbers_for_nulls,
    with_pandas_types,
)
from ._csv_even import (
    ShortLineError,
    check_blank_lines,
    content_of_text,
    is_short_line,
    with_even_lines,
)
from ._csv_lines import CsvText, parse_error, pieces_of_text
from ._csv_options import CsvFormat, arrow_type, default_of
from ._csv_values import columns_of_times, with_categories, with_thousands, with_times
from ._files._malformed import naming_files
from ._own_lines import own_lines
from ._own_rows import table_of_processes

# The names of columns that become labels without a name.
_EXTRA = "__index_level_"


class CsvLabels(NamedTuple):
    """Where the labels of columns come from."""

    header: Any
    names: Any
    skiprows: int


class CsvValues(NamedTuple):
    """What Arrow does not parse."""

    parse_dates: Any
    date_format: Any
    dayfirst: bool
    thousands: str | None
    converters: Any = None


def read_rows(
    text: CsvText, style: CsvFormat, labels: CsvLabels, read: Callable[[CsvText], Any]
) -> Any:
    """What `read` returns for a text, or for one with even lines if this one has short lines."""
    try:
        return read(text)
    except ShortLineError:
        return read(_even(text, style, labels))


def read_pieces(
    text: CsvText,
    style: CsvFormat,
    labels: CsvLabels,
    read: Callable[[CsvText], Iterator[Any]],
) -> Iterator[Any]:
    """The pieces that `read` yields; see `read_rows`."""

    def pieces() -> Iterator[Any]:
        num_read = 0
        try:
            for piece in first:
                yield piece
                num_read += 1
        except ShortLineError:
            yield from itertools.islice(read(_even(text, style, labels)), num_read, None)

    first = read_rows(text, style, labels, read)
    return pieces()


def _even(text: CsvText, style: CsvFormat, labels: CsvLabels) -> CsvText:
    num_columns = None if labels.names is None else len(labels.names)
    return with_even_lines(text, style, labels.skiprows, num_columns)


class CsvReader:
    """One call of `read_csv`."""

    def __init__(
        self, text: CsvText, style: CsvFormat, labels: CsvLabels, usecols: object, dtype: object,
        index_col: object, values: CsvValues, layout: Layout, dtype_backend: object = None,
    ):  # fmt: skip
        self._text, self._style, self._layout = text, style, layout
        self._index_col, self._values = index_col, values
        self._parse, self._skipped = style.parse(), labels.skiprows
        header = labels.header
        if header not in ("infer", None) and not isinstance(header, int):
            raise NotImplementedError(
                f"read_csv: header must be one line, got {header!r}. Set the labels of columns "
                "afterwards."
            )
        has_header = labels.names is None if header == "infer" else header is not None
        if isinstance(header, int):
            self._skipped += header
        with self._naming_lines(self._first_bad_line):
            found = self._header(None if has_header else labels.names, has_header)
        if style.skip_blank_lines:
            check_blank_lines(text, found.labels)
        extra: list[str] = []
        if labels.names is not None:
            with self._naming_lines():
                in_file = found if has_header else self._header(None, has_header=False)
            names, extra = _names_of_all(labels.names, len(in_file.labels), usecols, index_col)
            if extra:
                if isinstance(index_col, str):
                    raise KeyError(index_col)
                own = [name for name in names if name not in extra]
                if index_col is False:
                    usecols = own if usecols is None else usecols
                elif usecols is None or callable(usecols):
                    own = own if usecols is None else [name for name in own if usecols(name)]
                    usecols = [*extra, *own]
                    self._index_col = extra if index_col is None else index_col
                labels = labels._replace(names=names)
        if labels.names is not None and has_header:
            options = found.options
            options.skip_rows_after_names = 1
            options.column_names = [str(one) for one in labels.names]
            found = Header(options.column_names, options, tuple(extra))
        elif labels.names is not None:
            found.options.column_names = [str(one) for one in labels.names]
            found = Header([str(one) for one in labels.names], found.options, tuple(extra))
        self._found = found
        # Labels that are no strings are set when the rows are read.
        self._given = {str(one): one for one in labels.names or () if not isinstance(one, str)}
        if not has_header and labels.names is None:
            self._given = {str(at): at for at in range(len(found.labels))}
        self._columns = self._chosen(usecols)
        self._times = [
            str(one) for one in columns_of_times(values.parse_dates, found.labels, index_col)
        ]
        plain = dataclasses.replace(style, na_values=None) if self._has_own_nulls else style
        convert = {**plain.convert(), "include_columns": None if usecols is None else self._columns}
        if dtype is not None and not isinstance(dtype, Mapping):
            dtype = dict.fromkeys(self._columns, dtype)
        self._families: dict[str, Family] = {}
        if dtype_backend is not None:
            family = backend_family(dtype_backend, "read_csv")
            self._families = dict.fromkeys(self._columns, family)
        for name, one in (dtype or {}).items():
            family = family_of(pd.api.types.pandas_dtype(one))
            if family is None:
                self._families.pop(str(name), None)
            else:
                self._families[str(name)] = family
        self._objects = [
            str(name) for name, one in (dtype or {}).items() if pd.api.types.is_object_dtype(one)
        ]
        types = {str(name): arrow_type(one) for name, one in (dtype or {}).items()}
        dtypes = {str(name): default_of(one) for name, one in (dtype or {}).items()}
        self._categories = {
            name: one for name, one in dtypes.items() if isinstance(one, pd.CategoricalDtype)
        }
        self._converters = {
            self._name_of(one): function for one, function in (values.converters or {}).items()
        }
        converted = dict.fromkeys(self._converters, pa.string())
        self._types = {**types, **dict.fromkeys(self._times, pa.string()), **converted}
        # Texts of missing values by column, where they are not those of all columns.
        self._nulls: dict[str, list[str]] = {name: [] for name in self._converters}
        if self._has_own_nulls:
            given = {self._name_of(one): words for one, words in style.na_values.items()}
            self._nulls |= {
                name: style.nulls(words) for name, words in given.items() if name not in self._nulls
            }
        self._convert: dict[str, Any] = convert

    @property
    def _has_own_nulls(self) -> bool:
        return isinstance(self._style.na_values, Mapping)

    def _name_of(self, label: Any) -> str:
        """The name of a column in the file, by its label or position."""
        labels = self._found.labels
        name = self._as_text(label)
        if name in labels or not isinstance(label, int) or not 0 <= label < len(labels):
            return str(name)
        return labels[label]

    def _header(self, names: Any, has_header: bool) -> Header:
        encoding = self._style.encoding
        if names is not None or has_header:
            names = None if names is None else [str(one) for one in names]
            return header_of(self._text.open, names, self._skipped, self._parse, encoding)
        first = header_of(self._text.open, None, self._skipped, self._parse, encoding)
        names = [str(at) for at in range(len(first.labels))]
        return header_of(self._text.open, names, self._skipped, self._parse, encoding)

    def _chosen(self, usecols: Any) -> list[str]:
        labels = self._found.labels
        if usecols is None:
            return labels
        if callable(usecols):
            return [one for one in labels if usecols(self._given.get(one, one))]
        return chosen_labels(labels, [self._as_text(one) for one in usecols])

    def _as_text(self, label: Hashable) -> Any:
        return next((name for name, one in self._given.items() if one == label), label)

    def whole(self) -> Any:
        """The frame of all rows."""
        text, style = self._text, self._style
        if self._layout.spans_processes and text.path is not None:
            self._check_own_lines()
            names = self._found.options.column_names
            convert = {**self._convert, "column_types": self._types}
            labels = None if names else self._found.labels
            skipped = self._skipped
            piece = own_lines(
                text.path, names or None, labels, skipped, style.parse(), convert, self._layout
            )
            with naming_files("read_csv", text.name):
                own, labels = table_of_arrow(
                    piece, ONE_DEVICE, keeps_masks=True, backend=self._families
                )
            rows = table_of_processes(own, labels, self._layout, "read_csv")
            return self._labelled(FrameBase.frame_class._of(rows, labels))
        return self._framed(self._rows(text.open, self._found.options))

    def _check_own_lines(self) -> None:
        options = self._found.options
        is_converted = self._times or self._values.thousands or self._categories or self._nulls
        if is_converted or options.skip_rows_after_names:
            raise NotImplementedError(
                "read_csv: over several processes parse_dates, thousands, converters, categories, "
                "na_values by column, and names in place of those of the file are not supported. "
                "Convert the columns afterwards."
            )

    def _rows(self, open_file: Callable[[], object], options: csv.ReadOptions) -> pa.Table:
        def read_as(chosen: Mapping[str, object]) -> pa.Table:
            conversion = csv.ConvertOptions(**{**self._convert, **chosen})
            return csv.read_csv(open_file(), options, self._parse, conversion)

        def read(chosen: Mapping[str, Any]) -> pa.Table:
            if not self._nulls:
                return read_as(chosen)
            return self._by_nulls(read_as, chosen)

        def again() -> None:
            # Arrow counts lines on one thread only.
            options.use_threads = False
            read({"column_types": self._types})

        with self._naming_lines(again):
            table = with_pandas_types(read, self._types, open_file(), "read_csv")
        if any(pa.types.is_binary(kind) for kind in table.schema.types):
            # Arrow's type of texts that are not in the encoding: raises.
            content_of_text(self._text).decode("utf-8")
        return table

    def _by_nulls(
        self, read: Callable[[Mapping[str, Any]], pa.Table], chosen: Mapping[str, Any]
    ) -> pa.Table:
        """The columns, read once for each list of texts that stand for missing values."""
        asked = chosen.get("include_columns") or self._convert["include_columns"]
        names = asked or self._found.labels
        groups: dict[tuple[str, ...] | None, list[str]] = {}
        for name in names:
            words = self._nulls.get(name)
            groups.setdefault(None if words is None else tuple(words), []).append(name)
        columns: dict[str, Any] = {}
        for words, own in groups.items():
            nulls = {"null_values": words, "strings_can_be_null": words != ()}
            part = read({**chosen, **({} if words is None else nulls), "include_columns": own})
            columns |= dict(zip(own, part.columns, strict=True))
        return pa.table([columns[name] for name in names], names=names)

    def _first_bad_line(self) -> None:
        options = csv.ReadOptions(
            use_threads=False, skip_rows=self._skipped, encoding=self._style.encoding
        )
        csv.read_csv(self._text.open(), options, self._parse)

    @contextlib.contextmanager
    def _naming_lines(self, again: Callable[[], None] | None = None) -> Iterator[None]:
        """Turns errors of lines into one that names the file and the line.

        Args:
            again: reads once more, so that the error has the number of the line.
        """
        try:
            yield
        except pa.ArrowInvalid as error:
            if again is not None and "Row #" not in str(error):
                try:
                    again()
                except pa.ArrowInvalid as found:
                    error = found
            if "Empty CSV file" in str(error):
                raise pd.errors.EmptyDataError("No columns to parse from file") from None
            if "invalid UTF8" in str(error):
                content_of_text(self._text).decode("utf-8")
            found = parse_error(error, self._text.name)
            raise ShortLineError(*found.args) if is_short_line(str(error)) else found from None

    def first(self, num_rows: int) -> Any:
        """The frame of the first rows."""
        return next(iter(self.pieces(max(num_rows, 1), num_rows)))

    def pieces(self, chunksize: int, nrows: int | None) -> Iterator[Any]:
        """Frames of `chunksize` rows, up to `nrows` rows."""
        options = csv.ReadOptions(column_names=self._found.labels)
        left, start = nrows, 0
        with self._naming_lines():
            for lines in pieces_of_text(self._text, self._found.options, self._parse, chunksize):
                table = self._plain_rows(lines, options)
                table = table if left is None else table.slice(0, left)
                yield self._framed(table, start)
                start += len(table)
                left = None if left is None else left - len(table)
                if left == 0:
                    return
        if not start:
            yield self.whole().head(0)

    def _plain_rows(self, lines: pa.Buffer, options: csv.ReadOptions) -> pa.Table:
        """The rows of a piece of text, which Arrow wrote."""
        parse, self._parse = self._parse, csv.ParseOptions(newlines_in_values=True)
        try:
            return self._rows(lambda: pa.BufferReader(lines), options)
        finally:
            self._parse = parse

    def _framed(self, table: pa.Table, start: int = 0) -> Any:
        values = self._values
        table = with_numbers_for_nulls(table, self._types, self._families)
        if values.thousands:
            table = with_thousands(table, values.thousands, self._style.decimal, self._types)
        table = with_categories(table, self._categories)
        table = with_times(table, self._times, values.date_format, dayfirst=values.dayfirst)
        with naming_files("read_csv", self._text.name):
            rows, labels = table_of_arrow(table, self._layout, backend=self._families)
        if start:
            rows = rows.replace(index=dataclasses.replace(RANGE, start=start))
        return self._labelled(FrameBase.frame_class._of(rows, labels))

    def _labelled(self, frame: Any) -> Any:
        for name, function in self._converters.items():
            if name in frame._labels:
                frame[name] = self._converted(frame[name].to_pandas(), function)
        if self._given:
            frame = frame.set_axis([self._given.get(one, one) for one in frame.columns], axis=1)
        by = self._index_col
        if by is None or by is False:
            return self._with_objects(frame)
        columns = [self._given.get(one, one) for one in self._columns]
        labels = [
            columns[one] if isinstance(one, int) and one not in columns else one
            for one in listed(by)
        ]
        frame = frame.set_index(labels if isinstance(by, (list, tuple)) else labels[0])
        if self._found.unnamed and self._given:
            # Beside names for labels, numbers were objects.
            frame = frame.set_axis(list(frame.columns), axis=1)
        # Labels of rows have the dtype that pandas infers from objects.
        frame = self._with_objects(frame)
        index, unnamed = frame._table.index, self._found.unnamed
        return frame._with_index(
            index.named([None if name in unnamed else name for name in index.names])
        )

    def _converted(self, texts: pd.Series, function: Callable[[str], object]) -> pd.Series:
        """The results of a converter; texts among them may still stand for missing values."""
        found = pd.Series([function(text) for text in texts], dtype=object, index=texts.index)
        found = found.infer_objects()
        if not isinstance(found.dtype, pd.StringDtype):
            return found
        given = None if self._has_own_nulls else self._style.na_values
        return found.mask(found.isin(self._style.nulls(given)))

    def _with_objects(self, frame: Any) -> Any:
        objects = [self._given.get(name, name) for name in self._objects]
        objects = [label for label in objects if label in frame._labels]
        return frame.astype(dict.fromkeys(objects, object)) if objects else frame


def _names_of_all(
    names: Any, num_columns: int, usecols: Any, index_col: object
) -> tuple[list[Any], list[str]]:
    """Names for all columns of a file that may have more columns than names, and those made up.

    As in pandas, the names are those of the columns that `usecols` lists by position, or else of
    the last columns, unless `index_col` is False.
    """
    given = list(names)
    extra = [f"{_EXTRA}{at}" for at in range(num_columns - len(given))]
    if usecols is None or callable(usecols) or not extra:
        return ([*given, *extra] if index_col is False else [*extra, *given]), extra
    used = list(usecols)
    if len(used) != len(given) or not all(isinstance(one, int) for one in used):
        raise ValueError("Number of passed names did not match number of header fields in the file")
    of_used, of_others = iter(given), iter(extra)
    return [next(of_used if at in used else of_others) for at in range(num_columns)], extra
