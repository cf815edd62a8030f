# SPDX-License-Identifier: Apache-2.0
"""Frames over several processes: from the rows of each process, and back."""

import functools
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pandas as pd
import pyarrow as pa

from ... import primitives
from ...primitives.staging import tiered
from ...shardings import host_rows
from ...shardings._check_processes import compare_arrays, gathered
from ..table._column import Array, Column, ColumnType
from ..table._column_labels import Labels
from ..table._deferred import forced_table
from ..table._dictionary import Dictionary, encode_strings
from ..table._layout import ONE_DEVICE, Layout, layout_of
from ..table._ndframe import FrameBase
from ..table._recode import renumbered
from ..table._row_index import RowIndex
from ..table._table import Table, as_count
from ..table._take import settled
from ..table._types import Sharding
from ._arrow import arrow_table
from ._construction import as_arrow_table, is_arrow, table_of_arrow, table_of_data, with_layout


def table_of_processes(
    own: Table, labels: Labels, layout: Layout, caller: str, *, is_own_range: bool = False
) -> Table:
    """Combines the tables of all processes, in process order, into one table over the mesh.

    Every process receives the strings and categories of all. With `is_own_range` a range of labels
    is that of each process; otherwise all processes have the range of the whole.

    Raises:
        NotImplementedError: a column of objects.
        ValueError: the processes have other columns, dtypes, orders of categories or index levels.
    """
    assert layout.mesh is not None
    devices = tuple(layout.mesh.devices.flat)
    num_rows = own.num_rows_on_host
    index = own.index if own.index.is_range else None
    if is_own_range:
        index = _index_of_processes(own, num_rows, devices)
    levels = own.index_columns() if index is None else ()
    columns = (*own.columns, *levels)
    names = [f"column {label!r}" for label in labels]
    names += [f"index level {i}" for i in range(len(levels))]
    facts: dict[str, Any] = {
        name: _described(one) for name, one in zip(names, columns, strict=True)
    }
    facts["the labels of the index"] = list(map(str, own.index.names))
    compare_arrays((), devices, caller, "", options=facts)
    shared = tuple(_as_in_all_processes(one, caller, devices) for one in columns)
    leaves, structure = jax.tree.flatten(tuple(one.forced() for one in shared))
    rows = [np.asarray(leaf)[:num_rows] for leaf in leaves]
    sharded = host_rows(rows, layout.mesh, layout.axes)
    total = sharded.layout.num_rows
    packed = _packed(sharded.rows, sharded.layout.is_valid(), layout.capacity_for(total), layout)
    combined = jax.tree.unflatten(structure, packed)
    combined = tuple(settled(column, as_count(total)) for column in combined)
    if index is None:
        index = RowIndex(combined[len(own.columns) :], own.index.names)
    return Table(combined[: len(own.columns)], index, as_count(total), layout=layout)


@functools.partial(tiered, static_argnums=(2, 3))
def _packed(rows: object, is_valid: Array, capacity: int, layout: Layout) -> Any:
    return primitives.compact(is_valid, rows, capacity=capacity, **layout.on_mesh).rows


def _described(column: Column) -> str:
    """The type of a column; that of ordered categories with their values."""
    if column.kind != "category":
        return column.dtype_name
    values = column.dictionary.values
    return f"{list(values)} in order" if column.type.ordered else f"category of {values.dtype}"


def _index_of_processes(own: Table, num_rows: int, devices: Any) -> RowIndex | None:
    """The range of all rows, if there is one; None if the labels must be stored."""
    index = own.index
    facts = np.array([index.is_range, index.first, index.step, num_rows], np.int64)
    of_all, _ = gathered(facts.view(np.uint8), devices)
    is_range, starts, steps, lengths = np.ascontiguousarray(of_all).view(np.int64).T
    if not is_range.all():
        return None
    if (starts == 0).all() and (steps == 1).all():
        return RowIndex((), index.names)
    follows = starts[0] + steps[0] * (np.cumsum(lengths) - lengths)
    if (steps == steps[0]).all() and (starts == follows)[lengths > 0].all():
        return RowIndex((), index.names, int(starts[0]), int(steps[0]))
    return None


def _as_in_all_processes(column: Column, caller: str, devices: object) -> Column:
    """The column in a type that all processes share."""
    if column.kind == "object":
        raise NotImplementedError(
            f"{caller}: several processes cannot share columns of objects. "
            "Leave them out, or convert them to strings."
        )
    if column.kind == "category":
        return _with_all_categories(column, devices)
    if column.is_numeric and not column.is_float:
        # Another process may have missing values.
        return Column(column.data, column.mask(), column.type)
    if column.kind != "string":
        return column
    strings = pa.array(column.dictionary.values, pa.large_string(), from_pandas=True)
    _, dictionary = encode_strings(_values_of_all(strings, devices))
    codes = dictionary.values.get_indexer(column.dictionary.values)
    kind = ColumnType("string", dictionary, family=column.family)
    return Column(renumbered(column.data, codes), None, kind)


def _with_all_categories(column: Column, devices: object) -> Column:
    """The column with the categories of all processes, those of the first process first."""
    values = column.dictionary.values
    of_all = _values_of_all(pa.array(values, from_pandas=True), devices)
    union = pd.Index(of_all.unique().to_pandas(), dtype=values.dtype)
    codes = union.get_indexer(values)
    kind = ColumnType("category", Dictionary(union), ordered=column.type.ordered)
    return Column(renumbered(column.data, codes), None, kind)


def _values_of_all(values: pa.Array, devices: object) -> pa.Array:
    """The values of all processes, in process order."""
    batch = pa.record_batch([values], names=["values"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    pieces = [
        pa.ipc.open_stream(message).read_all()["values"]
        for message in messages_of_all(sink.getvalue().to_pybytes(), devices)
    ]
    return pa.concat_arrays([chunk for piece in pieces for chunk in piece.chunks])


def messages_of_all(message: bytes, devices: Any) -> list[bytes]:
    """The bytes that each process passes, of any length, in process order."""
    own = np.frombuffer(message, np.uint8)
    lengths, _ = gathered(np.array([own.size], np.int32), devices)
    padded = np.zeros(lengths.max(), np.uint8)
    padded[: own.size] = own
    rows, _ = gathered(padded, devices)
    return [row[:length].tobytes() for row, (length,) in zip(rows, lengths, strict=True)]


def own_pieces(frame: Any, *, is_whole: bool = False) -> Iterator[tuple[str, pa.Table]]:
    """Yields the number and the rows of each of this process's shards.

    Shards without rows are left out, but for the first of the mesh, or with `is_whole`.
    """
    table, num_rows = forced_table(frame._table), len(frame)
    shard_rows = table.capacity // table.layout.num_shards
    first = (*table.columns, *table.index.levels)[0].stored.data
    for shard in sorted({piece.index[0].start or 0 for piece in first.addressable_shards}):
        stop = min(shard + shard_rows, num_rows)
        if shard < stop or shard == 0 or is_whole:
            local = jax.tree.map(lambda leaf, start=shard: _piece_at(leaf, start), table)
            index = local.index
            if index.is_range:
                index = index.from_position(shard)
            rows = slice(0, max(stop - shard, 0))
            name = f"{shard // max(shard_rows, 1):05}"
            yield name, arrow_table(local.columns, frame._labels, index, rows)


def _piece_at(leaf: object, start: int) -> Any:
    if not isinstance(leaf, jax.Array) or not leaf.ndim:
        return leaf
    for piece in leaf.addressable_shards:
        if (piece.index[0].start or 0) == start:
            return piece.data
    raise AssertionError("the shard is on another process")


class FrameOwnRows(FrameBase):
    """A frame from the rows of each process, and the rows of this one."""

    @classmethod
    def from_process_local(cls, data: object, *, sharding: Sharding) -> Any:
        """Builds one frame over a mesh from the rows that each process passes.

        Every process calls it, with its own rows of the same columns; no process sees the rows of
        another. The rows come in the order of the processes.

        The labels are one range if those of each process are a range from 0, or follow the range
        of the process before; otherwise they are kept.

        Args:
            data: this process's rows, in any form that `JaxFrame` takes. Strings may differ, and so
                may unordered categories: the frame has those of all processes.
            sharding: the placement of all rows, `jaxframes.shardings.row_sharded(mesh)` of a mesh
                with devices of every process.

        Raises:
            NotImplementedError: a column of objects.
            ValueError: the processes have other columns, dtypes, ordered categories or index
                levels. Every process raises it.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> from jaxframes.shardings import make_mesh, row_sharded
            >>> sharding = row_sharded(make_mesh(1))
            >>> JaxFrame.from_process_local({"x": [3, 1]}, sharding=sharding)["x"].tolist()
            [3, 1]
        """
        caller = "from_process_local"
        layout = layout_of(sharding, caller)
        if not layout.spans_processes:
            return cls._of(*table_of_data(data, None, None, None, sharding))
        if is_arrow(data):
            arrow = as_arrow_table(data, caller)
            own, labels = table_of_arrow(arrow, ONE_DEVICE, keeps_masks=True)
        else:
            own, labels = table_of_data(data, None, None, None, None)
        if own.layout != ONE_DEVICE:
            raise ValueError(
                f"{caller}: data must be the rows of this process alone, got a frame over "
                f"{own.layout}. Pass its process_rows()."
            )
        rows = table_of_processes(own, labels, layout, caller, is_own_range=True)
        return cls._of(rows, labels)

    def process_rows(self) -> Any:
        """The rows on the devices of this process, as a frame on one of them.

        On one process, all rows. The labels are those that the rows have in the whole frame.
        """
        if not self._layout.spans_processes:
            return self._like(with_layout(self._table, ONE_DEVICE))
        pieces = [piece for _, piece in own_pieces(self, is_whole=True)]
        # The range of labels is that of the first piece, and the others follow.
        own = pa.concat_tables([piece for piece in pieces if piece.num_rows] or pieces[:1])
        columns = zip(self._labels, self._table.columns, strict=True)
        nulls = {str(label) for label, column in columns if column.valid is not None}
        table, _ = table_of_arrow(own, ONE_DEVICE, nulls=nulls)
        return self._made(table, self._labels)
