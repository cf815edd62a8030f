# SPDX-License-Identifier: Apache-2.0
"""Takes rows of a table by position."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives.staging import tiered
from ...shardings._compat import explicit_sharding, is_x64_enabled
from ._column import NAT, NUMBER, Array, Column, show_holes
from ._defer import defer_rows, may_defer_rows
from ._deferred import force
from ._holes import assumes_holes, with_holes_elsewhere
from ._host_column import HostColumn, computed, host_column, moved_column, rows_on_host
from ._layout import ONE_DEVICE, Layout, padded
from ._row_index import RowIndex
from ._selections import WIDENED, Positions, take_arrays
from ._table import Count, Table, as_count, is_row
from ._tracing import answered_at_once, is_traced


def arrays_of(table: Table) -> tuple[Any, ...]:
    """The stored arrays of a table's columns, then of its stored index levels."""
    return stored_arrays((*table.columns, *table.index.stored))


def stored_arrays(columns: Sequence[Column]) -> tuple[Any, ...]:
    """The arrays of columns, as rows move."""
    force(columns)
    return tuple([column.stored.arrays for column in columns])


def with_arrays(table: Table, arrays: object, row_ids: Array | None, num_rows: Count) -> Table:
    """A table of the same types with the arrays of other rows, taken from `row_ids`."""
    columns = (*table.columns, *table.index.stored)
    return _with_rows(table, moved_columns(columns, arrays), row_ids, num_rows)


def moved_columns(columns: Sequence[Column], arrays: Any) -> tuple[Column, ...]:
    """Columns of the same types with the stored arrays of other rows."""
    return tuple(map(moved_column, columns, arrays))


def _with_rows(
    table: Table, columns: Sequence[Column], row_ids: Array | None, num_rows: Count
) -> Table:
    num_columns = len(table.columns)
    index = moved_index(table.index, columns[num_columns:], row_ids)
    return table.replace(columns=tuple(columns[:num_columns]), index=index, num_rows=num_rows)


def moved_index(index: RowIndex, stored: Sequence[Column], row_ids: Array | None) -> RowIndex:
    """The index after moving rows: stored levels, or positions `row_ids` in a range."""
    if stored:
        return index.with_stored(stored)
    assert row_ids is not None
    return index.at(row_ids)


def position(capacity: int, layout: Layout) -> Array:
    """The position of each row."""
    return layout.constrain(jnp.arange(capacity, dtype=jnp.int32))


@functools.partial(tiered, static_argnums=1)
def repeated(value: Array, capacity: int) -> Array:
    """One value in each row."""
    return jnp.broadcast_to(value, (capacity,))


def take_rows(table: Table, row_ids: Array, num_rows: Count, *, holes: bool = False) -> Table:
    """Takes `num_rows` rows of a table, in the order of `row_ids`.

    With `holes` the position -1 gives a row of missing values, and columns without a missing
    value of their own get a mask; see `settled`.
    """
    if holes and table.index.has_positions:
        # A label may be missing, a position may not.
        table = table.replace(index=RowIndex(table.index.levels, table.index.names))
    columns = (*table.columns, *table.index.stored)
    taken = take_columns(columns, row_ids, table.layout, holes=holes)
    return _with_rows(table, taken, row_ids, num_rows)


def take_columns(
    columns: Sequence[Column],
    row_ids: Array,
    layout: Layout,
    *,
    holes: bool = False,
    widens: bool = False,
) -> tuple[Column, ...]:
    """Takes rows of columns; see `take_rows`.

    With `widens`, deferred integers with holes are floats; see `show_holes`.
    """
    if not columns:
        return ()
    kinds = tuple(hole_kind(column) if holes else "" for column in columns)
    if layout.mesh is not None:
        taken = _take_on_mesh(stored_arrays(columns), row_ids, kinds, layout)
        return moved_columns(columns, taken)
    if may_defer_rows(columns, row_ids, row_ids.shape[0]):
        if widens and is_x64_enabled():
            kinds = tuple(
                WIDENED
                if kind == "mask" and not column.is_bool and not column.is_nullable
                else kind
                for column, kind in zip(columns, kinds, strict=True)
            )
        return defer_rows(columns, Positions(row_ids), kinds)
    return moved_columns(columns, take_arrays(stored_arrays(columns), row_ids, kinds))


def look_up_rows(
    columns: Sequence[Column], row_ids: Array, layout: Layout, *, holes: bool = False
) -> tuple[Column, ...]:
    """Takes rows of columns that every device holds; `layout` is that of the row ids."""
    if layout.mesh is None or not columns:
        return take_columns(columns, row_ids, ONE_DEVICE, holes=holes)
    kinds = tuple(hole_kind(column) if holes else "" for column in columns)
    # XLA divides its own gather over the mesh, but would run a kernel with all ids everywhere.
    return moved_columns(columns, _take_on_mesh(stored_arrays(columns), row_ids, kinds, ONE_DEVICE))


def coalesced(
    left: Sequence[Column],
    right: Sequence[Column],
    left_rows: Array,
    right_rows: Array,
    layout: Layout,
) -> tuple[Column, ...]:
    """Takes rows of the left columns, or of the right ones if the left row is -1."""
    from_left = take_columns(left, left_rows, layout)
    from_right = take_columns(right, right_rows, layout)
    return tuple(
        x.with_arrays(_either(left_rows, x.arrays, y.arrays))
        for x, y in zip(from_left, from_right, strict=True)
    )


@tiered
def _either(left_rows: Array, left: object, right: object) -> Any:
    return jax.tree.map(lambda a, b: jnp.where(left_rows < 0, b, a), left, right)


def hole_kind(column: Column) -> str:
    """The representation of missing values in a column; see `with_holes`."""
    if column.kind in ("string", "category", "object", "list"):
        return "code"
    if column.type.is_counted:
        return "time"
    return "float" if column.is_float else "mask"


@functools.partial(tiered, static_argnums=(2, 3))
def _take_on_mesh(arrays: object, row_ids: Array, kinds: tuple[str, ...], layout: Layout) -> Any:
    return _marked(gather(arrays, row_ids, layout), row_ids < 0, kinds)


def _marked(arrays: Any, is_hole: Array, kinds: tuple[str, ...]) -> Any:
    return tuple(
        with_holes(data, valid, is_hole, kind) if kind else (data, valid)
        for (data, valid), kind in zip(arrays, kinds, strict=True)
    )


def with_holes(data: Array, valid: Array | None, is_hole: Array, kind: str) -> Any:
    """Marks flagged rows as missing, inside a compiled function."""
    match kind:
        case "code":
            return jnp.where(is_hole, np.int32(-1), data), None
        case "time":
            return jnp.where(is_hole, np.int64(NAT), data), None
        case "float":
            return jnp.where(is_hole, data.dtype.type(np.nan), data), None
    return data, ~is_hole if valid is None else valid & ~is_hole


def missing_elsewhere(columns: Sequence[Column], has_value: Array) -> tuple[Column, ...]:
    """Marks unflagged rows as missing."""
    kinds = tuple(hole_kind(column) for column in columns)
    force(columns)
    arrays = computed(_missing_elsewhere, columns, lambda arrays: (tuple(arrays), has_value, kinds))
    return moved_columns(columns, arrays)


@functools.partial(tiered, static_argnums=2)
def _missing_elsewhere(arrays: object, has_value: Array, kinds: tuple[str, ...]) -> Any:
    return _marked(arrays, ~has_value, kinds)


def gather(rows: object, row_ids: Array, layout: Layout) -> Any:
    """Gathers rows inside a compiled function; invalid positions give zeros."""
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


def settled(column: Column, num_rows: Count, source: Column | None = None) -> Column:
    """Gives a column that may have missing values pandas' dtype.

    Nullable dtypes stay. Concrete integers become float64 only if a value is missing, as in pandas,
    or if the schema of a plan assumes so. Inside `jit`, and without x64 mode, the mask stays and
    the conversion happens on the host.

    Args:
        column: the column.
        num_rows: the number of its rows.
        source: the column whose values these are, if there is one. Some of its bools with missing
            values are objects whichever they are.
    """
    if source is not None and source.is_bool and source.can_miss and column.is_bool:
        return with_holes_elsewhere(column)
    if column.is_nullable or column.valid is None or is_traced(column.valid, num_rows):
        return column
    if not assumes_holes() and not bool(any_missing(column.valid, num_rows)):
        return Column(column.data, None, column.type)
    return show_holes(column)


@answered_at_once
@tiered
def any_missing(valid: Array, num_rows: Count) -> Array:
    """Whether any valid row has a missing value."""
    return jnp.any(~valid & is_row(valid.shape[0], num_rows))


@answered_at_once
@tiered
def any_flagged(flags: Array, num_rows: Count) -> Array:
    """Whether any valid row has a flag."""
    return jnp.any(flags & is_row(flags.shape[0], num_rows))


def slice_rows(table: Table, start: Count, num_rows: Count, capacity: int) -> Table:
    """Slices `num_rows` rows from `start`, with another capacity.

    A range index stays a range only if `start` is concrete.
    """
    if type(start) is np.int32 and type(num_rows) is np.int32 and table.layout.mesh is None:
        sliced = _slice_on_host(table, int(start), num_rows, capacity)
        if sliced is not None:
            return sliced
    row_ids = _positions(start, np.int32(1), capacity, table.layout)
    if is_traced(start) or not table.index.is_range:
        return take_rows(table, row_ids, num_rows)
    columns = take_columns(table.columns, row_ids, table.layout)
    index = table.index.from_position(int(start))
    return table.replace(columns=columns, index=index, num_rows=num_rows)


def _slice_on_host(table: Table, start: int, num_rows: Count, capacity: int) -> Table | None:
    """Slices few rows on the host; None if it cannot."""
    columns = _taken_on_host(table, slice(start, start + capacity), capacity)
    if columns is None:
        return None
    if not table.index.is_range:
        return _with_rows(table, columns, None, num_rows)
    index = table.index.from_position(start)
    return table.replace(columns=columns, index=index, num_rows=num_rows)


def take_few_rows(table: Table, positions: np.ndarray, capacity: int | None = None) -> Table | None:
    """Takes rows by concrete positions on the host; None if it cannot, as for many rows."""
    num_rows = len(positions)
    capacity = table.layout.capacity_for(num_rows) if capacity is None else capacity
    columns = None if table.layout.mesh else _taken_on_host(table, positions, capacity)
    if columns is None:
        return None
    if not table.index.is_range:
        return _with_rows(table, columns, None, as_count(num_rows))
    row_ids: Any = padded(positions, capacity)
    index = table.index.at_positions(HostColumn((row_ids, None), NUMBER))
    return table.replace(columns=columns, index=index, num_rows=as_count(num_rows))


def _taken_on_host(
    table: Table, where: slice | np.ndarray, capacity: int
) -> tuple[Column, ...] | None:
    """The columns and stored levels of few rows, padded to a capacity; None if it cannot."""
    columns = (*table.columns, *table.index.stored)
    rows = rows_on_host(columns, capacity)
    if rows is None:
        return None

    def take(array: np.ndarray | None) -> Any:
        if array is None:
            return None
        taken = array[where]
        # A view keeps at most `MOST_ROWS` rows in memory. Any rows may follow as padding.
        return taken if len(taken) == capacity else padded(taken, capacity)

    return tuple(
        host_column(column, (take(data), take(valid)))
        for column, (data, valid) in zip(columns, rows, strict=True)
    )


@functools.partial(tiered, static_argnums=(2, 3))
def _positions(start: Count, step: Count, capacity: int, layout: Layout) -> Array:
    return start + step * position(capacity, layout)


def reversed_rows(table: Table) -> Table:
    """Reverses the rows."""
    row_ids = _positions(table.num_rows - np.int32(1), np.int32(-1), table.capacity, table.layout)
    return take_rows(table, row_ids, table.num_rows)


def resized(columns: Sequence[Column], capacity: int, layout: Layout) -> tuple[Column, ...]:
    """Pads or truncates columns to another capacity."""
    if not columns or columns[0].capacity == capacity:
        return tuple(columns)
    return take_columns(columns, _positions(np.int32(0), np.int32(1), capacity, layout), layout)


def before(rows: Array) -> Array:
    """The previous row of each; zero for the first. Shards send one row to their neighbour."""
    return jax.lax.pad(rows, jnp.zeros((), rows.dtype), [(1, -1, 0)])
