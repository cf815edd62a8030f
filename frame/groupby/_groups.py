# SPDX-License-Identifier: Apache-2.0
"""The groups of a table's rows.

Each row gets a segment id, an int32: rows with equal keys share one, and rows without a group have
-1. Keys of a small known range (codes, bools, integers) are the digits of the segment id, which
takes one pass. Other keys get dense ids from `primitives.factorize`. The groups are the segments
with rows, in the order of the result.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ..table._column import Array, Column, distinct_keys
from ..table._layout import LEAST_CAPACITY, Layout
from ..table._table import NO_ROWS, Count, Table, as_count, is_row
from ..table._take import position, take_columns
from ..table._tracing import is_traced
from ._dense_keys import (
    Digits,
    as_digits,
    dense_segment_ids,
    first_rows_of_segments,
    group_segments,
    in_order_of,
    with_all_categories,
)

# An eager call reserves one first row per so many rows, and searches again if there are more
# groups, which takes 80 ms for 10M rows. Filling a capacity of all rows takes longer than that.
ROWS_OF_A_GROUP = 8


class Groups:
    """The groups of a table's rows.

    Attributes:
        segments: the segment id of each group; None if segment ids number the groups.
        keys: the values of each key, by group.
        count: the number of groups.
        num_segments: the number of segment ids.
        capacity: the capacity of results with a row per group.
        may_be_empty: whether a group may have no rows.
        layout: the layout of the rows.
    """

    def __init__(
        self,
        segment_ids: Array | Callable[[], Array],
        segments: Array | None,
        keys: tuple[Column, ...],
        count: Count,
        num_segments: int,
        capacity: int,
        may_be_empty: bool,
        layout: Layout,
    ):
        self._segment_ids = segment_ids
        self.segments: Array | None = segments
        self.keys: tuple[Column, ...] = keys
        self.count: Count = count
        self.num_segments: int = num_segments
        self.capacity: int = capacity
        self.may_be_empty: bool = may_be_empty
        self.layout: Layout = layout

    @property
    def segment_ids(self) -> Array:
        """The segment id of each row, -1 for rows without a group; computed on demand."""
        if not callable(self._segment_ids):
            return self._segment_ids
        segment_ids = self._segment_ids()
        if not is_traced(segment_ids):
            self._segment_ids = segment_ids
        return segment_ids

    @property
    def group_ids(self) -> Array:
        """The number of each row's group, in the order of the groups; -1 for rows without one."""
        if self.segments is None:
            return self.segment_ids
        return _group_ids(self.segment_ids, self.segments, self.count, self.num_segments)

    @property
    def is_traced(self) -> bool:
        """Whether the groups were computed inside `jit`."""
        return is_traced(self.count, self.segments, self.keys)

    @property
    def needed(self) -> Count:
        """The capacity that a traced result needs if it does not fit; otherwise zero."""
        if not is_traced(self.count):
            return NO_ROWS
        return jnp.where(self.count > self.capacity, self.count, np.int32(0))


def make_groups(
    keys: Sequence[Column],
    table: Table,
    *,
    sort: bool = True,
    dropna: bool = True,
    observed: bool = True,
    capacity: int | None = None,
) -> Groups:
    """Groups the rows of a table by columns of keys.

    Args:
        keys: the key columns, most significant first.
        table: the table of the rows.
        sort: order groups by key; otherwise by first row.
        dropna: leave out rows with a missing key.
        observed: only groups with rows; otherwise also unused categories.
        capacity: the group capacity of a traced result; by default that of the rows.
    """
    for key in keys:
        if key.kind == "object":
            raise TypeError("groupby: keys must be hashable, got a column of objects.")
    all_categories = not observed and any(key.kind == "category" for key in keys)
    digits = as_digits(keys, table, dropna)
    if digits is None and all_categories:
        raise NotImplementedError(
            "groupby: observed=False needs keys that are categories, strings, bools or integers "
            "of a small range. Use observed=True."
        )
    if digits is not None:
        return _dense(keys, digits, table, sort, all_categories, capacity)
    return _factorized(keys, table, sort, dropna, capacity)


def _dense(
    keys: Sequence[Column],
    digits: Digits,
    table: Table,
    sort: bool,
    all_categories: bool,
    capacity: int | None,
) -> Groups:
    plan, lowest = digits
    segment_ids, counts, first_rows, count = dense_segment_ids(
        tuple(key.arrays for key in keys), lowest, table.num_rows, plan, sort, table.layout
    )
    is_group = counts > 0
    if all_categories:
        is_group = with_all_categories(counts, keys, plan)
        count = jnp.sum(is_group, dtype=jnp.int32)
    num_segments, layout = counts.shape[0], table.layout
    if is_traced(count):
        limit = num_segments if capacity is None else min(capacity, num_segments)
        capacity = layout.capacity_for(limit)
    else:
        count = as_count(int(count))
        capacity = layout.capacity_for(int(count))
    dtypes = tuple(key.dtype.name for key in keys)
    segments, arrays = group_segments(is_group, first_rows, lowest, plan, dtypes, capacity, layout)
    columns = tuple(map(Column.with_arrays, keys, arrays))
    return Groups(
        segment_ids, segments, columns, count, num_segments, capacity, all_categories, layout
    )


def groups_of_keys(
    keys: Sequence[Column], table: Table, unique: Sequence[Column], count: int, dropna: bool
) -> Groups:
    """Groups from their unique keys, in key order; the group of each row is computed on demand."""
    layout, capacity = table.layout, unique[0].data.shape[0]

    def group_ids() -> Array:
        return make_groups(keys, table, dropna=dropna).group_ids

    columns = _with_first_zeros(unique, keys, table)
    return Groups(group_ids, None, columns, as_count(count), capacity, capacity, False, layout)


@functools.partial(jax.jit, static_argnums=3)
def _group_ids(segment_ids: Array, segments: Array, count: Count, num_segments: int) -> Array:
    """The number of each row's group, -1 for rows without a group."""
    group_ids = jnp.arange(segments.shape[0], dtype=jnp.int32)
    target = jnp.where(group_ids < count, segments, num_segments)
    group_of = jnp.full(num_segments, -1, jnp.int32).at[target].set(group_ids, mode="drop")
    return group_of.at[segment_ids].get(mode="fill", fill_value=-1, wrap_negative_indices=False)


def _factorized(
    keys: Sequence[Column], table: Table, sort: bool, dropna: bool, capacity: int | None
) -> Groups:
    layout = table.layout
    missing = [key.missing() for key in keys if dropna and key.can_miss]
    any_missing = functools.reduce(jnp.logical_or, missing) if missing else None
    words = tuple(word for key in keys for word in distinct_keys(key))
    capacity = layout.capacity_for(table.capacity if capacity is None else capacity)
    if layout.mesh is not None:
        # Over a mesh, factorize would send keys and first rows to every device.
        row_capacity = LEAST_CAPACITY
    elif is_traced(table, keys):
        row_capacity = capacity
    else:
        row_capacity = layout.capacity_for(table.capacity // ROWS_OF_A_GROUP)
    segment_ids, count, known_rows = _dense_numbers(
        words, any_missing, table.num_rows, len(keys) > 1, row_capacity, layout
    )
    if not is_traced(count):
        count = as_count(int(count))
        capacity = layout.capacity_for(int(count))
    known_rows = known_rows if capacity <= row_capacity else None
    first_rows, segments = _first_rows(segment_ids, known_rows, count, capacity, sort, layout)
    columns = _with_first_zeros(take_columns(keys, first_rows, layout), keys, table)
    return Groups(segment_ids, segments, columns, count, capacity, capacity, False, layout)


def _with_first_zeros(
    unique: Sequence[Column], keys: Sequence[Column], table: Table
) -> tuple[Column, ...]:
    """The unique keys with pandas' zeros.

    pandas factorizes several keys one by one, so a zero has the sign of its column's first zero.
    """
    if len(keys) == 1:
        return tuple(unique)
    return tuple(
        Column(_with_first_zero(column.data, key.data, table.num_rows, table.layout))
        if key.is_float and key.dtype.kind == "f"
        else column
        for key, column in zip(keys, unique, strict=True)
    )


@functools.partial(jax.jit, static_argnums=3)
def _with_first_zero(unique: Array, data: Array, num_rows: Count, layout: Layout) -> Array:
    row_ids = position(data.shape[0], layout)
    is_zero = (data == 0) & is_row(data.shape[0], num_rows, layout)
    none = np.int32(np.iinfo(np.int32).max)
    first = jnp.min(jnp.where(is_zero, row_ids, none))
    first_negative = jnp.min(jnp.where(is_zero & jnp.signbit(data), row_ids, none))
    is_negative = (first == first_negative) & (first < none)
    zero = jnp.where(is_negative, unique.dtype.type(-0.0), unique.dtype.type(0.0))
    return jnp.where(unique == 0, zero, unique)


@functools.partial(jax.jit, static_argnums=(3, 4, 5))
def _dense_numbers(
    words: Any,
    any_missing: Array | None,
    num_rows: Count,
    is_flagged: bool,
    row_capacity: int,
    layout: Layout,
) -> tuple[Array, Array, Array | None]:
    """The segment id of each row, the number of groups, and the first rows of some of them."""
    if any_missing is not None and is_flagged:
        # Groups with a missing key come last, so that the others are numbered from zero.
        words = (any_missing, *words)
    factors = primitives.factorize(
        words,
        capacity=row_capacity,
        return_first=layout.mesh is None,
        num_valid=num_rows,
        **layout.on_mesh,
    )
    segment_ids = layout.constrain(factors.group_ids.astype(jnp.int32))
    count = factors.count.astype(jnp.int32)
    if any_missing is not None:
        segment_ids = jnp.where(any_missing, np.int32(-1), segment_ids)
        count = jnp.max(segment_ids, initial=np.int32(-1)) + np.int32(1)
    return segment_ids, count, factors.row_ids


@functools.partial(jax.jit, static_argnums=(3, 4, 5))
def _first_rows(
    segment_ids: Array,
    known_rows: Array | None,
    count: Count,
    capacity: int,
    sort: bool,
    layout: Layout,
) -> Any:
    none = np.int32(np.iinfo(np.int32).max)
    count = jnp.minimum(jnp.asarray(count, jnp.int32), np.int32(capacity))
    if known_rows is None:
        first_rows = first_rows_of_segments(segment_ids, capacity, layout)
    else:
        is_group = jax.lax.iota(jnp.int32, capacity) < count
        first_rows = jnp.where(is_group, known_rows[:capacity], none)
    segments = None
    if not sort:
        segments = in_order_of(first_rows, first_rows < none, capacity)
        first_rows = first_rows[segments]
    return layout.constrain(first_rows), segments
