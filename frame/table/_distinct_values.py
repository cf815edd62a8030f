# SPDX-License-Identifier: Apache-2.0
"""What pandas makes of each distinct value of a column, looked up for every row."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ._column import Array, Column, host_array, to_host
from ._dtypes import narrowed
from ._from_host import column_from
from ._layout import ONE_DEVICE, Layout
from ._recode import look_up
from ._table import Count, is_row
from ._take import settled, take_columns
from ._tracing import at_once, is_traced


class Distinct(NamedTuple):
    """A column as places in a short series of pandas, which holds each value once.

    Attributes:
        places: where the value of each row stands in `values`; anything for padding, and -1 for a
            missing value that `values` does not have.
        values: the distinct values in the column's dtype, a missing one too.
    """

    places: Array
    values: pd.Series


def distinct_values(column: Column, num_rows: Count, layout: Layout, method: str) -> Distinct:
    """The distinct values of a column, on the host.

    Raises:
        NotImplementedError: the values are not known, inside `jit`.
    """
    if column.type.has_codes:
        return _of_codes(column, num_rows, layout)
    if column.is_bool and is_traced(column, num_rows):
        places = column.data.astype(jnp.int32)
        if column.valid is not None:
            places = jnp.where(column.valid, places, np.int32(-1))
        return Distinct(places, pd.Series([False, True]))
    if is_traced(column, num_rows):
        raise NotImplementedError(
            f"{method}: inside jit the values of a column of {column.dtype_name} are not known. "
            f"Call {method} before jit, and pass the result."
        )
    keys = _bits(column.data) if column.valid is None else (*_bits(column.data), column.valid)
    groups = primitives.factorize(keys, num_valid=num_rows, sort=False, **layout.on_mesh)
    count = int(groups.count)
    words = [host_array(key)[:count] for key in groups.unique_keys]
    valid = words.pop() if column.valid is not None else None
    data = _from_bits(words, column.dtype)
    values = _shown(data, valid, column, count)
    return Distinct(groups.group_ids, pd.Series(values, dtype=values.dtype))


def _of_codes(column: Column, num_rows: Count, layout: Layout) -> Distinct:
    size = len(column.type.dictionary or ())
    if is_traced(column, num_rows):
        # Which values occur is not known: all of them may, and a missing one is seen to apart.
        known = np.arange(size)
        return Distinct(column.data, _series_of_codes(column, known))
    counts = primitives.segment_count(
        jnp.where(is_row(column.data.shape[0], num_rows, layout), column.data + 1, np.int32(-1)),
        num_segments=ONE_DEVICE.capacity_for(size + 1),
        **layout.on_mesh,
    )
    used = np.flatnonzero(host_array(counts)[: size + 1])
    new_places = np.full(size + 1, -1, np.int32)
    new_places[used] = np.arange(len(used), dtype=np.int32)
    places = look_up(column.data + np.int32(1), new_places, np.int32(-1))
    return Distinct(places, _series_of_codes(column, used - 1))


def _series_of_codes(column: Column, codes: np.ndarray) -> pd.Series:
    values = _shown(codes.astype(np.int32), None, column, len(codes))
    return pd.Series(values, dtype=values.dtype)


def _shown(data: Any, valid: Any, column: Column, count: int) -> Any:
    return to_host(Column(data, valid, column.type), count)


@jax.jit
def _bits(data: Array) -> tuple[Array, ...]:
    """Keys that tell all values apart, zeros of either sign too, and take NaNs for one."""
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
    """What a method of pandas makes of a column, asked once for each distinct value.

    Args:
        column: any column; inside `jit` one of strings or categories.
        num_rows: the rows that count.
        layout: where they lie.
        convert: what pandas does to a series of the distinct values.
        method: what the user called, for errors.
    """
    places, values = at_once(distinct_values, column, num_rows, layout, method)
    return looked_up(column_of_results(convert(values), method), places, num_rows)


def column_of_results(results: pd.Series, method: str) -> Column:
    """A short column of what pandas made, on one device."""
    size = len(results)
    capacity = ONE_DEVICE.capacity_for(size)
    if results.dtype == object:
        missing = results.isna().to_numpy()
        if not all(isinstance(value, (bool, np.bool_)) for value in results[~missing]):
            return column_from(results, capacity, ONE_DEVICE, method)
        valid = np.zeros(capacity, np.bool_)
        valid[:size] = ~missing
        data = np.where(missing, False, results).astype(np.bool_)
        flags = column_from(data, capacity, ONE_DEVICE, method)
        return Column(flags.data, jnp.asarray(valid) if missing.any() else None)
    return column_from(narrowed(results), capacity, ONE_DEVICE, method)


def looked_up(table: Column, places: Array, num_rows: Count) -> Column:
    """The value of a short column for each row; missing where the place is negative."""
    (column,) = take_columns((table,), places, ONE_DEVICE, holes=True)
    return settled(column, num_rows)
