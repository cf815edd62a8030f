# SPDX-License-Identifier: Apache-2.0
"""Serializes the static parts of frames for `jax.export`: types, dictionaries and labels.

Labels can be any object of a pandas index, so pickle writes them: read trusted files only.
"""

import pickle
from typing import Any

import jax.export

from ._frame import JaxFrame, JaxSeries
from .table._column import Column
from .table._layout import Layout
from .table._row_index import RowIndex
from .table._table import Table
from .table._unencoded import UnencodedColumn


def _write_table(static: Any) -> bytes:
    (layout,) = static
    if layout.mesh is not None:
        raise NotImplementedError(
            "jax.export: a frame on a mesh cannot be serialized, because a mesh refers to this "
            "process's devices. Export a function of arrays that builds the frame."
        )
    return b""


for _node in (Column, UnencodedColumn, RowIndex, JaxFrame, JaxSeries):
    jax.export.register_pytree_node_serialization(
        _node,
        serialized_name=f"jaxframes.{_node.__name__}",
        serialize_auxdata=pickle.dumps,
        deserialize_auxdata=pickle.loads,
    )
jax.export.register_pytree_node_serialization(
    Table,
    serialized_name="jaxframes.Table",
    serialize_auxdata=_write_table,
    deserialize_auxdata=lambda _: (Layout(),),
)
