# SPDX-License-Identifier: Apache-2.0
"""Membership of values in a list."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...shardings._compat import explicit_sharding
from ..table._column import NAT, Array, Column
from ..table._distinct_values import through_values
from ..table._layout import ONE_DEVICE
from ..table._ndframe import SeriesBase
from ..table._table import Table
from ..table._take import gather


def host_values(values: Any) -> Any:
    """Values that a user lists, as pandas takes them."""
    if isinstance(values, SeriesBase):
        return values.to_pandas()
    return np.asarray(values) if isinstance(values, jax.Array) else values


def places_in(column: Column, keys: pd.Index) -> tuple[Array, np.ndarray] | None:
    """Where each number of a column stands among sorted keys, -1 where it does not.

    Returns:
        The place of each row, and the order of the keys; None where the keys are no numbers.
    """
    if keys.dtype == object or not isinstance(keys.dtype, np.dtype) or keys.dtype.kind not in "iuf":
        return None
    if not column.is_numeric or column.is_bool or column.dtype.kind == "c":
        return None
    if column.dtype.kind not in "iuf":
        return None
    # Only keys that are values of the column's dtype can be found.
    numbers = keys.to_numpy()
    with np.errstate(invalid="ignore", over="ignore"):
        there = numbers.astype(column.dtype)
        same = (there == numbers) & ((there < 0) == (numbers < 0))
    if column.is_float:
        same = same | np.isnan(there) & np.isnan(numbers.astype(np.float64))
    elif numbers.dtype.kind == "f":
        # The greatest integer of 64 bits is no float: it would match the float above it.
        same = same & (numbers < float(int(np.iinfo(column.dtype).max) + 1))
    found = np.flatnonzero(same)
    order = found[np.argsort(there[found], kind="stable")]
    size = max(1 << max(len(order) - 1, 0).bit_length(), 8)
    room = np.zeros(size, column.dtype)
    room[: len(order)] = there[order]
    if len(order):
        room[len(order) :] = there[order[-1]]
    valid = column.valid
    return _search(column.data, valid, jnp.asarray(room), np.int32(len(order))), order


@jax.jit
def _search(data: Array, valid: Array | None, keys: Array, count: Array) -> Array:
    search: Any = jnp.searchsorted
    sharding = explicit_sharding(data)
    if sharding is not None:
        search = jax.sharding.auto_axes(search, out_sharding=sharding)
    places = search(keys, data).astype(jnp.int32)
    places = jnp.minimum(places, np.int32(keys.shape[0] - 1))
    found = gather(keys, places, ONE_DEVICE)
    same = found == data
    if jnp.issubdtype(data.dtype, jnp.floating):
        same = same | (jnp.isnan(found) & jnp.isnan(data))
    if valid is not None:
        same = same & valid
    return jnp.where(same & (count > 0), places, np.int32(-1))


def flags_in(column: Column, values: Any, table: Table, method: str = "isin") -> Array:
    """A flag for each row: whether its value is among others, as pandas' `isin` says.

    Raises:
        TypeError: the values are no list.
    """
    values = host_values(values)
    if not pd.api.types.is_list_like(values):
        raise TypeError(
            "only list-like objects are allowed to be passed to isin(), you passed a "
            f"`{type(values).__name__}`"
        )
    listed = list(values) if isinstance(values, (set, frozenset, Mapping)) else values
    if column.is_numeric:
        if column.is_bool:
            return _flags_of_bools(column, listed)
        found = places_in(column, _numbers_of(listed))
        if found is not None:
            return found[0] >= 0
    if column.type.is_time:
        among = pd.Series(pd.array([], dtype=column.dtype_name))
        keys = pd.Index(listed)
        if isinstance(keys, (pd.DatetimeIndex, pd.TimedeltaIndex)) and keys.dtype.kind == (
            among.dtype.kind
        ):
            exact = keys.as_unit(column.type.unit)  # pyright: ignore
            exact = exact[exact == keys]
            numbers = Column(column.data)
            found = places_in(numbers, pd.Index(exact.asi8))
            assert found is not None
            flags = found[0] >= 0
            return flags | (column.data == NAT) if keys.hasnans else flags
        if not any(value is pd.NaT for value in listed):
            return jnp.zeros(column.data.shape, jnp.bool_)
    made = through_values(
        column, table.num_rows, table.layout, lambda shown: shown.isin(listed), method
    )
    if made.valid is None:
        return made.data
    # Inside `jit` a missing value is not one of the dictionary's.
    among = bool(pd.Series([None], dtype="str").isin(listed)[0])
    return jnp.where(made.valid, made.data, np.bool_(among))


def _numbers_of(listed: Any) -> pd.Index:
    """The numbers among values; bools are zero and one."""
    keys = pd.Index(listed)
    if isinstance(keys.dtype, np.dtype) and keys.dtype.kind in "iuf":
        return keys
    if isinstance(keys.dtype, np.dtype) and keys.dtype.kind in "Mm":
        return pd.Index([], dtype=np.int64)
    numbers = (bool, np.bool_, int, float, complex, np.number)
    keys = pd.Index([key + 0 for key in keys if isinstance(key, numbers)] or np.empty(0))
    if keys.dtype.kind == "c":
        return pd.Index(np.real(keys[np.imag(keys) == 0]))
    return keys


def _flags_of_bools(column: Column, listed: Any) -> Array:
    has_false, has_true = pd.Series([False, True]).isin(listed)
    data = jnp.where(column.data, np.bool_(has_true), np.bool_(has_false))
    return data if column.valid is None else data & column.valid
