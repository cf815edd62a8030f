# SPDX-License-Identifier: Apache-2.0
"""JSON, Feather and ORC files, and frames as text, records and pages for people."""

import functools
import io
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import feather, orc

from ..table._layout import layout_of
from ..table._ndframe import FrameBase, NDFrame
from ..table._nullable import backend_family
from ..table._types import Sharding
from ..table._untyped import untyped_pandas
from ._construction import table_of_arrow
from ._files._malformed import reading
from ._files._places import compression_of, content_of, place_of
from ._writing import target_of, without_dictionaries, write_content


def _content(
    path: Any,
    caller: str,
    compression: object = None,
    filesystem: object = None,
    storage_options: Mapping[str, object] | None = None,
) -> tuple[Any, str]:
    """The bytes of a file at a path or a URL, or of a file object, and its name."""
    if not isinstance(path, (str, os.PathLike)):
        return content_of(path, compression, caller), "the buffer"
    place = place_of(path, caller, filesystem, storage_options)
    kind = compression_of(path, compression, caller)
    return place.read_content(caller, kind), os.fspath(path)


def read_json(
    path_or_buf: object,
    *,
    orient: str | None = None,
    lines: bool = False,
    compression: object = "infer",
    storage_options: Mapping[str, object] | None = None,
    filesystem: object = None,
    sharding: Sharding = None,
    **options: object,
) -> Any:
    """Reads a JSON file, or one with a record on each line.

    pandas parses the text on the host.

    Args:
        path_or_buf: a path, a URL or a file.
        orient: the form of the text: "split", "records", "index", "columns", "values" or "table".
        lines: whether each line is a record.
        compression: that of the file; by default what the end of its name says.
        storage_options: arguments of the file system of a URL, for fsspec.
        filesystem: a file system of `pyarrow.fs` or fsspec that has the path.
        sharding: the placement of the rows; see `JaxFrame`.
        **options: other arguments of pandas, such as `dtype`, `dtype_backend`, `convert_dates` and
            `nrows`.

    Example:
        >>> import io
        >>> from jaxframes.frame import read_json
        >>> read_json(io.StringIO('{"x": 1}\\n{"x": 2}\\n'), lines=True).x.tolist()
        [1, 2]
    """
    if options.get("chunksize") is not None:
        raise NotImplementedError(
            "read_json: chunksize is not supported. Use nrows=, or convert the file to Parquet."
        )
    content, _ = _content(path_or_buf, "read_json", compression, filesystem, storage_options)
    read = untyped_pandas.read_json
    found = read(io.BytesIO(content), orient=orient, lines=lines, **options)
    return NDFrame.frame_class(found, sharding=sharding)


def read_feather(
    path: object,
    columns: Sequence[str] | None = None,
    *,
    dtype_backend: object = None,
    storage_options: Mapping[str, object] | None = None,
    filesystem: object = None,
    sharding: Sharding = None,
) -> Any:
    """Reads a Feather file, also called Arrow IPC.

    Args:
        path: a path, a URL or a binary file.
        columns: the columns to read; all if left out.
        dtype_backend: "numpy_nullable" or "pyarrow" for nullable dtypes in all columns.
        storage_options: arguments of the file system of a URL, for fsspec.
        filesystem: a file system of `pyarrow.fs` or fsspec that has the path.
        sharding: the placement of the rows; see `JaxFrame`.

    Raises:
        OSError: the file is truncated or corrupted.
    """
    read = functools.partial(feather.read_table, columns=columns)
    return _read_arrow(
        "read_feather", read, path, dtype_backend, storage_options, filesystem, sharding
    )


def read_orc(
    path: object,
    columns: Sequence[str] | None = None,
    *,
    dtype_backend: object = None,
    storage_options: Mapping[str, object] | None = None,
    filesystem: object = None,
    sharding: Sharding = None,
) -> Any:
    """Reads an ORC file; see `read_feather` for its arguments."""

    def read(file: pa.NativeFile) -> pa.Table:
        return orc.ORCFile(file).read(columns=columns)

    return _read_arrow("read_orc", read, path, dtype_backend, storage_options, filesystem, sharding)


def _read_arrow(
    caller: str,
    read: Callable[[pa.NativeFile], pa.Table],
    path: object,
    dtype_backend: object,
    storage_options: Mapping[str, object] | None,
    filesystem: object,
    sharding: Sharding,
) -> Any:
    """A frame of the table that a reader of Arrow makes of a file."""
    content, name = _content(path, caller, None, filesystem, storage_options)
    layout = layout_of(sharding, caller)
    backend = None if dtype_backend is None else backend_family(dtype_backend, caller)
    with reading(caller, name):
        table = read(pa.BufferReader(content))
        return FrameBase.frame_class._of(*table_of_arrow(table, layout, backend=backend))


class Texts(NDFrame):
    """Frames and series as text for people and programs; pandas formats the rows on the host."""

    def to_json(
        self,
        path_or_buf: object = None,
        *,
        orient: str | None = None,
        lines: bool = False,
        compression: object = "infer",
        storage_options: Mapping[str, object] | None = None,
        filesystem: object = None,
        **options: object,
    ) -> str | None:
        """Writes JSON to a file, or returns it as a string; see pandas for the arguments.

        The file appears when it is complete.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1, 2]}).to_json(orient="records", lines=True)
            '{"x":1}\\n{"x":2}\\n'
        """
        text = self.to_pandas().to_json(orient=orient, lines=lines, **options)
        if path_or_buf is None:
            return text
        target = target_of(
            path_or_buf, "to_json", compression=compression, filesystem=filesystem,
            storage_options=storage_options,
        )  # fmt: skip
        write_content(path_or_buf, target, text.encode())
        return None

    def to_string(self, buf: object = None, **options: object) -> str | None:
        """The rows as a table of text; see pandas for the arguments."""
        return self.to_pandas().to_string(buf, **options)

    def to_markdown(self, buf: object = None, **options: object) -> str | None:
        """The rows as a table of Markdown, which needs tabulate; see pandas for the arguments."""
        return self.to_pandas().to_markdown(buf, **options)


class FrameFormats(Texts, FrameBase):
    """Formats of frames."""

    def to_html(self, buf: object = None, **options: object) -> str | None:
        """The rows as a table of HTML; see pandas for the arguments."""
        return self.to_pandas().to_html(buf, **options)

    def to_records(self, index: bool = True, **options: object) -> np.recarray:
        """The rows as an array of records; see pandas for the arguments."""
        return self.to_pandas().to_records(index=index, **options)

    def to_feather(
        self,
        path: object,
        *,
        compression: str | None = None,
        storage_options: Mapping[str, object] | None = None,
        filesystem: object = None,
    ) -> None:
        """Writes a Feather file, also called Arrow IPC, which appears when it is complete.

        Args:
            path: a path, a URL or a binary file.
            compression: "lz4", "zstd" or "uncompressed".
            storage_options: arguments of the file system of a URL, for fsspec.
            filesystem: a file system of `pyarrow.fs` or fsspec that has the path.
        """
        frame: Any = self
        sink = pa.BufferOutputStream()
        feather.write_feather(frame.to_arrow(), sink, compression=compression)
        target = target_of(
            path, "to_feather", compression=None, filesystem=filesystem,
            storage_options=storage_options,
        )  # fmt: skip
        write_content(path, target, sink.getvalue())

    def to_orc(
        self,
        path: object = None,
        *,
        storage_options: Mapping[str, object] | None = None,
        filesystem: object = None,
    ) -> bytes | None:
        """Writes an ORC file, which appears when it is complete, or returns its bytes."""
        index = self._table.index
        if not index.is_range or (index.first, index.step, index.names) != (0, 1, (None,)):
            raise ValueError(
                "orc does not support serializing a non-default index for the index; you can "
                ".reset_index() to make the index into column(s)"
            )
        frame: Any = self
        sink = pa.BufferOutputStream()
        # ORC has no dictionaries.
        orc.write_table(without_dictionaries(frame.to_arrow()), sink)
        if path is None:
            return sink.getvalue().to_pybytes()
        target = target_of(
            path, "to_orc", compression=None, filesystem=filesystem,
            storage_options=storage_options,
        )  # fmt: skip
        write_content(path, target, sink.getvalue())
        return None
