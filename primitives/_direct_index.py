# SPDX-License-Identifier: Apache-2.0
"""Direct indexes of concrete keys, whose ranges the host reads."""

import weakref
from typing import Any

import jax
import numpy as np

from .contract._typing import Array
from .local.parts import DirectIndex, ranges_of
from .tiers._tiered import tiered

__all__ = ["DirectIndex", "known_ranges", "note_range"]

# Ranges of integer arrays by id and number of valid rows, removed when the arrays are freed.
_RANGES: dict[tuple[int, int], tuple[Any, Any]] = {}


def known_ranges(columns: tuple[Array, ...], num_valid: Array) -> tuple[tuple[Any, Any], ...]:
    """The least and the greatest key of each column, on the host, cached between calls."""
    # `int` of an array takes three times as long.
    num_rows = num_valid.item()
    names = [(id(column), num_rows) for column in columns]
    if not all(name in _RANGES for name in names):
        ranges = jax.device_get(_ranges_of(columns, num_valid))
        for name, column, known in zip(names, columns, ranges, strict=True):
            if name not in _RANGES:
                weakref.finalize(column, _RANGES.pop, name, None)
            _RANGES[name] = known
    return tuple(_RANGES[name] for name in names)


def note_range(column: Array, num_valid: int, least: int, greatest: int) -> None:
    """Tells a range that holds the keys of a column, so that no call reads the column for it."""
    name = id(column), num_valid
    if name not in _RANGES:
        weakref.finalize(column, _RANGES.pop, name, None)
        dtype = np.result_type(column.dtype, np.int32)
        _RANGES[name] = dtype.type(least), dtype.type(greatest)


_ranges_of = tiered(ranges_of)
