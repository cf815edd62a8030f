# SPDX-License-Identifier: Apache-2.0
"""Expressions with reductions over all rows: a pass for the reductions, then one over the rows."""

from collections.abc import Callable, Mapping
from typing import Any

from ..plan._expression import Expression
from ..plan._methods import looks_up, reads_of
from ..plan._node import Call
from ..plan._relations import RELATIONS


def reductions_of(node: Call) -> list[Expression] | None:
    """The reductions in a call's expressions whose values make the call one of each row.

    None if there are none, or if the call needs more than these.
    """
    found: dict[int, Expression] = {}
    for expression in _expressions(node):
        if not _collect(expression, found):
            return None
    assigned = node.arguments["values"].keys() if node.method == "assign" else ()
    if len(assigned) > 1 and any(one.columns() & {*assigned} for one in found.values()):
        return None
    return list(found.values()) or None


def _expressions(node: Call) -> list[Expression]:
    arguments = node.arguments
    match node.method:
        case "filter":
            return [arguments["predicate"]]
        case "column":
            return [arguments["expression"]]
        case "assign":
            return [one for one in arguments["values"].values() if isinstance(one, Expression)]
        case _:
            return []


def _collect(expression: Expression, found: dict[int, Expression]) -> bool:
    """Adds the reductions of an expression; whether the rest depends on one row alone."""
    stack = [expression]
    while stack:
        part = stack.pop()
        reads = reads_of(part.function)
        if reads == "column":
            if not all(child.is_rowwise() for child in part.children):
                return False
            found[id(part)] = part
        elif part.is_rowwise():
            continue
        elif reads == "row" and not (looks_up(part.function) and len(part.children) > 1):
            stack.extend(part.children)
        else:
            return False
    return True


def is_reduction(node: Call) -> bool:
    """Whether a call is one reduction of an expression."""
    if node.method != "column":
        return False
    return reads_of(node.arguments["expression"].function) == "column"


def reduction_of_series(node: Call) -> Call | None:
    """A call of a function that reduces a series, as a call of the series' method."""
    arguments = node.arguments
    function: str = arguments.get("function", "")
    is_known = function in RELATIONS and reads_of(function) == "column"
    if not is_known or len(arguments["operands"]) > 1:
        return None
    return Call.of(function, node.inputs, arguments["keywords"]) if len(node.inputs) == 1 else None


def is_value(node: Call) -> bool:
    """Whether a call of an expression gives one value, once its reductions are known."""
    if node.method != "column":
        return False
    found: dict[int, Expression] = {}
    _collect(node.arguments["expression"], found)
    return not _filled(node.arguments["expression"], dict.fromkeys(found, 0)).columns()


def with_values(node: Call, values: Mapping[int, object]) -> Callable[[Any], Any]:
    """The call on a frame of some rows, given the values of its reductions by their identity."""
    arguments = {
        name: _filled(one, values) if isinstance(one, Expression) else one
        for name, one in node.arguments.items()
    }
    if node.method == "assign":
        arguments["values"] = {
            label: _filled(one, values) if isinstance(one, Expression) else one
            for label, one in arguments["values"].items()
        }
    return lambda frame: RELATIONS[node.method].run((frame,), arguments)


def _filled(expression: Expression, values: Mapping[int, object]) -> Any:
    """The expression with values in place of reductions."""

    def fill(part: Expression, results: dict[int, Any]) -> Any:
        return values[id(part)] if id(part) in values else part._rebuilt(results)

    return expression._rewritten(fill)
