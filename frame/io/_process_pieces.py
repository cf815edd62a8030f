# SPDX-License-Identifier: Apache-2.0
"""Combines the rows that several processes have read into one table."""

import functools
from typing import Any

import jax
import numpy as np
import pyarrow as pa
from jax.experimental import multihost_utils

from ... import primitives
from ...shardings import host_rows
from ..table._column import Array, Column, ColumnType
from ..table._column_labels import Labels
from ..table._dictionary import encode_strings
from ..table._layout import ONE_DEVICE, Layout
from ..table._recode import renumbered
from ..table._row_index import RowIndex
from ..table._table import Table, as_count
from ._construction import table_of_arrow


def table_of_pieces(piece: pa.Table, layout: Layout) -> tuple[Table, Labels]:
    """Combines the rows of all processes, in process order, into one table over the mesh.

    The processes exchange their strings, so that all have the same dictionaries.

    Args:
        piece: this process's rows, with the same columns in every process.
        layout: a mesh with devices of all processes.
    """
    own, labels = table_of_arrow(piece, ONE_DEVICE)
    columns = tuple(_with_shared_dictionary(column) for column in (*own.columns, *own.index.levels))
    num_own = piece.num_rows
    rows = [
        tuple(None if part is None else np.asarray(part)[:num_own] for part in _masked(column))
        for column in columns
    ]
    assert layout.mesh is not None
    sharded = host_rows(rows, layout.mesh, layout.axes)
    num_rows = sharded.layout.num_rows
    capacity = layout.capacity_for(num_rows)
    is_valid = sharded.layout.is_valid()
    packed = _packed(sharded.rows, is_valid, capacity, layout)
    combined = tuple(
        Column(data, valid if _keeps_mask(column) else None, column.type)
        for column, (data, valid) in zip(columns, packed, strict=True)
    )
    index = own.index
    if index.levels:
        index = RowIndex(combined[len(own.columns) :], index.names)
    table = Table(combined[: len(own.columns)], index, as_count(num_rows), layout=layout)
    return table, labels


def _keeps_mask(column: Column) -> bool:
    return column.is_numeric and not column.is_float


def _masked(column: Column) -> tuple[Any, Any]:
    # Another process may have missing values, so every column of integers gets a mask.
    if not _keeps_mask(column):
        return column.data, None
    valid = np.ones(column.data.shape, bool) if column.valid is None else column.valid
    return column.data, valid


@functools.partial(jax.jit, static_argnums=(2, 3))
def _packed(rows: Any, is_valid: Array, capacity: int, layout: Layout) -> Any:
    return primitives.compact(is_valid, rows, capacity=capacity, **layout.on_mesh).rows


def _with_shared_dictionary(column: Column) -> Column:
    if column.kind == "object":
        raise NotImplementedError(
            "read_parquet: several processes cannot read columns of objects. "
            "Exclude them with columns=."
        )
    if column.kind != "string":
        return column
    strings = pa.array(column.dictionary.values, pa.large_string(), from_pandas=True)
    strings_of_all = union_of_strings(strings)
    _, dictionary = encode_strings(strings_of_all)
    codes = dictionary.values.get_indexer(column.dictionary.values)
    return Column(renumbered(column.data, codes), None, ColumnType("string", dictionary))


def union_of_strings(strings: pa.Array) -> pa.Array:
    """All-gathers the strings of the processes, as bytes."""
    batch = pa.record_batch([strings], names=["strings"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    message = np.frombuffer(sink.getvalue(), np.uint8)
    lengths = np.asarray(multihost_utils.process_allgather(np.int32(len(message)))).reshape(-1)
    padded = np.zeros(lengths.max(), np.uint8)
    padded[: len(message)] = message
    messages = np.asarray(multihost_utils.process_allgather(padded)).reshape(len(lengths), -1)
    pieces = [
        pa.ipc.open_stream(messages[process, :length].tobytes()).read_all()["strings"]
        for process, length in enumerate(lengths)
    ]
    return pa.concat_arrays([chunk for piece in pieces for chunk in piece.chunks])
