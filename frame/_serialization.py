# SPDX-License-Identifier: Apache-2.0
"""What `jax.export` writes of frames beside the program: types, dictionaries, names and labels.

Written by pickle, for these hold what an index of pandas can hold: read only files that you trust.
"""

import pickle
from typing import Any

import jax.export

from ._frame import JaxFrame, JaxSeries
from .table._column import Column
from .table._layout import Layout
from .table._row_index import RowIndex
from .table._table import Table


def _write(static: Any) -> bytes:
    return pickle.dumps(static)


def _write_table(static: Any) -> bytes:
    (layout,) = static
    if layout.mesh is not None:
        raise NotImplementedError(
            "jax.export: a frame on a mesh cannot be written, as a mesh is of devices at hand. "
            "Export a function of arrays, which makes the frame inside."
        )
    return b""


def _read_table(_: bytes) -> tuple[Layout]:
    return (Layout(),)


for _node in (Column, RowIndex, JaxFrame, JaxSeries):
    jax.export.register_pytree_node_serialization(
        _node,
        serialized_name=f"jaxframes.{_node.__name__}",
        serialize_auxdata=_write,
        deserialize_auxdata=pickle.loads,
    )
jax.export.register_pytree_node_serialization(
    Table,
    serialized_name="jaxframes.Table",
    serialize_auxdata=_write_table,
    deserialize_auxdata=_read_table,
)
