# SPDX-License-Identifier: Apache-2.0
"""Direct indexes of concrete keys, whose ranges the host reads."""

import weakref
from collections.abc import Iterable, Sequence
from typing import Any

import jax
import numpy as np

from ._sized import in_steps
from .contract._typing import Array
from .local.parts import DirectIndex, ranges_of
from .tiers._tiered import tiered

__all__ = ["DirectIndex", "index_in_steps", "known_ranges", "note_range"]

# Ranges of integer arrays by id and number of valid rows, removed when the arrays are freed.
_RANGES: dict[tuple[int, int], tuple[Any, Any]] = {}


def known_ranges(columns: tuple[Array, ...], num_valid: Array) -> tuple[tuple[Any, Any], ...]:
    """The least and the greatest key of each column, on the host, cached between calls."""
    # `int` of an array takes three times as long.
    num_rows = num_valid.item()
    names = [(id(column), num_rows) for column in columns]
    if not _RANGES.keys() >= set(names):
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


def index_in_steps(
    ranges: Iterable[tuple[Any, Any]],
    dtypes: Sequence[Any],
    most_segments: int,
    can_miss: Sequence[bool] = (),
) -> DirectIndex | None:
    """The index of keys of known ranges, in steps, so that nearby ranges share programs.

    Args:
        ranges: the least and the greatest key of each column; without rows the least may exceed the
            greatest. Read only while the index fits.
        dtypes: the dtype of each column.
        most_segments: most combinations of keys.
        can_miss: see `DirectIndex`; False for all columns by default.

    Returns:
        The index, or None if it has more than `most_segments` segments.
    """
    can_miss = tuple(can_miss) or (False,) * len(dtypes)
    widened, num_segments = [], 1
    for (low, high), misses in zip(ranges, can_miss, strict=True):
        size = in_steps(max(int(high) - int(low) + 1, 1) + misses, 4)
        widened.append((int(low), int(low) + size - misses - 1))
        num_segments *= size
        if num_segments > most_segments:
            return None
    return DirectIndex.between(widened, dtypes, can_miss)
