# SPDX-License-Identifier: Apache-2.0
"""Hashes of keys on the host: equal for equal values, whatever their dtype."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from pandas.util import hash_array

from ..table._column import NAT, Column
from ..table._to_host import host_array
from ..table._units import units_per

# pandas.util has no types.
_hashes_of_strings: Any = hash_array

_MISSING = np.uint64(0x9E3779B97F4A7C15)


def hashes_of(columns: Sequence[Column], num_rows: int) -> np.ndarray:
    """A hash of 64 bits for each row.

    Missing values are equal, and so are -0.0 and 0.0, and integers and floats of equal value.
    """
    hashes = np.zeros(num_rows, np.uint64)
    for column in columns:
        hashes = _mixed(hashes + _MISSING ^ _words_of(column, num_rows))
    return hashes


def _words_of(column: Column, num_rows: int) -> np.ndarray:
    column = column.stored
    data = host_array(column.data)[:num_rows]
    if column.type.has_codes:
        strings = np.asarray(column.dictionary.values, object)
        words = _hashes_of_strings(strings, categorize=False) if len(strings) else None
        is_missing = data < 0
        codes = np.where(is_missing, 0, data)
        words = np.full(num_rows, _MISSING) if words is None else words[codes]
    else:
        if column.type.unit is not None:
            is_missing = data == NAT
            # The product is the same for times of several units, also where it wraps around.
            words = (data * units_per(column.type.unit, "ns")).view(np.uint64)
        else:
            numbers = data.astype(np.float64)
            is_missing = np.isnan(numbers)
            # Adding zero turns -0.0 into 0.0.
            words = (numbers + 0.0).view(np.uint64)
    if column.valid is not None:
        is_missing = is_missing | ~host_array(column.valid)[:num_rows]
    words[is_missing] = _MISSING
    return words


def _mixed(words: np.ndarray) -> np.ndarray:
    """Spreads each bit over all bits (the finalizer of SplitMix64, Steele, Lea, Flood 2014)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
