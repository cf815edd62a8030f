# SPDX-License-Identifier: Apache-2.0
"""The values of the lists of rows, one after the other: a row for each."""

import functools
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives.staging import tiered
from ._arguments import as_row_capacity
from ._column import Array, Column
from ._layout import Layout
from ._lists import ListColumn, spans_of
from ._table import NO_ROWS, Count, Table, as_count, is_row
from ._take import gather, settled, take_columns, take_rows
from ._to_host import host_array
from ._tracing import answered_at_once, is_in_jit


class ExpandedLists(NamedTuple):
    """The values of lists, in the order of (row, position).

    Attributes:
        row_ids: the row of each value; -1 in padding.
        copies: the position of each value in its list.
        num_values: the number of values.
        needed: see `Table.needed`.
        has_empty: whether a list without values has a row, in which the value is missing.
    """

    row_ids: Array
    copies: Array
    num_values: Count
    needed: Count
    has_empty: bool

    def rows_of(self, table: Table) -> Table:
        """The row of each value."""
        rows = take_rows(table, self.row_ids, self.num_values)
        return rows.replace(needed=self.needed)


def expand_lists(
    column: ListColumn, table: Table, capacity: int | None, caller: str, *, keeps_empty: bool
) -> ExpandedLists:
    """Finds the values of the lists of all rows.

    Args:
        column: the lists.
        table: the rows of the column.
        capacity: most values; None for all of them, outside `jit`.
        caller: the method, for errors.
        keeps_empty: whether an empty or missing list counts as one value, which is missing.
    """
    layout = table.layout
    lengths = spans_of(column, layout)[1]
    repeats = _at_least_one(lengths) if keeps_empty else lengths
    repeat = functools.partial(
        primitives.repeat_rows, repeats, num_valid=table.num_rows, **layout.on_mesh
    )
    if not is_in_jit(repeats, table.num_rows, table.needed):
        room: Any = layout.capacity_for
        if capacity is not None:
            room = as_row_capacity(capacity, layout, caller)
        row_ids, copies, count = repeat(capacity=room)
        num_values = as_count(int(host_array(count)))
        return ExpandedLists(row_ids, copies, num_values, NO_ROWS, keeps_empty)
    if capacity is None:
        raise ValueError(
            f"{caller}: inside jit capacity must be the maximum number of result rows, got None. "
            f"Pass capacity=, or call {caller} outside jit."
        )
    limit = as_row_capacity(capacity, layout, caller)
    row_ids, copies, count = repeat(capacity=limit)
    lost = jnp.where(count > np.int32(limit), count, NO_ROWS)
    num_values = jnp.minimum(count, np.int32(limit))
    needed = jnp.maximum(lost, table.needed)
    return ExpandedLists(row_ids, copies, num_values, needed, keeps_empty)


@tiered
def _at_least_one(lengths: Array) -> Array:
    return jnp.maximum(lengths, 1)


def expanded_values(column: ListColumn, lists: ExpandedLists, table: Table) -> Column:
    """The values of the lists of `table`, each in its row; missing where a list has none."""
    layout = table.layout
    sources = _sources(spans_of(column, layout), lists.row_ids, lists.copies, layout)
    values = column.lists.values
    (expanded,) = take_columns([values], sources, layout, holes=lists.has_empty)
    return settled(expanded, lists.num_values, values)


@functools.partial(tiered, static_argnums=3)
def _sources(spans: tuple[Array, Array], row_ids: Array, copies: Array, layout: Layout) -> Array:
    starts, lengths = gather(spans, row_ids, layout)
    return jnp.where(copies < lengths, starts + copies, np.int32(-1))


def have_equal_lengths(a: ListColumn, b: ListColumn, table: Table) -> bool:
    """Whether the lists of each row have equally many values; none counts as one."""
    lengths = [spans_of(column, table.layout)[1] for column in (a, b)]
    return bool(_are_equal(*lengths, table.num_rows, table.layout))


@answered_at_once
@functools.partial(tiered, static_argnums=3)
def _are_equal(a: Array, b: Array, num_rows: Count, layout: Layout) -> Array:
    is_equal = jnp.maximum(a, 1) == jnp.maximum(b, 1)
    return jnp.all(is_equal | ~is_row(a.shape[0], num_rows, layout))
