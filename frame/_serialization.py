# SPDX-License-Identifier: Apache-2.0
"""Serializes the static parts of frames for `jax.export`: types, dictionaries and labels.

Labels can be any value that pandas holds, so pickle writes them. What reads them back calls the
constructors of such values alone: a file with anything else in it raises, and none of it runs.
"""

import io
import pickle
from typing import Any

import jax.export

from ._frame import JaxFrame, JaxSeries
from .table._column import Column
from .table._layout import Layout
from .table._lists import ListColumn
from .table._row_index import RowIndex
from .table._table import Table
from .table._unencoded import UnencodedColumn

# By the first part of the module's name: constructors that call nothing that they are given.
_CONSTRUCTORS = {
    "builtins": {"bytearray", "complex", "frozenset", "set", "slice"},
    "datetime": {"date", "datetime", "time", "timedelta"},
    "decimal": {"Decimal"},
    "jaxframes": {
        "ColumnType", "Dictionary", "DistinctObjects", "HostObjects", "Labels", "ListType"
    },
    "numpy": {"_frombuffer", "_reconstruct", "dtype", "ndarray", "scalar"},
    "pandas": {
        "ArrowStringArray", "Categorical", "CategoricalDtype", "CategoricalIndex", "DatetimeArray",
        "DatetimeIndex", "Index", "MultiIndex", "NaTType", "RangeIndex", "StringArray",
        "StringDtype", "TimedeltaArray", "TimedeltaIndex", "__pyx_unpickle_NDArrayBacked",
        "_nat_unpickle", "_new_DatetimeIndex", "_new_Index", "_timedelta_unpickle",
        "_unpickle_timestamp",
    },
    "pyarrow": {
        "_restore_array", "binary", "decimal128", "decimal256", "dictionary", "field", "large_list",
        "list_", "py_buffer", "struct", "timestamp", "type_for_alias",
    },
}  # fmt: skip


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if name in _CONSTRUCTORS.get(module.partition(".")[0], ()):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(
            f"jax.export: a label or dictionary of a frame must be made of values of NumPy, pandas "
            f"and Arrow, got {module}.{name}. Give the frame other labels before the export."
        )


def _read(data: bytes | bytearray) -> Any:
    return _Reader(io.BytesIO(data)).load()


def _write(static: object) -> bytes:
    data = pickle.dumps(static)
    # What cannot be read back is refused where it is written.
    _read(data)
    return data


def _write_table(static: Any) -> bytes:
    (layout,) = static
    if layout.mesh is not None:
        raise NotImplementedError(
            "jax.export: a frame on a mesh cannot be serialized, because a mesh refers to this "
            "process's devices. Export a function of arrays that builds the frame."
        )
    return b""


for _node in (Column, ListColumn, UnencodedColumn, RowIndex, JaxFrame, JaxSeries):
    jax.export.register_pytree_node_serialization(
        _node,
        serialized_name=f"jaxframes.{_node.__name__}",
        serialize_auxdata=_write,
        deserialize_auxdata=_read,
    )
jax.export.register_pytree_node_serialization(
    Table,
    serialized_name="jaxframes.Table",
    serialize_auxdata=_write_table,
    deserialize_auxdata=lambda _: (Layout(),),
)
