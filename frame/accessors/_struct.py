# SPDX-License-Identifier: Apache-2.0
"""`series.struct`: fields of structs."""

from typing import Any

import pandas as pd
import pyarrow as pa

from ..table._column import Column
from ..table._column_labels import Labels
from ..table._dictionary import ArrowObjects
from ..table._distinct_values import looked_up
from ..table._from_host import column_from
from ..table._layout import ONE_DEVICE
from ..table._ndframe import SeriesBase
from ..table._to_host import to_host
from ..table._tracing import is_traced
from ..table._untyped import untyped_compute
from ._read_only import ReadOnly


class StructMethods(ReadOnly):
    """`series.struct`: pandas' methods of structs, which the host holds.

    Fields become columns of the device. They work inside `jit`, but for dicts of Python.

    Differences from pandas:
        Series of any structs or dicts have it, not only those of an Arrow-backed dtype.

    Example:
        >>> import pyarrow as pa
        >>> from jaxframes.frame import from_arrow
        >>> people = from_arrow(pa.table({"who": [{"name": "Ann", "age": 3}, None]}))
        >>> people["who"].struct.field("name").tolist()
        ['Ann', nan]
    """

    def __init__(self, series: SeriesBase):
        self._series = series
        self._codes, self._structs = _structs_of(series)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'StructMethods' object has no attribute {name!r}")

    @property
    def dtypes(self) -> pd.Series:
        """The dtype of each field, as Arrow's."""
        fields = self._structs.arrow.type
        kinds = {field.name: pd.ArrowDtype(field.type) for field in fields}
        return pd.Series(kinds, dtype=object)

    def field(self, name_or_index: object) -> Any:
        """A field, by name, by position, or by a list of names for fields of fields."""
        path = name_or_index if isinstance(name_or_index, list) else [name_or_index]
        array: Any = self._structs.arrow
        name = ""
        for one in path:
            index = array.type.get_field_index(one) if isinstance(one, str) else one
            if not isinstance(index, int) or not 0 <= index < array.type.num_fields:
                fields = [field.name for field in array.type]
                raise KeyError(f"struct.field: {one!r} is no field. Pass one of {fields}.")
            name = array.type.field(index).name
            array = untyped_compute.struct_field(array, [index])
        return self._made(array, name)

    def explode(self) -> Any:
        """All fields, as the columns of a frame."""
        names = [field.name for field in self._structs.arrow.type]
        columns = [self.field(position)._only for position in range(len(names))]
        return self._series._make_frame(columns, Labels.of(names))

    def _made(self, values: pa.Array, name: str) -> Any:
        shown: Any = values
        if self._structs.shows_arrow:
            shown = pd.array(values, dtype=pd.ArrowDtype(values.type))
        table = column_from(shown, ONE_DEVICE.capacity_for(len(values)), ONE_DEVICE, name)
        rows = self._series._table
        column = looked_up(table, self._codes, rows.num_rows, rows.layout)
        return self._series._with_column(column, name)


def _structs_of(series: SeriesBase) -> tuple[Any, ArrowObjects]:
    """The code of each row, and the structs of codes; dicts of Python become structs."""
    column: Column = series._only
    objects = column.type.dictionary
    message = f"Can only use the '.struct' accessor with structs, not {column.dtype_name}."
    if isinstance(objects, ArrowObjects) and pa.types.is_struct(objects.arrow.type):
        return column.data, objects
    if column.kind != "object" or is_traced(column.data, series._table.num_rows):
        raise AttributeError(message)
    try:
        structs = pa.array(to_host(column, series._table.num_rows_on_host), from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise AttributeError(f"{message} {error}") from None
    if not pa.types.is_struct(structs.type):
        raise AttributeError(message)
    made = column_from(structs, column.capacity, series._table.layout)
    assert isinstance(made.type.dictionary, ArrowObjects)
    return made.data, made.type.dictionary
