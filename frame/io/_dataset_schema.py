# SPDX-License-Identifier: Apache-2.0
"""A dataset without its rows: its schema, its row labels, and the nulls that decide dtypes."""

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from ._files._malformed import check_footers, reading


def without_rows(dataset: ds.Dataset) -> pa.Table:
    """A table of the dataset's schema without rows, with the categories of the first rows.

    No schema holds the categories.
    """
    schema = dataset.schema
    table = schema.empty_table()
    names = [field.name for field in schema if pa.types.is_dictionary(field.type)]
    if not names:
        return table
    # One row group is read: without these options, many at once.
    first = dataset.head(1, columns=names, batch_readahead=0, fragment_readahead=1)
    for name in names if len(first) else ():
        position = schema.names.index(name)
        table = table.set_column(position, schema.field(name), first[name].chunk(0).slice(0, 0))
    return table


def with_labels(schema: pa.Schema, columns: Sequence[Any]) -> list[Any]:
    """The columns of a file to read: the given ones, and those that hold the row labels."""
    stored = (schema.pandas_metadata or {}).get("index_columns", [])
    return [*columns, *(name for name in stored if isinstance(name, str) and name not in columns)]


def stored_names(schema: pa.Schema, columns: Sequence[Any] | None) -> list[Any]:
    """`with_labels`, or all columns for None; at least one, which tells the number of rows."""
    return schema.names if columns is None else with_labels(schema, columns) or schema.names[:1]


def columns_with_nulls(dataset: ds.Dataset, caller: str) -> frozenset[str]:
    """The names of the columns of integers and bools with a null in some row.

    Parquet files tell by their footers. A column is read if a footer does not. `caller` is for
    errors of malformed files.
    """
    names = [field.name for field in dataset.schema if is_integer_or_bool(field.type)]
    found: set[str] = set()
    if not names:
        return frozenset()
    if not isinstance(dataset, ds.FileSystemDataset):
        return names_with_nulls(dataset.to_batches(columns=names), names)
    fragments: list[Any] = list(dataset.get_fragments())
    for fragment in fragments:
        unknown = [name for name in names if name not in found]
        with reading(caller, fragment.path):
            if isinstance(fragment, ds.ParquetFileFragment):
                check_footers([fragment])
                unknown = _unknown_to_footer(fragment, unknown, found)
            if unknown:
                batches = fragment.to_batches(schema=dataset.schema, columns=unknown)
                found.update(names_with_nulls(batches, unknown))
    return frozenset(found)


def names_with_nulls(batches: Iterable[pa.RecordBatch], names: Sequence[str]) -> frozenset[str]:
    """The names of the columns of batches with a null in some row."""
    found: set[str] = set()
    for batch in batches:
        found.update(name for name in names if batch.column(name).null_count)
    return frozenset(found)


def is_integer_or_bool(kind: pa.DataType) -> bool:
    """Whether the dtype of a column of this type depends on its nulls."""
    return pa.types.is_integer(kind) or pa.types.is_boolean(kind)


def _unknown_to_footer(fragment: Any, names: list[str], found: set[str]) -> list[str]:
    """Adds columns with nulls by the footer of a file; returns those that it does not count."""
    metadata = fragment.metadata
    paths = [metadata.schema.column(at).path for at in range(metadata.num_columns)]
    keys = ds.get_partition_keys(fragment.partition_expression)
    unknown = []
    for name in names:
        if name in keys:
            if keys[name] is None:
                found.add(name)
            continue
        if name not in paths:
            if metadata.num_rows:
                found.add(name)
            continue
        at = paths.index(name)
        chunks = [metadata.row_group(group).column(at) for group in range(metadata.num_row_groups)]
        counts = [
            chunk.statistics.null_count
            if chunk.is_stats_set and chunk.statistics.has_null_count
            else None
            for chunk in chunks
        ]
        if any(counts):
            found.add(name)
        elif None in counts:
            unknown.append(name)
    return unknown
