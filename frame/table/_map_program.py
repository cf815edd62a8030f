# SPDX-License-Identifier: Apache-2.0
"""Compiled calls of expressions: the maps of deferred columns in one pass over their leaves.

An expression such as `x * 2 + y > z` would write a column for each operation, and read it again.
One compiled call computes it, and with it the parts whose columns are still held. The results are
those of the operations one by one, to the last bit.
"""

import functools
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ...primitives.staging import tiered
from ...primitives.tiers._rounding import rounded
from ._column import Array, Column
from ._nodes import Constant, Map, RowFunction, Source


class Operation(NamedTuple):
    """An operation of an expression. Static under `jit`.

    Attributes:
        function: called with the settings, then with the operands.
        settings: its static arguments.
        operands: the positions of its operands among the leaves, or `~position` among the
            operations.
    """

    function: RowFunction
    settings: tuple[Any, ...]
    operands: tuple[int, ...]


def compute(root: Map | Constant) -> list[tuple[Any, Array]]:
    """Computes the rows of a node.

    Returns:
        The nodes and their rows, the root last: also the parts of the expression whose columns are
        held and deferred. The columns of selected rows that it reads must be forced.
    """
    operations, leaves, nodes = _operations_of(root)
    last = len(nodes) - 1
    outputs = tuple(
        number
        for number, node in enumerate(nodes)
        if number == last or (isinstance(node, Map) and node.is_wanted)
    )
    results = _computed(leaves, ZERO, tuple(operations), outputs)
    return [(nodes[number], data) for number, data in zip(outputs, results, strict=True)]


def _operations_of(root: Map | Constant) -> tuple[list[Operation], list[Any], list[Any]]:
    """The operations of an expression in order, its leaves, and the node of each operation."""
    operations: list[Operation] = []
    nodes: list[Any] = []
    leaves: list[Any] = []
    numbers: dict[int, int] = {}

    def leaf(value: object) -> int:
        # Equal scalars are different leaves: the program must not depend on their values.
        if id(value) not in numbers:
            numbers[id(value)] = len(leaves)
            leaves.append(value)
        return numbers[id(value)]

    def operation(node: Map | Constant, *parts: Any) -> int:
        numbers[id(node)] = ~len(operations)
        operations.append(Operation(*parts))
        nodes.append(node)
        return numbers[id(node)]

    def visit(node: object) -> int:
        if isinstance(node, Source):
            return leaf(node.column.data)
        if isinstance(node, Column):
            return leaf(node.data)
        if id(node) in numbers or not isinstance(node, (Map, Constant)):
            return leaf(node)
        if isinstance(node, Constant):
            return operation(node, _repeated, (node.capacity,), (leaf(node.value),))
        column = None if node is root else node.forced_result()
        if column is not None:
            return leaf(column.data)
        return operation(node, node.function, node.settings, tuple(map(visit, node.operands)))

    visit(root)
    return operations, leaves, nodes


def _repeated(capacity: int, value: Array) -> Array:
    return jnp.broadcast_to(value, (capacity,))


# Zero, as an argument: no compiler knows it.
ZERO = np.uint32(0)


@functools.partial(tiered, static_argnums=(2, 3))
def _computed(
    leaves: list[object], zero: Array, operations: tuple[Operation, ...], outputs: tuple[int, ...]
) -> tuple[Array, ...]:
    results: list[Array] = []
    for one in operations:
        operands = [
            leaves[number] if number >= 0 else rounded(results[~number], zero)
            for number in one.operands
        ]
        results.append(one.function(*one.settings, *operands))
    return tuple(results[number] for number in outputs)
