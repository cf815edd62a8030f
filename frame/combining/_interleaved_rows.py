# SPDX-License-Identifier: Apache-2.0
"""Rows that alternate between pieces of one length: the columns of one row become several rows."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..table._column import Array, Column
from ..table._layout import Layout
from ..table._level_orders import Appearance, either_order, orders_of
from ..table._row_index import RowIndex
from ..table._table import Table, as_count
from ..table._take import position, resized
from ..table._tracing import is_traced
from ._concat_rows import labels_at


def interleaved_rows(pieces: Sequence[Sequence[Column]], labels: pd.Index, table: Table) -> Table:
    """Each row of a table as several rows, one after another.

    Args:
        pieces: for each column of the result, its values in the first, second, ... of these rows,
            as columns of one type.
        labels: the labels of these rows, which follow the labels of the table.
        table: the rows.
    """
    layout, num_pieces = table.layout, len(labels)
    levels = [(level,) * num_pieces for level in table.index_columns()]
    every = [*pieces, *levels]
    arrays = _interleaved([[column.arrays for column in one] for one in every], layout)
    columns = list(map(Column.with_arrays, [first for first, *_ in every], arrays))
    capacity, num_rows = table.capacity * num_pieces, table.num_rows * np.int32(num_pieces)
    if not is_traced(num_rows):
        num_rows = as_count(int(num_rows))
        capacity = layout.capacity_for(int(num_rows))
    columns = resized(columns, capacity, layout)
    numbers = _piece_ids(np.int32(num_pieces), capacity, layout)
    if table.index.num_levels > 1:
        orders = table.index.orders or (None,) * table.index.num_levels
    elif table.index.is_range or is_traced(num_rows, levels[0][0]):
        orders = (None,)
    else:
        orders = (Appearance(levels[0][0], table.num_rows),)
    of_pieces = [labels.get_level_values(number) for number in range(labels.nlevels)]
    inner = (
        [labels.unique()] if labels.nlevels == 1 else orders_of(labels) or (None,) * labels.nlevels
    )
    index = RowIndex(
        (*columns[len(pieces) :], *(labels_at(one, numbers, layout) for one in of_pieces)),
        (*table.index.names, *labels.names),
        orders=either_order((*orders, *inner)),
    )
    return table.replace(columns=tuple(columns[: len(pieces)]), index=index, num_rows=num_rows)


@functools.partial(tiered, static_argnums=1)
def _interleaved(columns: Sequence[Sequence[Any]], layout: Layout) -> Any:
    """Columns whose rows alternate between those of several pieces."""

    def interleave(*rows: Array) -> Array:
        return layout.constrain(jnp.stack(rows, axis=1).reshape(-1))

    return tuple(jax.tree.map(interleave, *pieces) for pieces in columns)


@functools.partial(tiered, static_argnums=(1, 2))
def _piece_ids(num_pieces: Array, capacity: int, layout: Layout) -> Array:
    """For each interleaved row, the number of its piece."""
    return position(capacity, layout) % num_pieces
