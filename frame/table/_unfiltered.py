# SPDX-License-Identifier: Apache-2.0
"""Columns of filtered rows over all rows of their source, beside the mask of the filter.

An operation that heeds a mask, such as a sum by key, need not force filtered columns. If a mask
selects most rows, reading the others takes less time than to take the rows of a column.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...shardings._compat import is_under_trace
from ._column import Array, Column
from ._defer import defer_constant, defer_map
from ._deferred import force
from ._nodes import Constant, Map, Selected, Source
from ._selections import Mask
from ._table import Count

# The share of rows that a mask must select: to take 6M rows of a column takes 8 ms, to add them up
# by key 12.
LEAST_SHARE = 0.75


class Unfiltered(NamedTuple):
    """Columns over all rows, the flags of selected rows, and the number of all rows."""

    columns: tuple[Column, ...]
    flags: Array
    num_rows: Count


def unfiltered(columns: Sequence[Column], num_rows: Count) -> Unfiltered | None:
    """The columns of `num_rows` rows that a mask selects, over all rows.

    Expressions of selected columns are computed for all rows. Returns None if the columns are
    forced, if they come from different selections, if a mask selects few rows, and if they were
    read this way before: to force them then saves the time of a third pass.
    """
    if not columns or is_under_trace() or any(column.stored is not column for column in columns):
        return None
    mask = _mask_of(columns[0])
    if mask is None or mask.was_read_in_place or num_rows < LEAST_SHARE * mask.length:
        return None
    known: dict[int, Any] = {}
    everywhere = [_everywhere(column, mask, known) for column in columns]
    if any(column is None for column in everywhere):
        return None
    mask.was_read_in_place = True
    force(everywhere)
    return Unfiltered(tuple(everywhere), mask.flags, mask.num_rows)


def _mask_of(operand: object) -> Mask | None:
    """The mask of a column's node, or of the first column of its expression."""
    node = operand.node if isinstance(operand, Column) else operand
    if isinstance(node, Selected):
        return node.selection if isinstance(node.selection, Mask) else None
    if isinstance(node, Map):
        return next((one for one in map(_mask_of, node.operands) if one is not None), None)
    return None


def _everywhere(operand: object, mask: Mask, known: dict[int, Any]) -> Any:
    """An operand over all rows: a column or a scalar; None if there is no such column."""
    match operand:
        case Column():
            return None if operand.node is None else _everywhere(operand.node, mask, known)
        case Selected(source=Source(column=column), selection=selection):
            # A mask leaves no holes, so the rows are those of the source.
            return column if selection is mask else None
        case Constant():
            return defer_constant(operand.value, mask.length)
        case Map():
            if id(operand) not in known:
                known[id(operand)] = _map_everywhere(operand, mask, known)
            return known[id(operand)]
        case Source() | Selected():
            return None
    return operand


def _map_everywhere(node: Map, mask: Mask, known: dict[int, Any]) -> Column | None:
    # A forced part has its own rows alone.
    if node.forced_result() is not None:
        return None
    operands = [_everywhere(operand, mask, known) for operand in node.operands]
    if any(operand is None for operand in operands):
        return None
    return defer_map(node.function, node.settings, operands, node.dtype)
