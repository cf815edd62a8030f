# SPDX-License-Identifier: Apache-2.0
"""Reads and writes comma-separated values through Arrow."""

import codecs
import io
import os
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
from pandas.api.extensions import no_default
from pyarrow import csv

from ..table._layout import ONE_DEVICE, layout_of
from ..table._ndframe import FrameBase, SeriesBase
from ..table._object_functions import as_texts
from ..table._types import Options
from ._construction import table_of_arrow
from ._csv_lines import CsvText, csv_text
from ._csv_options import CsvFormat, check_rest
from ._csv_reader import CsvLabels, CsvReader, CsvValues, read_pieces, read_rows
from ._csv_rewritten import with_tabs, without_initial_spaces, without_lines
from ._files._replacing import replacing
from ._own_rows import own_pieces
from ._writing import target_of, without_dictionaries, write_content


def read_csv(
    filepath_or_buffer: object,
    *,
    sep: Any = no_default,
    delimiter: str | None = None,
    header: int | str | None = "infer",
    names: Sequence[Hashable] | None = None,
    index_col: object = None,
    usecols: object = None,
    dtype: object = None,
    converters: Mapping[Any, Callable[[str], object]] | None = None,
    true_values: Sequence[str] | None = None,
    false_values: Sequence[str] | None = None,
    skiprows: object = None,
    skipfooter: int = 0,
    nrows: int | None = None,
    na_values: object = None,
    keep_default_na: bool = True,
    na_filter: bool = True,
    skip_blank_lines: bool = True,
    skipinitialspace: bool = False,
    parse_dates: object = None,
    date_format: object = None,
    dayfirst: bool = False,
    chunksize: int | None = None,
    compression: object = "infer",
    thousands: str | None = None,
    decimal: str = ".",
    quotechar: str | None = '"',
    doublequote: bool = True,
    escapechar: str | None = None,
    comment: str | None = None,
    encoding: str | None = None,
    on_bad_lines: object = "error",
    storage_options: Mapping[str, object] | None = None,
    filesystem: object = None,
    sharding: object = None,
    dtype_backend: object = None,
    **rest: object,
) -> Any:
    """Reads a file of comma-separated values.

    On a mesh of several processes each process reads its own part of the lines of a file, so values
    must not contain line breaks. The types are those of all lines.

    Differences from pandas:
        Arrow infers the types: it parses ISO 8601 times without `parse_dates`. Integers that
        neither int64 nor uint64 holds raise, unless a dtype is given.

    Args:
        filepath_or_buffer: a path, a URL or a file.
        sep: the separator, one character, or r"\\s+" for runs of whitespace.
        delimiter: the same.
        header: the number of the line of labels, or None for a file without one.
        names: column labels, in place of those of the file. If the file has more columns, the
            first ones become the index, or with `index_col=False` the last ones are left out.
        index_col: the label or position of the column to use as the index, or a list of these.
        usecols: the labels or positions of the columns to read, or a function of the labels.
        dtype: one dtype, or dtypes by column.
        converters: functions of the texts of columns, by label or position, called on the host.
        true_values: more words for True.
        false_values: more words for False.
        skiprows: the number of lines to skip at the top, the numbers of the lines to skip, or a
            function that tells whether to skip a line; then the lines are rewritten on the host.
        skipfooter: the number of lines to skip at the end.
        nrows: the number of rows to read.
        na_values: more strings that denote missing values, or these by column: then columns with
            such strings are read by themselves.
        keep_default_na: whether pandas' strings for missing values count too.
        na_filter: whether missing values are looked for.
        skip_blank_lines: whether lines of whitespace alone are no rows.
        skipinitialspace: whether spaces in front of a value do not belong to it.
        parse_dates: columns to parse as times, or True for the index.
        date_format: the format of these, or formats by column.
        dayfirst: whether days come before months in these.
        chunksize: returns an iterator over frames of so many rows.
        compression: that of the file; by default what the end of its name says.
        thousands: a mark that groups digits.
        decimal: the decimal point.
        quotechar: the quotation mark; None if there is none.
        doublequote: whether two quotation marks within quotes stand for one.
        escapechar: a character before one that has no special meaning.
        comment: a character that ends a line.
        encoding: the encoding of the text.
        on_bad_lines: "error", "warn" or "skip" for lines with too many values. Those with too few
            end in missing values; a file that has one is read twice.
        storage_options: arguments of the file system of a URL, for fsspec.
        filesystem: a file system of `pyarrow.fs` or fsspec that has the path.
        sharding: the placement of the rows; see `JaxFrame`.
        dtype_backend: "numpy_nullable" or "pyarrow" for nullable dtypes in all columns.
        **rest: other arguments of pandas raise; `engine` and the like are ignored.

    Raises:
        ParserError: a line cannot be read; the error names the file and the line.

    Example:
        >>> import io
        >>> from jaxframes.frame import read_csv
        >>> read_csv(io.BytesIO(b"x,y\\n1,a\\n2,b\\n"))["x"].tolist()
        [1, 2]
    """
    check_rest(rest, "read_csv")
    if sep is not no_default and delimiter is not None:
        raise ValueError("Specified a sep and a delimiter; you can only specify one.")
    given_sep = (delimiter or ",") if sep is no_default else sep
    is_of_whitespace = given_sep == r"\s+"
    style = CsvFormat(
        sep="\t" if is_of_whitespace else _one_character(given_sep),
        quotechar=quotechar, doublequote=doublequote, escapechar=escapechar,
        skip_blank_lines=skip_blank_lines, on_bad_lines=on_bad_lines, encoding=encoding or "utf8",
        decimal=decimal, na_values=na_values, keep_default_na=keep_default_na, na_filter=na_filter,
        true_values=true_values, false_values=false_values,
    )  # fmt: skip
    text = csv_text(
        filepath_or_buffer, style, comment=comment, compression=compression,
        filesystem=filesystem, storage_options=storage_options,
    )  # fmt: skip
    layout = layout_of(sharding, "read_csv")
    skipped, skipfooter = _lines_of(skiprows), _whole(skipfooter, "skipfooter") or 0
    if skipfooter and (nrows is not None or chunksize is not None):
        raise ValueError("'skipfooter' not supported with 'nrows' or iteration")
    if skipped is not None and comment is not None:
        raise NotImplementedError(
            "read_csv: a list of lines in skiprows does not go with comment=, which drops lines "
            "before. Drop the rows of the result."
        )
    if skipped is not None or skipfooter:
        text = without_lines(text, style, () if skipped is None else skipped, skipfooter)
    if is_of_whitespace:
        text = with_tabs(text, style)
    elif skipinitialspace:
        text = without_initial_spaces(text, style)
    num_skipped = 0 if skipped is not None else _whole(skiprows, "skiprows") or 0
    labels = CsvLabels(header, names, num_skipped)
    values = CsvValues(parse_dates, date_format, dayfirst, thousands, converters)

    def reader(text: CsvText) -> CsvReader:
        return CsvReader(
            text, style, labels, usecols, dtype, index_col, values, layout, dtype_backend
        )

    if nrows is None and chunksize is None:
        return read_rows(text, style, labels, lambda text: reader(text).whole())
    nrows, chunksize = _whole(nrows, "nrows"), _whole(chunksize, "chunksize")
    if layout.spans_processes:
        raise NotImplementedError(
            "read_csv: nrows and chunksize need rows of one process. Leave out sharding."
        )
    if chunksize is None:
        return read_rows(text, style, labels, lambda text: reader(text).first(nrows or 0))
    return read_pieces(text, style, labels, lambda text: reader(text).pieces(chunksize, nrows))


def _one_character(sep: Any) -> str:
    if not isinstance(sep, str) or len(sep) != 1:
        raise NotImplementedError(
            f"read_csv: sep must be one character or r'\\s+', got {sep!r}. Use str.split() on one "
            "column, or pandas' reader and from_pandas()."
        )
    return sep


def _lines_of(skiprows: Any) -> Any:
    """The lines that `skiprows` names, or the function that tells; None for a number of lines."""
    return skiprows if callable(skiprows) or pd.api.types.is_list_like(skiprows) else None


def _whole(value: object, name: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != int(value):
        raise ValueError(f"'{name}' must be an integer >=0, got {value!r}")
    if value < (name == "chunksize"):
        raise ValueError(f"'{name}' must be an integer >={int(name == 'chunksize')}, got {value!r}")
    return int(value)


def read_table(filepath_or_buffer: object, *, sep: Any = no_default, **options: Any) -> Any:
    """Reads a file of values separated by tabs; see `read_csv`.

    Example:
        >>> import io
        >>> from jaxframes.frame import read_table
        >>> read_table(io.StringIO("x\\ty\\n1\\ta\\n"))["y"].tolist()
        ['a']
    """
    if sep is no_default and options.get("delimiter") is None:
        sep = "\t"
    return read_csv(filepath_or_buffer, sep=sep, **options)


class FrameCsv(FrameBase):
    """`to_csv` of a frame."""

    def to_csv(
        self,
        path_or_buf: Any = None,
        *,
        sep: str = ",",
        columns: Sequence[Hashable] | None = None,
        header: bool | Sequence[str] = True,
        index: bool = True,
        mode: str = "w",
        encoding: str | None = None,
        errors: str = "strict",
        compression: object = "infer",
        storage_options: Mapping[str, object] | None = None,
        filesystem: object = None,
        engine: str = "python",
        **options: Any,
    ) -> str | None:
        """Writes comma-separated values to a file, or returns them as a string.

        The text is pandas'; a plan over batches writes all digits of times without a zone. The file
        appears when it is complete; at a URL, if its store makes files whole, as object stores do.
        On a mesh of several processes it is a folder, into which each process writes the rows of
        its devices.

        Args:
            path_or_buf: a path, a URL or a file; None for a string.
            sep: the separator.
            columns: the labels of the columns to write; all by default.
            header: whether to write the labels of columns, or other labels in their place.
            index: whether to write the labels of rows.
            mode: "a" appends to a file of this machine, and "x" refuses one that exists; with both
                the file can be seen before it is complete.
            encoding: the encoding of a file; UTF-8 by default.
            errors: what happens to characters that it does not have, as in `str.encode`.
            compression: "gzip", "bz2", "zip", "xz", "zstd", "lz4" or None; by default what the end
                of the name says.
            storage_options: arguments of the file system of a URL, for fsspec.
            filesystem: a file system of `pyarrow.fs` or fsspec that has the path.
            engine: "python" for pandas' writer; "pyarrow" for Arrow's, which is several times as
                fast, takes no `options`, quotes labels, and writes 1.0 as 1, bools as true and
                false, times with all their digits and timedeltas as counts of their unit.
            **options: the other arguments of pandas: `na_rep`, `float_format`, `date_format`,
                `index_label`, `quoting`, `quotechar`, `doublequote`, `escapechar`, `decimal`,
                `lineterminator` and `chunksize`.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [0.5, None]}).to_csv(index=False, na_rep="NA", float_format="%.2f")
            'x\\n0.50\\nNA\\n'
        """
        frame: Any = self if columns is None else self[list(columns)]
        if not isinstance(header, (bool, np.bool_)):
            if len(header) != len(frame._labels):
                raise ValueError(f"Writing {len(frame._labels)} cols but got {len(header)} aliases")
            frame, header = frame.set_axis(list(header), axis=1), True
        options |= {"sep": sep, "header": bool(header), "index": index}
        if path_or_buf is not None and not _is_text(path_or_buf):
            options |= {"encoding": encoding, "errors": errors}
        # A file object has a mode of its own.
        is_path = isinstance(path_or_buf, (str, os.PathLike))
        is_new = not is_path or mode.strip("bt") == "w"
        write = _writer(engine, options if is_new else options | {"mode": mode})
        if not is_new and self._layout.spans_processes:
            raise NotImplementedError(
                f"to_csv: mode={mode!r} needs the rows in one process. Write a new folder."
            )
        if path_or_buf is not None and self._layout.spans_processes:
            os.makedirs(path_or_buf, exist_ok=True)
            for name, piece in own_pieces(_with_texts(frame, ("object", "list"))):
                own = frame.frame_class._of(*table_of_arrow(piece, ONE_DEVICE))
                path = os.path.join(path_or_buf, f"part-{name}.csv")
                with replacing(path, "to_csv") as temporary, open(temporary, "wb") as file:
                    write(own, file, options)
            return None
        content = io.BytesIO()
        if path_or_buf is None:
            write(frame, content, options)
            return content.getvalue().decode()
        target = target_of(
            path_or_buf, "to_csv", compression=compression, filesystem=filesystem,
            storage_options=storage_options,
        )  # fmt: skip
        if not is_new:
            if target.place is None or not target.place.is_local:
                raise NotImplementedError(
                    f"to_csv: mode={mode!r} needs a path of this machine, got {path_or_buf!r}. "
                    "Write a new file."
                )
            path = target.place.path
            frame.to_pandas().to_csv(path, mode=mode, compression=target.compression, **options)
        elif target.place is not None and target.is_plain_file:
            with replacing(target.place.path, "to_csv") as temporary, open(temporary, "wb") as file:
                write(frame, file, options)
        else:
            write(frame, content, options)
            write_content(path_or_buf, target, content.getvalue())
        return None


def _is_text(file: object) -> bool:
    """Whether a file object takes text; also one that wraps it."""
    mode = getattr(file, "mode", None)
    return isinstance(file, io.TextIOBase) or (isinstance(mode, str) and "b" not in mode)


def _with_texts(frame: Any, kinds: Collection[str]) -> Any:
    """A frame with texts in place of columns of some kinds, which Arrow does not write."""
    table = frame._table
    return frame._with_columns(
        [
            as_texts(column, table.num_rows, table.layout, "to_csv")
            if column.kind in kinds
            else column
            for column in table.columns
        ]
    )


def _writer(engine: str, options: Options) -> Callable[[Any, BinaryIO, Options], None]:
    """The function that writes a frame to a file of bytes."""
    if options.get("mode", "w").strip("bt") not in ("w", "a", "x"):
        raise ValueError(f"to_csv: mode must be 'w', 'a' or 'x', got {options['mode']!r}.")
    if engine == "python":
        return _write_by_pandas
    if engine != "pyarrow":
        raise ValueError(f"to_csv: engine must be 'python' or 'pyarrow', got {engine!r}.")
    others = sorted(options.keys() - {"sep", "header", "index", "encoding", "errors"})
    if codecs.lookup(options.get("encoding") or "utf-8").name != "utf-8":
        others.append("encoding")
    if others:
        raise NotImplementedError(
            f"to_csv: engine='pyarrow' has no {', '.join(others)}. Omit the engine."
        )
    return _write_by_arrow


def _write_by_pandas(frame: Any, file: BinaryIO, options: Options) -> None:
    rest = dict(options)
    encoding, errors = rest.pop("encoding", None), rest.pop("errors", "strict")
    text = io.TextIOWrapper(file, encoding or "utf-8", errors, newline="")
    frame.to_pandas().to_csv(text, **rest)
    text.detach()


def with_written_times(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with texts of all digits in place of times without a zone, labels among them.

    pandas leaves out what is zero in all times that it writes at once, which are those of a batch.
    """

    def written(times: Any) -> Any:
        if not isinstance(times.dtype, np.dtype) or times.dtype.kind != "M":
            return times
        texts = pa.array(times).cast(pa.string()).to_pandas().to_numpy(object)
        return pd.Index(texts, dtype=object, name=times.name)

    made = rows.copy(deep=False)
    for at in range(rows.shape[1]):
        column = rows.iloc[:, at]
        texts = written(column)
        if texts is not column:
            made.isetitem(at, texts)
    if isinstance(rows.index, pd.MultiIndex):
        levels = [written(level) for level in rows.index.levels]
        return made.set_axis(rows.index.set_levels(levels))
    return made.set_axis(written(rows.index))


def _write_by_arrow(frame: Any, file: BinaryIO, options: Options) -> None:
    # Without their labels, rows have no index column in Arrow.
    named = frame.reset_index() if options["index"] else frame._with_range()
    if options["index"] and frame._table.index.names == (None,):
        named = named.rename(columns={named._labels[0]: ""})
    named = _with_texts(named, ("object", "list", "period"))
    how = csv.WriteOptions(delimiter=options["sep"], include_header=options["header"])
    csv.write_csv(without_dictionaries(named.to_arrow()), file, how)


class SeriesCsv(SeriesBase):
    """`to_csv` of a series."""

    def to_csv(self, path_or_buf: object = None, **options: object) -> str | None:
        """Writes comma-separated values to a file, or returns them as a string.

        See `JaxFrame.to_csv`. A series without a name has the label 0, as in pandas.
        """
        frame: Any = self.to_frame()
        return frame.to_csv(path_or_buf, **options)
