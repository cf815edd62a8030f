# SPDX-License-Identifier: Apache-2.0
"""Constant folding: operators on numbers alone are calculated once, while the plan is optimised."""

from collections.abc import Mapping
from typing import Any

from .._expression import Expression
from .._methods import OPERATORS, UNARY_OPERATORS
from .._node import Call, Node, rewritten


def fold_constants(root: Node) -> Node:
    """Replaces an operator whose operands are numbers of Python by its result.

    Proof obligation: evaluating the expression would have called the same operator of Python on
    the same numbers, because a column meets the result only. Nothing else is simplified: `x - x`
    is NaN for NaN and infinities, `x * 0` and `x + 0` depend on NaN and on the sign of zero, and
    `x * 1.0` changes the dtype of integers. An operator that raises stays, and raises when the
    plan runs.
    """

    def change(node: Node) -> Node:
        if not isinstance(node, Call):
            return node
        folded = {name: _folded(value) for name, value in node.arguments.items()}
        is_same = all(folded[name] is value for name, value in node.arguments.items())
        return node if is_same else node.with_arguments(**folded)

    return rewritten(root, change)


def _folded(value: object) -> Any:
    """An argument with folded expressions; the same object if there was nothing to fold."""
    if isinstance(value, Expression):
        return _folded_expression(value)
    if isinstance(value, dict):
        folded = {label: _folded(one) for label, one in value.items()}
        return value if all(folded[label] is one for label, one in value.items()) else folded
    return value


def _folded_expression(expression: Expression) -> Any:
    result = expression._rewritten(_folded_part)
    # A plan computes columns, so an expression without any stays.
    return result if isinstance(result, Expression) else expression


def _folded_part(part: Expression, results: Mapping[int, object]) -> Any:
    operands, _ = part._filled(results)
    operator = OPERATORS.get(part.function) or UNARY_OPERATORS.get(part.function)
    if operator is not None and all(type(one) in (int, float, bool) for one in operands):
        try:
            return operator.call(*operands)
        except (ArithmeticError, TypeError, ValueError):
            return part
    return part._rebuilt(results)
