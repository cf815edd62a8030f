# SPDX-License-Identifier: Apache-2.0
"""Elements and slices of the lists of rows."""

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives.staging import tiered
from ._column import Array, Column
from ._layout import Layout
from ._lists import ListColumn, Lists, spans_of
from ._table import Table
from ._take import gather, settled, take_columns


def elements_at(column: ListColumn, position: int, table: Table) -> Column:
    """The value at a position of each row's list, from the end if negative; missing if none."""
    sources = _element_sources(spans_of(column, table.layout), np.int32(position))
    values = column.lists.values
    (elements,) = take_columns([values], sources, table.layout, holes=True)
    return settled(elements, table.num_rows, values)


@tiered
def _element_sources(spans: tuple[Array, Array], position: Array) -> Array:
    starts, lengths = spans
    position = jnp.where(position < 0, position + lengths, position)
    is_inside = (position >= 0) & (position < lengths)
    return jnp.where(is_inside, starts + position, np.int32(-1))


def sliced_lists(column: ListColumn, rows: slice, layout: Layout) -> ListColumn:
    """The same rows with slices of their lists, which share the values if the step is one."""
    step = 1 if rows.step is None else rows.step
    if step == 0:
        raise ValueError("slice step cannot be zero")
    lists = column.lists
    starts, lengths = _slices(lists.starts, lists.lengths, rows.start, rows.stop, step)
    if step == 1:
        return column.with_lists(Lists(starts, lengths, lists.values))
    # The values that are left, in their new order, are never more than there were.
    repeated = primitives.repeat_rows(lengths, capacity=lists.values.capacity, **layout.on_mesh)
    sources, new_starts = _strided(starts, lengths, repeated[:2], step, layout)
    (values,) = take_columns([lists.values], sources, layout)
    return column.with_lists(Lists(new_starts, lengths, values.forced()))


@functools.partial(tiered, static_argnums=(2, 3, 4))
def _slices(
    starts: Array, lengths: Array, start: int | None, stop: int | None, step: int
) -> tuple[Array, Array]:
    """Python's rules for slices, for each list: the position of the first value, and the length."""
    least, most = (0, lengths) if step > 0 else (-1, lengths - 1)

    def bound(given: int | None, default: object) -> Any:
        if given is None:
            return default
        return jnp.clip(given + lengths if given < 0 else np.int32(given), least, most)

    first = bound(start, least if step > 0 else most)
    last = bound(stop, most if step > 0 else least)
    distance = (last - first) if step > 0 else (first - last)
    count = jnp.maximum(-(-distance // abs(step)), 0)
    return (starts + first).astype(jnp.int32), count.astype(jnp.int32)


@functools.partial(tiered, static_argnums=(3, 4))
def _strided(
    starts: Array, lengths: Array, repeated: tuple[Array, Array], step: int, layout: Layout
) -> tuple[Array, Array]:
    row_ids, copies = repeated
    sources = gather((starts,), row_ids, layout)[0] + copies * np.int32(step)
    return jnp.where(row_ids < 0, np.int32(-1), sources), packed_starts(lengths, layout)


def packed_starts(lengths: Array, layout: Layout) -> Array:
    """The start of each list if the values of one follow those of the other."""
    return primitives.exclusive_scan(lengths, "add", **layout.on_mesh).astype(jnp.int32)
