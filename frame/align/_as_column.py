# SPDX-License-Identifier: Apache-2.0
"""Values converted to a column of a table, and masks to flags of its rows."""

from collections.abc import Hashable
from typing import Any

import jax
import numpy as np
import pandas as pd

from ..table._column import NUMBER, Array, Column
from ..table._defer import defer_constant
from ..table._dictionary import encode_objects
from ..table._dtypes import is_held, narrowed, wide
from ..table._from_host import column_from
from ..table._layout import ONE_DEVICE
from ..table._ndframe import FrameBase, SeriesBase
from ..table._object_functions import holds_bools, inferred
from ..table._table import Table
from ..table._take import any_missing, repeated
from ..table._to_host import host_array
from ..table._tracing import is_traced
from ._align import aligned_column


def as_column(value: Any, table: Table, name: Hashable) -> Column:
    """Converts an assigned value to a column: aligns a series by label, an array by position."""
    if isinstance(value, SeriesBase):
        return aligned_column(value, table)
    if isinstance(value, (dict, pd.Series)):
        labels, value = _host_index(table), pd.Series(value)
        value = (value if value.index.equals(labels) else value.reindex(labels)).array
    if isinstance(value, (jax.Array, np.ndarray)) and not value.ndim:
        return _filled(value, table, name)
    if pd.api.types.is_scalar(value):
        return _filled(value, table, name)
    dictionary = None
    if isinstance(value, (list, tuple)) and not value:
        value = np.empty(0, wide(np.float64))
    if not hasattr(value, "dtype") or (isinstance(value, np.ndarray) and value.dtype.kind in "OU"):
        encoded = encode_objects(value)
        value, dictionary = (pd.Series(value).array, None) if encoded is None else encoded
    if is_traced(table.num_rows):
        if len(value) != table.capacity:
            raise ValueError(
                f"Length of values ({len(value)}) does not match the capacity of the rows "
                f"({table.capacity}), which is what counts inside jit."
            )
    elif len(value) != table.num_rows_on_host and len(value) != table.capacity:
        raise ValueError(
            f"Length of values ({len(value)}) does not match length of index "
            f"({table.num_rows_on_host})"
        )
    return column_from(value, table.capacity, table.layout, name, dictionary)


def _host_index(table: Table) -> pd.Index:
    if is_traced(table.index, table.num_rows):
        raise NotImplementedError(
            "JaxFrame: labels are not known inside jit. Assign a JaxSeries or an array."
        )
    return table.index.to_pandas(table.num_rows_on_host)


def _filled(value: object, table: Table, name: Hashable) -> Column:
    if isinstance(value, np.ndarray):
        value = value[()]
    if (
        isinstance(value, (jax.Array, np.generic))
        and value.dtype.kind in "biufc"
        and is_held(value)
    ):
        data = repeated(value, table.capacity)
        return Column(table.layout.constrain(data) if is_traced(data) else table.layout.place(data))
    # pandas gives a missing time the finest unit.
    dtype = None
    if value is pd.NaT or (isinstance(value, (np.datetime64, np.timedelta64)) and pd.isna(value)):
        dtype = "m8[ns]" if isinstance(value, np.timedelta64) else "M8[ns]"
    one = column_from(narrowed(pd.Series([value], dtype=dtype)), 1, ONE_DEVICE, name)
    if one.type is NUMBER and table.layout == ONE_DEVICE and not is_traced(one.data):
        deferred = defer_constant(host_array(one.data)[0], table.capacity)
        if deferred is not None:
            return deferred
    data = repeated(one.data, table.capacity)
    if one.type is NUMBER and is_traced(data):
        return Column(table.layout.constrain(data))
    return Column(table.layout.place(data), None, one.type)


def parts_of(value: Any, num_labels: int) -> list[Any]:
    """Splits an assigned value into one part per column; a scalar is repeated."""
    if not pd.api.types.is_list_like(value):
        return [value] * num_labels
    if isinstance(value, (FrameBase, pd.DataFrame)):
        parts = [column for _, column in value.items()]
    elif getattr(value, "ndim", 1) == 2:
        parts = [value[:, position] for position in range(value.shape[1])]
    else:
        parts = list(value)
        arrays = [part for part in parts if isinstance(part, (SeriesBase, jax.Array))]
        if any(isinstance(part, SeriesBase) or part.ndim for part in arrays):
            raise NotImplementedError(
                "JaxFrame: cannot set several columns from a list of arrays, which pandas reads as "
                "rows. Set each column, or use assign()."
            )
        if parts and all(isinstance(part, (list, tuple, np.ndarray)) for part in parts):
            rows = pd.DataFrame(parts).to_numpy()
            parts = list(rows.T)
    if len(parts) != num_labels:
        raise ValueError(
            f"Columns must be same length as key: got {len(parts)} for {num_labels} labels."
        )
    return parts


def one_column(value: object) -> Any:
    """The only column of a two-dimensional value; other values as they are."""
    return parts_of(value, 1)[0] if getattr(value, "ndim", 1) == 2 else value


def is_mask(key: object) -> bool:
    """Whether a key is a boolean mask."""
    if isinstance(key, SeriesBase):
        return True
    if isinstance(key, (np.ndarray, jax.Array, pd.Series, pd.api.extensions.ExtensionArray)):
        is_nullable = isinstance(key.dtype, pd.api.extensions.ExtensionDtype)
        is_bool = pd.api.types.is_bool_dtype(key.dtype) if is_nullable else key.dtype == np.bool_
        return key.ndim == 1 and (is_bool or key.dtype == object)
    return (
        isinstance(key, list)
        and bool(key)
        and all(isinstance(flag, (bool, np.bool_)) for flag in key)
    )


def names_labels(key: object) -> bool:
    """Whether the values of a series are labels of rows to select, not flags."""
    if not isinstance(key, SeriesBase) or key._only.is_bool:
        return False
    return key._only.kind != "object" or not holds_bools(key._only)


def _with_bools(key: SeriesBase) -> Any:
    """A series of bools in place of one of objects that are all bools."""
    column, num_rows = key._only, key._table.num_rows
    if column.kind != "object" or not holds_bools(column):
        return key
    bools = inferred(column, num_rows)
    if not bools.is_bool:
        raise ValueError("Cannot mask with non-boolean array containing NA / NaN values")
    return key._with_column(bools)


def as_mask(key: object, table: Table, of_length: type[Exception] = IndexError) -> Array:
    """Aligns a mask with the rows of a table.

    Raises:
        ValueError: the values are not booleans, or some are missing.
        IndexingError: a row label is absent from the mask.
        of_length: the length differs. pandas raises ValueError for `frame[mask]` only.
    """
    if isinstance(key, SeriesBase):
        mask = _with_bools(key)
        column = mask._only
        if not column.is_bool:
            raise KeyError(
                f"a mask must be boolean, got a series of {column.dtype_name}. "
                "Compare it with a value, or pass a list of column labels."
            )
        had_missing = column.valid is not None
        column = aligned_column(mask, table).forced()
        if (
            column.valid is not None
            and not had_missing
            and not is_traced(column.valid, table.num_rows)
            and (not column.is_nullable or bool(any_missing(column.valid, table.num_rows)))
        ):
            raise pd.errors.IndexingError(
                "Unalignable boolean Series provided as indexer: a mask must have the label of "
                "each row."
            )
    else:
        flags = key.array if isinstance(key, pd.Series) else key
        if isinstance(flags, pd.api.extensions.ExtensionArray) and is_mask(flags):
            # A missing flag selects nothing, as in a series of a nullable dtype.
            flags = flags.to_numpy(np.bool_, na_value=False)
        flags = flags if isinstance(flags, jax.Array) else np.asarray(flags)
        if flags.dtype != np.bool_:
            raise ValueError("Cannot mask with non-boolean array containing NA / NaN values")
        num_rows = table.capacity if is_traced(table.num_rows) else table.num_rows_on_host
        if len(flags) not in (num_rows, table.capacity):
            raise of_length(f"a mask has the wrong length: {len(flags)} instead of {num_rows}.")
        column = column_from(flags, table.capacity, table.layout, "mask")
    if column.valid is not None:
        if not column.is_nullable and not is_traced(column.valid):
            raise ValueError("Cannot mask with non-boolean array containing NA / NaN values")
        return column.data & column.valid
    return column.data
