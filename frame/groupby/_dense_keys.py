# SPDX-License-Identifier: Apache-2.0
"""Segment ids of keys with a small known range: codes, bools and integers.

Each key is a digit of a mixed-radix number, and the number is the segment id, so one pass finds it.
"""

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives._eager_reduction import known_ranges
from ...primitives._sized import in_steps
from ...primitives.staging import tiered
from ...shardings._compat import is_x64_enabled
from ..table._column import Array, Column, bare
from ..table._layout import LEAST_CAPACITY, Layout
from ..table._table import Count, Table, as_count, is_row
from ..table._take import position
from ..table._tracing import answered_at_once, at_once, is_traced
from ._grouped_column import Groups, Options, Segments

# Numbers of packed keys are int64, and the greatest marks rows without a group.
MOST_NUMBERS = 2**63 - 1


class Digit(NamedTuple):
    """The digit of a key: `size` values from the lowest; the last is missing if `can_miss`."""

    size: int
    dtype: str
    is_code: bool
    can_miss: bool


# The digits of keys, and the lowest values of the keys.
Digits = tuple[tuple[Digit, ...], tuple[Any, ...]]


def dense_groups(
    keys: Sequence[Column], table: Table, options: Options, all_categories: bool
) -> Groups | None:
    """The groups of keys of a small range; None for other keys."""
    layout, most_segments = table.layout, 2 * max(table.capacity, LEAST_CAPACITY)
    if layout.mesh is not None:
        most_segments = min(most_segments, layout.most_groups(table.capacity))
    digits = as_digits(keys, table, options.dropna, most_segments)
    if digits is None:
        return None
    plan, lowest = digits
    ids, counts, is_group, first_rows, count = _dense_segment_ids(
        tuple(map(bare, keys)), lowest, table.num_rows, plan, options.sort, layout
    )
    num_segments = counts.shape[0]
    if all_categories:
        is_group = _with_all_categories(counts, keys, plan)
        count = jnp.sum(is_group, dtype=jnp.int32)
    if is_traced(count):
        capacity = min(options.capacity or num_segments, num_segments)
    else:
        count = as_count(int(count))
        capacity = int(count)
    capacity = layout.capacity_for(capacity)
    by_group = Segments(ids, None, num_segments, layout).by_group
    of_groups, arrays = group_segments(
        is_group, first_rows, lowest, plan, capacity, layout, by_group
    )
    columns = tuple(map(Column.with_arrays, keys, arrays))
    return Groups(ids, of_groups, columns, count, num_segments, capacity, layout, all_categories)


@answered_at_once
def packed_key(keys: Sequence[Column], table: Table, dropna: bool) -> Array | None:
    """The number that the keys are the digits of, int64: one sort key in place of several.

    Numbers of rows with a missing key that `dropna` drops are arbitrary. Returns None for keys
    without a known range, for numbers past 63 bits, and without x64 mode.
    """
    if len(keys) < 2 or table.layout.mesh is not None or not is_x64_enabled():
        return None
    digits = as_digits(keys, table, dropna, MOST_NUMBERS)
    return None if digits is None else _packed(tuple(map(bare, keys)), digits[1], digits[0])


@functools.partial(tiered, static_argnums=2)
def _packed(keys: Sequence[Column], lowest: Any, plan: tuple[Digit, ...]) -> Array:
    number = jnp.zeros(keys[0].data.shape, jnp.int64)
    for key, low, digit in zip(keys, lowest, plan, strict=True):
        number = number * np.int64(digit.size) + _values_of(key, low, digit).astype(jnp.int64)
    return number


def _values_of(key: Column, low: Any, digit: Digit) -> Array:
    """The digit of each row, int32 if it fits; arbitrary if a missing key has no digit."""
    # The difference of two keys may overflow their dtype.
    if digit.size > np.iinfo(np.int32).max:
        value = key.data.astype(jnp.int64) - low.astype(jnp.int64)
    else:
        data = key.data.astype(jnp.int32) if key.dtype.itemsize < 4 else key.data
        value = (data - low.astype(data.dtype)).astype(jnp.int32)
    if not digit.can_miss:
        return value
    return jnp.where(key.missing(), value.dtype.type(digit.size - 1), value)


def as_digits(
    keys: Sequence[Column], table: Table, dropna: bool, max_segments: int
) -> Digits | None:
    """The digits of keys and their lowest values; None if the number of segments is too large."""
    integers = [key for key in keys if key.dtype.kind in "iu" and key.is_numeric]
    if integers and is_traced(integers, table.num_rows):
        return None
    digits, lowest, num_segments = [], [], 1
    for key in keys:
        can_miss = not dropna and key.can_miss
        if key.type.has_codes or key.is_bool:
            low, width = np.int32(0), 2 if key.is_bool else max(len(key.dictionary), 1)
        elif key.is_numeric and not key.is_float:
            low, high = at_once(_range_of, key, table.num_rows, table.layout)
            width = max(int(high) - int(low) + 1, 1)
        else:
            return None
        size = in_steps(width + can_miss, 4)
        digits.append(Digit(size, key.dtype.name, not key.is_numeric, can_miss))
        lowest.append(low)
        num_segments *= size
        if num_segments > max_segments:
            return None
    return tuple(digits), tuple(lowest)


def _range_of(key: Column, num_rows: Count, layout: Layout) -> tuple[Any, Any]:
    """The least and the greatest value of an integer key, on the host."""
    if key.valid is None and layout.mesh is None:
        return known_ranges((key.data,), num_rows)[0]
    keys, settings = (key.data, key.data), {"where": key.valid, **layout.on_mesh}
    ends = primitives.reduce(keys, ("min", "max"), num_valid=num_rows, **settings)
    return jax.device_get(ends.values)


def segment_ids_of(keys: Sequence[Column], table: Table, digits: Digits) -> Array:
    """The segment id of each row, -1 for rows without a key."""
    plan, lowest = digits
    return _segment_ids(tuple(map(bare, keys)), lowest, table.num_rows, plan, table.layout)


@functools.partial(tiered, static_argnums=(3, 4))
def _segment_ids(
    keys: Sequence[Column], lowest: Any, num_rows: Count, plan: tuple[Digit, ...], layout: Layout
) -> Array:
    is_member = is_row(keys[0].data.shape[0], num_rows, layout)
    segment_ids = jnp.zeros(is_member.shape, jnp.int32)
    for key, low, digit in zip(keys, lowest, plan, strict=True):
        if key.can_miss and not digit.can_miss:
            is_member = is_member & ~key.missing()
        segment_ids = segment_ids * np.int32(digit.size) + _values_of(key, low, digit)
    return layout.constrain(jnp.where(is_member, segment_ids, np.int32(-1)))


@functools.partial(tiered, static_argnums=(3, 4, 5))
def _dense_segment_ids(
    keys: Sequence[Column],
    lowest: Any,
    num_rows: Count,
    plan: tuple[Digit, ...],
    sort: bool,
    layout: Layout,
) -> Any:
    """Segment ids of rows, sizes and (unless `sort`) first rows of segments, and a group count.

    Keys are bare columns.
    """
    segment_ids = _segment_ids(keys, lowest, num_rows, plan, layout)
    num_segments = math.prod(digit.size for digit in plan)
    counts = primitives.segment_count(segment_ids, num_segments, **layout.on_mesh)
    is_group = counts > 0
    count = jnp.sum(is_group, dtype=jnp.int32)
    first_rows = None if sort else first_rows_of_segments(segment_ids, num_segments, layout)
    return segment_ids, counts, is_group, first_rows, count


def first_rows_of_segments(segment_ids: Array, num_segments: int, layout: Layout) -> Array:
    """The first row id of each segment; the greatest int32 for empty segments. Traced."""
    rows = position(segment_ids.shape[0], layout)
    segments = Segments(segment_ids, None, num_segments, layout)
    return segments.reduce("first", rows, fill_value=np.iinfo(np.int32).max)


def _with_all_categories(counts: Array, keys: Sequence[Column], plan: tuple[Digit, ...]) -> Array:
    """Flags of the segments of all combinations of categories; and of missing ones, if any."""
    grid = (counts > 0).reshape([digit.size for digit in plan])
    is_group = jnp.ones(grid.shape, jnp.bool_)
    for axis, (key, digit) in enumerate(zip(keys, plan, strict=True)):
        others = tuple(other for other in range(grid.ndim) if other != axis)
        is_value = jnp.any(grid, axis=others)
        if key.kind == "category":
            is_value = is_value | (jnp.arange(digit.size, dtype=jnp.int32) < len(key.dictionary))
        is_group = is_group & jnp.expand_dims(is_value, others)
    return is_group.reshape(-1)


@functools.partial(tiered, static_argnums=(3, 4, 5, 6))
def group_segments(
    is_group: Array,
    first_rows: Array | None,
    lowest: Any,
    plan: tuple[Digit, ...],
    capacity: int,
    layout: Layout,
    by_group: Layout,
) -> Any:
    """The segments that are groups, in the order of the groups, and the values of their keys.

    `by_group` is the layout of the first rows.
    """
    if first_rows is not None:
        segments = in_order_of((first_rows,), is_group, capacity, by_group)
    elif layout.mesh is None:
        segments = primitives.local.compact(is_group, None, capacity=capacity).row_ids
        assert segments is not None
    else:
        (segments,) = jnp.nonzero(is_group, size=capacity, fill_value=0)
        segments = segments.astype(jnp.int32)
    rest, arrays = segments, []
    for low, digit in zip(lowest[::-1], plan[::-1], strict=True):
        value, rest = rest % np.int32(digit.size), rest // np.int32(digit.size)
        data = value.astype(digit.dtype)
        if digit.dtype != "bool":
            data = data + low.astype(digit.dtype)
        valid = None
        if digit.can_miss and digit.is_code:
            data = jnp.where(value == digit.size - 1, np.int32(-1), data)
        elif digit.can_miss:
            valid = layout.constrain(value != digit.size - 1)
        arrays.append((layout.constrain(data), valid))
    return segments, tuple(arrays[::-1])


def in_order_of(keys: Sequence[Array], is_group: Array, capacity: int, layout: Layout) -> Array:
    """Orders the segments that are groups by keys, such as first rows; the others come last.

    `layout` is that of the keys.
    """
    keys = ~is_group, *(jnp.where(is_group, key, key.dtype.type(0)) for key in keys)
    segments = primitives.radix_argsort(keys, **layout.on_mesh)
    segments = segments.astype(jnp.int32)[:capacity]
    return jnp.pad(segments, (0, capacity - segments.shape[0]))
