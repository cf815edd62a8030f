# SPDX-License-Identifier: Apache-2.0
"""Selects the flagged rows of a table."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ._column import Array
from ._layout import Layout
from ._table import Count, Table, as_count, is_row
from ._take import Rows, rows_of, with_rows
from ._tracing import at_once, is_traced


def filter_rows(table: Table, mask: Array) -> Table:
    """Keeps the rows that a mask flags, in their order."""
    known = _known_count(table, mask)
    capacity = table.capacity if known is None else table.layout.capacity_for(int(known))
    wants_ids = table.index.is_range
    arrays = rows_of(table)
    # A compiled function may not use every column, and need not move it then.
    one_pass = known is not None and not is_traced(arrays)
    # What lies on Explicit axes is no constant of a program, unless it is traced on the mesh.
    keep = _keep if table.layout.is_explicit else functools.partial(at_once, _keep)
    rows, row_ids, count = keep(
        arrays, mask, table.num_rows, capacity, table.layout, wants_ids, one_pass
    )
    return with_rows(table, rows, row_ids, count if known is None else known)


def _known_count(table: Table, mask: Array) -> np.int32 | None:
    """How many rows a mask flags, where the host can know."""
    if is_traced(mask, table.num_rows):
        return None
    return as_count(int(at_once(_count, mask, table.num_rows, table.layout)))


@functools.partial(jax.jit, static_argnums=2)
def _count(mask: Array, num_rows: Count, layout: Layout) -> Array:
    if layout.mesh is None:
        return primitives.compact(mask, None, capacity=0, num_valid=num_rows).count
    return jnp.sum(mask & is_row(mask.shape[0], num_rows, layout), dtype=jnp.int32)


@functools.partial(jax.jit, static_argnums=(3, 4, 5, 6))
def _keep(
    rows: Rows,
    mask: Array,
    num_rows: Count,
    capacity: int,
    layout: Layout,
    wants_ids: bool,
    one_pass: bool,
) -> tuple[Rows, Array | None, Array]:
    if layout.mesh is None:
        select = functools.partial(primitives.compact, num_valid=num_rows, one_pass=one_pass)
    else:
        mask = mask & is_row(mask.shape[0], num_rows, layout)
        select = functools.partial(primitives.compact, **layout.on_mesh)
    has_rows = bool(jax.tree.leaves(rows))
    selected = select(mask, rows if has_rows else None, capacity=capacity, return_index=wants_ids)
    kept, row_ids = selected.rows if wants_ids else (selected.rows, None)
    return kept if has_rows else rows, row_ids, selected.count
