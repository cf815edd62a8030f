# SPDX-License-Identifier: Apache-2.0
"""The rows of a column on the host, as arrays of pandas or NumPy."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from jax.sharding import NamedSharding, PartitionSpec

from ._column import Array, Column, plain
from ._counted import NAT, arrow_of_counts, pandas_of_counts
from ._host_column import HostArrays, HostColumn
from ._nullable import nullable_array
from ._zones import with_zone


def to_host(column: Column, num_rows: int) -> Any:
    """Converts the first rows to an array of pandas or NumPy, in pandas' dtype.

    A mask decides the dtype, also if no value of these rows is missing: those of integers give
    float64, those of bools objects.
    """
    if column.kind == "list":
        return column.lists_on_host(num_rows)
    column = column.stored
    all_data, all_valid = stored_on_host(column)
    if column.is_nullable:
        missing = missing_on_host(column, all_data, all_valid)[:num_rows]
        dtype = column.type.nullable(column.dtype)
        if column.type.is_counted and not column.type.is_time:
            counts = all_data[:num_rows]
            return pd.arrays.ArrowExtensionArray(arrow_of_counts(counts, column.type))
        # The mask of bools would make them objects.
        bare: Any = (all_data, None)
        values = to_host(plain(column.with_arrays(bare)), num_rows)
        return nullable_array(dtype, values, missing)
    data = all_data[:num_rows]
    match column.kind:
        case "category":
            return pd.Categorical.from_codes(
                data, categories=column.dictionary.values, ordered=column.type.ordered
            )
        case "string" | "object":
            assert column.type.dictionary is not None
            return column.type.dictionary.take(data)
        case "datetime" | "timedelta":
            letter = "M" if column.kind == "datetime" else "m"
            return with_zone(data.view(f"{letter}8[{column.type.unit}]"), column.type.zone)
    if column.type.is_counted:
        return pandas_of_counts(data, column.type)
    if data.dtype == jnp.bfloat16:
        # pandas has no dtype for it.
        data = data.astype(np.float32)
    if all_valid is None:
        return data
    valid = all_valid[:num_rows]
    if data.dtype == np.bool_:
        objects = data.astype(object)
        objects[~valid] = np.nan
        return objects
    return np.where(valid, data, np.nan)


def stored_on_host(column: Column) -> HostArrays:
    """The arrays of a stored column on this host."""
    if type(column) is HostColumn:
        return column.rows
    data, valid = column.arrays
    return host_array(data), None if valid is None else host_array(valid)


def missing_on_host(column: Column, data: np.ndarray, valid: np.ndarray | None) -> np.ndarray:
    """`Column.missing` of a stored column with these arrays, calculated on the host."""
    if valid is not None:
        return ~valid
    if column.type.has_codes:
        return data < 0
    if column.type.is_counted:
        return data == NAT
    return np.isnan(data) if column.is_float else np.zeros(data.shape, np.bool_)


def without_rows(column: Column) -> Column:
    """An empty column of the same type, on the host."""
    empty: Any = np.empty(0, column.dtype)
    return column.moved((empty, None))


def no_rows(column: Column) -> Any:
    """An empty array of pandas or NumPy in the dtype of the column."""
    return to_host(without_rows(column), 0)


def host_array(array: Array) -> np.ndarray:
    """Copies an array to this host, including rows of other processes."""
    if isinstance(array, jax.Array) and not array.is_fully_addressable:
        if array.is_fully_replicated:
            return np.asarray(array.addressable_data(0))
        sharding = array.sharding
        assert isinstance(sharding, NamedSharding)
        everywhere = jax.device_put(array, NamedSharding(sharding.mesh, PartitionSpec()))
        return np.asarray(everywhere.addressable_data(0))
    return np.asarray(array)
