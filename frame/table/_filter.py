# SPDX-License-Identifier: Apache-2.0
"""Selects the flagged rows of a table."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives.staging import tiered
from ._column import Array, Column
from ._defer import defer_positions, defer_rows, may_defer_rows, selection_of
from ._host_column import rows_on_host
from ._layout import Layout
from ._selections import Selection
from ._table import Count, Table, as_count, is_row
from ._take import arrays_of, take_few_rows, with_arrays
from ._to_host import host_array
from ._tracing import at_once, is_traced

# Tables of at most so many rows keep their capacity: another program that counts the rows first
# would take longer than the padding.
MOST_PADDED = 4096


def filter_rows(table: Table, mask: Array | np.ndarray) -> Table:
    """Selects the flagged rows, in order. Flags of the host have the capacity, too."""
    selected = _filter_on_host(table, mask)
    if selected is not None:
        return selected
    if isinstance(mask, np.ndarray):
        mask = table.layout.place(mask)
    if table.layout.mesh is None and mask.shape[0] <= MOST_PADDED:
        arrays = arrays_of(table)
        if not is_traced(arrays, mask, table.num_rows):
            return _filter_padded(table, arrays, mask)
    known_count = _known_count(table, mask)
    capacity = (
        table.capacity if known_count is None else table.layout.capacity_for(int(known_count))
    )
    columns = (*table.columns, *table.index.stored)
    if table.layout.mesh is None and may_defer_rows(columns, mask, capacity):
        return _defer_filter(table, selection_of(mask, table.num_rows, capacity), known_count)
    wants_ids = table.index.is_range
    # Arrays on Explicit axes cannot be constants of a program traced off the mesh.
    keep = _keep if table.layout.is_explicit else functools.partial(at_once, _keep)
    rows, row_ids, count = keep(
        arrays_of(table), mask, table.num_rows, capacity, table.layout, wants_ids
    )
    return with_arrays(table, rows, row_ids, count if known_count is None else known_count)


def _filter_on_host(table: Table, mask: Array | np.ndarray) -> Table | None:
    """The flagged rows of few, on the host; None if it cannot."""
    if table.layout.mesh is not None or type(table.num_rows) is not np.int32:
        return None
    if isinstance(mask, np.ndarray):
        flags = mask
    else:
        rows = rows_on_host((Column(mask),))
        if rows is None:
            return None
        ((flags, _),) = rows
    positions = np.flatnonzero(flags[: table.num_rows]).astype(np.int32)
    # Programs that take the result need not be compiled for its number of rows.
    return take_few_rows(table, positions, len(flags) if len(flags) <= MOST_PADDED else None)


def _filter_padded(table: Table, arrays: object, mask: Array) -> Table:
    """The flagged rows of a small table, with its capacity."""
    wants_ids = table.index.is_range
    rows, row_ids, count = at_once(
        _keep, arrays, mask, table.num_rows, mask.shape[0], table.layout, wants_ids
    )
    return with_arrays(table, rows, row_ids, as_count(int(host_array(count))))


def _defer_filter(table: Table, selection: Selection, num_rows: Count) -> Table:
    """The rows of a selection, deferred."""
    columns = [*table.columns, *table.index.stored]
    selected = defer_rows(columns, selection, [""] * len(columns))
    num_columns = len(table.columns)
    if table.index.is_range:
        index = table.index.at_positions(defer_positions(selection))
    else:
        index = table.index.with_stored(selected[num_columns:])
    return table.replace(columns=selected[:num_columns], index=index, num_rows=num_rows)


def _known_count(table: Table, mask: Array) -> np.int32 | None:
    """The number of flagged rows, or None if traced."""
    if is_traced(mask, table.num_rows):
        return None
    return as_count(int(host_array(at_once(_count, mask, table.num_rows, table.layout))))


@functools.partial(tiered, static_argnums=2)
def _count(mask: Array, num_rows: Count, layout: Layout) -> Array:
    if not layout.sends_rows:
        return primitives.compact(mask, None, capacity=0, num_valid=num_rows).count
    return jnp.sum(mask & is_row(mask.shape[0], num_rows, layout), dtype=jnp.int32)


def _keep(
    rows: object, mask: Array, num_rows: Count, capacity: int, layout: Layout, wants_ids: bool
) -> tuple[Any, Array | None, Array]:
    has_rows = bool(jax.tree.leaves(rows))
    moved = rows if has_rows else None
    # Not jitted here: an eager call moves all columns in one pass.
    compact = primitives.local.compact
    if layout.mesh is not None:
        compact = functools.partial(primitives.compact, **layout.on_mesh)
    selected = compact(mask, moved, num_valid=num_rows, capacity=capacity, return_index=wants_ids)
    row_ids = selected.row_ids if wants_ids else None
    return selected.rows if has_rows else rows, row_ids, selected.count
