# SPDX-License-Identifier: Apache-2.0
"""Looks the numbers of a column up among keys of the host."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..table._column import Array, Column
from ..table._exact_numbers import in_dtype_of
from ..table._layout import ONE_DEVICE
from ..table._ndframe import SeriesBase
from ..table._search import search_rows
from ..table._take import gather


def host_values(values: object) -> Any:
    """Converts a list of values to a type of the host that pandas accepts."""
    if isinstance(values, SeriesBase):
        return values.to_pandas()
    return np.asarray(values) if isinstance(values, jax.Array) else values


def positions_in(
    column: Column, keys: pd.Index, missing_key: int = -1
) -> tuple[Array, np.ndarray] | None:
    """Looks up each number of a column among keys; `missing_key` is the position of NaN.

    Returns:
        The position of each row's value in the sorted keys, -1 if absent, and the argsort of the
        keys; None unless the column has real numbers.
    """
    exact = exact_keys(column, keys, missing_key)
    if exact is None:
        return None
    padded_keys, order = exact
    return search(column.data, column.valid, padded_keys, np.int32(len(order))), order


def exact_keys(
    column: Column, keys: pd.Index, missing_key: int = -1
) -> tuple[np.ndarray, np.ndarray] | None:
    """The sorted keys that the column's dtype represents, padded, and their positions."""
    if not column.is_numeric or column.dtype.kind not in "iuf":
        return None
    cast_numbers, is_exact = in_dtype_of(keys, column.dtype)
    if missing_key >= 0 and column.is_float:
        cast_numbers[missing_key], is_exact[missing_key] = np.nan, True
    exact = np.flatnonzero(is_exact)
    order = exact[np.argsort(cast_numbers[exact], kind="stable")]
    size = max(1 << max(len(order) - 1, 0).bit_length(), 8)
    padded_keys = np.zeros(size, column.dtype)
    padded_keys[: len(order)] = cast_numbers[order]
    if len(order):
        padded_keys[len(order) :] = cast_numbers[order[-1]]
    return padded_keys, order


@tiered
def search(data: Array, valid: Array | None, keys: Array, count: Array) -> Array:
    positions = search_rows(keys, data, jnp.searchsorted)
    positions = jnp.minimum(positions, np.int32(keys.shape[0] - 1))
    nearest = gather(keys, positions, ONE_DEVICE)
    same = nearest == data
    if jnp.issubdtype(data.dtype, jnp.floating):
        same = same | (jnp.isnan(nearest) & jnp.isnan(data))
    if valid is not None:
        same = same & valid
    return jnp.where(same & (count > 0), positions, np.int32(-1))
