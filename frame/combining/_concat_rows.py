# SPDX-License-Identifier: Apache-2.0
"""Rows of several tables one behind the other."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..table._column import Array, Column
from ..table._layout import Layout
from ..table._table import NO_ROWS, Count, Table, as_count
from ..table._take import gather, position, resized
from ..table._tracing import is_in_jit


def pack_rows(pieces: Sequence[tuple[Column, ...]], tables: Sequence[Table]) -> Table:
    """The rows of several tables behind each other, without labels.

    Args:
        pieces: for each table as many columns, those of a place of one type and dtype.
        tables: how many rows count in each, and where they lie.
    """
    layout = tables[0].layout
    capacities = tuple(table.capacity for table in tables)
    room = -(-sum(capacities) // layout.num_shards) * layout.num_shards
    in_jit = is_in_jit([(table.num_rows, table.needed) for table in tables])
    if in_jit:
        counts = tuple(table.num_rows for table in tables)
        num_rows = sum(counts[1:], start=counts[0])
        needed = functools.reduce(jnp.maximum, [table.needed for table in tables])
    else:
        counts = tuple(as_count(table.num_rows_on_host) for table in tables)
        num_rows, needed = as_count(sum(map(int, counts))), NO_ROWS
    arrays = tuple(tuple(column.arrays for column in columns) for columns in pieces)
    packed = _pack(arrays, counts, capacities, room, layout) if arrays[0] else ()
    columns = tuple(map(Column.with_arrays, pieces[0], packed))
    if not in_jit:
        columns = resized(columns, min(layout.capacity_for(int(num_rows)), room), layout)
    return Table(columns, num_rows=num_rows, needed=needed, layout=layout)


@functools.partial(jax.jit, static_argnums=(2, 3, 4))
def _pack(
    pieces: Any,
    counts: tuple[Count, ...],
    capacities: tuple[int, ...],
    capacity: int,
    layout: Layout,
) -> Any:
    starts = _starts(counts)
    if layout.mesh is None:

        def pack(*leaves: Array) -> Array:
            # Each piece overwrites the padding of the one before it.
            rows = jnp.zeros(capacity, leaves[0].dtype)
            for leaf, start in zip(leaves, starts, strict=True):
                rows = jax.lax.dynamic_update_slice(rows, leaf, (start,))
            return rows

        return jax.tree.map(pack, *pieces)
    place = position(capacity, layout)
    packed = None
    for rows, start in zip(pieces, starts, strict=True):
        moved = gather(rows, jnp.maximum(place - start, np.int32(-1)), layout)
        if packed is None:
            packed = moved
        else:
            is_behind = place >= start
            packed = jax.tree.map(
                lambda new, old, behind=is_behind: jnp.where(behind, new, old), moved, packed
            )
    return packed


def _starts(counts: tuple[Count, ...]) -> list[Count]:
    starts = [NO_ROWS]
    for count in counts[:-1]:
        starts.append(starts[-1] + count)
    return starts


def piece_of_rows(tables: Sequence[Table], capacity: int) -> Array:
    """For each row of packed tables, the place of the table that it is from."""
    counts = tuple(table.num_rows for table in tables)
    return _piece_of_rows(counts, capacity, tables[0].layout)


@functools.partial(jax.jit, static_argnums=(1, 2))
def _piece_of_rows(counts: tuple[Count, ...], capacity: int, layout: Layout) -> Array:
    place = position(capacity, layout)
    piece = layout.constrain(jnp.zeros(capacity, jnp.int32))
    for start in _starts(counts)[1:]:
        piece = piece + (place >= start).astype(jnp.int32)
    return piece
