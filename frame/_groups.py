# SPDX-License-Identifier: Apache-2.0
"""Rows with equal keys given equal numbers.

Each row gets a slot, an int32, equal where the keys are; -1 where it is in no group. Slots are
either digits of the keys, one behind the other as in a number of several digits (codes, bools, and
integers of which the host knows a small range), so that finding them takes one pass; or dense
numbers that `primitives.factorize` gave. Groups are the slots that rows have, in the order of
the result.
"""

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .. import primitives
from ._column import Array, Column, group_keys
from ._layout import LEAST_CAPACITY, Layout
from ._moves import position, take_columns
from ._table import NO_ROWS, Count, Table, as_count, is_row, is_traced


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Groups:
    """The groups of a table's rows. A pytree.

    Attributes:
        slots: the slot of each row, -1 where it is in no group.
        kept: the slot of each group; None where groups are numbered as slots are.
        keys: the values of each key, by group.
        count: how many groups there are.
        num_slots: slots that there are.
        capacity: groups that there is room for.
        may_be_empty: whether a group may have no row.
        layout: where rows lie.
    """

    slots: Array
    kept: Array | None
    keys: tuple[Column, ...]
    count: Count
    num_slots: int = dataclasses.field(metadata={"static": True})
    capacity: int = dataclasses.field(metadata={"static": True})
    may_be_empty: bool = dataclasses.field(metadata={"static": True})
    layout: Layout = dataclasses.field(metadata={"static": True})

    @property
    def needed(self) -> Count:
        """Zero, or the capacity that a traced result would have needed."""
        if not is_traced(self.count):
            return NO_ROWS
        return jnp.where(self.count > self.capacity, self.count, np.int32(0))


class Digit(NamedTuple):
    """What a key's digit is: `size` values from the lowest on, the last for a missing one."""

    size: int
    kind: str  # "code", or "integer" of the lowest value that goes with it
    can_miss: bool


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
    digits = _as_digits(keys, table, dropna)
    if digits is None and all_categories:
        raise NotImplementedError(
            "groupby: observed=False needs keys that are categories, strings, bools or integers "
            "of a small range. Use observed=True."
        )
    if digits is not None:
        return _dense(keys, digits, table, sort, dropna, all_categories, capacity)
    return _factorized(keys, table, sort, dropna, capacity)


def _as_digits(
    keys: Sequence[Column], table: Table, dropna: bool
) -> tuple[tuple[Digit, ...], tuple[Any, ...]] | None:
    """The digits of keys, and the lowest value of each; None where there would be too many."""
    most = 2 * max(table.capacity, LEAST_CAPACITY)
    integers = [
        key.arrays for key in keys if key.is_numeric and np.issubdtype(key.dtype, np.integer)
    ]
    ranges = iter(())
    if integers:
        found = _ranges(tuple(integers), table.num_rows, table.layout)
        if is_traced(found):
            return None
        ranges = iter(zip(*jax.device_get(found), strict=True))
    digits, lowest = [], []
    for key in keys:
        can_miss = not dropna and key.can_miss
        if key.type.has_codes:
            low, width = np.int32(0), len(key.dictionary)
        elif key.is_bool:
            low, width = np.int32(0), 2
        elif key.is_numeric and not key.is_float:
            low, high = next(ranges)
            width = max(int(high) - int(low) + 1, 1)
        else:
            return None
        digits.append(
            Digit(_in_steps(width + can_miss), "code" if key.type.has_codes else "", can_miss)
        )
        lowest.append(low)
        if math.prod(digit.size for digit in digits) > most:
            return None
    return tuple(digits), tuple(lowest)


def _in_steps(size: int) -> int:
    step = 1 << max((size - 1).bit_length() - 3, 0)
    return max(-(-size // step) * step, 1)


@functools.partial(jax.jit, static_argnums=2)
def _ranges(keys: Any, num_rows: Count, layout: Layout) -> Any:
    lows, highs = [], []
    for data, valid in keys:
        counts = is_row(data.shape[0], num_rows, layout)
        counts = counts if valid is None else counts & valid
        info = jnp.iinfo(data.dtype)
        lows.append(jnp.min(jnp.where(counts, data, data.dtype.type(info.max))))
        highs.append(jnp.max(jnp.where(counts, data, data.dtype.type(info.min))))
    return lows, highs


def _dense(
    keys: Sequence[Column],
    digits: tuple[tuple[Digit, ...], tuple[Any, ...]],
    table: Table,
    sort: bool,
    dropna: bool,
    all_categories: bool,
    capacity: int | None,
) -> Groups:
    plan, lowest = digits
    layout = table.layout
    num_slots = math.prod(digit.size for digit in plan)
    slots, counts, first_rows, count = _dense_slots(
        tuple(key.arrays for key in keys), lowest, table.num_rows, plan, sort, layout
    )
    wanted = counts > 0
    if all_categories:
        wanted = _with_all_categories(counts, keys, plan)
        count = jnp.sum(wanted, dtype=jnp.int32)
    if is_traced(count):
        room = layout.capacity_for(num_slots if capacity is None else min(capacity, num_slots))
    else:
        count = as_count(int(count))
        room = layout.capacity_for(int(count))
    kept, arrays = _kept_slots(wanted, first_rows, lowest, plan, _dtypes(keys), room, layout)
    columns = tuple(map(Column.with_arrays, keys, arrays))
    return Groups(slots, kept, columns, count, num_slots, room, all_categories, layout)


def _dtypes(keys: Sequence[Column]) -> tuple[str, ...]:
    return tuple(key.dtype.name for key in keys)


@functools.partial(jax.jit, static_argnums=(3, 4, 5))
def _dense_slots(
    keys: Any, lowest: Any, num_rows: Count, plan: tuple[Digit, ...], sort: bool, layout: Layout
) -> Any:
    is_member = is_row(keys[0][0].shape[0], num_rows, layout)
    slots = jnp.zeros(is_member.shape, jnp.int32)
    for (data, valid), low, digit in zip(keys, lowest, plan, strict=True):
        value = (
            data.astype(jnp.int32) if data.dtype == jnp.bool_ else (data - low).astype(jnp.int32)
        )
        missing = (data < 0) if digit.kind == "code" else None if valid is None else ~valid
        if missing is not None and digit.can_miss:
            value = jnp.where(missing, np.int32(digit.size - 1), value)
        elif missing is not None:
            is_member = is_member & ~missing
        slots = slots * np.int32(digit.size) + value
    slots = layout.constrain(jnp.where(is_member, slots, np.int32(-1)))
    num_slots = math.prod(digit.size for digit in plan)
    counts = primitives.segment_count(slots, num_slots, **layout.on_mesh)
    first_rows = None if sort else first_row_of_slots(slots, num_slots, layout)
    return slots, counts, first_rows, jnp.sum(counts > 0, dtype=jnp.int32)


def first_row_of_slots(slots: Array, num_slots: int, layout: Layout) -> Array:
    """Inside a compiled function: the first row of each slot; the greatest int32 if it has none."""
    return primitives.segment_min(
        position(slots.shape[0], layout), slots, num_slots, **layout.on_mesh
    )


def _with_all_categories(counts: Array, keys: Sequence[Column], plan: tuple[Digit, ...]) -> Array:
    """Flags of the slots of every combination of a category with values that are seen."""
    grid = (counts > 0).reshape([digit.size for digit in plan])
    wanted = jnp.ones(grid.shape, jnp.bool_)
    for place, (key, digit) in enumerate(zip(keys, plan, strict=True)):
        others = tuple(axis for axis in range(grid.ndim) if axis != place)
        seen = jnp.any(grid, axis=others)
        if key.kind == "category":
            seen = seen | (jnp.arange(digit.size, dtype=jnp.int32) < len(key.dictionary))
        wanted = wanted & jnp.expand_dims(seen, others)
    return wanted.reshape(-1)


@functools.partial(jax.jit, static_argnums=(3, 4, 5, 6))
def _kept_slots(
    wanted: Array,
    first_rows: Array | None,
    lowest: Any,
    plan: tuple[Digit, ...],
    dtypes: tuple[str, ...],
    capacity: int,
    layout: Layout,
) -> Any:
    if first_rows is None:
        (kept,) = jnp.nonzero(wanted, size=capacity, fill_value=0)
        kept = kept.astype(jnp.int32)
    else:
        kept = _in_order_of(first_rows, wanted, capacity)
    rest, arrays = kept, []
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
    return kept, tuple(arrays[::-1])


def _in_order_of(first_rows: Array, wanted: Array, capacity: int) -> Array:
    """The wanted slots by their first rows, those without rows last."""
    last = np.int32(np.iinfo(np.int32).max)
    kept = primitives.radix_argsort((~wanted, jnp.where(wanted, first_rows, last)))
    kept = kept.astype(jnp.int32)
    if kept.shape[0] >= capacity:
        return kept[:capacity]
    return jnp.concatenate([kept, jnp.zeros(capacity - kept.shape[0], jnp.int32)])


def _factorized(
    keys: Sequence[Column], table: Table, sort: bool, dropna: bool, capacity: int | None
) -> Groups:
    layout = table.layout
    missing = [key.missing() for key in keys if dropna and key.can_miss]
    any_missing = functools.reduce(jnp.logical_or, missing) if missing else None
    words = tuple(word for key in keys for word in group_keys(key))
    slots, count = _dense_numbers(words, any_missing, table.num_rows, len(keys) > 1, layout)
    if is_traced(count):
        room = layout.capacity_for(table.capacity if capacity is None else capacity)
    else:
        count = as_count(int(count))
        room = layout.capacity_for(int(count))
    first_rows, kept = _first_rows(slots, room, sort, layout)
    columns = take_columns(keys, first_rows, layout)
    if len(keys) > 1:
        # Of several keys pandas numbers each alone: a zero has the sign of the column's first.
        columns = tuple(
            Column(_with_first_zero(column.data, key.data, table.num_rows, layout))
            if key.is_float and key.dtype.kind == "f"
            else column
            for key, column in zip(keys, columns, strict=True)
        )
    return Groups(slots, kept, columns, count, room, room, False, layout)


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


@functools.partial(jax.jit, static_argnums=(3, 4))
def _dense_numbers(
    words: Any, any_missing: Array | None, num_rows: Count, is_flagged: bool, layout: Layout
) -> Any:
    if any_missing is not None and is_flagged:
        # Groups with a missing key come last, so that the others are numbered from zero.
        words = (any_missing, *words)
    # The keys are taken from the first rows, when it is known how many there are.
    found = primitives.factorize(
        words, capacity=LEAST_CAPACITY, num_valid=num_rows, **layout.on_mesh
    )
    slots = layout.constrain(found.group_ids.astype(jnp.int32))
    if any_missing is None:
        return slots, found.count.astype(jnp.int32)
    slots = jnp.where(any_missing, np.int32(-1), slots)
    return slots, jnp.max(slots, initial=np.int32(-1)) + np.int32(1)


@functools.partial(jax.jit, static_argnums=(1, 2, 3))
def _first_rows(slots: Array, capacity: int, sort: bool, layout: Layout) -> Any:
    first_rows = first_row_of_slots(slots, capacity, layout)
    kept = None
    if not sort:
        has_rows = first_rows < np.int32(np.iinfo(np.int32).max)
        kept = _in_order_of(first_rows, has_rows, capacity)
        first_rows = first_rows[kept]
    return layout.constrain(first_rows), kept
