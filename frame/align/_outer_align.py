# SPDX-License-Identifier: Apache-2.0
"""Aligns two tables to the union of their labels."""

import dataclasses
import functools
from collections.abc import Hashable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ...primitives.staging import tiered
from ..table._column import Array, Column, Scalar, fill_missing
from ..table._column_labels import Labels
from ..table._layout import Layout
from ..table._level_orders import Appearance, LevelOrder
from ..table._row_index import RowIndex, common_frequency, index_names
from ..table._sort_keys import group_keys
from ..table._table import Count, Table, as_count, check_same_layout
from ..table._take import coalesced, missing_elsewhere, settled, take_columns
from ..table._tracing import at_once, is_traced
from ._align import comparable_pair, labels_of_sides, positions_of_labels
from ._common_types import keys_of_sides
from ._number_keys import are_of_two_signs, check_labels, in_joined_dtype
from ._object_keys import with_own_objects


def align_labels(a: Labels, b: Labels, level: Any = None) -> tuple[Labels, list[int], list[int]]:
    """The union of labels in pandas' order, and the positions in each side; -1 if absent.

    With `level`, those of the side with several levels, beside the labels of the other one.
    """
    if a.index.equals(b.index):
        positions = list(range(len(a)))
        return a, positions, positions
    index, left, right = a.index.join(b.index, how="outer", level=level, return_indexers=True)
    # pandas returns None for the identity.
    identity = np.arange(len(index))
    return (
        Labels(index),
        (identity if left is None else left).tolist(),
        (identity if right is None else right).tolist(),
    )


def spread(table: Table, positions: Sequence[int]) -> list[Scalar]:
    """Takes numbers of a series by position, each as a scalar; NaN for -1."""
    row_ids = jnp.asarray(positions, jnp.int32)
    (column,) = take_columns(table.columns, row_ids, table.layout, holes=-1 in positions)
    column = fill_missing(settled(column, np.int32(len(positions))))
    return [Scalar(value, is_typed=True) for value in column.data]


def spread_columns(table: Table, positions: Sequence[int], rows: Table) -> tuple[Column, ...]:
    """Takes values of a series by position and broadcasts each to the rows of another table."""
    columns = []
    for position in jnp.asarray(positions, jnp.int32):
        row_ids = jnp.full(rows.capacity, position, jnp.int32)
        (column,) = take_columns(table.columns, row_ids, table.layout, holes=True)
        column = settled(column, rows.num_rows)
        data = column.data
        data = rows.layout.constrain(data) if is_traced(data) else rows.layout.place(data)
        columns.append(Column(data, column.valid, column.type))
    return tuple(columns)


def align_tables(
    a: Table, b: Table, *, is_distinct: bool = False, level: Any = None
) -> tuple[Table, Table]:
    """Aligns both tables to the sorted union of their labels, with missing values for absent ones.

    Duplicate labels give the product of their rows, unless `is_distinct` forbids them. If only one
    table has several levels of labels, `level` of them is aligned, by default that of the name that
    the other one has.
    """
    check_same_layout("alignment", a, b)
    several = [table.index for table in (a, b) if table.index.num_levels > 1]
    if level is not None and len(several) == 2:
        raise TypeError("Join on level between two MultiIndex objects is ambiguous")
    if len(several) == 1:
        return _align_by_level(a, b, _level_position(several[0], (a, b), level))
    if is_traced(a.index, a.num_rows, b.index, b.num_rows):
        return _align_ranges(a, b)
    return at_once(_align_known, a, b, is_distinct)


def _level_position(several: RowIndex, tables: tuple[Table, Table], level: Any) -> int:
    """The position of a level, by default that of the name of the labels of one level."""
    if level is not None:
        if isinstance(level, list):
            raise KeyError(f"Level {level} not found")
        return index_names(several)._get_level_number(level)
    (name,) = next(t.index.names for t in tables if t.index.num_levels == 1)
    if name not in several.names:
        raise ValueError("cannot join with no overlapping index names")
    return several.names.index(name)


class _JoinedLevel(Appearance):
    """The labels of a level that pandas joined with others.

    They are sorted, but in the order of the rows if the level lists labels that no row has.
    """

    def __init__(self, column: Column, num_rows: Count, others: Column, num_others: Count):
        super().__init__(column, num_rows)
        self._others = Appearance(others, num_others)

    @functools.cached_property
    def labels(self) -> pd.Index:
        """The labels, on the host."""
        own = super().labels
        return own.sort_values() if self._others.labels.isin(own).all() else own


def _align_by_level(a: Table, b: Table, level: int) -> tuple[Table, Table]:
    """Aligns the rows of the table of several levels with those of the other one by one level.

    The result has the rows of the former in their order, and missing values for a label of the
    level that the latter does not have.

    Raises:
        NotImplementedError: labels of the latter repeat, as in pandas, or are not known in `jit`.
    """
    if a.index.num_levels == 1:
        b, a = _align_by_level(b, a, level)
        return a, b
    check_same_layout("alignment", a, b)
    if is_traced(a.index, a.num_rows, b.index, b.num_rows):
        raise NotImplementedError(
            "alignment: inside jit the labels of a level are not known. Use reset_index(), and "
            "merge() with capacity=."
        )
    levels = list(a.index_columns())
    by_label = a.replace(columns=(), index=RowIndex((levels[level],)))
    try:
        row_ids = at_once(positions_of_labels, by_label, b)
    except ValueError as error:
        raise NotImplementedError(
            "Index._join_level on non-unique index is not implemented. Keep one row of each "
            "label, by groupby(level=0).first()."
        ) from error
    orders: list[LevelOrder] = list(a.index.orders or (None,) * len(levels))
    (others,) = b.index_columns()
    orders[level] = _JoinedLevel(levels[level], a.num_rows, others, b.num_rows)
    index = dataclasses.replace(a.index, orders=tuple(orders))
    return a.replace(index=index), _reindexed(b, row_ids, index, a.num_rows)


def _align_known(a: Table, b: Table, is_distinct: bool) -> tuple[Table, Table]:
    b = _with_levels_of(a, b)
    names = _names_of_both(a, b)
    levels = labels_of_sides(a, b)
    counts = a.num_rows, b.num_rows
    of_two_signs = len(levels) == 1 and are_of_two_signs(*levels[0])
    if not of_two_signs:
        check_labels(levels, counts, "alignment")
    pairs = [comparable_pair(x, y, counts) for x, y in levels]
    num_in = a.num_rows_on_host + b.num_rows_on_host
    max_rows = num_in
    keys = keys_of_sides(levels, pairs, group_keys)
    while True:
        capacity = a.layout.capacity_for(max_rows)
        joined = _outer(*keys, a.num_rows, b.num_rows, capacity, a.layout)
        left_rows, right_rows = joined[:2]
        count, *num_unmatched = map(int, jax.device_get(joined[2:]))
        if count <= capacity:
            break
        max_rows = count
    num_rows = as_count(count)
    # Each row of the result has a left row, a right row, or both.
    num_taken = 2 * count - sum(num_unmatched)
    if is_distinct and num_taken > num_in:
        raise ValueError("cannot reindex on an axis with duplicate labels")
    if of_two_signs:
        pairs = [in_joined_dtype(*levels[0], counts, count, None)]
    else:
        sides = zip(levels, pairs, strict=True)
        pairs = [with_own_objects(*level, pair, counts) for level, pair in sides]
    lefts, rights = zip(*pairs, strict=True)
    labels = coalesced(lefts, rights, left_rows, right_rows, a.layout)
    index = RowIndex(labels, names, freq=common_frequency([a.index, b.index]))
    return _reindexed(a, left_rows, index, num_rows), _reindexed(b, right_rows, index, num_rows)


def _with_levels_of(a: Table, b: Table) -> Table:
    """A table with its levels of labels in the order that those of another one have, by name."""
    names, own = a.index.names, b.index.names
    if names == own or a.index.num_levels == b.index.num_levels == 1:
        return b
    shared = {name for name in names if name is not None}.intersection(own)
    if not shared:
        raise ValueError("cannot join with no overlapping index names")
    if len(shared) < max(len(names), len(own)):
        raise NotImplementedError(
            "alignment: row labels must have the same levels, got the names "
            f"{list(names)} and {list(own)}. Use reset_index(), and merge() by "
            f"{sorted(map(str, shared))}."
        )
    levels = b.index_columns()
    return b.replace(index=RowIndex(tuple(levels[own.index(name)] for name in names), names))


def _names_of_both(a: Table, b: Table) -> tuple[Hashable, ...]:
    """The names of aligned labels: those of the left table, or of the right if that has no rows.

    Two ranges have no name unless those of both are equal.
    """
    of_left, of_right = a.index, b.index
    if of_left.names != of_right.names and of_left.is_range and of_right.is_range:
        return (None,)
    return of_left.names if a.num_rows_on_host else of_right.names


def _reindexed(table: Table, row_ids: Array, index: RowIndex, num_rows: Count) -> Table:
    columns = take_columns(table.columns, row_ids, table.layout, holes=True)
    columns = tuple(settled(column, num_rows) for column in columns)
    return table.replace(columns=columns, index=index, num_rows=num_rows)


@functools.partial(tiered, static_argnums=(4, 5))
def _outer(
    left: Any, right: Any, num_left: Count, num_right: Count, capacity: int, layout: Layout
) -> primitives.Joined:
    return primitives.join(
        left,
        right,
        how="outer",
        capacity=capacity,
        num_valid=(num_left, num_right),
        **layout.on_mesh,
    )


def _align_ranges(a: Table, b: Table) -> tuple[Table, Table]:
    """Aligns traced tables by position, for equal ranges of one capacity."""
    are_ranges = a.index.is_range and b.index.is_range and a.capacity == b.capacity
    if not (are_ranges and a.index.is_same_range(b.index)):
        raise NotImplementedError(
            "alignment: inside jit the labels of two series or frames must be the same array, as "
            "for two columns of a frame. Use merge(), or select rows after calculating; batches "
            "whose rows belong together agree after reset_index(drop=True)."
        )
    num_rows = jnp.maximum(a.num_rows, b.num_rows)
    index = a.index if a.index.names == b.index.names else a.index.named((None,))
    aligned = []
    for table in (a, b):
        # Padding is missing, because the other table may have valid rows there.
        columns = missing_elsewhere(table.columns, table.is_row())
        aligned.append(table.replace(columns=columns, index=index, num_rows=num_rows))
    return aligned[0], aligned[1]
