# SPDX-License-Identifier: Apache-2.0
"""Deferred columns: columns whose arrays are computed when they are forced.

Queries select rows of tables with many columns and read few of them, and expressions would write
a column for each operation. Outside `jit`, on one device, a column of many rows is therefore a node
that tells how to compute it, until an operation needs its arrays; see the README of this folder.
"""

from collections.abc import Sequence

import numpy as np

from ._array_owners import are_any_deferred, orphans, readers, unwatch, watch
from ._column import Array, Column
from ._host_column import place_together
from ._map_program import compute
from ._nodes import Constant, Map, Node, Selected
from ._selections import Selection
from ._table import Table
from ._tracing import at_once

_PLAIN = frozenset((Column,))


class DeferredColumn(Column):
    """A column whose arrays are computed by `force`, or when `data` or `valid` is first read.

    No pytree: a frame that is flattened forces its columns.
    """

    # Either is None.
    node: Node | None  # pyright: ignore[reportIncompatibleVariableOverride]
    _forced: Column | None
    # What is known of the column before it is forced.
    _dtype: np.dtype
    _has_mask: bool
    _capacity: int

    def __init__(self, node: Node):
        fields = self.__dict__
        fields["type"], fields["_dtype"] = node.type, node.dtype
        fields["_has_mask"], fields["_capacity"] = node.has_mask, node.capacity
        fields["node"], fields["_forced"] = node, None
        watch(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def fill(self, data: Array, valid: Array | None = None) -> None:
        """Ends the deferral with the arrays."""
        # In this order: other threads read them meanwhile.
        self.__dict__["_forced"] = Column(data, valid, self.type)
        self.__dict__["node"] = None
        unwatch(self)

    def forced(self) -> Column:
        """The column with its arrays."""
        if self._forced is None:
            force((self,))
        assert self._forced is not None
        return self._forced

    @property
    def data(self) -> Array:  # pyright: ignore[reportIncompatibleVariableOverride]
        """One value per row. Forces the column."""
        return self.forced().data

    @property
    def valid(self) -> Array | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The rows with a value; see `Column`. Forces a column that has a mask."""
        return self.forced().valid if self._has_mask else None

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the array."""
        return self._dtype

    @property
    def capacity(self) -> int:
        """The number of rows, including padding."""
        return self._capacity


def force(columns: Sequence[Column]) -> None:
    """Computes the arrays of deferred columns, those of one selection in one pass.

    Also forces orphans; see `_array_owners`.
    """
    selected: dict[Selection, list[tuple[DeferredColumn, Selected]]] = {}
    maps: list[tuple[DeferredColumn, Map | Constant]] = []
    for column in (*orphans(), *columns):
        if type(column) is Column:
            continue
        stored = column.stored
        if not isinstance(stored, DeferredColumn):
            continue
        # Read once: another thread may force the column meanwhile.
        node = stored.node
        if isinstance(node, Selected):
            selected.setdefault(node.selection, []).append((stored, node))
        elif node is not None:
            maps.append((stored, node))
    for selection, members in selected.items():
        at_once(_select, selection, members)
    if len(maps) > 1:
        # The longest first: it also computes its parts whose columns are held.
        maps.sort(key=lambda one: -one[1].num_steps)
    for column, node in maps:
        if column.node is node:
            at_once(_evaluate, column, node)


def _select(selection: Selection, members: list[tuple[DeferredColumn, Selected]]) -> None:
    sources = [(one, node.source.column, node.kind) for one, node in members if node.source]
    finds_row_ids = len(sources) < len(members)
    if sources:
        arrays = tuple(source.arrays for _, source, _ in sources)
        kinds = tuple(kind for _, _, kind in sources)
        taken = selection.take(arrays, kinds, finds_row_ids=finds_row_ids)
        for (column, _, _), (data, valid) in zip(sources, taken, strict=True):
            column.fill(data, valid)
    if finds_row_ids:
        row_ids = selection.find_row_ids()
        for column, node in members:
            if not node.source:
                column.fill(row_ids)


def _evaluate(column: DeferredColumn, root: Map | Constant) -> None:
    if isinstance(root, Map):
        force(list(root.columns()))
    for node, data in compute(root):
        result = column if node is root else node.result()
        if result is not None:
            result.fill(data)


def forced_table(table: Table) -> Table:
    """The same table with its arrays, so that equal frames are equal pytrees.

    Also forces other columns that read arrays of the table: the caller may donate it.
    """
    try:
        columns = (*table.columns, *table.index.stored)
    except (AttributeError, TypeError):
        # A tree of this structure may have anything in place of columns, such as names or None.
        return table
    if _PLAIN.issuperset(map(type, columns)) and not are_any_deferred():
        return table
    if not all(isinstance(column, Column) for column in columns):
        return table
    force(columns)
    place_together([column.stored for column in columns])
    forced = tuple([column.forced() for column in columns])
    force_readers([*forced, *(inner for column in forced for inner in column.inner)])
    if all(new is old for new, old in zip(forced, columns, strict=True)):
        return table
    return table.with_stored(forced)


def force_readers(columns: Sequence[Column]) -> None:
    """Forces the deferred columns that read an array of these."""
    force(readers(columns))
