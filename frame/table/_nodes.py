# SPDX-License-Identifier: Apache-2.0
"""Nodes of deferred columns: how their arrays are computed.

`Selected` takes or filters the rows of a source, `Map` computes each row by itself, `Constant`
repeats a number, and `Source` is a column in memory at the leaves. Nodes only describe:
`_deferred.force` computes them, and `_array_owners` decides how long they may keep their arrays.
Nodes are compared by identity.
"""

import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from ._column import NUMBER, Array, Column, ColumnType
from ._dtypes import wide
from ._selections import WIDENED, Selection

# A function of arrays and scalars that computes each row by itself. Defined at module level: it is
# static under `jit`, as its settings are.
RowFunction: TypeAlias = Callable[..., Array]


class Source:
    """A column in memory.

    Attributes:
        column: has the arrays of the owner, but is another object: the frames that have the owner
            may go while a node needs the arrays.
        owner: refers to the column of a frame that the arrays were taken from.
    """

    def __init__(self, owner: Column, note_gone: Callable[[object], None]):
        self.column = Column(owner.data, owner.valid, owner.type)
        self.owner = weakref.ref(owner, note_gone)


class Selected:
    """Rows of a source, or for None their positions in it; `kind` as in `take_arrays`."""

    def __init__(self, source: Source | None, selection: Selection, kind: str = ""):
        self.source, self.selection, self.kind = source, selection, kind
        self.type: ColumnType = NUMBER
        self.dtype, self.has_mask = np.dtype(np.int32), False
        if source is not None:
            column = source.column
            self.type, self.dtype = column.type, column.dtype
            self.has_mask = column.valid is not None or kind == "mask"
        if kind == WIDENED:
            self.dtype, self.has_mask = wide(np.float64), False

    @property
    def capacity(self) -> int:
        """The number of selected rows, including padding."""
        return self.selection.capacity

    @property
    def source_length(self) -> int:
        """The number of rows of the source, including padding."""
        return self.selection.length if self.source is None else self.source.column.capacity


class Map:
    """A function of the rows of columns and scalars, which have no mask.

    Attributes:
        function: called with the settings, then with the operands.
        settings: its static arguments.
        operands: nodes, deferred columns of selected rows, and scalars.
        num_steps: the number of functions of the expression, with those of the operands.
        result: refers to the deferred column of this node.
    """

    type: ColumnType = NUMBER
    has_mask: bool = False

    def __init__(
        self,
        function: RowFunction,
        settings: tuple[Any, ...],
        operands: Sequence[object],
        dtype: np.dtype,
        capacity: int,
    ):
        self.function, self.settings = function, settings
        self.operands: tuple[Any, ...] = tuple(operands)
        self.dtype, self.capacity = dtype, capacity
        self.num_steps: int = 1 + sum(
            operand.num_steps for operand in operands if isinstance(operand, (Map, Constant))
        )
        self.result: weakref.ref[Column] | None = None

    def forced_result(self) -> Column | None:
        """The column of this node if it is held and forced."""
        column = None if self.result is None else self.result()
        return column if column is not None and column.node is None else None

    @property
    def is_wanted(self) -> bool:
        """Whether the column of this node is held and deferred."""
        column = None if self.result is None else self.result()
        return column is not None and column.node is self

    def columns(self) -> Iterator[Column]:
        """The columns that the expression reads."""
        for operand in self.operands:
            if isinstance(operand, Map):
                yield from operand.columns()
            elif isinstance(operand, (Source, Column)):
                yield operand.column if isinstance(operand, Source) else operand


class Constant:
    """A number of NumPy in each row."""

    type: ColumnType = NUMBER
    has_mask: bool = False
    num_steps: int = 1

    def __init__(self, value: np.generic, capacity: int):
        self.value, self.capacity = value, capacity
        self.dtype = np.dtype(value.dtype)


Node: TypeAlias = Selected | Map | Constant
