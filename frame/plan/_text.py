# SPDX-License-Identifier: Apache-2.0
"""The text of an expression: the code that records it."""

from collections.abc import Mapping
from dataclasses import dataclass

from ._methods import ACCESSORS, ATOM, METHODS, OPERATORS, UNARY_OPERATORS
from ._operands import literal_text
from ._tree import LEAVES, Tree


def text_of(tree: Tree) -> str:
    """Python code for an expression, with as few parentheses as possible."""
    return tree._rewritten(_part_text).text


@dataclass(frozen=True, slots=True)
class _Text:
    """The text of an expression, and how tightly its outermost operator binds."""

    text: str
    precedence: int = ATOM

    def within(self, precedence: int) -> str:
        """The text as an operand, in parentheses if it binds less tightly."""
        return self.text if self.precedence >= precedence else f"({self.text})"


def _part_text(node: Tree, texts: Mapping[int, _Text]) -> _Text:
    def text_of(operand: object) -> _Text:
        if isinstance(operand, Tree):
            return texts[id(operand)]
        text = literal_text(operand)
        return _Text(text, UNARY_OPERATORS["neg"].precedence if text.startswith("-") else ATOM)

    function = node.function
    if function in OPERATORS:
        precedence = OPERATORS[function].precedence
        left, right = map(text_of, node.operands)
        # A power groups from the right, other operators from the left, comparisons not at all.
        is_comparison = precedence == OPERATORS["=="].precedence
        left_least = precedence + (function == "**" or is_comparison)
        right_least = precedence + (function != "**")
        text = f"{left.within(left_least)} {function} {right.within(right_least)}"
        return _Text(text, precedence)
    if function in UNARY_OPERATORS:
        symbol = {"neg": "-", "pos": "+"}.get(function, function)
        precedence = UNARY_OPERATORS[function].precedence
        return _Text(f"{symbol}{text_of(node.operands[0]).within(precedence)}", precedence)
    keywords = [f"{name}={text_of(value).text}" for name, value in node.keywords]
    arguments = ", ".join([*(text_of(operand).text for operand in node.operands), *keywords])
    if function == "list":
        return _Text(f"[{arguments}]")
    if function in LEAVES or function.startswith("np."):
        return _Text(f"{function}({arguments})")
    target, *others = node.operands
    arguments = ", ".join([*(text_of(operand).text for operand in others), *keywords])
    namespace, _, name = function.rpartition(".")
    path = f"{namespace}.{name}" if namespace in ACCESSORS else name
    is_attribute = function in METHODS and METHODS[function].is_attribute
    called = "" if is_attribute else f"({arguments})"
    return _Text(f"{text_of(target).within(ATOM)}.{path}{called}")
