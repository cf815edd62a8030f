# SPDX-License-Identifier: Apache-2.0
"""Segment ids of keys with a small known range: codes, bools and integers.

Keys are the digits of the segment id, so one pass finds it.
"""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives._direct_index import DirectIndex, index_in_steps, known_ranges
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


def dense_groups(keys: Sequence[Column], table: Table, options: Options) -> Groups | None:
    """The groups of keys of a small range; None for other keys."""
    layout, num_rows = table.layout, keys[0].capacity
    most_segments = 2 * max(num_rows, LEAST_CAPACITY)
    if layout.sends_rows:
        most_segments = min(most_segments, layout.most_groups(num_rows))
    index = index_of_keys(keys, table, options.dropna, most_segments)
    if index is None:
        return None
    ids, counts, is_group, first_rows, count = _dense_segment_ids(
        tuple(map(bare, keys)), index, table.num_rows, options.sort, layout
    )
    num_segments = counts.shape[0]
    count, capacity = count_and_capacity(count, num_segments, options, layout)
    by_group = Segments(ids, None, num_segments, layout).by_group
    of_groups, columns = group_segments(
        is_group, first_rows, keys, index, capacity, layout, by_group
    )
    return Groups(ids, of_groups, columns, count, num_segments, capacity, layout)


def count_and_capacity(
    count: Array, num_segments: int, options: Options, layout: Layout
) -> tuple[Count, int]:
    """The number of groups, on the host if it is known, and the capacity of their results."""
    if is_traced(count):
        return count, layout.capacity_for(min(options.capacity or num_segments, num_segments))
    return as_count(int(count)), layout.capacity_for(int(count))


@answered_at_once
def packed_key(keys: Sequence[Column], table: Table, dropna: bool) -> Array | None:
    """The number whose digits are the keys, int64: one sort key in place of several.

    Numbers of rows with a missing key that `dropna` drops are arbitrary. Returns None for keys
    without a known range, for numbers past 63 bits, and without x64 mode.
    """
    if len(keys) < 2 or table.layout.sends_rows or not is_x64_enabled():
        return None
    index = index_of_keys(keys, table, dropna, MOST_NUMBERS)
    return None if index is None else _packed(tuple(map(bare, keys)), index)


@tiered
def _packed(keys: Sequence[Column], index: DirectIndex) -> Array:
    data = [key.data for key in keys]
    return index.numbers(data, _missing_of(keys, index), np.int64)


def _missing_of(keys: Sequence[Column], index: DirectIndex) -> list[Array | None]:
    """Flags of the missing keys that have a digit."""
    return [
        key.missing() if can_miss else None
        for key, can_miss in zip(keys, index.can_miss, strict=True)
    ]


def index_of_keys(
    keys: Sequence[Column], table: Table, dropna: bool, max_segments: int
) -> DirectIndex | None:
    """The index of keys of a small known range; None if the number of segments is too large."""
    integers = [key for key in keys if key.dtype.kind in "iu" and key.is_numeric]
    if integers and is_traced(integers, table.num_rows):
        return None
    if not all(_has_known_range(key) for key in keys):
        return None
    ranges = (_known_range_of(key, table) for key in keys)
    dtypes = [_key_dtype(key) for key in keys]
    can_miss = [not dropna and key.can_miss for key in keys]
    return index_in_steps(ranges, dtypes, max_segments, can_miss)


def _has_known_range(key: Column) -> bool:
    return key.type.has_codes or key.is_bool or (key.is_numeric and not key.is_float)


def _known_range_of(key: Column, table: Table) -> tuple[Any, Any]:
    """The least and the greatest value of a code, a bool or an integer, on the host."""
    if key.is_bool:
        return 0, 1
    if key.type.has_codes:
        return 0, len(key.type.dictionary or ()) - 1
    return at_once(_range_of, key, table.num_rows, table.layout)


def _key_dtype(key: Column) -> Any:
    """The dtype of a key's distances."""
    return key.dtype if key.is_numeric and not key.is_bool else np.int32


def _range_of(key: Column, num_rows: Count, layout: Layout) -> tuple[Any, Any]:
    """The least and the greatest value of an integer key, on the host."""
    if key.valid is None and not layout.sends_rows:
        return known_ranges((key.data,), num_rows)[0]
    keys, settings = (key.data, key.data), {"where": key.valid, **layout.on_mesh}
    ends = primitives.reduce(keys, ("min", "max"), num_valid=num_rows, **settings)
    return jax.device_get(ends.values)


@functools.partial(tiered, static_argnums=3)
def _segment_ids(
    keys: Sequence[Column], index: DirectIndex, num_rows: Count, layout: Layout
) -> Array:
    is_member = is_row(keys[0].data.shape[0], num_rows, layout)
    for key, can_miss in zip(keys, index.can_miss, strict=True):
        if key.can_miss and not can_miss:
            is_member = is_member & ~key.missing()
    data = [key.data for key in keys]
    segment_ids = index.numbers(data, _missing_of(keys, index), np.int32)
    return layout.constrain(jnp.where(is_member, segment_ids, np.int32(-1)))


@functools.partial(tiered, static_argnums=(3, 4))
def _dense_segment_ids(
    keys: Sequence[Column], index: DirectIndex, num_rows: Count, sort: bool, layout: Layout
) -> Any:
    """Segment ids of rows, sizes and (unless `sort`) first rows of segments, and a group count.

    Keys are bare columns.
    """
    segment_ids = _segment_ids(keys, index, num_rows, layout)
    num_segments = index.num_segments
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


def group_segments(
    is_group: Array,
    first_rows: Array | None,
    keys: Sequence[Column],
    index: DirectIndex,
    capacity: int,
    layout: Layout,
    by_group: Layout,
) -> tuple[Array, tuple[Column, ...]]:
    """The segments that are groups, in the order of the groups, and their keys.

    `by_group` is the layout of the first rows.
    """
    dtypes = tuple(key.dtype.name for key in keys)
    have_codes = tuple(key.type.has_codes for key in keys)
    segments, arrays = _group_segments(
        is_group, first_rows, index, dtypes, have_codes, capacity, layout, by_group
    )
    return segments, tuple(map(Column.with_arrays, keys, arrays))


@functools.partial(tiered, static_argnums=(3, 4, 5, 6, 7))
def _group_segments(
    is_group: Array,
    first_rows: Array | None,
    index: DirectIndex,
    dtypes: tuple[str, ...],
    have_codes: tuple[bool, ...],
    capacity: int,
    layout: Layout,
    by_group: Layout,
) -> Any:
    if first_rows is not None:
        segments = in_order_of((first_rows,), is_group, capacity, by_group)
    elif not layout.sends_rows:
        segments = primitives.local.compact(is_group, None, capacity=capacity).row_ids
        assert segments is not None
    else:
        (segments,) = jnp.nonzero(is_group, size=capacity, fill_value=0)
        segments = segments.astype(jnp.int32)
    arrays = []
    keys = index.keys_of(segments, dtypes)
    for (data, is_missing), has_codes in zip(keys, have_codes, strict=True):
        valid = None if is_missing is None else ~is_missing
        if is_missing is not None and has_codes:
            data, valid = jnp.where(is_missing, data.dtype.type(-1), data), None
        arrays.append((layout.constrain(data), None if valid is None else layout.constrain(valid)))
    return segments, tuple(arrays)


def in_order_of(keys: Sequence[Array], is_group: Array, capacity: int, layout: Layout) -> Array:
    """Orders the segments that are groups by keys, such as first rows; the others come last.

    `layout` is that of the keys.
    """
    keys = ~is_group, *(jnp.where(is_group, key, key.dtype.type(0)) for key in keys)
    segments = primitives.radix_argsort(keys, **layout.on_mesh)
    segments = segments.astype(jnp.int32)[:capacity]
    return jnp.pad(segments, (0, capacity - segments.shape[0]))
