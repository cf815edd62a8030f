# SPDX-License-Identifier: Apache-2.0
"""Segment ids of keys with a small known range: codes, bools and integers.

Each key is a digit of a mixed-radix number, and the number is the segment id, so one pass finds it.
"""

import functools
import math
import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives._sized import in_steps
from ..table._column import Array, Column
from ..table._layout import LEAST_CAPACITY, Layout
from ..table._table import Count, Table, is_row
from ..table._take import position
from ..table._tracing import at_once, is_traced


class Digit(NamedTuple):
    """The digit of a key: `size` values from the lowest; the last is missing if `can_miss`."""

    size: int
    kind: str  # "code", or "" for integers and bools
    can_miss: bool


# The digits of several keys, and the lowest value of each.
Digits: TypeAlias = tuple[tuple[Digit, ...], tuple[Any, ...]]


def as_digits(keys: Sequence[Column], table: Table, dropna: bool) -> Digits | None:
    """The digits of keys and their lowest values; None if the number of segments is too large."""
    max_segments = 2 * max(table.capacity, LEAST_CAPACITY)
    integers = [
        key.arrays for key in keys if key.is_numeric and np.issubdtype(key.dtype, np.integer)
    ]
    known_ranges = _known_ranges(integers, table)
    if known_ranges is None:
        return None
    ranges = iter(known_ranges)
    digits, lowest = [], []
    for key in keys:
        can_miss = not dropna and key.can_miss
        if key.type.has_codes:
            low, width = np.int32(0), max(len(key.dictionary), 1)
        elif key.is_bool:
            low, width = np.int32(0), 2
        elif key.is_numeric and not key.is_float:
            low, high = next(ranges)
            width = max(int(high) - int(low) + 1, 1)
        else:
            return None
        digits.append(
            Digit(in_steps(width + can_miss, 4), "code" if key.type.has_codes else "", can_miss)
        )
        lowest.append(low)
        if math.prod(digit.size for digit in digits) > max_segments:
            return None
    return tuple(digits), tuple(lowest)


# The ranges of integer arrays, cached for the lifetime of each array.
_RANGES: dict[tuple[int, int], tuple[Any, Any]] = {}


def _known_ranges(
    integers: Sequence[tuple[Array, Array | None]], table: Table
) -> list[tuple[Any, Any]] | None:
    """The least and greatest value of integer keys; None for traced keys."""
    if not integers:
        return []
    if is_traced(integers, table.num_rows):
        return None
    names = [(id(data), int(table.num_rows)) for data, valid in integers if valid is None]
    if len(names) == len(integers) and all(name in _RANGES for name in names):
        return [_RANGES[name] for name in names]
    lows_and_highs = at_once(_ranges, tuple(integers), table.num_rows, table.layout)
    ranges = list(zip(*jax.device_get(lows_and_highs), strict=True))
    if len(names) == len(integers):
        for name, (data, _), known in zip(names, integers, ranges, strict=True):
            if name not in _RANGES:
                weakref.finalize(data, _RANGES.pop, name, None)
            _RANGES[name] = known
    return ranges


@functools.partial(jax.jit, static_argnums=2)
def _ranges(keys: Any, num_rows: Count, layout: Layout) -> Any:
    lows, highs = [], []
    for data, valid in keys:
        if valid is None and layout.mesh is None:
            low, high = primitives.local.integer_range(data, num_valid=num_rows)
            lows.append(low)
            highs.append(high)
            continue
        present = is_row(data.shape[0], num_rows, layout)
        present = present if valid is None else present & valid
        info = jnp.iinfo(data.dtype)
        lows.append(jnp.min(jnp.where(present, data, data.dtype.type(info.max))))
        highs.append(jnp.max(jnp.where(present, data, data.dtype.type(info.min))))
    return lows, highs


@functools.partial(jax.jit, static_argnums=(3, 4, 5))
def dense_segment_ids(
    keys: Any, lowest: Any, num_rows: Count, plan: tuple[Digit, ...], sort: bool, layout: Layout
) -> Any:
    """Segment ids of rows, sizes and (unless `sort`) first rows of segments, and a group count."""
    is_member = is_row(keys[0][0].shape[0], num_rows, layout)
    segment_ids = layout.constrain(segment_ids_of_digits(keys, lowest, is_member, plan))
    num_segments = math.prod(digit.size for digit in plan)
    counts = primitives.segment_count(segment_ids, num_segments, **layout.on_mesh)
    count = jnp.sum(counts > 0, dtype=jnp.int32)
    first_rows = None if sort else first_rows_of_segments(segment_ids, num_segments, layout)
    return segment_ids, counts, first_rows, count


def segment_ids_of_digits(
    keys: Any, lowest: Any, is_member: Array, plan: tuple[Digit, ...]
) -> Array:
    """The segment ids of rows; -1 for rows that are not members or lack a key. Traced."""
    segment_ids = jnp.zeros(is_member.shape, jnp.int32)
    for (data, valid), low, digit in zip(keys, lowest, plan, strict=True):
        if np.dtype(data.dtype).itemsize < 4:
            # The difference of narrow integers may overflow their dtype.
            data = data.astype(jnp.int32)
        value = (data - low.astype(data.dtype)).astype(jnp.int32)
        missing = (data < 0) if digit.kind == "code" else None if valid is None else ~valid
        if missing is not None and digit.can_miss:
            value = jnp.where(missing, np.int32(digit.size - 1), value)
        elif missing is not None:
            is_member = is_member & ~missing
        segment_ids = segment_ids * np.int32(digit.size) + value
    return jnp.where(is_member, segment_ids, np.int32(-1))


def first_rows_of_segments(segment_ids: Array, num_segments: int, layout: Layout) -> Array:
    """The first row id of each segment; the greatest int32 for empty segments. Traced."""
    rows = position(segment_ids.shape[0], layout)
    last = np.iinfo(np.int32).max
    return primitives.segment_first(
        rows, segment_ids, num_segments, fill_value=last, **layout.on_mesh
    )


def with_all_categories(counts: Array, keys: Sequence[Column], plan: tuple[Digit, ...]) -> Array:
    """Flags of the segments of all combinations of categories and observed values."""
    grid = (counts > 0).reshape([digit.size for digit in plan])
    is_group = jnp.ones(grid.shape, jnp.bool_)
    for axis, (key, digit) in enumerate(zip(keys, plan, strict=True)):
        others = tuple(other for other in range(grid.ndim) if other != axis)
        is_value = jnp.any(grid, axis=others)
        if key.kind == "category":
            is_value = is_value | (jnp.arange(digit.size, dtype=jnp.int32) < len(key.dictionary))
        is_group = is_group & jnp.expand_dims(is_value, others)
    return is_group.reshape(-1)


@functools.partial(jax.jit, static_argnums=(3, 4, 5, 6))
def group_segments(
    is_group: Array,
    first_rows: Array | None,
    lowest: Any,
    plan: tuple[Digit, ...],
    dtypes: tuple[str, ...],
    capacity: int,
    layout: Layout,
) -> Any:
    """The segments that are groups, in the order of the groups, and the values of their keys."""
    if first_rows is None and layout.mesh is None:
        segments = primitives.local.compact(is_group, None, capacity=capacity).row_ids
        assert segments is not None
    elif first_rows is None:
        (segments,) = jnp.nonzero(is_group, size=capacity, fill_value=0)
        segments = segments.astype(jnp.int32)
    else:
        segments = in_order_of(first_rows, is_group, capacity)
    rest, arrays = segments, []
    for low, digit, dtype in zip(lowest[::-1], plan[::-1], dtypes[::-1], strict=True):
        value = rest % np.int32(digit.size)
        rest = rest // np.int32(digit.size)
        is_missing = value == digit.size - 1 if digit.can_miss else None
        data = value.astype(dtype) if dtype == "bool" else value.astype(dtype) + low.astype(dtype)
        valid = None
        if is_missing is not None and digit.kind == "code":
            data = jnp.where(is_missing, np.int32(-1), data)
        elif is_missing is not None:
            valid = layout.constrain(~is_missing)
        arrays.append((layout.constrain(data), valid))
    return segments, tuple(arrays[::-1])


def in_order_of(first_rows: Array, is_group: Array, capacity: int) -> Array:
    """Orders the segments that are groups by first row; the others come last."""
    last = np.int32(np.iinfo(np.int32).max)
    segments = primitives.radix_argsort((~is_group, jnp.where(is_group, first_rows, last)))
    segments = segments.astype(jnp.int32)
    if segments.shape[0] >= capacity:
        return segments[:capacity]
    return jnp.concatenate([segments, jnp.zeros(capacity - segments.shape[0], jnp.int32)])
