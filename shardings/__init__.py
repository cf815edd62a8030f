# SPDX-License-Identifier: Apache-2.0
"""Placement of arrays: meshes, rows, rules, plans, and the set-up of several processes."""

from ._axes import axis_rank, axis_size
from ._check_processes import check_processes
from ._host_rows import host_rows
from ._initialize import initialize
from ._mesh import make_mesh, replicated, row_sharded
from ._mesh_spec import MeshSpec, mesh_spec
from ._plan import Plan
from ._restore import restore
from ._row_layout import RowLayout
from ._rules import batch_specs, match_specs, place, transformer_rules
from ._save import save
from ._shard_rows import ShardedRows, shard_rows
from ._specs import constrain, named

__all__ = [
    "MeshSpec",
    "Plan",
    "RowLayout",
    "ShardedRows",
    "axis_rank",
    "axis_size",
    "batch_specs",
    "check_processes",
    "constrain",
    "host_rows",
    "initialize",
    "make_mesh",
    "match_specs",
    "mesh_spec",
    "named",
    "place",
    "replicated",
    "restore",
    "row_sharded",
    "save",
    "shard_rows",
    "transformer_rules",
]
