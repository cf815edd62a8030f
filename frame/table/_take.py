# SPDX-License-Identifier: Apache-2.0
"""Takes rows of a table by position: all its columns and labels together."""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...shardings._compat import explicit_sharding
from ._column import NAT, Array, Column, show_holes
from ._layout import Layout
from ._row_index import RowIndex
from ._table import Count, Table, is_row
from ._tracing import answered_at_once, is_traced


class Rows(NamedTuple):
    """The arrays of a table that move with its rows."""

    columns: tuple[tuple[Array, Array | None], ...]
    levels: tuple[tuple[Array, Array | None], ...]


def rows_of(table: Table) -> Rows:
    """The arrays of a table that move with its rows."""
    return Rows(
        tuple(column.arrays for column in table.columns),
        tuple(level.arrays for level in table.index.stored),
    )


def with_rows(
    table: Table, rows: Rows, row_ids: Array | None, num_rows: Count, **changes: Any
) -> Table:
    """A table of the same types whose rows came from `row_ids` of the old one."""
    columns = tuple(map(Column.with_arrays, table.columns, rows.columns))
    return table.replace(
        columns=columns,
        index=moved_index(table.index, rows.levels, row_ids),
        num_rows=num_rows,
        **changes,
    )


def moved_index(index: RowIndex, levels: Sequence[Any], row_ids: Array | None) -> RowIndex:
    """The labels of rows that came from `row_ids`; `levels` are what an index stores of them."""
    if index.stored:
        return index.with_stored(tuple(map(Column.with_arrays, index.stored, levels)))
    assert row_ids is not None
    return index.at(row_ids)


def position(capacity: int, layout: Layout) -> Array:
    """The place of each row."""
    return layout.constrain(jnp.arange(capacity, dtype=jnp.int32))


def take_rows(table: Table, row_ids: Array, num_rows: Count, *, holes: bool = False) -> Table:
    """The rows at given places: `num_rows` of them, in the order of `row_ids`.

    Args:
        table: where they are taken from.
        row_ids: places, int32 of any capacity; those behind `num_rows` may be anything.
        num_rows: how many count.
        holes: whether a place may be -1, for a row whose values are missing; its columns then
            have a mask where their type has no missing value. See `settled`.
    """
    columns = take_columns(table.columns, row_ids, table.layout, holes=holes)
    index = table.index
    if holes and index.has_places:
        # A label may be missing, a place may not.
        index = RowIndex(index.levels, index.names)
    levels = take_columns(index.stored, row_ids, table.layout, holes=holes)
    index = index.with_stored(levels) if levels else moved_index(index, (), row_ids)
    return table.replace(columns=columns, index=index, num_rows=num_rows)


def take_columns(
    columns: Sequence[Column], row_ids: Array, layout: Layout, *, holes: bool = False
) -> tuple[Column, ...]:
    """The values of columns at given places; see `take_rows`."""
    if not columns:
        return ()
    kinds = tuple(hole_kind(column) if holes else "" for column in columns)
    arrays = _take(tuple(column.arrays for column in columns), row_ids, kinds, layout)
    return tuple(map(Column.with_arrays, columns, arrays))


def hole_kind(column: Column) -> str:
    """How a missing value shows in an array of the column's type; see `with_holes`."""
    if column.type.has_codes:
        return "code"
    if column.type.is_time:
        return "time"
    return "float" if column.is_float else "mask"


@functools.partial(jax.jit, static_argnums=(2, 3))
def _take(arrays: Any, row_ids: Array, missing_as: tuple[str, ...], layout: Layout) -> Any:
    taken = gather(arrays, row_ids, layout)
    return tuple(
        (data, valid) if not kind else with_holes(data, valid, row_ids < 0, kind)
        for (data, valid), kind in zip(taken, missing_as, strict=True)
    )


def with_holes(data: Array, valid: Array | None, is_hole: Array, kind: str) -> Any:
    """Inside a compiled function: an array and its mask, in which flagged rows are missing."""
    match kind:
        case "code":
            return jnp.where(is_hole, np.int32(-1), data), None
        case "time":
            return jnp.where(is_hole, np.int64(NAT), data), None
        case "float":
            return jnp.where(is_hole, data.dtype.type(np.nan), data), None
    return data, ~is_hole if valid is None else valid & ~is_hole


def missing_elsewhere(columns: Sequence[Column], has_value: Array) -> tuple[Column, ...]:
    """Columns that keep the values of flagged rows and have none elsewhere; see `take_rows`."""
    kinds = tuple(hole_kind(column) for column in columns)
    arrays = _missing_elsewhere(tuple(column.arrays for column in columns), has_value, kinds)
    return tuple(map(Column.with_arrays, columns, arrays))


@functools.partial(jax.jit, static_argnums=2)
def _missing_elsewhere(arrays: Any, has_value: Array, kinds: tuple[str, ...]) -> Any:
    return tuple(
        with_holes(data, valid, ~has_value, kind)
        for (data, valid), kind in zip(arrays, kinds, strict=True)
    )


def gather(rows: Any, row_ids: Array, layout: Layout) -> Any:
    """Inside a compiled function: rows at given places; zeros where there is no such place."""
    if not jax.tree.leaves(rows):
        return rows
    if layout.mesh is not None:
        return primitives.gather_rows(rows, row_ids, **layout.on_mesh)

    def take(leaf: Array) -> Array:
        return leaf.at[row_ids].get(
            mode="fill",
            fill_value=0,
            wrap_negative_indices=False,
            out_sharding=explicit_sharding(row_ids),
        )

    return jax.tree.map(take, rows)


def settled(column: Column, num_rows: Count) -> Column:
    """A column that may have got holes, with the dtype that pandas gives it.

    pandas turns integers into float64 where, and only where, a value is missing. So do we where
    the values are there to be looked at; inside `jit` the mask stays, and decides on the host. So
    it does without 64-bit types, where no float would hold every integer.
    """
    if column.valid is None or is_traced(column.valid, num_rows):
        return column
    if not bool(any_missing(column.valid, num_rows)):
        return Column(column.data, None, column.type)
    return show_holes(column)


@answered_at_once
@jax.jit
def any_missing(valid: Array, num_rows: Count) -> Array:
    """Whether any row that counts is flagged as having no value."""
    return jnp.any(~valid & is_row(valid.shape[0], num_rows))


def slice_rows(table: Table, start: Count, num_rows: Count, capacity: int) -> Table:
    """`num_rows` rows from `start` on, in an array of another capacity.

    The labels of a range stay a range only where the host knows where it starts.
    """
    if is_traced(start) or not table.index.is_range:
        row_ids = _places_from(start, capacity, table.layout)
        return take_rows(table, row_ids, num_rows)
    row_ids = _places_from(start, capacity, table.layout)
    columns = take_columns(table.columns, row_ids, table.layout)
    first = table.index.start + int(start) * table.index.step
    index = RowIndex((), table.index.names, first, table.index.step)
    return table.replace(columns=columns, index=index, num_rows=num_rows)


@functools.partial(jax.jit, static_argnums=(1, 2))
def _places_from(start: Count, capacity: int, layout: Layout) -> Array:
    return start + position(capacity, layout)


def reversed_rows(table: Table) -> Table:
    """The last row first."""
    row_ids = _places_from_end(table.num_rows, table.capacity, table.layout)
    return take_rows(table, row_ids, table.num_rows)


@functools.partial(jax.jit, static_argnums=(1, 2))
def _places_from_end(num_rows: Count, capacity: int, layout: Layout) -> Array:
    return num_rows - np.int32(1) - position(capacity, layout)


def resized(columns: Sequence[Column], capacity: int, layout: Layout) -> tuple[Column, ...]:
    """The same rows with room for more or fewer."""
    if not columns or columns[0].data.shape[0] == capacity:
        return tuple(columns)
    return take_columns(columns, _places_from(np.int32(0), capacity, layout), layout)


def before(rows: Array) -> Array:
    """The row before each, zero before the first. Over a mesh neighbours send one row each."""
    return jax.lax.pad(rows, jnp.zeros((), rows.dtype), [(1, -1, 0)])
