# SPDX-License-Identifier: Apache-2.0
"""Casts results for some rows of a plan to the declared dtype, that of all rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..mapping._nullable_values import cast_nullable
from ..ops._array_ops import converted
from ..table._column import Column, fill_missing
from ..table._dtypes import cast_exactly, wide
from ..table._from_host import column_from
from ..table._holes import with_holes_elsewhere
from ..table._ndframe import FrameBase, SeriesBase
from ..table._nullable import dtype_named, family_named
from ..table._object_functions import as_objects
from ..table._table import Table
from ..table._tracing import is_traced
from ..table._units import with_unit

# Bools with a mask, which pandas has as objects.
BOOLS_WITH_HOLES = "bool with missing values"


def dtype_name(column: Column) -> str:
    """pandas' dtype name of a column, whichever of its rows are present, or `BOOLS_WITH_HOLES`."""
    if column.valid is None or column.is_nullable:
        return column.dtype_name
    return BOOLS_WITH_HOLES if column.is_bool else np.dtype(np.float64).name


def dtype_names(result: object) -> Mapping[Any, str]:
    """The dtype name of each column of a frame with a unique label; of a series under None."""
    if isinstance(result, SeriesBase):
        return {None: dtype_name(result._only)}
    if not isinstance(result, FrameBase):
        return {}
    labels = list(result._labels)
    return {
        label: dtype_name(column)
        for label, column in zip(labels, result._table.columns, strict=True)
        if labels.count(label) == 1
    }


def in_dtypes(result: object, names: Mapping[Any, str]) -> Any:
    """A frame or a series in the dtypes of `dtype_names`, at least as wide as its own."""
    if isinstance(result, SeriesBase):
        return result._with_column(_in_dtype(result._only, names[None], result._table))
    if not isinstance(result, FrameBase):
        return result
    columns = [
        _in_dtype(column, names[label], result._table) if label in names else column
        for label, column in zip(result._labels, result._table.columns, strict=True)
    ]
    return result._with_columns(columns)


def _in_dtype(column: Column, name: str, table: Table) -> Column:
    """Casts a column of a table to a declared dtype.

    Raises:
        TypeError: values of the column have no counterpart in the dtype.
    """
    has_rows = is_traced(table.num_rows) or bool(table.num_rows_on_host)
    if dtype_name(column) == name or column.kind == "category":
        return column
    if column.kind == "object" and has_rows:
        return column
    if column.is_nullable or family_named(name) is not None:
        return cast_nullable(column, dtype_named(name), table.num_rows, table.layout)
    if column.is_bool and name == BOOLS_WITH_HOLES:
        return with_holes_elsewhere(column)
    if column.type.is_time and name.startswith(column.kind):
        declared: Any = pd.api.types.pandas_dtype(name)
        zoned = column.type.zone is not None
        unit = declared.unit if zoned else np.datetime_data(declared)[0]
        return with_unit(column, unit, table.num_rows)
    if not has_rows:
        # Without rows, methods that run on the distinct values have any dtype, and choices between
        # values of several types are objects.
        dtype = "bool" if name == BOOLS_WITH_HOLES else name
        empty = column_from(pd.Series([], dtype=dtype), column.capacity, table.layout)
        return with_holes_elsewhere(empty) if name == BOOLS_WITH_HOLES else empty
    if name == "object":
        return as_objects(column, table.num_rows, "plan")
    is_number = name not in (BOOLS_WITH_HOLES, "str", "object", "category") and "[" not in name
    if not column.is_numeric or not is_number:
        raise TypeError(
            f"plan: the rows of a batch must have a dtype that converts to that of all rows, "
            f"{name}, got {dtype_name(column)}. Call astype() first."
        )
    dtype = wide(name)
    if dtype == wide(np.float64) and column.dtype.kind in "iu":
        return with_holes_elsewhere(column)
    return Column(cast_exactly(converted(fill_missing(column).data, dtype), dtype))
