# SPDX-License-Identifier: Apache-2.0
"""Tables that `jit` returns: masks become pandas' dtypes, now that the values are known."""

import jax

from ._column import Column
from ._table import Table
from ._take import settled
from ._tracing import is_traced


def without_masks(table: Table) -> Table:
    """A table whose concrete integers have no mask, and whose bools have one if a value is missing.

    Inside `jit`, integers and bools that may have missing values have a mask. Outside, such
    integers are float64 if a value is missing; see `settled`.
    """
    if not isinstance(table, Table) or is_traced(table.num_rows):
        return table
    columns = (*table.columns, *table.index.stored)
    decided = tuple(_decided(column, table) for column in columns)
    if all(new is old for new, old in zip(decided, columns, strict=True)):
        return table
    return table.with_stored(decided)


def _decided(column: Column, table: Table) -> Column:
    # A column was deferred outside jit. Leaves of a tree may be anything.
    if not isinstance(column, Column) or column.stored.node is not None:
        return column
    valid, data = column.valid, column.data
    if not isinstance(valid, jax.Array) or not isinstance(data, jax.Array):
        return column
    if is_traced(valid, data) or valid.ndim != 1 or valid.is_deleted() or data.is_deleted():
        return column
    return settled(column, table.num_rows)
