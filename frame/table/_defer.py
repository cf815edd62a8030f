# SPDX-License-Identifier: Apache-2.0
"""Operations that are deferred: selections of rows, maps of rows, and constants.

Each has conditions: many rows, on one device, outside `jit`, and arrays that only frames hold.
Otherwise the operation is computed at once.
"""

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
from jax.sharding import SingleDeviceSharding

from ...primitives.tiers._tiered import Tiered
from ...shardings._compat import is_under_trace
from ._array_owners import is_lasting, is_long, keeps_memory, source_of
from ._column import Array, Column
from ._deferred import DeferredColumn, force
from ._host_column import column_of, computed
from ._nodes import Constant, Map, RowFunction, Selected
from ._selections import WIDENED, Mask, Positions, Selection
from ._types import DtypeLike

# Fewer rows are selected at once, which takes little, unless they are far apart in a long source:
# 30,000 of 6M rows of 16 columns take 10 ms.
LEAST_SELECTED = 1 << 16
LONG_SOURCE = 1 << 20
# With fewer rows, an operation takes less time than to note it.
LEAST_MAPPED = 1 << 15
# Longer expressions are computed in parts: each has a program of its own to compile.
MOST_STEPS = 12


def may_defer_rows(columns: Sequence[Column], selected: Array, capacity: int) -> bool:
    """Whether a selection of rows of one device may be deferred, or must, because columns are.

    `selected` are its flags or positions. All arrays must be concrete, and outside a trace.
    """
    stored = [column.stored for column in columns]
    if capacity < LEAST_SELECTED and not [
        one for one in stored if one.node is not None or one.capacity >= LONG_SOURCE
    ]:
        return False
    if is_under_trace() or not is_lasting(selected):
        return False
    return all(column.node is not None or all(map(is_lasting, column.arrays)) for column in stored)


def selection_of(flags: Array, num_rows: object, capacity: int) -> Selection:
    """The flagged rows among the first `num_rows`: by position if they are few."""
    mask = Mask(flags, num_rows, capacity)
    # Each column that is forced later would take two passes over the mask.
    return Positions(mask.find_row_ids()) if is_long(mask.length, capacity) else mask


def defer_rows(
    columns: Sequence[Column], selection: Selection, kinds: Sequence[str]
) -> tuple[Column, ...]:
    """Selects rows of columns, and forces them if they are few."""
    force(())
    selected = [
        DeferredColumn(_rows_of(column.stored, selection, kind))
        for column, kind in zip(columns, kinds, strict=True)
    ]
    stored = _forced_if_small(selected)
    return tuple(column.with_stored(own) for column, own in zip(columns, stored, strict=True))


def defer_positions(selection: Selection) -> Column:
    """The positions of selected rows, as a column."""
    return _forced_if_small([DeferredColumn(Selected(None, selection))])[0]


def _rows_of(stored: Column, selection: Selection, kind: str) -> Selected:
    """A node of selected rows: of the source, if the column itself is deferred rows."""
    earlier = stored.node
    if not isinstance(earlier, Selected):
        return Selected(source_of(stored.forced()), selection, kind)
    if not kind or earlier.kind == WIDENED:
        kind = earlier.kind
    return Selected(earlier.source, selection.of(earlier.selection), kind)


def _forced_if_small(columns: Sequence[DeferredColumn]) -> list[Column]:
    force([column for column in columns if _is_small(column.node)])
    return [column if column.node is not None else column.forced() for column in columns]


def _is_small(node: Any) -> bool:
    """Whether selected rows are few, or would soon be orphans."""
    source = node.source
    few = node.capacity < LEAST_SELECTED and (
        source is None or source.column.capacity < LONG_SOURCE
    )
    return few or keeps_memory(node)


def may_defer_map(column: Column) -> bool:
    """Whether a column has enough rows to defer operations on it, outside a trace."""
    return column.capacity >= LEAST_MAPPED and not is_under_trace()


def defer_map(
    function: RowFunction, settings: tuple[Any, ...], operands: Sequence[Any], dtype: Any
) -> Column | None:
    """Defers an operation on columns of numbers or codes without masks, and on NumPy's scalars.

    Returns None if it must be computed at once: for few rows, traced or sharded arrays, those that
    a caller holds, and inside a trace.
    """
    columns = [operand for operand in operands if isinstance(operand, Column)]
    if not columns or not may_defer_map(columns[0]) or not all(map(_may_be_operand, operands)):
        return None
    capacity = columns[0].capacity
    if any(column.capacity != capacity for column in columns):
        # The operation raises for it.
        return None
    node = Map(function, settings, list(map(_operand, operands)), np.dtype(dtype), capacity)
    if node.num_steps > MOST_STEPS:
        force(columns)
        return defer_map(function, settings, operands, dtype)
    column = DeferredColumn(node)
    node.result = weakref.ref(column)
    return column


def map_rows(
    function: Tiered,
    settings: tuple[object, ...],
    operands: Sequence[object],
    dtype: DtypeLike,
) -> Column:
    """Applies an operation to columns without masks and scalars; deferred if possible."""
    deferred = defer_map(function, settings, operands, dtype)
    if deferred is not None:
        return deferred

    def arguments(arrays: Sequence[Any]) -> list[Any]:
        rows = iter(arrays)
        data = [next(rows)[0] if isinstance(one, Column) else one for one in operands]
        return [*settings, *data]

    columns = [one for one in operands if isinstance(one, Column)]
    return column_of(computed(function, columns, arguments))


def _may_be_operand(operand: object) -> bool:
    """Whether an operand is the same when an operation on it is computed later."""
    if not isinstance(operand, Column):
        return isinstance(operand, np.generic)
    if operand.stored is not operand or operand.valid is not None:
        return False
    return operand.node is not None or (
        is_lasting(operand.data) and isinstance(operand.data.sharding, SingleDeviceSharding)
    )


def _operand(operand: object) -> Any:
    """An operand of a map: a node, a deferred column of selected rows, or a scalar."""
    if not isinstance(operand, Column):
        return operand
    node = operand.node
    if node is None:
        return source_of(operand.forced())
    # Its rows are taken together with those of other columns.
    return operand if isinstance(node, Selected) else node


def defer_constant(value: np.generic, capacity: int) -> Column | None:
    """A column of equal numbers; None if it must be written: for few rows and inside a trace."""
    if capacity < LEAST_MAPPED or is_under_trace():
        return None
    return DeferredColumn(Constant(value, capacity))


def constant_of(column: Column) -> np.generic | None:
    """The number in all rows of a deferred constant; None for other columns."""
    return column.node.value if isinstance(column.node, Constant) else None
