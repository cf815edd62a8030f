# SPDX-License-Identifier: Apache-2.0
"""`convert_dtypes`: nullable dtypes for all columns."""

from collections.abc import Hashable
from typing import NamedTuple, Self

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..table._column import Array, Column, of_family
from ..table._dtypes import wide
from ..table._from_host import column_from
from ..table._ndframe import NDFrame
from ..table._nullable import Family, backend_family
from ..table._table import Count, Table, is_row
from ..table._to_host import to_host
from ..table._tracing import at_once, is_traced


class _Wanted(NamedTuple):
    """The arguments of `convert_dtypes` that say what is converted."""

    infer_objects: bool
    convert_string: bool
    convert_integer: bool
    convert_boolean: bool
    convert_floating: bool

    def converts(self, column: Column) -> bool:
        """Whether a column of strings or of numbers gets a nullable dtype."""
        if column.kind == "string":
            return self.convert_string
        if column.kind != "number" or column.family == "arrow":
            return True
        if column.is_bool:
            return self.convert_boolean
        return self.convert_floating if column.is_float else self.convert_integer


class ConvertDtypes(NDFrame):
    """`convert_dtypes` of a frame or a series."""

    def convert_dtypes(
        self, infer_objects: bool = True, convert_string: bool = True, convert_integer: bool = True,
        convert_boolean: bool = True, convert_floating: bool = True,
        dtype_backend: str = "numpy_nullable",
    ) -> Self:  # fmt: skip
        """Converts all columns to nullable dtypes: floats that are integers to `Int64`.

        Args:
            infer_objects: whether columns of objects get the dtype of their values.
            convert_string: whether strings are converted.
            convert_integer: whether integers are, and floats that are integers to integers.
            convert_boolean: whether bools are converted.
            convert_floating: whether floats are that are not converted to integers.
            dtype_backend: "numpy_nullable" for dtypes such as `Int64`, or "pyarrow" for dtypes of
                Arrow.

        Differences from pandas:
            Inside `jit` floats raise unless `convert_integer` is False, because their values decide
            the dtype.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1.0, None]).convert_dtypes().tolist()
            [1, <NA>]
        """
        family, table = backend_family(dtype_backend, "convert_dtypes"), self._table
        wanted = _Wanted(
            infer_objects, convert_string, convert_integer, convert_boolean, convert_floating
        )
        return self._with_columns(
            [_converted(column, family, label, table, wanted)
             for column, label in zip(table.columns, self._names, strict=True)]
        )  # fmt: skip


def _converted(
    column: Column, family: Family, label: Hashable, table: Table, wanted: _Wanted
) -> Column:
    if column.kind == "object":
        if is_traced(column, table.num_rows):
            raise NotImplementedError(
                f"convert_dtypes: inside jit the objects of column {label!r} are not known. Call "
                "convert_dtypes before jit."
            )
        objects = pd.Series(to_host(column, table.num_rows_on_host), dtype=object)
        backend = "pyarrow" if family == "arrow" else "numpy_nullable"
        # Each of them warns.
        given = {name: one for name, one in wanted._asdict().items() if not one}
        converted = objects.convert_dtypes(dtype_backend=backend, **given)
        return column_from(converted, column.capacity, table.layout, label)
    if column.dtype.kind == "c":
        # As in pandas: there is no nullable dtype of complex numbers.
        return column
    if column.is_float and not column.is_nullable and wanted.convert_integer:
        if is_traced(column, table.num_rows):
            raise NotImplementedError(
                f"convert_dtypes: inside jit the values of column {label!r}, which decide between "
                "integers and floats, are not known. Use astype('Float64')."
            )
        if bool(at_once(_are_whole, column.data, table.num_rows)):
            data = at_once(_as_integers, column.data)
            return of_family(Column(data, column.present()), family)
    if not wanted.converts(column):
        is_number = wanted.convert_integer or wanted.convert_floating
        is_plain = not (column.is_nullable or column.is_of_objects)
        if not (column.is_bool and is_plain and is_number):
            return column
        # pandas takes these for numbers then.
        dtype = wide(np.int64 if wanted.convert_integer else np.float64)
        column = Column(column.data.astype(dtype))
    if column.dtype == np.float16 and not column.is_nullable:
        # pandas has no masked dtype of 16 bits, and goes through one to those of Arrow.
        column = Column(column.data.astype(wide(np.float64)))
    return of_family(column, family)


@tiered
def _are_whole(data: Array, num_rows: Count) -> Array:
    """Whether all floats but NaN are integers of 64 bits."""
    if data.dtype == jnp.float16:
        # It is short of the ends.
        data = data.astype(jnp.float32)
    end = data.dtype.type(2.0**63)
    is_whole = (data == jnp.trunc(data)) & (data >= -end) & (data < end)
    return jnp.all(is_whole | jnp.isnan(data) | ~is_row(data.shape[0], num_rows))


@tiered
def _as_integers(data: Array) -> Array:
    return jnp.where(jnp.isnan(data), data.dtype.type(0), data).astype(wide(np.int64))
