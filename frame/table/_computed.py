# SPDX-License-Identifier: Apache-2.0
"""Columns of row by row operations, which are computed together when the last one is read.

An expression such as `x * 2 + y > z` would write a column for each operation, and read it again.
Outside `jit`, on one device, an operation on many rows therefore only notes what it would compute.
The first read of a column computes its whole expression in one compiled call, in one pass over the
columns at its leaves.

The results are those of the operations one by one, to the last bit. A constant column waits as
well.
"""

import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import SingleDeviceSharding

from ...primitives.staging import tiered
from ._column import Array, Column
from ._tracing import is_under_trace
from ._unmoved import (
    Selection,
    UnmovedColumn,
    is_lasting,
    is_waiting,
    move_together,
    note_orphan,
)

# With fewer rows, an operation takes less time than to note it.
LEAST_POSTPONED = 1 << 15
# Longer expressions are computed in parts: each has a program of its own to compile.
MOST_STEPS = 12

# A function of arrays and scalars that computes each row by itself. Defined at module level: it is
# static under `jit`, as its settings are.
RowFunction = Callable[..., Array]


class Step(NamedTuple):
    """An operation of an expression. Static under `jit`.

    Attributes:
        function: called with the settings, then with the operands.
        settings: its static arguments.
        operands: the positions of its operands among the leaves, or `~position` among the steps.
    """

    function: RowFunction
    settings: tuple[Any, ...]
    operands: tuple[int, ...]


class Computed(Selection):
    """All rows of the result of an operation. Compared by identity."""

    can_compose = False

    def __init__(
        self,
        function: RowFunction,
        settings: tuple[Any, ...],
        operands: Sequence[Any],
        dtype: np.dtype,
        capacity: int,
    ):
        super().__init__(capacity)
        self.dtype = dtype
        self.function, self.settings = function, settings
        # Other results, columns, and scalars.
        self.operands: tuple[Any, ...] = tuple(operands)
        self.num_steps = 1 + sum(
            operand.num_steps for operand in operands if isinstance(operand, Computed)
        )
        self.result: weakref.ref[UnmovedColumn] | None = None
        self._owners: list[weakref.ref[Column]] = []

    def watch(self, owner: Column) -> None:
        """Computes the result soon after a column at a leaf is gone, to free its memory."""
        self._owners.append(weakref.ref(owner, note_orphan))

    @property
    def is_orphaned(self) -> bool:
        """Whether a column at a leaf is gone, whose array stays in memory for this result."""
        return any(owner() is None for owner in self._owners) or any(
            operand.is_orphaned for operand in self.operands if isinstance(operand, Computed)
        )

    def reads(self, arrays: frozenset[int]) -> bool:
        """Whether it still reads an array, by `id`."""
        return any(
            operand.reads(arrays)
            if isinstance(operand, Computed)
            else isinstance(operand, Column) and _reads_of(operand, arrays)
            for operand in self.operands
        )

    @property
    def is_made(self) -> bool:
        """Whether the result is held and computed."""
        column = None if self.result is None else self.result()
        return column is not None and not is_waiting(column)

    def _waiting_leaves(self) -> list[UnmovedColumn]:
        """The selected rows that the expression reads."""
        leaves = []
        for operand in self.operands:
            if isinstance(operand, Computed):
                leaves += operand._waiting_leaves()
            elif isinstance(operand, UnmovedColumn):
                leaves.append(operand)
        return leaves

    def made(self) -> Array:
        """Computes the rows, and those of other results of the expression that are still held."""
        move_together(self._waiting_leaves())
        steps, leaves, results = _steps_of(self)
        held = list(map(_waiting_result, results[:-1]))
        outputs = tuple(number for number, column in enumerate(held) if column is not None)
        *others, own = _computed(leaves, _ZERO, tuple(steps), (*outputs, len(steps) - 1))
        for number, data in zip(outputs, others, strict=True):
            column = held[number]
            assert column is not None
            column.settle(data)
        return own


def _reads_of(column: Column, arrays: frozenset[int]) -> bool:
    if isinstance(column, UnmovedColumn):
        return column.reads(arrays)
    return any(id(array) in arrays for array in column.arrays if array is not None)


def _waiting_result(node: Computed) -> UnmovedColumn | None:
    """The column of a result, if it is held and waits."""
    column = None if node.result is None else node.result()
    return column if column is not None and is_waiting(column) else None


def _steps_of(root: Computed) -> tuple[list[Step], list[Any], list[Computed]]:
    """The steps of an expression in order, its leaves, and the result of each step."""
    steps: list[Step] = []
    results: list[Computed] = []
    leaves: list[Any] = []
    numbers: dict[int, int] = {}

    def leaf(value: Any) -> int:
        # Equal scalars are different leaves: the program must not depend on their values.
        if id(value) not in numbers:
            numbers[id(value)] = len(leaves)
            leaves.append(value)
        return numbers[id(value)]

    def visit(node: Any) -> int:
        if not isinstance(node, Computed):
            return leaf(node.data if isinstance(node, Column) else node)
        column = None if node.result is None else node.result()
        if node is not root and column is not None and not is_waiting(column):
            return leaf(column.data)
        if id(node) not in numbers:
            operands = tuple(map(visit, node.operands))
            numbers[id(node)] = ~len(steps)
            steps.append(Step(node.function, node.settings, operands))
            results.append(node)
        return numbers[id(node)]

    visit(root)
    return steps, leaves, results


# Zero, as an argument: no compiler knows it.
_ZERO = np.uint32(0)


@functools.partial(tiered, static_argnums=(2, 3))
def _computed(
    leaves: list[Any], zero: Array, steps: tuple[Step, ...], outputs: tuple[int, ...]
) -> tuple[Array, ...]:
    results: list[Array] = []
    for step in steps:
        operands = [
            leaves[number] if number >= 0 else _rounded(results[~number], zero)
            for number in step.operands
        ]
        results.append(step.function(*step.settings, *operands))
    return tuple(results[number] for number in outputs)


def _rounded(x: Array, zero: Array) -> Array:
    """The same numbers, each of which is rounded before the next operation.

    XLA would contract a product and a sum to one operation, and join quotients. It cannot while
    the bits between them could change.
    """
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return x
    bits = jax.lax.bitcast_convert_type(x, jnp.dtype(f"uint{8 * x.dtype.itemsize}"))
    return jax.lax.bitcast_convert_type(bits ^ zero.astype(bits.dtype), x.dtype)


def postponed(
    function: RowFunction, settings: tuple[Any, ...], operands: Sequence[Any], dtype: Any
) -> Column | None:
    """Notes an operation on columns of numbers or codes without masks, and on NumPy's scalars.

    Returns None if it must be computed at once: for few rows, traced or sharded arrays, those that
    a caller holds, and inside a trace.
    """
    columns = [operand for operand in operands if isinstance(operand, Column)]
    if not columns or not may_postpone(columns[0]) or not all(map(_may_wait, operands)):
        return None
    if len({column.capacity for column in columns}) > 1:
        # The operation raises for it.
        return None
    nodes, owners = [], []
    for operand in operands:
        node, owner = _node_of(operand)
        nodes.append(node)
        owners += [] if owner is None else [owner]
    computed = Computed(function, settings, nodes, np.dtype(dtype), columns[0].capacity)
    if computed.num_steps > MOST_STEPS:
        move_together(columns)
        return postponed(function, settings, operands, dtype)
    for owner in owners:
        computed.watch(owner)
    column = UnmovedColumn(None, computed)
    computed.result = weakref.ref(column)
    return column


def postponed_constant(value: np.generic, capacity: int) -> Column | None:
    """A column of equal numbers, written when it is read; None for few rows and inside a trace."""
    if capacity < LEAST_POSTPONED or is_under_trace():
        return None
    dtype = np.dtype(value.dtype)
    return UnmovedColumn(None, Computed(_repeated, (capacity,), (value,), dtype, capacity))


def _repeated(capacity: int, value: Array) -> Array:
    return jnp.broadcast_to(value, (capacity,))


def constant_of(column: Column) -> np.generic | None:
    """The number in all rows of a constant column that waits; None for other columns."""
    operation = operation_of(column)
    return operation.operands[0] if operation and operation.function is _repeated else None


def operation_of(column: Column) -> Computed | None:
    """The operation whose result a column is, while it waits; None for other columns."""
    waiting = column.waiting if isinstance(column, UnmovedColumn) else None
    if waiting is None or waiting[0] is not None or not isinstance(waiting[1], Computed):
        return None
    return waiting[1]


def may_postpone(column: Column) -> bool:
    """Whether operations on a column are worth to be computed later."""
    return column.capacity >= LEAST_POSTPONED and not is_under_trace()


def _may_wait(operand: Any) -> bool:
    """Whether an operand is the same when an operation on it is computed later."""
    if not isinstance(operand, Column):
        return isinstance(operand, np.generic)
    stored = operand.stored
    if stored is not operand or operand.valid is not None:
        return False
    return is_waiting(operand) or (
        is_lasting(operand.data) and isinstance(operand.data.sharding, SingleDeviceSharding)
    )


def _node_of(operand: Any) -> tuple[Any, Column | None]:
    """An operand of `Computed`, and the column that owns its array."""
    if not isinstance(operand, Column):
        return operand, None
    if isinstance(operand, UnmovedColumn):
        waiting = operand.waiting
        if waiting is not None:
            node = waiting[1] if waiting[0] is None and not waiting[1].can_compose else operand
            return node, None
        operand = operand.in_place
    return Column(operand.data, None, operand.type), operand
