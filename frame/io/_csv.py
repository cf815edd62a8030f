# SPDX-License-Identifier: Apache-2.0
"""Reads and writes comma-separated values through Arrow."""

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
from pyarrow import csv

from ..table._layout import ONE_DEVICE, layout_of
from ..table._ndframe import FrameBase, SeriesBase
from ._construction import table_of_arrow
from ._csv_columns import chosen_labels, header_of, with_wide_integers
from ._malformed import naming_files
from ._own_lines import own_lines
from ._own_rows import own_pieces, spans_processes, table_of_processes
from ._replacing import is_local_path, replacing


def read_csv(
    filepath_or_buffer: Any,
    *,
    sep: str = ",",
    names: Sequence[str] | None = None,
    usecols: Sequence[str] | Sequence[int] | None = None,
    dtype: Any = None,
    index_col: Hashable = None,
    skiprows: int = 0,
    na_values: Sequence[str] | None = None,
    sharding: Any = None,
) -> Any:
    """Reads a file of comma-separated values.

    On a mesh of several processes each process reads its own part of the lines of a file, so values
    must not contain line breaks. The types are those of all lines.

    Differences from pandas:
        Arrow infers the types: it parses ISO 8601 times, and has its own list of strings for
        missing values unless `na_values` is given. Integers that neither int64 nor uint64 holds
        raise, unless a dtype is given.

    Args:
        filepath_or_buffer: a path or a binary file.
        sep: the separator.
        names: column labels, for a file without a header.
        usecols: the labels or positions of the columns to read; all if left out.
        dtype: one dtype, or dtypes by column.
        index_col: the label or position of the column to use as the index, or a list of these.
        skiprows: the number of lines to skip at the top.
        na_values: strings that denote missing values.
        sharding: the placement of the rows; see `JaxFrame`.

    Example:
        >>> import io
        >>> from jaxframes.frame import read_csv
        >>> read_csv(io.BytesIO(b"x,y\\n1,a\\n2,b\\n"))["x"].tolist()
        [1, 2]
    """
    is_path = isinstance(filepath_or_buffer, (str, os.PathLike))
    if is_path:
        open_file: Callable[[], Any] = lambda: filepath_or_buffer  # noqa: E731
    else:
        content = filepath_or_buffer.read()
        data = pa.py_buffer(content.encode() if isinstance(content, str) else content)
        open_file = lambda: pa.BufferReader(data)  # noqa: E731
    layout = layout_of(sharding, "read_csv")
    parse = csv.ParseOptions(delimiter=sep)
    header = header_of(open_file, names, skiprows, parse)
    columns = header.labels if usecols is None else chosen_labels(header.labels, usecols)
    convert: dict[str, Any] = {"include_columns": None if usecols is None else columns}
    convert["strings_can_be_null"] = True
    if na_values is not None:
        convert["null_values"] = list(na_values)
    if dtype is not None and not isinstance(dtype, Mapping):
        dtype = dict.fromkeys(columns, dtype)
    types = {name: _arrow_type(one) for name, one in (dtype or {}).items()}
    if spans_processes(layout) and is_local_path(filepath_or_buffer):
        convert["column_types"] = types
        path = os.fspath(filepath_or_buffer)
        labels = None if names is not None else header.labels
        piece = own_lines(path, names, labels, skiprows, parse, convert, layout)
        with naming_files("read_csv", filepath_or_buffer):
            own, labels = table_of_arrow(piece, ONE_DEVICE, keeps_masks=True)
        table_of_rows = table_of_processes(own, labels, layout, "read_csv")
    else:
        table = with_wide_integers(
            lambda options: csv.read_csv(
                open_file(),
                read_options=header.options,
                parse_options=parse,
                convert_options=csv.ConvertOptions(**{**convert, **options}),
            ),
            types,
            "read_csv",
        )
        with naming_files("read_csv", filepath_or_buffer if is_path else "the buffer"):
            table_of_rows, labels = table_of_arrow(table, layout)
    frame = FrameBase.frame_class._of(table_of_rows, labels)
    if index_col is None or index_col is False:
        return frame
    by = index_col if isinstance(index_col, (list, tuple)) else [index_col]
    by = [columns[one] if isinstance(one, int) else one for one in by]
    return frame.set_index(by if isinstance(index_col, (list, tuple)) else by[0])


def _arrow_type(dtype: Any) -> pa.DataType:
    dtype = pd.api.types.pandas_dtype(dtype)
    if isinstance(dtype, pd.StringDtype):
        return pa.large_string()
    if isinstance(dtype, pd.CategoricalDtype):
        raise NotImplementedError("read_csv: dtype must not be a category. Call astype afterwards.")
    return pa.from_numpy_dtype(dtype)


class FrameCsv(FrameBase):
    """`to_csv` of a frame."""

    def to_csv(
        self, path_or_buf: Any = None, *, sep: str = ",", header: bool = True, index: bool = True
    ) -> str | None:
        """Writes comma-separated values to a file, or returns them as a string.

        The file appears when it is complete. On a mesh of several processes it is a folder, into
        which each process writes the rows of its devices.

        Differences from pandas:
            Arrow formats the values: bools are true and false, 1.0 is 1, timedeltas are counts of
            their unit, and strings are quoted if necessary.
        """
        # Without their labels, rows have no index column in Arrow.
        frame: Any = self.reset_index() if index else self._with_range()
        if index and self._table.index.names == (None,):
            frame = frame.rename(columns={frame._labels[0]: ""})
        options = csv.WriteOptions(delimiter=sep, include_header=header)
        if path_or_buf is not None and spans_processes(self._layout):
            os.makedirs(path_or_buf, exist_ok=True)
            for name, piece in own_pieces(frame):
                path = os.path.join(path_or_buf, f"part-{name}.csv")
                with replacing(path, "to_csv") as temporary:
                    csv.write_csv(_without_dictionaries(piece), temporary, options)
            return None
        table = _without_dictionaries(frame.to_arrow())
        if is_local_path(path_or_buf):
            with replacing(path_or_buf, "to_csv") as temporary:
                csv.write_csv(table, temporary, options)
            return None
        sink = pa.BufferOutputStream() if path_or_buf is None else path_or_buf
        csv.write_csv(table, sink, options)
        return None if path_or_buf is not None else sink.getvalue().to_pybytes().decode()


class SeriesCsv(SeriesBase):
    """`to_csv` of a series."""

    def to_csv(
        self, path_or_buf: Any = None, *, sep: str = ",", header: bool = True, index: bool = True
    ) -> str | None:
        """Writes comma-separated values to a file, or returns them as a string.

        See `JaxFrame.to_csv`. A series without a name has the label 0, as in pandas.
        """
        frame: Any = self.to_frame()
        return frame.to_csv(path_or_buf, sep=sep, header=header, index=index)


def _without_dictionaries(table: pa.Table) -> pa.Table:
    # Arrow's writer does not support dictionary columns.
    columns = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    return pa.Table.from_arrays(columns, names=table.column_names)
