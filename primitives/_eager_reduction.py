# SPDX-License-Identifier: Apache-2.0
"""Eager reductions by key on one device: the host sizes tables and results exactly.

The host reads the range of integer keys or the number of distinct keys, and chooses the algorithm
by it. Inside `jit`, `local.reduce_by_key` chooses instead.
"""

import functools
import math
import weakref
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from . import local
from ._sized import in_steps
from .contract._typing import Array
from .local.parts import (
    can_index,
    factorize_columns,
    has_sum_kernel,
    ranges_of,
    reduce_columns,
    reduce_indexed,
    reduce_numbered,
    take_indexed,
)
from .tiers._tiered import tiered

# Up to this density a table of segments is filled as fast as rows are hashed.
MOST_SEGMENTS_PER_ROW = 2
LEAST_SEGMENTS = 32
# Keys and sums take one pass if at most a quarter of a sample's rows have a new key.
# A capacity that suffices for most such keys is tried first.
MOST_FEW_KEYS = 1 << 17
SAMPLE_ROWS = 1 << 15
# The first attempt expects one group per this many rows: filling a capacity of all rows takes
# longer than finding few groups.
ROWS_OF_A_GROUP = 8


def reduce_eagerly(
    columns: tuple[Array, ...],
    leaves: list[Array],
    num_valid: Array,
    names: tuple[str, ...],
    ddof: int,
    capacity_of: Callable[[int], int],
) -> tuple[tuple[tuple[Array, ...], list[Array]], Array] | None:
    """Reduces concrete rows in any order; `capacity_of` sizes the result by the number of keys.

    Returns:
        `((unique_columns, reduced), count)`, or None if values are traced.
    """
    if any(isinstance(leaf, Tracer) for leaf in (*columns, *leaves, num_valid)):
        return None
    num_segments = _num_segments(columns, num_valid)
    if num_segments is not None:
        ranges = known_ranges(columns, num_valid)
        counts, tables, count = reduce_indexed(
            columns, leaves, num_valid, ranges, num_segments, names, ddof
        )
        dtypes = tuple(column.dtype.name for column in columns)
        *rows, count = take_indexed(counts, tables, ranges, dtypes, capacity_of(int(count)))
        return tuple(rows), count
    if names == ("sum",) and _have_few_keys(columns, leaves, num_valid):
        keys, sums, count = reduce_columns(
            columns, leaves, num_valid, names, MOST_FEW_KEYS, False, ddof, False
        )
        capacity = capacity_of(int(count))
        if capacity <= MOST_FEW_KEYS:
            return _first((keys, sums), capacity), count
    most_keys = max(columns[0].shape[0] // ROWS_OF_A_GROUP, 1)
    groups = factorize_columns(columns, num_valid, most_keys, True)
    count = int(groups.count)
    first_row_ids = groups.first_row_ids if count <= most_keys else None
    rows = reduce_numbered(
        columns, leaves, groups.group_ids, first_row_ids, groups.count, names, ddof,
        capacity_of(count),
    )  # fmt: skip
    return rows, groups.count


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


_ranges_of = tiered(ranges_of)


def _num_segments(columns: tuple[Array, ...], num_valid: Array) -> int | None:
    """The number of segments of a direct index, in steps; None if keys are not dense integers."""
    if not can_index(columns):
        return None
    most = MOST_SEGMENTS_PER_ROW * max(columns[0].shape[0], LEAST_SEGMENTS)
    ranges = known_ranges(columns, num_valid)
    size = math.prod(max(int(high) - int(low) + 1, 1) for low, high in ranges)
    return in_steps(size) if size <= most else None


def _have_few_keys(columns: tuple[Array, ...], leaves: list[Array], num_valid: Array) -> bool:
    """Whether the kernel adds such rows, and a sample has few distinct keys."""
    if columns[0].shape[0] < SAMPLE_ROWS or not has_sum_kernel(columns, leaves[0], num_valid):
        return False
    num_distinct, num_sampled = _distinct_of_sample(columns, num_valid)
    return bool(4 * num_distinct <= num_sampled)


@tiered
def _distinct_of_sample(columns: tuple[Array, ...], num_valid: Array) -> tuple[Array, Array]:
    """The number of distinct keys in evenly spaced rows, and the number of these rows."""
    step = max(columns[0].shape[0] // SAMPLE_ROWS, 1)
    num_sampled = (num_valid + np.int32(step - 1)) // np.int32(step)
    sample = tuple(column[::step] for column in columns)
    found = local.factorize(sample, capacity=0, sort=False, num_valid=num_sampled)
    return found.count, num_sampled


@functools.partial(tiered, static_argnums=1)
def _first(rows: Any, capacity: int) -> Any:
    return jax.tree.map(lambda leaf: leaf[:capacity], rows)
