# SPDX-License-Identifier: Apache-2.0
"""`isin`: membership in a list of values, and lookup of numbers among keys."""

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
    """Converts a list of values to a type of the host that pandas accepts."""
    if isinstance(values, SeriesBase):
        return values.to_pandas()
    return np.asarray(values) if isinstance(values, jax.Array) else values


def positions_in(column: Column, keys: pd.Index) -> tuple[Array, np.ndarray] | None:
    """Looks up each number of a column among keys.

    Returns:
        The position of each row's value in the sorted keys, -1 if absent, and the argsort of the
        keys; None unless keys and column are real numbers.
    """
    if keys.dtype == object or not isinstance(keys.dtype, np.dtype) or keys.dtype.kind not in "iuf":
        return None
    if not column.is_numeric or column.dtype.kind not in "iuf":
        return None
    # Drops keys that the column's dtype cannot represent.
    numbers = keys.to_numpy()
    with np.errstate(invalid="ignore", over="ignore"):
        cast_numbers = numbers.astype(column.dtype)
        same = (cast_numbers == numbers) & ((cast_numbers < 0) == (numbers < 0))
    if column.is_float:
        same = same | np.isnan(cast_numbers) & np.isnan(numbers.astype(np.float64))
    elif numbers.dtype.kind == "f":
        # The largest 64-bit integer is not a float: it would match the next float above.
        same = same & (numbers < float(int(np.iinfo(column.dtype).max) + 1))
    exact = np.flatnonzero(same)
    order = exact[np.argsort(cast_numbers[exact], kind="stable")]
    size = max(1 << max(len(order) - 1, 0).bit_length(), 8)
    padded_keys = np.zeros(size, column.dtype)
    padded_keys[: len(order)] = cast_numbers[order]
    if len(order):
        padded_keys[len(order) :] = cast_numbers[order[-1]]
    valid = column.valid
    return _search(column.data, valid, jnp.asarray(padded_keys), np.int32(len(order))), order


def search_rows(keys: Array, rows: Array, search: Any) -> Array:
    """Inside a compiled function: searches for each row among sorted keys."""
    sharding = explicit_sharding(rows)
    if sharding is not None:
        search = jax.sharding.auto_axes(search, out_sharding=sharding)
    return search(keys, rows).astype(jnp.int32)


@jax.jit
def _search(data: Array, valid: Array | None, keys: Array, count: Array) -> Array:
    positions = search_rows(keys, data, jnp.searchsorted)
    positions = jnp.minimum(positions, np.int32(keys.shape[0] - 1))
    nearest = gather(keys, positions, ONE_DEVICE)
    same = nearest == data
    if jnp.issubdtype(data.dtype, jnp.floating):
        same = same | (jnp.isnan(nearest) & jnp.isnan(data))
    if valid is not None:
        same = same & valid
    return jnp.where(same & (count > 0), positions, np.int32(-1))


def flags_in(column: Column, values: Any, table: Table, method: str = "isin") -> Array:
    """Flags the rows whose value is in a list, as pandas' `isin` does."""
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
        looked_up = positions_in(column, _numbers_of(listed))
        if looked_up is not None:
            return looked_up[0] >= 0
    if column.type.is_time:
        among = pd.Series(pd.array([], dtype=column.dtype_name))
        keys = pd.Index(listed)
        if isinstance(keys, (pd.DatetimeIndex, pd.TimedeltaIndex)) and keys.dtype.kind == (
            among.dtype.kind
        ):
            exact = keys.as_unit(column.type.unit)  # pyright: ignore
            exact = exact[exact == keys]
            looked_up = positions_in(Column(column.data), pd.Index(exact.asi8))
            assert looked_up is not None
            flags = looked_up[0] >= 0
            return flags | (column.data == NAT) if keys.hasnans else flags
        if not any(value is pd.NaT for value in listed):
            return jnp.zeros(column.data.shape, jnp.bool_)
    result = through_values(
        column, table.num_rows, table.layout, lambda shown: shown.isin(listed), method
    )
    if result.valid is None:
        return result.data
    # Inside `jit` the dictionary does not contain a missing value.
    among = bool(pd.Series([None], dtype="str").isin(listed)[0])
    return jnp.where(result.valid, result.data, np.bool_(among))


def _numbers_of(listed: Any) -> pd.Index:
    """The numbers in a list of values; bools count as 0 and 1."""
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
