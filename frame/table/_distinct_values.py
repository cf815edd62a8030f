# SPDX-License-Identifier: Apache-2.0
"""Applies a pandas function to the distinct values of a column and gathers the results."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ...primitives.staging import tiered
from ._column import Array, Column
from ._dtypes import narrowed
from ._from_host import column_from
from ._layout import ONE_DEVICE, Layout
from ._recode import look_up
from ._table import Count, is_row
from ._take import look_up_rows, settled
from ._to_host import host_array, to_host
from ._tracing import at_once, is_traced


class Distinct(NamedTuple):
    """The distinct values of a column, and the position of each row's value among them.

    Attributes:
        positions: positions in `values`, arbitrary for padding; -1 for a missing value that is
            absent from `values`.
        values: the distinct values in the column's dtype, which may include a missing one.
    """

    positions: Array
    values: pd.Series


def distinct_values(column: Column, num_rows: Count, layout: Layout, method: str) -> Distinct:
    """Finds the distinct values of a column, on the host."""
    if column.type.has_codes and not (column.kind == "list" and is_traced(column, num_rows)):
        return _of_codes(column, num_rows, layout)
    if column.is_bool and is_traced(column, num_rows):
        positions = column.data.astype(jnp.int32)
        if column.valid is not None:
            positions = jnp.where(column.valid, positions, np.int32(-1))
        return Distinct(positions, pd.Series([False, True]))
    if is_traced(column, num_rows):
        raise NotImplementedError(
            f"{method}: inside jit the values of a column of {column.dtype_name} are not known. "
            f"Call {method} before jit, and pass the result."
        )
    keys = _bits(column.data) if column.valid is None else (*_bits(column.data), column.valid)
    groups = primitives.factorize(keys, num_valid=num_rows, sort=False, **layout.on_mesh)
    count = int(groups.count)
    words = [host_array(key)[:count] for key in groups.unique_keys]
    valid: Any = words.pop() if column.valid is not None else None
    values = to_host(Column(_from_bits(words, column.dtype), valid, column.type), count)
    return Distinct(groups.group_ids, pd.Series(values, dtype=values.dtype))


def _of_codes(column: Column, num_rows: Count, layout: Layout) -> Distinct:
    size = _num_codes(column)
    if column.kind == "object" and is_traced(column, num_rows):
        # A function of objects sees missing ones, too.
        return Distinct(column.data + np.int32(1), _series_of_codes(column, np.arange(-1, size)))
    if is_traced(column, num_rows):
        # The codes are traced, so any value may occur. Missing values keep the position -1.
        return Distinct(column.data, _series_of_codes(column, np.arange(size)))
    used = np.flatnonzero(host_array(code_counts(column, num_rows, layout))[: size + 1])
    new_positions = np.full(size + 1, -1, np.int32)
    new_positions[used] = np.arange(len(used), dtype=np.int32)
    positions = look_up(column.data, new_positions[:size], new_positions[size])
    return Distinct(positions, _series_of_codes(column, np.where(used == size, -1, used)))


def code_counts(column: Column, num_rows: Count, layout: Layout) -> Array:
    """The number of rows with each code, then of missing values, padded to a capacity."""
    size = _num_codes(column)
    return _code_counts(column.data, num_rows, size, layout)


def _num_codes(column: Column) -> int:
    """The number of values that codes, or numbers of lists, refer to."""
    return len(column.type.dictionary or ()) if column.lists is None else len(column.lists.starts)


@functools.partial(tiered, static_argnums=(2, 3))
def _code_counts(codes: Array, num_rows: Count, size: int, layout: Layout) -> Array:
    codes = jnp.where(codes < 0, np.int32(size), codes)
    codes = jnp.where(is_row(codes.shape[0], num_rows, layout), codes, np.int32(-1))
    return primitives.segment_count(codes, ONE_DEVICE.capacity_for(size + 1), **layout.on_mesh)


def _series_of_codes(column: Column, codes: np.ndarray) -> pd.Series:
    data: Any = codes.astype(np.int32)
    of_codes = (
        Column(data, None, column.type) if column.lists is None else column.moved((data, None))
    )
    values = to_host(of_codes, len(codes))
    return pd.Series(values, dtype=values.dtype)


@tiered
def _bits(data: Array) -> tuple[Array, ...]:
    """Bit patterns as keys: distinguishes -0.0 from 0.0, and maps all NaNs to one key."""
    if jnp.issubdtype(data.dtype, jnp.complexfloating):
        return (*_bits(data.real), *_bits(data.imag))
    if not jnp.issubdtype(data.dtype, jnp.floating):
        return (data,)
    words = {2: jnp.uint16, 4: jnp.uint32, 8: jnp.uint64}[data.dtype.itemsize]
    data = jnp.where(jnp.isnan(data), data.dtype.type(np.nan), data)
    return (jax.lax.bitcast_convert_type(data, words),)


def _from_bits(words: list[np.ndarray], dtype: np.dtype) -> Any:
    if dtype.kind == "c":
        part = np.float32 if dtype == np.complex64 else np.float64
        return words[0].view(part) + 1j * words[1].view(part)
    return words[0].view(dtype)


def through_values(
    column: Column,
    num_rows: Count,
    layout: Layout,
    convert: Callable[[pd.Series], pd.Series],
    method: str,
) -> Column:
    """Applies a function of a pandas series to the distinct values of a column.

    Inside `jit` the column must have strings or categories. `method` is for errors.
    """
    positions, values = at_once(distinct_values, column, num_rows, layout, method)
    results = convert(values)
    if column.kind == "object" and results.dtype == object:
        # None and NaN stay apart.
        table = column_from(results, ONE_DEVICE.capacity_for(len(results)), ONE_DEVICE, method)
    else:
        table = column_of_results(results, method)
    return looked_up(table, positions, num_rows, layout)


def column_of_results(
    results: pd.Series, method: str, capacity: int | None = None, layout: Layout = ONE_DEVICE
) -> Column:
    """Converts a series of results to a column, by default on one device."""
    capacity = layout.capacity_for(len(results)) if capacity is None else capacity
    if results.dtype == object:
        missing = results.isna().to_numpy()
        are_bools = all(type(value) in (bool, np.bool_) for value in results[~missing])
        if missing.all() or not missing.any() or not are_bools:
            return column_from(results, capacity, layout, method)
        data = np.where(missing, False, results).astype(np.bool_)
        flags = column_from(data, capacity, layout, method)
        return Column(flags.data, column_from(~missing, capacity, layout, method).data)
    return column_from(narrowed(results), capacity, layout, method)


def looked_up(table: Column, positions: Array, num_rows: Count, layout: Layout) -> Column:
    """Gathers values of a short column; negative positions give missing values.

    `layout` is that of the positions.
    """
    (column,) = look_up_rows((table,), positions, layout, holes=True)
    return settled(column, num_rows)
