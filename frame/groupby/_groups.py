# SPDX-License-Identifier: Apache-2.0
"""The groups of a table's rows.

Each row gets a segment id, an int32: rows with equal keys share one, and rows without a group have
-1. Keys of a small known range (codes, bools, integers) are the digits of the segment id, which
takes one pass. Other keys get dense ids from `primitives.factorize`. The groups are the segments
with rows, in the order of the result.
"""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives.staging import tiered
from ..table._column import Array, Column
from ..table._layout import LEAST_CAPACITY, Layout
from ..table._objects import check_order, hashed
from ..table._sort_keys import distinct_keys
from ..table._table import Count, Table, as_count, is_row
from ..table._take import any_flagged, gather, position, take_columns
from ..table._tracing import is_traced
from ._category_grid import groups_of_all_categories
from ._dense_keys import dense_groups, first_rows_of_segments, in_order_of, packed_key
from ._grouped_column import Groups, Options, Segments

# An eager call reserves one first row per so many rows, and searches again if there are more
# groups, which takes 80 ms for 10M rows. Filling a capacity of all rows takes longer than that.
ROWS_OF_A_GROUP = 8
_NO_ROW = np.int32(np.iinfo(np.int32).max)


def make_groups(keys: Sequence[Column], table: Table, options: Options) -> Groups:
    """Groups the rows of a table by columns of keys, the most significant first."""
    if any(key.kind in ("object", "list") for key in keys):
        keys = [hashed(key, table.num_rows) for key in keys]
        for key in keys if options.sort else ():
            check_order(key, "groups")
    if options.observed or all(key.kind != "category" for key in keys):
        groups = dense_groups(keys, table, options)
        return _factorized(keys, table, options) if groups is None else groups
    others = [key for key in keys if key.kind != "category"]
    of_others = Options(options.sort, options.dropna)
    observed = make_groups(others, table, of_others) if others else None
    return groups_of_all_categories(keys, table, options, observed)


@tiered
def any_of(flags: Sequence[Array]) -> Array:
    """Flags the rows that one of several arrays flags."""
    return functools.reduce(jnp.logical_or, flags)


def groups_of_keys(
    keys: Sequence[Column], table: Table, unique: Sequence[Column], count: Count, options: Options
) -> Groups:
    """Groups from their unique keys, in order; the group of each row is computed on demand."""
    capacity = unique[0].data.shape[0]

    def group_ids() -> Array:
        order = Options(sort=options.sort, dropna=options.dropna)
        return make_groups(keys, table, order).group_ids

    columns = _with_first_zeros(unique, keys, table)
    return Groups(group_ids, None, columns, count, capacity, capacity, table.layout)


def _factorized(keys: Sequence[Column], table: Table, options: Options) -> Groups:
    layout = table.layout
    missing = [key.missing() for key in keys if options.dropna and key.can_miss]
    any_missing = any_of(missing) if missing else None
    is_eager = not is_traced(table, keys)
    if any_missing is not None and not layout.sends_rows and not is_traced(table, any_missing):
        any_missing = any_missing if any_flagged(any_missing, table.num_rows) else None
    packed = packed_key(keys, table, options.dropna) if is_eager else None
    if packed is None:
        words = tuple(word for key in keys for word in distinct_keys(key))
    else:
        words = (packed,)
    if any_missing is not None and len(keys) > 1:
        # Groups with a missing key come last, so that the others are numbered from zero.
        words = (any_missing, *words) if packed is None else (_last_if(any_missing, packed),)
    capacity = layout.capacity_for(options.capacity or table.capacity)
    if layout.sends_rows:
        # Over a mesh, factorize would send keys and first rows to every device.
        row_capacity = LEAST_CAPACITY
    elif is_eager:
        row_capacity = layout.capacity_for(table.capacity // ROWS_OF_A_GROUP)
    else:
        row_capacity = capacity
    # Numbered by their first rows, groups need no sort for their order.
    by_first_row = (
        is_eager
        and not options.sort
        and any_missing is None
        and not layout.sends_rows
        and len(words) == 1
    )
    ids, count, known_rows = _dense_numbers(
        words, any_missing, table.num_rows, row_capacity, layout, not by_first_row
    )
    if not is_traced(count):
        count = as_count(int(count))
        capacity = layout.capacity_for(int(count))
    known_rows = known_rows if capacity <= row_capacity else None
    is_in_order = options.sort or by_first_row
    first_rows, of_groups = _first_rows(ids, known_rows, count, capacity, is_in_order, layout)
    unique = take_columns(keys, first_rows, layout)
    if options.dropna:
        # Bools of groups without a missing key are no objects.
        unique = [key.with_arrays((key.data, None)) for key in unique]
    columns = _with_first_zeros(unique, keys, table)
    return Groups(ids, of_groups, columns, count, capacity, capacity, layout)


@tiered
def _last_if(is_last: Array, numbers: Array) -> Array:
    return jnp.where(is_last, np.iinfo(numbers.dtype).max, numbers)


def _with_first_zeros(
    unique: Sequence[Column], keys: Sequence[Column], table: Table
) -> tuple[Column, ...]:
    """The unique keys with pandas' zeros.

    pandas factorizes several keys one by one, so a zero has the sign of its column's first zero.
    """
    if len(keys) == 1:
        return tuple(unique)
    return tuple(
        column.with_arrays(
            (
                _with_first_zero(column.data, key.data, table.num_rows, table.layout),
                column.valid,
            )
        )
        if key.is_float and key.dtype.kind == "f"
        else column
        for key, column in zip(keys, unique, strict=True)
    )


@functools.partial(tiered, static_argnums=3)
def _with_first_zero(unique: Array, data: Array, num_rows: Count, layout: Layout) -> Array:
    row_ids = position(data.shape[0], layout)
    is_zero = (data == 0) & is_row(data.shape[0], num_rows, layout)
    first = jnp.min(jnp.where(is_zero, row_ids, _NO_ROW))
    first_negative = jnp.min(jnp.where(is_zero & jnp.signbit(data), row_ids, _NO_ROW))
    is_negative = (first == first_negative) & (first < _NO_ROW)
    zero = jnp.where(is_negative, unique.dtype.type(-0.0), unique.dtype.type(0.0))
    return jnp.where(unique == 0, zero, unique)


@functools.partial(tiered, static_argnums=(3, 4, 5))
def _dense_numbers(
    words: Any,
    any_missing: Array | None,
    num_rows: Count,
    row_capacity: int,
    layout: Layout,
    sort: bool,
) -> tuple[Array, Array, Array | None]:
    """The segment id of each row, the number of groups, and the first rows of some of them."""
    factors = primitives.factorize(
        words,
        capacity=row_capacity,
        return_first=not layout.sends_rows,
        sort=sort,
        num_valid=num_rows,
        **layout.on_mesh,
    )
    segment_ids = layout.constrain(factors.group_ids.astype(jnp.int32))
    count = factors.count.astype(jnp.int32)
    if any_missing is not None:
        segment_ids = jnp.where(any_missing, np.int32(-1), segment_ids)
        count = jnp.max(segment_ids, initial=np.int32(-1)) + np.int32(1)
    return segment_ids, count, factors.row_ids


@functools.partial(tiered, static_argnums=(3, 4, 5))
def _first_rows(
    segment_ids: Array,
    known_rows: Array | None,
    count: Count,
    capacity: int,
    is_in_order: bool,
    layout: Layout,
) -> Any:
    if known_rows is None:
        first_rows = first_rows_of_segments(segment_ids, capacity, layout)
    else:
        is_group = jax.lax.iota(jnp.int32, capacity) < count
        first_rows = jnp.where(is_group, known_rows[:capacity], _NO_ROW)
    of_groups = None
    if not is_in_order:
        by_group = Segments(segment_ids, None, capacity, layout).by_group
        of_groups = in_order_of((first_rows,), first_rows < _NO_ROW, capacity, by_group)
        first_rows = gather(first_rows, of_groups, by_group)
    return layout.constrain(first_rows), of_groups
