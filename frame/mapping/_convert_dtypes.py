# SPDX-License-Identifier: Apache-2.0
"""`convert_dtypes`: nullable dtypes for all columns."""

from collections.abc import Hashable
from typing import Self

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


class ConvertDtypes(NDFrame):
    """`convert_dtypes` of a frame or a series."""

    def convert_dtypes(self, *, dtype_backend: str = "numpy_nullable") -> Self:
        """Converts all columns to nullable dtypes: floats that are integers to `Int64`.

        Args:
            dtype_backend: "numpy_nullable" for dtypes such as `Int64`, or "pyarrow" for dtypes of
                Arrow.

        Differences from pandas:
            Inside `jit` floats raise, because their values decide the dtype.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1.0, None]).convert_dtypes().tolist()
            [1, <NA>]
        """
        family, table = backend_family(dtype_backend, "convert_dtypes"), self._table
        return self._with_columns(
            [_converted(column, family, label, table)
             for column, label in zip(table.columns, self._names, strict=True)]
        )  # fmt: skip


def _converted(column: Column, family: Family, label: Hashable, table: Table) -> Column:
    if column.kind == "object":
        if is_traced(column, table.num_rows):
            raise NotImplementedError(
                f"convert_dtypes: inside jit the objects of column {label!r} are not known. Call "
                "convert_dtypes before jit."
            )
        objects = pd.Series(to_host(column, table.num_rows_on_host), dtype=object)
        backend = "pyarrow" if family == "arrow" else "numpy_nullable"
        converted = objects.convert_dtypes(dtype_backend=backend)
        return column_from(converted, column.capacity, table.layout, label)
    if column.is_float and not column.is_nullable:
        if is_traced(column, table.num_rows):
            raise NotImplementedError(
                f"convert_dtypes: inside jit the values of column {label!r}, which decide between "
                "integers and floats, are not known. Use astype('Float64')."
            )
        if bool(at_once(_are_whole, column.data, table.num_rows)):
            data = at_once(_as_integers, column.data)
            column = Column(data, column.present())
        elif column.dtype == np.float16 and family == "masked":
            # pandas has no masked dtype of 16 bits.
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
