# SPDX-License-Identifier: Apache-2.0
"""Rows with equal keys given equal numbers.

Each row gets a slot, an int32, equal where the keys are; -1 where it is in no group. Slots are
either digits of the keys, one behind the other as in a number of several digits (codes, bools, and
integers of which the host knows a small range), so that finding them takes one pass; or dense
numbers that `primitives.factorize` gave. Groups are the slots that rows have, in the order of
the result.
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
    dense_slots,
    first_row_of_slots,
    in_order_of,
    kept_slots,
    with_all_categories,
)

# An eager call has room for the first rows of one group in so many rows, and looks for them again
# where there are more, which takes 80 ms of 10M rows. Room for all would take longer to fill than
# few groups take to find.
ROWS_OF_A_GROUP = 8


class Groups:
    """The groups of a table's rows.

    Attributes:
        kept: the slot of each group; None where groups are numbered as slots are.
        keys: the values of each key, by group.
        count: how many groups there are.
        num_slots: slots that there are.
        capacity: groups that there is room for.
        may_be_empty: whether a group may have no row.
        layout: where rows lie.
    """

    def __init__(
        self,
        slots: Array | Callable[[], Array],
        kept: Array | None,
        keys: tuple[Column, ...],
        count: Count,
        num_slots: int,
        capacity: int,
        may_be_empty: bool,
        layout: Layout,
    ):
        self._slots = slots
        self.kept: Array | None = kept
        self.keys: tuple[Column, ...] = keys
        self.count: Count = count
        self.num_slots: int = num_slots
        self.capacity: int = capacity
        self.may_be_empty: bool = may_be_empty
        self.layout: Layout = layout

    @property
    def slots(self) -> Array:
        """The slot of each row, -1 where it is in no group."""
        if not callable(self._slots):
            return self._slots
        found = self._slots()
        if not is_traced(found):
            self._slots = found
        return found

    @property
    def is_traced(self) -> bool:
        """Whether it was found inside `jit`."""
        return is_traced(self.count, self.kept, self.keys)

    @property
    def needed(self) -> Count:
        """Zero, or the capacity that a traced result would have needed."""
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
        keys: the columns, the first one most significant.
        table: whose rows they are.
        sort: groups in the order of their keys; else in that of their first rows.
        dropna: rows of which a key is missing belong to no group.
        observed: only groups that have rows; else every category, too.
        capacity: groups that a traced result has room for; as many as rows if left out.
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
    slots, counts, first_rows, count = dense_slots(
        tuple(key.arrays for key in keys), lowest, table.num_rows, plan, sort, table.layout
    )
    wanted = counts > 0
    if all_categories:
        wanted = with_all_categories(counts, keys, plan)
        count = jnp.sum(wanted, dtype=jnp.int32)
    num_slots, layout = counts.shape[0], table.layout
    if is_traced(count):
        limit = num_slots if capacity is None else min(capacity, num_slots)
        room = layout.capacity_for(limit)
    else:
        count = as_count(int(count))
        room = layout.capacity_for(int(count))
    kept, arrays = kept_slots(wanted, first_rows, lowest, plan, _dtypes(keys), room, layout)
    columns = tuple(map(Column.with_arrays, keys, arrays))
    return Groups(slots, kept, columns, count, num_slots, room, all_categories, layout)


def groups_of_keys(
    keys: Sequence[Column], table: Table, unique: Sequence[Column], count: int, dropna: bool
) -> Groups:
    """Groups whose keys are known, in the order of the keys.

    The group of each row is found once somebody asks for it.
    """
    layout, room = table.layout, unique[0].data.shape[0]

    def find() -> Array:
        groups = make_groups(keys, table, dropna=dropna)
        if groups.kept is None:
            return groups.slots
        return _group_ids(groups.slots, groups.kept, groups.count, groups.num_slots)

    columns = _with_first_zeros(unique, keys, table)
    return Groups(find, None, columns, as_count(count), room, room, False, layout)


@functools.partial(jax.jit, static_argnums=3)
def _group_ids(slots: Array, kept: Array, count: Count, num_slots: int) -> Array:
    """The number of each row's group, -1 where it is in no group."""
    numbers = jnp.arange(kept.shape[0], dtype=jnp.int32)
    number_of = jnp.full(num_slots, -1, jnp.int32)
    number_of = number_of.at[jnp.where(numbers < count, kept, num_slots)].set(numbers, mode="drop")
    return number_of.at[slots].get(mode="fill", fill_value=-1, wrap_negative_indices=False)


def _dtypes(keys: Sequence[Column]) -> tuple[str, ...]:
    return tuple(key.dtype.name for key in keys)


def _factorized(
    keys: Sequence[Column], table: Table, sort: bool, dropna: bool, capacity: int | None
) -> Groups:
    layout = table.layout
    missing = [key.missing() for key in keys if dropna and key.can_miss]
    any_missing = functools.reduce(jnp.logical_or, missing) if missing else None
    words = tuple(word for key in keys for word in distinct_keys(key))
    room = layout.capacity_for(table.capacity if capacity is None else capacity)
    if layout.mesh is not None:
        # Neither keys nor rows of groups are taken: over a mesh they would travel.
        known_room = LEAST_CAPACITY
    elif is_traced(table, keys):
        known_room = room
    else:
        known_room = layout.capacity_for(table.capacity // ROWS_OF_A_GROUP)
    slots, count, known_rows = _dense_numbers(
        words, any_missing, table.num_rows, len(keys) > 1, known_room, layout
    )
    if not is_traced(count):
        count = as_count(int(count))
        room = layout.capacity_for(int(count))
    known_rows = known_rows if room <= known_room else None
    first_rows, kept = _first_rows(slots, known_rows, count, room, sort, layout)
    columns = _with_first_zeros(take_columns(keys, first_rows, layout), keys, table)
    return Groups(slots, kept, columns, count, room, room, False, layout)


def _with_first_zeros(
    unique: Sequence[Column], keys: Sequence[Column], table: Table
) -> tuple[Column, ...]:
    """The unique keys with the zeros of pandas.

    Of several keys pandas numbers each alone: a zero has the sign of the column's first.
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
    places = position(data.shape[0], layout)
    is_zero = (data == 0) & is_row(data.shape[0], num_rows, layout)
    none = np.int32(np.iinfo(np.int32).max)
    first = jnp.min(jnp.where(is_zero, places, none))
    first_negative = jnp.min(jnp.where(is_zero & jnp.signbit(data), places, none))
    is_negative = (first == first_negative) & (first < none)
    zero = jnp.where(is_negative, unique.dtype.type(-0.0), unique.dtype.type(0.0))
    return jnp.where(unique == 0, zero, unique)


@functools.partial(jax.jit, static_argnums=(3, 4, 5))
def _dense_numbers(
    words: Any,
    any_missing: Array | None,
    num_rows: Count,
    is_flagged: bool,
    known_room: int,
    layout: Layout,
) -> tuple[Array, Array, Array | None]:
    """The slot of each row, how many groups there are, and the first rows of so many of them."""
    if any_missing is not None and is_flagged:
        # Groups with a missing key come last, so that the others are numbered from zero.
        words = (any_missing, *words)
    found = primitives.factorize(
        words,
        capacity=known_room,
        return_first=layout.mesh is None,
        num_valid=num_rows,
        **layout.on_mesh,
    )
    slots = layout.constrain(found.group_ids.astype(jnp.int32))
    count = found.count.astype(jnp.int32)
    if any_missing is not None:
        slots = jnp.where(any_missing, np.int32(-1), slots)
        count = jnp.max(slots, initial=np.int32(-1)) + np.int32(1)
    return slots, count, found.row_ids


@functools.partial(jax.jit, static_argnums=(3, 4, 5))
def _first_rows(
    slots: Array, known_rows: Array | None, count: Count, capacity: int, sort: bool, layout: Layout
) -> Any:
    none = np.int32(np.iinfo(np.int32).max)
    count = jnp.minimum(jnp.asarray(count, jnp.int32), np.int32(capacity))
    if known_rows is None:
        first_rows = first_row_of_slots(slots, capacity, layout)
    else:
        is_group = jax.lax.iota(jnp.int32, capacity) < count
        first_rows = jnp.where(is_group, known_rows[:capacity], none)
    kept = None
    if not sort:
        kept = in_order_of(first_rows, first_rows < none, capacity)
        first_rows = first_rows[kept]
    return layout.constrain(first_rows), kept
