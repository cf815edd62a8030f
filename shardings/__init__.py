# SPDX-License-Identifier: Apache-2.0
"""Placement of rows: meshes, shardings of rows, and the set-up of several processes."""

from ._host_rows import host_rows
from ._initialize import initialize
from ._mesh import make_mesh, replicated, row_sharded
from ._row_layout import RowLayout
from ._shard_rows import ShardedRows, shard_rows

__all__ = [
    "RowLayout",
    "ShardedRows",
    "host_rows",
    "initialize",
    "make_mesh",
    "replicated",
    "row_sharded",
    "shard_rows",
]
