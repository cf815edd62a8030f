# SPDX-License-Identifier: Apache-2.0
"""Flags the rows whose value is in a list or in another column."""

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ...primitives.staging import tiered
from ...shardings._compat import explicit_sharding
from ..align._common_types import keys_of_two_units
from ..align._number_keys import number_keys
from ..table._column import Array, Column, of_family, plain, select
from ..table._distinct_values import through_values
from ..table._exact_numbers import index_of
from ..table._host_column import column_of, rows_on_host
from ..table._layout import ONE_DEVICE, Layout
from ..table._ndframe import SeriesBase
from ..table._recode import look_up, unencoded
from ..table._table import Count, Table
from ._listed_times import listed_counts
from ._lookup import exact_keys, host_values, search


def flags_like(column: Column, flags: Array) -> Column:
    """Flags of the values of a column in pandas' dtype: `boolean` for its masked numbers."""
    is_masked = column.family == "masked" and column.is_numeric
    return of_family(column_of(flags), "masked" if is_masked else None)


def _flags_of_nullable(column: Column, values: object, table: Table, method: str) -> Array:
    """Flags of nullable numbers: a missing one is only in a list with pandas' NA."""
    listed = host_values(values)
    if pd.api.types.is_list_like(listed):
        listed = list(listed)
        # For Arrow all missing values are one.
        of_arrow = column.family == "arrow"
        # pandas looks for NA among objects only, and a series of masked numbers is none.
        is_series = isinstance(values, (SeriesBase, pd.Series))
        among = np.asarray(host_values(values)) if is_series and not of_arrow else listed
        has_na = any(value is pd.NA or (of_arrow and pd.isna(value)) for value in among)
        values = [value for value in listed if not pd.isna(value)] if listed else listed
    else:
        has_na = False
    flags = flags_in(plain(column.with_arrays((column.data, None))), values, table, method)
    if not column.can_miss:
        return flags
    return flags | column.missing() if has_na else flags & column.present()


def flags_in(column: Column, values: object, table: Table, method: str = "isin") -> Array:
    """Flags the rows whose value is in a list or another column, as pandas' `isin` does."""
    if column.is_nullable and column.is_numeric:
        return _flags_of_nullable(column, values, table, method)
    if isinstance(values, SeriesBase):
        flags = _flags_among_rows(column, values, table.layout)
        if flags is not None:
            return flags
    values = host_values(values)
    if not pd.api.types.is_list_like(values):
        raise TypeError(
            "only list-like objects are allowed to be passed to isin(), you passed a "
            f"`{type(values).__name__}`"
        )
    if isinstance(getattr(values, "dtype", None), pd.CategoricalDtype):
        values = np.asarray(values)
    needs_list = isinstance(values, (set, frozenset, Mapping, Iterator))
    listed = list(values) if needs_list else values
    if column.is_numeric:
        flags = _flags_of_numbers(column, listed, table.layout)
        if flags is not None:
            return flags
    if column.kind in ("string", "category"):
        coded = unencoded(column)
        if len(coded.dictionary) <= coded.capacity:
            return _flags_of_codes(coded, listed)
    if column.type.is_time:
        counts = pd.Index(listed_counts(column, listed))
        flags = _flags_among(Column(column.data), counts, table.layout)
        assert flags is not None
        return flags
    result = through_values(
        unencoded(column), table.num_rows, table.layout, lambda shown: shown.isin(listed), method
    )
    if result.valid is None:
        return result.data
    # Inside `jit` the dictionary does not contain a missing value.
    among = bool(pd.Series([None], dtype="str").isin(listed)[0])
    return jnp.where(result.valid, result.data, np.bool_(among))


def _flags_of_codes(column: Column, listed: object) -> Array:
    """Flags the codes of listed strings or categories, also those that no row has."""
    values: Any = column.dictionary.values
    if column.kind == "string":
        values, missing = pd.Series(values, dtype="str"), pd.Series([None], dtype="str")
    else:
        # Listed values that are no category are missing.
        values = pd.Series(pd.Categorical.from_codes(np.arange(len(values)), values))
        missing = pd.Series(pd.Categorical.from_codes([-1], values.cat.categories))
    flags = values.isin(listed).to_numpy(np.bool_)
    return look_up(column.data, flags, missing.isin(listed).to_numpy(np.bool_)[0])


def _flags_of_numbers(column: Column, listed: object, layout: Layout) -> Array | None:
    """Flags the numbers and bools of a column that are listed; None for other dtypes."""
    keys = index_of(listed)
    if column.is_bool:
        has_false, has_true = pd.Series([False, True]).isin(listed)
        flags = select(column.data, np.bool_(has_true), np.bool_(has_false))
    else:
        # Bools count as 0 and 1.
        numbers = keys.astype(np.int8) if keys.dtype == np.bool_ else keys
        flags = _flags_among(column, numbers, layout)
        if flags is None:
            return None
    is_missing_listed = _is_missing_listed(column, keys, listed)
    if not is_missing_listed and not column.is_bool:
        return flags
    if not column.is_float and column.valid is None:
        return flags
    return _with_missing(flags, column.valid, column.missing() if is_missing_listed else None)


@tiered
def _with_missing(flags: Array, valid: Array | None, missing: Array | None) -> Array:
    """Flags of values: none where a mask has no value, all of the missing ones if there are any."""
    flags = flags if valid is None else flags & valid
    return flags if missing is None else flags | missing


def _is_missing_listed(column: Column, keys: pd.Index, listed: object) -> bool:
    """Whether a missing value of a column is listed: for some dtypes None and NaN differ."""
    if not keys.hasnans:
        return False
    dtype = object if column.is_bool else column.dtype if column.is_float else np.float64
    return bool(pd.Series([np.nan], dtype=dtype).isin(listed)[0])


def _flags_among_rows(column: Column, values: SeriesBase, layout: Layout) -> Array | None:
    """Flags the values of a column that are in another one, on the device.

    None where no dtype holds the values of both exactly, or where the other column has a mask or
    lies on other devices.
    """
    other, table = values._only, values._table
    if column.type.compares_with(other.type) and column.type != other.type:
        if table.layout != layout:
            return None
        return _is_among_keys(*keys_of_two_units(column, other), table.all_rows, layout)
    keys = number_keys(column, other)
    if keys is not None and table.layout == layout:
        return _is_among_keys(*keys, table.all_rows, layout)
    dtype = _common_dtype(column, other)
    if dtype is None or other.valid is not None or table.layout != layout:
        return None
    return _is_among(column.data, column.valid, other.data, table.all_rows, dtype, layout)


def _common_dtype(a: Column, b: Column) -> np.dtype | None:
    """The dtype that holds the numbers or times of both columns exactly."""
    if a.type.is_time or b.type.is_time:
        return a.dtype if a.type == b.type else None
    if any(not one.is_numeric or one.is_bool or one.dtype.kind not in "iuf" for one in (a, b)):
        return None
    if a.is_float != b.is_float:
        return None
    # NumPy has no integer for those of int64 and uint64, and JAX none beyond 32 bits without x64.
    dtype = np.promote_types(a.dtype, b.dtype)
    is_exact = (dtype.kind == "f") == a.is_float and jax.dtypes.canonicalize_dtype(dtype) == dtype
    return dtype if is_exact else None


@functools.partial(tiered, static_argnums=(4, 5))
def _is_among(
    data: Array, valid: Array | None, keys: Array, count: Count, dtype: np.dtype, layout: Layout
) -> Array:
    sides = data.astype(dtype), keys.astype(dtype)
    flags = primitives.isin(*sides, num_valid=(None, count), **layout.on_mesh)
    return flags if valid is None else flags & valid


@functools.partial(tiered, static_argnums=3)
def _is_among_keys(
    rows: tuple[Array, ...], keys: tuple[Array, ...], count: Count, layout: Layout
) -> Array:
    return primitives.isin(rows, keys, num_valid=(None, count), **layout.on_mesh)


def _flags_among(column: Column, keys: pd.Index, layout: Layout) -> Array | None:
    """Flags the numbers of a column that are among keys; None as for `positions_in`."""
    exact = exact_keys(column, keys)
    if exact is None:
        return None
    padded_keys, order = exact
    rows = None if layout.mesh else rows_on_host((column,))
    if rows is not None:
        ((data, valid),) = rows
        flags: Any = np.isin(data, padded_keys[: len(order)], kind="sort")
        return flags if valid is None else flags & valid
    return _is_in(column.data, column.valid, padded_keys, np.int32(len(order)), layout)


@functools.partial(tiered, static_argnums=4)
def _is_in(data: Array, valid: Array | None, keys: Array, count: Array, layout: Layout) -> Array:
    if layout == ONE_DEVICE and explicit_sharding(data) is None:
        flags = primitives.isin(data, keys, num_valid=(None, count))
        return flags if valid is None else flags & valid
    # XLA partitions a search over the mesh without moving rows.
    return search(data, valid, keys, count) >= 0
