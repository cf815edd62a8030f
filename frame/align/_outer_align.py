# SPDX-License-Identifier: Apache-2.0
"""Two tables given the labels of both."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ..table._column import Array, Column, fill_missing, group_keys
from ..table._column_labels import Labels
from ..table._layout import Layout
from ..table._row_index import RowIndex
from ..table._scalar import Scalar
from ..table._table import Count, Table, as_count, is_row
from ..table._take import missing_elsewhere, settled, take_columns
from ..table._tracing import at_once, is_traced
from ._align import comparable_pair


def align_labels(a: Labels, b: Labels) -> tuple[Labels, list[int], list[int]]:
    """The labels of either, as pandas orders them, and where each stands: -1 for nowhere."""
    if a.index.equals(b.index):
        places = list(range(len(a)))
        return a, places, places
    index, left, right = a.index.join(b.index, how="outer", return_indexers=True)
    everywhere = np.arange(len(index))
    return (
        Labels(index),
        (everywhere if left is None else left).tolist(),
        (everywhere if right is None else right).tolist(),
    )


def spread(table: Table, places: Sequence[int]) -> list[Scalar]:
    """The values of a series of numbers at places, each as a scalar; NaN for -1."""
    row_ids = np.asarray(places, np.int32)
    (column,) = take_columns(table.columns, row_ids, table.layout, holes=-1 in places)  # pyright: ignore
    column = fill_missing(settled(column, np.int32(len(places))))
    return [Scalar(value, is_typed=True) for value in _unstacked(column.data)]


@jax.jit
def _unstacked(values: Array) -> tuple[Array, ...]:
    return tuple(values[place] for place in range(values.shape[0]))


def spread_columns(table: Table, places: Sequence[int], rows: Table) -> tuple[Column, ...]:
    """The values of a series at places, each repeated for the rows of another table."""
    row_ids = [jnp.full(rows.capacity, place, jnp.int32) for place in np.asarray(places, np.int32)]
    made = []
    for ids in row_ids:
        (column,) = take_columns(table.columns, ids, table.layout, holes=True)
        column = settled(column, rows.num_rows)
        data = column.data
        data = rows.layout.constrain(data) if is_traced(data) else rows.layout.place(data)
        made.append(Column(data, column.valid, column.type))
    return tuple(made)


def align_tables(a: Table, b: Table, *, is_distinct: bool = False) -> tuple[Table, Table]:
    """Both tables with the union of their labels, in order; missing where one has none.

    A label that both have several times gives each of the pairs, unless labels must be distinct.

    Raises:
        NotImplementedError: inside `jit`, where the labels are no ranges.
        ValueError: they lie on different devices, or labels must be distinct and are not.
    """
    if a.layout != b.layout:
        raise ValueError(
            "alignment: frames must lie on the same devices, got "
            f"{a.layout} and {b.layout}. Make one with sharding= that of the other."
        )
    if is_traced(a.index, a.num_rows, b.index, b.num_rows):
        return _align_ranges(a, b)
    return at_once(_align_known, a, b, is_distinct)


def _align_known(a: Table, b: Table, is_distinct: bool) -> tuple[Table, Table]:
    names = a.index.names if a.index.names == b.index.names else (None,) * a.index.num_levels
    left, right = a.index_columns(), b.index_columns()
    pairs = [comparable_pair(x, y) for x, y in zip(left, right, strict=True)]
    rooms = a.num_rows_on_host + b.num_rows_on_host
    keys = tuple(
        tuple(key for x in side for key in group_keys(x)) for side in zip(*pairs, strict=True)
    )
    while True:
        capacity = a.layout.capacity_for(rooms)
        joined = _outer(*keys, a.num_rows, b.num_rows, capacity, a.layout)
        left_rows, right_rows = joined[:2]
        count, *num_unmatched = map(int, jax.device_get(joined[2:]))
        if count <= capacity:
            break
        rooms = count
    num_rows = as_count(count)
    # Each row of the result has a left row, a right row, or both.
    num_taken = 2 * count - sum(num_unmatched)
    if is_distinct and num_taken > a.num_rows_on_host + b.num_rows_on_host:
        raise ValueError("cannot reindex on an axis with duplicate labels")
    lefts, rights = zip(*pairs, strict=True)
    from_left = take_columns(lefts, left_rows, a.layout)
    from_right = take_columns(rights, right_rows, a.layout)
    levels = tuple(
        x.with_arrays(_either(x.arrays, y.arrays, left_rows))
        for x, y in zip(from_left, from_right, strict=True)
    )
    index = RowIndex(levels, names)
    return _reindexed(a, left_rows, index, num_rows), _reindexed(b, right_rows, index, num_rows)


def _reindexed(table: Table, row_ids: Array, index: RowIndex, num_rows: Count) -> Table:
    columns = take_columns(table.columns, row_ids, table.layout, holes=True)
    columns = tuple(settled(column, num_rows) for column in columns)
    return table.replace(columns=columns, index=index, num_rows=num_rows)


@functools.partial(jax.jit, static_argnums=(4, 5))
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


@jax.jit
def _either(x: Any, y: Any, left_rows: Array) -> Any:
    def choose(a: Array, b: Array) -> Array:
        return jnp.where(left_rows >= 0, a, b)

    return jax.tree.map(choose, x, y)


def _align_ranges(a: Table, b: Table) -> tuple[Table, Table]:
    """Inside `jit`: ranges that begin alike, of one capacity, by place."""
    is_alike = (a.index.start, a.index.step) == (b.index.start, b.index.step)
    if not (a.index.is_range and b.index.is_range and is_alike and a.capacity == b.capacity):
        raise NotImplementedError(
            "alignment: inside jit the labels of two series or frames must be the same array, as "
            "those of two columns of a frame are. Use merge(), or select rows after calculating."
        )
    num_rows = jnp.maximum(a.num_rows, b.num_rows)
    index = a.index if a.index.names == b.index.names else a.index.named((None,))
    return _without_padding(a, index, num_rows), _without_padding(b, index, num_rows)


def _without_padding(table: Table, index: RowIndex, num_rows: Count) -> Table:
    """A table with no value in what is its padding: another may have rows there."""
    is_valid = is_row(table.capacity, table.num_rows, table.layout)
    columns = missing_elsewhere(table.columns, is_valid)
    return table.replace(columns=columns, index=index, num_rows=num_rows)
