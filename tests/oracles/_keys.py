# SPDX-License-Identifier: Apache-2.0
"""Keys as integers in the order of the contract, and rows by their ids."""

from typing import Any

import jax
import numpy as np

from ._values import is_float


def columns_of(keys: Any) -> tuple[np.ndarray, ...]:
    """Key columns, whether one array or a tuple was given."""
    return keys if isinstance(keys, tuple) else (keys,)


def per_column(setting: Any, num_columns: int) -> tuple[Any, ...]:
    """A setting for each column, whether one or several were given."""
    return setting if isinstance(setting, tuple) else (setting,) * num_columns


def key_ranks(key: np.ndarray, descending: bool = False, bits: int | None = None) -> np.ndarray:
    """An integer for each key, in the order of the contract; equal keys have equal integers."""
    if bits is not None:
        unsigned = key.view(f"u{key.dtype.itemsize}")
        key = unsigned & unsigned.dtype.type(2**bits - 1)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        is_number = ~np.isnan(key) if is_float(key.dtype) else np.ones(len(key), bool)
    # NumPy orders bfloat16 as floats of 64 bits, which hold every key exactly.
    numbers = key[is_number].astype(np.float64) if is_float(key.dtype) else key[is_number]
    distinct, number_ranks = np.unique(numbers, return_inverse=True)
    ranks = np.full(len(key), len(distinct))
    ranks[is_number] = len(distinct) - 1 - number_ranks if descending else number_ranks
    return ranks


def take(rows: Any, row_ids: np.ndarray) -> Any:
    return jax.tree.map(lambda leaf: leaf[row_ids], rows)


def with_zeros_behind(rows: Any, capacity: int) -> Any:
    """As many rows as the capacity, which holds them all."""

    def pad(leaf: np.ndarray) -> np.ndarray:
        padded = np.zeros((capacity, *leaf.shape[1:]), leaf.dtype)
        padded[: len(leaf)] = leaf
        return padded

    return jax.tree.map(pad, rows)
