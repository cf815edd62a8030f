# SPDX-License-Identifier: Apache-2.0
"""Sorts the rows of a table by keys."""

import functools
from collections.abc import Sequence
from typing import Any

import jax

from ... import primitives
from ...primitives.staging import tiered
from ._column import Array
from ._layout import Layout
from ._table import Count, Table
from ._take import arrays_of, position, with_arrays


def sort_rows(table: Table, keys: Sequence[tuple[Array, bool]]) -> Table:
    """Sorts rows stably by keys, each with its direction."""
    if not keys:
        return table
    descending = tuple(is_descending for _, is_descending in keys)
    columns = tuple(key for key, _ in keys)
    rows, structure = jax.tree.flatten(arrays_of(table))
    # A column that is itself the key comes back sorted, so it is not also moved as a value.
    positions = [position for position, leaf in enumerate(rows) if leaf is columns[0]]
    key_position = positions[0] if len(keys) == 1 and positions else None
    if key_position is not None:
        del rows[key_position]
    sorted_key, rows, row_ids = _sort(
        tuple(rows),
        columns,
        table.num_rows,
        descending,
        table.layout,
        table.index.is_range,
        key_position is not None,
    )
    rows = list(rows)
    if key_position is not None:
        rows.insert(key_position, sorted_key)
    return with_arrays(table, jax.tree.unflatten(structure, rows), row_ids, table.num_rows)


@functools.partial(tiered, static_argnums=(3, 4, 5, 6))
def _sort(
    rows: tuple[Array, ...],
    keys: tuple[Array, ...],
    num_rows: Count,
    descending: tuple[bool, ...],
    layout: Layout,
    wants_ids: bool,
    wants_key: bool,
) -> tuple[Any, tuple[Array, ...], Array | None]:
    row_ids = position(keys[0].shape[0], layout) if wants_ids else None
    sorted_keys, (rows, row_ids) = primitives.radix_sort(
        keys, values=(rows, row_ids), descending=descending, num_valid=num_rows, **layout.on_mesh
    )
    return sorted_keys[0] if wants_key else None, rows, row_ids


def argsort_rows(keys: Sequence[tuple[Array, bool]], num_rows: Count, layout: Layout) -> Array:
    """Row ids in the order of the keys, padding last."""
    descending = tuple(is_descending for _, is_descending in keys)
    return _argsort(tuple(key for key, _ in keys), num_rows, descending, layout)


@functools.partial(tiered, static_argnums=(2, 3))
def _argsort(
    keys: tuple[Array, ...], num_rows: Count, descending: tuple[bool, ...], layout: Layout
) -> Array:
    return primitives.radix_argsort(
        keys, descending=descending, num_valid=num_rows, **layout.on_mesh
    )
