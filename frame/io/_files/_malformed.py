# SPDX-License-Identifier: Apache-2.0
"""Files and Arrow data that break their format: each ends in an error that names the source."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from ._footer import check_footer

# Pages with a checksum are compared with it; `to_parquet` writes one for each page.
# Files are local: to read whole columns ahead would only take memory, and the time to clear it.
VERIFIED = ds.ParquetFragmentScanOptions(page_checksum_verification=True, pre_buffer=False)
PARQUET = ds.ParquetFileFormat(default_fragment_scan_options=VERIFIED)


class MalformedMetadata(ValueError):
    """pandas' metadata of an Arrow schema that do not describe its columns."""


@contextlib.contextmanager
def reading(caller: str, paths: object) -> Iterator[None]:
    """Turns errors of reading malformed files into one that names the files.

    An error about a column that frames do not hold keeps its type, and names them too.
    """
    try:
        with naming_files(caller, paths):
            yield
    except (FileNotFoundError, PermissionError):
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError, MalformedMetadata) as error:
        raise OSError(
            f"{caller}: cannot read {_listed(paths)!r}: it is truncated, corrupted, or of a kind "
            f"that Arrow does not read. {error}"
        ) from error


@contextlib.contextmanager
def naming_files(caller: str, paths: object) -> Iterator[None]:
    """Names the files in errors about columns that frames do not hold, or not without x64."""
    try:
        yield
    except pa.ArrowException:
        raise
    except (NotImplementedError, TypeError) as error:
        if _listed(paths) in str(error):
            raise
        kind = NotImplementedError if isinstance(error, NotImplementedError) else TypeError
        raise kind(f"{caller}: cannot read {_listed(paths)!r}. {error}") from error


def _listed(paths: object) -> str:
    return ", ".join(map(str, paths)) if isinstance(paths, (list, tuple)) else str(paths)


def check_filter(condition: object, schema: pa.Schema) -> None:
    """Raises Arrow's error if a filter does not fit the columns."""
    if condition is not None:
        ds.dataset(schema.empty_table()).to_table(filter=condition)


def check_footers(fragments: Sequence[Any]) -> None:
    """Raises if Arrow cannot be asked for the statistics of a file: see `check_footer`."""
    for fragment in fragments:
        check_footer(fragment.metadata)


def check_arrow(table: pa.Table, caller: str) -> pa.Table:
    """Returns Arrow data from outside, unless a position in it lies outside its buffers.

    Two columns with one name raise too: Arrow cannot be asked for either by its name.
    """
    names = table.column_names
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(
            f"{caller}: the names of columns must differ, got {repeated!r} more than once. "
            "Rename them with rename_columns first."
        )
    for name, column in zip(table.column_names, table.columns, strict=True):
        try:
            for chunk in column.chunks:
                _check_chunk(chunk)
        except pa.ArrowInvalid as error:
            raise ValueError(
                f"{caller}: column {name!r} of the Arrow data is malformed: {error}. Read it again "
                "from a sound source."
            ) from error
    return table


def _check_chunk(chunk: Any) -> None:
    chunk.validate()
    kind = chunk.type
    if pa.types.is_primitive(kind) or pa.types.is_null(kind):
        return
    if pa.types.is_dictionary(kind):
        _check_chunk(chunk.dictionary)
        ends = pc.call_function("min_max", [chunk.indices])
        least, most = ends["min"].as_py(), ends["max"].as_py()
        if least is not None and (least < 0 or most >= len(chunk.dictionary)):
            raise pa.ArrowInvalid("an index is outside its dictionary")
        return
    is_large = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
    if not (is_large or pa.types.is_string(kind) or pa.types.is_binary(kind)):
        chunk.validate(full=True)
        return
    _, offsets, data = chunk.buffers()
    if not len(chunk):
        return
    dtype = np.dtype(np.int64 if is_large else np.int32)
    bounds = np.frombuffer(offsets, dtype, len(chunk) + 1, chunk.offset * dtype.itemsize)
    if bounds[0] < 0 or (np.diff(bounds) < 0).any() or bounds[-1] > (data.size if data else 0):
        raise pa.ArrowInvalid("an offset of a string is outside its data")
