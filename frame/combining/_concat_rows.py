# SPDX-License-Identifier: Apache-2.0
"""Concatenation along rows."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ... import primitives
from ..table._column import Array, Column
from ..table._layout import Layout
from ..table._table import NO_ROWS, Count, Table, as_count
from ..table._take import position
from ..table._tracing import is_in_jit


def pack_rows(pieces: Sequence[tuple[Column, ...]], tables: Sequence[Table]) -> Table:
    """Concatenates the rows of several tables, without labels.

    Args:
        pieces: the columns of each table, of common types and dtypes.
        tables: the tables, which give the row counts and the layout.
    """
    layout = tables[0].layout
    capacities = tuple(table.capacity for table in tables)
    limit = -(-sum(capacities) // layout.num_shards) * layout.num_shards
    in_jit = is_in_jit([(table.num_rows, table.needed) for table in tables])
    if in_jit:
        counts = tuple(table.num_rows for table in tables)
        num_rows = sum(counts[1:], start=counts[0])
        needed = functools.reduce(jnp.maximum, [table.needed for table in tables])
    else:
        counts = tuple(as_count(table.num_rows_on_host) for table in tables)
        num_rows, needed = as_count(sum(map(int, counts))), NO_ROWS
    arrays = [tuple(column.arrays for column in columns) for columns in pieces]
    capacity = limit if in_jit else min(layout.capacity_for(int(num_rows)), limit)
    packed = _pack(arrays, counts, capacity, layout) if arrays[0] else ()
    columns = tuple(map(Column.with_arrays, pieces[0], packed))
    return Table(columns, num_rows=num_rows, needed=needed, layout=layout)


@functools.partial(jax.jit, static_argnums=(2, 3))
def _pack(pieces: list[Any], counts: tuple[Count, ...], capacity: int, layout: Layout) -> Any:
    return primitives.concatenate(pieces, counts, capacity=capacity, **layout.on_mesh).rows


@functools.partial(jax.jit, static_argnums=(1, 2))
def piece_of_rows(counts: tuple[Count, ...], capacity: int, layout: Layout) -> Array:
    """For each concatenated row, the position of its table."""
    row_ids = position(capacity, layout)
    piece, stop = layout.constrain(jnp.zeros(capacity, jnp.int32)), NO_ROWS
    for count in counts[:-1]:
        stop = stop + count
        piece = piece + (row_ids >= stop).astype(jnp.int32)
    return piece
