# SPDX-License-Identifier: Apache-2.0
"""The groups of a table's rows.

Each row gets a segment id, an int32: rows with equal keys share one, and rows without a group have
-1. Keys of a small known range (codes, bools, integers) are the digits of the segment id, which
takes one pass. Other keys get dense ids from `primitives.factorize`. The groups are the segments
with rows, in the order of the result.
"""

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ..table._column import Array, Column, distinct_keys
from ..table._layout import LEAST_CAPACITY, ONE_DEVICE, Layout
from ..table._table import NO_ROWS, Count, Table, as_count, is_row
from ..table._take import gather, position, take_columns
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
from ._grouped_column import Segments, bare

# An eager call reserves one first row per so many rows, and searches again if there are more
# groups, which takes 80 ms for 10M rows. Filling a capacity of all rows takes longer than that.
ROWS_OF_A_GROUP = 8
_NO_ROW = np.int32(np.iinfo(np.int32).max)


class Options(NamedTuple):
    """The options of `groupby`; see `JaxFrame.groupby`."""

    sort: bool = True
    dropna: bool = True
    as_index: bool = True
    observed: bool = True
    capacity: int | None = None


@dataclasses.dataclass(eq=False)
class Groups:
    """The groups of a table's rows.

    Attributes:
        given_ids: the segment id of each row, or a function that computes them on demand.
        of_groups: the segment id of each group; None if segment ids number the groups.
        keys: the values of each key, by group.
        count: the number of groups.
        num_segments: the number of segment ids.
        capacity: the capacity of results with a row per group.
        layout: the layout of the rows.
        may_be_empty: whether a group may have no rows.
    """

    given_ids: Array | Callable[[], Array]
    of_groups: Array | None
    keys: tuple[Column, ...]
    count: Count
    num_segments: int
    capacity: int
    layout: Layout
    may_be_empty: bool = False

    @property
    def segments(self) -> Segments:
        """The segments, with the ids computed on demand."""
        ids = self.given_ids() if callable(self.given_ids) else self.given_ids
        if not is_traced(ids):
            self.given_ids = ids
        return Segments(ids, self.of_groups, self.num_segments, self.layout)

    @property
    def group_ids(self) -> Array:
        """The number of each row's group, in the order of the groups; -1 for rows without one."""
        segments = self.segments
        return segments.ids if self.of_groups is None else _group_ids(segments, self.count)

    @property
    def is_traced(self) -> bool:
        """Whether the groups were computed inside `jit`."""
        return is_traced(self.count, self.of_groups, self.keys)

    @property
    def needed(self) -> Count:
        """The capacity that a traced result needs if it does not fit; otherwise zero."""
        if not is_traced(self.count):
            return NO_ROWS
        return jnp.where(self.count > self.capacity, self.count, np.int32(0))


def make_groups(keys: Sequence[Column], table: Table, options: Options) -> Groups:
    """Groups the rows of a table by columns of keys, the most significant first."""
    if any(key.kind == "object" for key in keys):
        raise TypeError("groupby: keys must be hashable, got a column of objects.")
    all_categories = not options.observed and any(key.kind == "category" for key in keys)
    digits = as_digits(keys, table, options.dropna)
    if digits is not None:
        return _dense(keys, digits, table, options, all_categories)
    if all_categories:
        raise NotImplementedError(
            "groupby: observed=False needs keys that are categories, strings, bools or integers "
            "of a small range. Use observed=True."
        )
    return _factorized(keys, table, options)


def _dense(
    keys: Sequence[Column], digits: Digits, table: Table, options: Options, all_categories: bool
) -> Groups:
    (plan, lowest), layout = digits, table.layout
    ids, counts, first_rows, count = dense_segment_ids(
        tuple(map(bare, keys)), lowest, table.num_rows, plan, options.sort, layout
    )
    is_group, num_segments = counts > 0, counts.shape[0]
    if all_categories:
        is_group = with_all_categories(counts, keys, plan)
        count = jnp.sum(is_group, dtype=jnp.int32)
    if is_traced(count):
        capacity = min(options.capacity or num_segments, num_segments)
    else:
        count = as_count(int(count))
        capacity = int(count)
    capacity = layout.capacity_for(capacity)
    of_groups, arrays = group_segments(is_group, first_rows, lowest, plan, capacity, layout)
    columns = tuple(map(Column.with_arrays, keys, arrays))
    return Groups(ids, of_groups, columns, count, num_segments, capacity, layout, all_categories)


def groups_of_keys(
    keys: Sequence[Column], table: Table, unique: Sequence[Column], count: int, dropna: bool
) -> Groups:
    """Groups from their unique keys, in key order; the group of each row is computed on demand."""
    capacity = unique[0].data.shape[0]

    def group_ids() -> Array:
        return make_groups(keys, table, Options(dropna=dropna)).group_ids

    columns = _with_first_zeros(unique, keys, table)
    return Groups(group_ids, None, columns, as_count(count), capacity, capacity, table.layout)


@jax.jit
def _group_ids(segments: Segments, count: Count) -> Array:
    assert segments.of_groups is not None
    # Counted from one, because rows without a segment gather a zero.
    numbers = jnp.arange(1, segments.of_groups.shape[0] + 1, dtype=jnp.int32)
    target = jnp.where(numbers <= count, segments.of_groups, segments.num_segments)
    number_of = jnp.zeros(segments.num_segments, jnp.int32).at[target].set(numbers, mode="drop")
    return gather(number_of, segments.ids, ONE_DEVICE) - np.int32(1)


def _factorized(keys: Sequence[Column], table: Table, options: Options) -> Groups:
    layout = table.layout
    missing = [key.missing() for key in keys if options.dropna and key.can_miss]
    any_missing = functools.reduce(jnp.logical_or, missing) if missing else None
    words = tuple(word for key in keys for word in distinct_keys(key))
    if any_missing is not None and len(keys) > 1:
        # Groups with a missing key come last, so that the others are numbered from zero.
        words = (any_missing, *words)
    capacity = layout.capacity_for(options.capacity or table.capacity)
    if layout.mesh is not None:
        # Over a mesh, factorize would send keys and first rows to every device.
        row_capacity = LEAST_CAPACITY
    elif is_traced(table, keys):
        row_capacity = capacity
    else:
        row_capacity = layout.capacity_for(table.capacity // ROWS_OF_A_GROUP)
    ids, count, known_rows = _dense_numbers(
        words, any_missing, table.num_rows, row_capacity, layout
    )
    if not is_traced(count):
        count = as_count(int(count))
        capacity = layout.capacity_for(int(count))
    known_rows = known_rows if capacity <= row_capacity else None
    first_rows, of_groups = _first_rows(ids, known_rows, count, capacity, options.sort, layout)
    columns = _with_first_zeros(take_columns(keys, first_rows, layout), keys, table)
    return Groups(ids, of_groups, columns, count, capacity, capacity, layout)


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
    first = jnp.min(jnp.where(is_zero, row_ids, _NO_ROW))
    first_negative = jnp.min(jnp.where(is_zero & jnp.signbit(data), row_ids, _NO_ROW))
    is_negative = (first == first_negative) & (first < _NO_ROW)
    zero = jnp.where(is_negative, unique.dtype.type(-0.0), unique.dtype.type(0.0))
    return jnp.where(unique == 0, zero, unique)


@functools.partial(jax.jit, static_argnums=(3, 4))
def _dense_numbers(
    words: Any, any_missing: Array | None, num_rows: Count, row_capacity: int, layout: Layout
) -> tuple[Array, Array, Array | None]:
    """The segment id of each row, the number of groups, and the first rows of some of them."""
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
    if known_rows is None:
        first_rows = first_rows_of_segments(segment_ids, capacity, layout)
    else:
        is_group = jax.lax.iota(jnp.int32, capacity) < count
        first_rows = jnp.where(is_group, known_rows[:capacity], _NO_ROW)
    of_groups = None
    if not sort:
        of_groups = in_order_of(first_rows, first_rows < _NO_ROW, capacity)
        first_rows = first_rows[of_groups]
    return layout.constrain(first_rows), of_groups
