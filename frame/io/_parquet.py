# SPDX-License-Identifier: Apache-2.0
"""Frames from and to Parquet, through Arrow; each process reads and writes its own rows."""

import glob
import os
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from ..table._layout import Layout, layout_of
from ..table._ndframe import FrameBase
from ._arrow import arrow_table
from ._construction import table_of_arrow
from ._process_pieces import table_of_pieces


def read_parquet(
    path: Any,
    *,
    columns: Sequence[str] | None = None,
    filters: Any = None,
    sharding: Any = None,
) -> Any:
    """Reads a file of Parquet, a folder of them, several, or those that a pattern names.

    Only the columns that are asked for are read, and only the row groups that the filters do not
    rule out. Where the mesh spans several processes, each reads its own share of the row groups.

    Args:
        path: a path, a pattern with `*`, or a list of paths; folders `key=value` become columns.
        columns: the columns that are read; all if left out.
        filters: conditions that rows must meet, as `pyarrow.parquet.read_table` takes them:
            `[("x", ">", 3)]`, or an expression of `pyarrow.dataset`.
        sharding: where the rows lie; see `JaxFrame`.

    Raises:
        FileNotFoundError: there is no such file.
    """
    layout = layout_of(sharding, "read_parquet")
    dataset = ds.dataset(_paths(path), format="parquet", partitioning="hive")
    chosen = None if columns is None else _with_index(dataset.schema, columns)
    condition = pq.filters_to_expression(filters) if isinstance(filters, list) else filters
    if spans_processes(layout):
        table = _own_rows(dataset, chosen, condition)
        rows, labels = table_of_pieces(table, layout)
    else:
        table = dataset.to_table(columns=chosen, filter=condition)
        rows, labels = table_of_arrow(table, layout)
    return FrameBase.frame_class._of(rows, labels)


def spans_processes(layout: Layout) -> bool:
    """Whether other processes hold some of the rows."""
    if layout.mesh is None:
        return False
    return any(device.process_index != jax.process_index() for device in layout.mesh.devices.flat)


def _paths(path: Any) -> Any:
    if isinstance(path, (list, tuple)):
        return [os.fspath(one) for one in path]
    path = os.fspath(path)
    if glob.has_magic(path):
        found = sorted(glob.glob(path))
        if not found:
            raise FileNotFoundError(f"read_parquet: no file matches {path!r}.")
        return found
    if not os.path.exists(path):
        raise FileNotFoundError(f"read_parquet: there is no file {path!r}.")
    return path


def _with_index(schema: pa.Schema, columns: Sequence[str]) -> list[str]:
    """The columns that are asked for, and those that hold the index."""
    unknown = [name for name in columns if name not in schema.names]
    if unknown:
        raise KeyError(f"no column {unknown[0]!r}. The columns are {schema.names}.")
    stored = (schema.pandas_metadata or {}).get("index_columns", [])
    wanted = [name for name in stored if isinstance(name, str) and name not in columns]
    return [*columns, *wanted]


def _own_rows(dataset: Any, columns: list[str] | None, condition: Any) -> pa.Table:
    """The rows of this process's share of the row groups, in the order of the files."""
    groups = [
        piece
        for fragment in dataset.get_fragments(condition)
        for piece in fragment.split_by_row_group(condition, dataset.schema)
    ]
    shares = np.array_split(np.arange(len(groups)), jax.process_count())
    own = [groups[place] for place in shares[jax.process_index()]]
    if not own:
        return dataset.schema.empty_table().select(columns or dataset.schema.names)
    return ds.FileSystemDataset(own, dataset.schema, dataset.format, dataset.filesystem).to_table(
        columns=columns, filter=condition
    )


class FrameParquet(FrameBase):
    """A frame as Parquet."""

    def to_parquet(
        self,
        path: Any,
        *,
        partition_cols: Sequence[str] | None = None,
        index: bool | None = None,
        compression: str = "snappy",
    ) -> None:
        """Writes the frame as Parquet.

        Where other processes hold some of the rows, `path` is a folder, into which each writes the
        rows that its devices hold.

        Args:
            path: a file; a folder with `partition_cols` or several processes.
            partition_cols: columns whose values become folders.
            index: whether the labels of rows are written; False leaves them out.
            compression: "snappy", "zstd", "gzip" or "none".
        """
        frame: Any = self._with_range() if index is False else self
        if not spans_processes(self._layout):
            _write(frame.to_arrow(), path, partition_cols, compression, "part-{i}.parquet")
            return
        for name, table in _pieces(frame):
            os.makedirs(path, exist_ok=True)
            if partition_cols:
                _write(table, path, partition_cols, compression, f"part-{name}-{{i}}.parquet")
            else:
                file = os.path.join(path, f"part-{name}.parquet")
                _write(table, file, None, compression, "")


def _write(
    table: pa.Table, path: Any, partition_cols: Any, compression: str, template: str
) -> None:
    if partition_cols:
        pq.write_to_dataset(
            table,
            path,
            partition_cols=list(partition_cols),
            basename_template=template,
            compression=compression,
            existing_data_behavior="overwrite_or_ignore",
        )
    else:
        pq.write_table(table, path, compression=compression)


def _pieces(frame: Any) -> Any:
    """The rows of each shard that this process holds, with the number of the shard."""
    table, num_rows = frame._table, len(frame)
    shard_rows = table.capacity // table.layout.num_shards
    first = (*table.columns, *table.index.levels)[0].data
    for shard in sorted({piece.index[0].start or 0 for piece in first.addressable_shards}):
        stop = min(shard + shard_rows, num_rows)
        if shard < stop or shard == 0:
            local = jax.tree.map(lambda leaf, at=shard: _piece_at(leaf, at), table)
            rows = slice(0, max(stop - shard, 0))
            index = table.index
            if index.is_range:
                local_index = type(index)(
                    (), index.names, index.start + shard * index.step, index.step
                )
            else:
                local_index = local.index
            name = f"{shard // shard_rows:05}"
            yield name, arrow_table(local.columns, frame._labels, local_index, rows)


def _piece_at(leaf: Any, start: int) -> Any:
    if not isinstance(leaf, jax.Array) or not leaf.ndim:
        return leaf
    for piece in leaf.addressable_shards:
        if (piece.index[0].start or 0) == start:
            return piece.data
    raise AssertionError("a shard that this process does not hold")
