# SPDX-License-Identifier: Apache-2.0
"""Reads and writes Parquet through Arrow; each process handles its own rows."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from ..table._column_labels import Labels
from ..table._layout import ONE_DEVICE, Layout, layout_of
from ..table._ndframe import FrameBase
from ..table._nullable import Family, backend_family
from ..table._table import Table
from ._construction import table_of_arrow
from ._dataset_schema import with_labels
from ._files._footer import column_chunks
from ._files._malformed import PARQUET, VERIFIED, check_filter, check_footers, reading
from ._files._manifest import check_no_manifest, parquet_dataset
from ._files._places import Place, found_at, place_of, places_of
from ._files._replacing import adding_files, is_local_path, replacing
from ._own_rows import own_pieces, table_of_processes


def read_parquet(
    path: object,
    *,
    columns: Sequence[str] | None = None,
    filters: object = None,
    storage_options: Mapping[str, object] | None = None,
    filesystem: object = None,
    sharding: object = None,
    dtype_backend: object = None,
) -> Any:
    """Reads one or several Parquet files.

    Reads the requested columns of the row groups that the filters do not exclude. On a mesh of
    several processes each process reads its own share of the row groups.

    Args:
        path: a file, a folder, a pattern with `*`, a list of these, a URL, or a binary file;
            folders `key=value` become columns. A manifest in a folder of this machine names its
            files; see `LazyFrame.to_parquet`.
        columns: the columns to read; all if left out.
        filters: a row filter of `pyarrow.parquet.read_table`, such as `[("x", ">", 3)]`, or an
            expression of `pyarrow.dataset`.
        storage_options: arguments of the file system of a URL, for fsspec.
        filesystem: a file system of `pyarrow.fs` or fsspec that has the path.
        sharding: the placement of the rows; see `JaxFrame`.
        dtype_backend: "numpy_nullable" or "pyarrow" for nullable dtypes; by default those that
            pandas wrote.

    Raises:
        FileNotFoundError: no such file.
        OSError: a file is truncated or corrupted.
    """
    layout = layout_of(sharding, "read_parquet")
    backend = None if dtype_backend is None else backend_family(dtype_backend, "read_parquet")
    condition = pq.filters_to_expression(filters) if isinstance(filters, list) else filters
    if hasattr(path, "read"):
        paths, dataset = "the buffer", _dataset_of_bytes(path)
    else:
        places = places_of(path, "read_parquet", filesystem, storage_options)
        paths = found_at(places, "read_parquet")
        dataset = parquet_dataset(paths, "read_parquet", places[0].filesystem)
    names = None if columns is None else _with_index(dataset.schema, columns)
    check_filter(condition, dataset.schema)
    if layout.spans_processes:
        with reading("read_parquet", paths):
            table = _own_rows(dataset, names, condition)
            own, labels = table_of_arrow(table, ONE_DEVICE, keeps_masks=True, backend=backend)
        rows = table_of_processes(own, labels, layout, "read_parquet")
    else:
        with reading("read_parquet", paths):
            rows, labels = _all_rows(dataset, names, condition, layout, backend)
    return FrameBase.frame_class._of(rows, labels)


def _all_rows(
    dataset: Any,
    names: list[str] | None,
    condition: object,
    layout: Layout,
    backend: Family | None,
) -> tuple[Table, Labels]:
    """Reads all files into one table."""
    strings = dictionary_encoded(dataset) if condition is None else []
    if strings:
        dataset = with_codes(dataset, strings)
    if condition is not None:
        check_footers(list(dataset.get_fragments()))
    table = dataset.to_table(columns=names, filter=condition)
    return table_of_arrow(table, layout, strings, backend=backend)


# Plain strings in Parquet have a length of four bytes each.
LENGTH_BYTES = 4


def with_codes(dataset: Any, strings: list[str]) -> Any:
    """The same files, whose columns of strings are read as codes and dictionaries."""
    kind = ds.ParquetFileFormat(dictionary_columns=strings, default_fragment_scan_options=VERIFIED)
    return ds.dataset(dataset.files, format=kind, filesystem=dataset.filesystem)


def dictionary_encoded(dataset: Any) -> list[str]:
    """The columns of strings whose pages are all dictionary-encoded, if there is one file."""
    if len(dataset.files) != 1:
        return []
    (fragment,) = dataset.get_fragments()
    if fragment.physical_schema.names != dataset.schema.names:
        # Other columns come from the names of folders.
        return []
    schema = fragment.metadata.schema
    paths = [schema.column(position).path for position in range(len(schema.names))]
    groups = column_chunks(fragment.metadata)
    plain = {
        path
        for group in groups
        for path, (num_values, num_bytes) in zip(paths, group, strict=True)
        if num_bytes >= LENGTH_BYTES * num_values
    }
    fields = set(paths) - plain if groups else set()
    return [
        field.name
        for field in dataset.schema
        if field.name in fields
        and (pa.types.is_string(field.type) or pa.types.is_large_string(field.type))
    ]


def _dataset_of_bytes(file: Any) -> Any:
    """The dataset of a binary file, whose bytes are read."""
    data = pa.py_buffer(file.read())
    with reading("read_parquet", "the buffer"):
        fragment = PARQUET.make_fragment(pa.BufferReader(data))
        return ds.FileSystemDataset([fragment], fragment.physical_schema, PARQUET)


def _with_index(schema: pa.Schema, columns: Sequence[str]) -> list[str]:
    """`with_labels`; raises for a column that the file does not have."""
    unknown = [name for name in columns if name not in schema.names]
    if unknown:
        raise KeyError(f"no column {unknown[0]!r}. The columns are {schema.names}.")
    return with_labels(schema, columns)


def _own_rows(dataset: Any, columns: list[str] | None, condition: object) -> pa.Table:
    """Reads this process's share of the row groups, in the order of the files."""
    check_footers(list(dataset.get_fragments()))
    groups = [
        piece
        for fragment in dataset.get_fragments(condition)
        for piece in fragment.split_by_row_group(condition, dataset.schema)
    ]
    shares = np.array_split(np.arange(len(groups)), jax.process_count())
    own = [groups[number] for number in shares[jax.process_index()]]
    if not own:
        return dataset.schema.empty_table().select(columns or dataset.schema.names)
    return ds.FileSystemDataset(own, dataset.schema, dataset.format, dataset.filesystem).to_table(
        columns=columns, filter=condition
    )


class FrameParquet(FrameBase):
    """`to_parquet` of a frame."""

    def to_parquet(
        self,
        path: Any,
        *,
        partition_cols: Sequence[str] | None = None,
        index: bool | None = None,
        compression: str = "snappy",
        storage_options: Mapping[str, object] | None = None,
        filesystem: object = None,
    ) -> None:
        """Writes the frame as Parquet.

        On a mesh of several processes, `path` is a folder into which each process writes the rows
        of its devices. A file appears when it is complete: the end of the process at any moment
        leaves the old one or the whole new one. At a URL that holds for one file, if its store
        makes files whole, as object stores do.

        Args:
            path: a file, or a folder with `partition_cols` or several processes; or a URL.
            partition_cols: columns whose values become folders.
            index: whether to write the index; yes if left out.
            compression: "snappy", "zstd", "gzip" or "none".
            storage_options: arguments of the file system of a URL, for fsspec.
            filesystem: a file system of `pyarrow.fs` or fsspec that has the path.
        """
        if not hasattr(path, "write"):
            place = place_of(path, "to_parquet", filesystem, storage_options)
            path = place.path
            if not place.is_local:
                self._to_other_store(place, partition_cols, index, compression)
                return
        frame: Any = self._with_range() if index is False else self
        if partition_cols or self._layout.spans_processes:
            check_no_manifest(path)
        if not self._layout.spans_processes:
            _write(frame.to_arrow(), path, partition_cols, compression, "part-{i}.parquet")
            return
        for name, table in own_pieces(frame):
            os.makedirs(path, exist_ok=True)
            if partition_cols:
                _write(table, path, partition_cols, compression, f"part-{name}-{{i}}.parquet")
            else:
                file = os.path.join(path, f"part-{name}.parquet")
                _write(table, file, None, compression, "")

    def _to_other_store(
        self, place: Place, partition_cols: object, index: bool | None, compression: str
    ) -> None:
        """Writes to a file system that is not this machine's."""
        if self._layout.spans_processes:
            raise NotImplementedError(
                "to_parquet: frames of several processes are written to folders of this machine. "
                "Mount the store, or write the rows of each process by own_rows()."
            )
        frame: Any = self._with_range() if index is False else self
        table = frame.to_arrow()
        if partition_cols:
            _write_at(
                table, place.path, partition_cols, compression, "part-{i}.parquet", place.filesystem
            )
            return
        sink = pa.BufferOutputStream()
        _write_at(table, sink, None, compression, "")
        place.write_bytes(sink.getvalue())


def _write(
    table: pa.Table, path: Any, partition_cols: Any, compression: str, template: str
) -> None:
    if not is_local_path(path):
        _write_at(table, path, partition_cols, compression, template)
        return
    new = adding_files(path) if partition_cols else replacing(path, "to_parquet")
    with new as temporary:
        _write_at(table, temporary, partition_cols, compression, template)


def _write_at(
    table: pa.Table,
    path: object,
    partition_cols: Any,
    compression: str,
    template: str,
    filesystem: object = None,
) -> None:
    if partition_cols:
        pq.write_to_dataset(
            table, path, partition_cols=list(partition_cols), basename_template=template,
            compression=compression, existing_data_behavior="overwrite_or_ignore",
            write_page_checksum=True, filesystem=filesystem,
        )  # fmt: skip
    else:
        pq.write_table(table, path, compression=compression, write_page_checksum=True)
