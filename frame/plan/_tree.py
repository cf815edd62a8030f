# SPDX-License-Identifier: Apache-2.0
"""Recorded calls as a tree: its parts, the columns that it reads, and its key."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from ._methods import BY_VALUES, Reads, looks_up, reads_of
from ._operands import literal_key

# Functions without operands, whose argument names a column or an index level.
LEAVES = ("col", "index")


def inputs_first(
    root: Any, inputs: Callable[[Any], Sequence[Any]], key: Callable[[Any], Hashable]
) -> Iterator[Any]:
    """Each node of a graph once, after its inputs; nodes of one key are one."""
    seen: set[Hashable] = set()
    stack = [(root, False)]
    while stack:
        node, is_last_visit = stack.pop()
        if is_last_visit:
            yield node
        elif key(node) not in seen:
            seen.add(key(node))
            stack.append((node, True))
            stack.extend((one, False) for one in reversed(inputs(node)))


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Tree:
    """A recorded call: a function, and operands that may be recorded calls too. Immutable."""

    function: str
    operands: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...] = ()

    @property
    def children(self) -> tuple[Any, ...]:
        """The operands that are expressions, in order."""
        values = (*self.operands, *(value for _, value in self.keywords))
        return tuple(value for value in values if isinstance(value, Tree))

    def columns(self) -> frozenset[Hashable]:
        """The labels of all columns that the expression reads."""
        return frozenset(node.operands[0] for node in self._bottom_up() if node.function == "col")

    @property
    def name(self) -> Hashable:
        """The label that `alias` gave, or that of the leftmost column."""
        node = self
        while node.function != "alias" and node.children:
            node = node.children[0]
        return node.operands[-1]

    def is_rowwise(self) -> bool:
        """Whether each row of the result depends on the same row of the columns alone."""
        return all(_reads(node) == "row" for node in self._bottom_up())

    def may_widen(self) -> bool:
        """Whether values may decide a dtype within the expression; see `BY_VALUES`."""
        parts = (node.function for node in self._bottom_up())
        return any(one in BY_VALUES or reads_of(one) == "rows" for one in parts)

    def key(self) -> Hashable:
        """A hashable key, equal for expressions that are structurally equal.

        `==` records a comparison, so it does not compare expressions.

        Raises:
            TypeError: an operand is traced.
        """
        # Equal subexpressions have one number, so the key is as short as a graph.
        numbers: dict[Hashable, int] = {}
        of_node: dict[int, int] = {}

        def operand_key(value: object) -> Hashable:
            if isinstance(value, Tree):
                return Tree, of_node[id(value)]
            return literal_key(value)

        for node in self._bottom_up():
            if node.function in (*LEAVES, "alias"):
                *target, label = node.operands
                key: Hashable = (node.function, *map(operand_key, target), type(label), label)
            else:
                key = (
                    node.function,
                    *map(operand_key, node.operands),
                    *((name, operand_key(value)) for name, value in node.keywords),
                )
            of_node[id(node)] = numbers.setdefault(key, len(numbers))
        return tuple(numbers)

    def _bottom_up(self) -> Iterator[Self]:
        """Each subexpression once, after its operands."""
        return inputs_first(self, lambda node: node.children, id)

    def _rewritten(self, change: Callable[[Self, dict[int, Any]], Any]) -> Any:
        """The result of a change of each subexpression, after its operands.

        `change` gets the subexpression, and by identity the results of those before it.
        """
        results: dict[int, Any] = {}
        for part in self._bottom_up():
            results[id(part)] = change(part, results)
        return results[id(self)]

    def _filled(self, values: Mapping[int, object]) -> tuple[list[Any], dict[str, Any]]:
        """Operands and keywords, with values in place of the expressions."""

        def fill(operand: object) -> Any:
            return values[id(operand)] if isinstance(operand, Tree) else operand

        keywords = {name: fill(value) for name, value in self.keywords}
        return [fill(operand) for operand in self.operands], keywords

    def _rebuilt(self, values: Mapping[int, object]) -> Self:
        """The same call of other operands, by the identity of its own; itself if none changes."""
        if all(values[id(child)] is child for child in self.children):
            return self
        operands, keywords = self._filled(values)
        return type(self)(self.function, tuple(operands), tuple(keywords.items()))


def _reads(node: Tree) -> Reads:
    """The rows that one row of the result depends on, given the rows of the operands."""
    operands, keywords = node.operands, dict(node.keywords)
    match node.function:
        case "astype" if "category" in map(str, (*operands[1:], *keywords.values())):
            # The categories are the distinct values of the column.
            return "rows"
        case function if looks_up(function) and len(node.children) > 1:
            # The values of other rows are looked up.
            return "rows"
        case "str.cat" if len(operands) < 2 and "others" not in keywords:
            return "column"
        case "index":
            # A filter changes the labels of a range.
            return "rows"
        case function:
            return reads_of(function)
