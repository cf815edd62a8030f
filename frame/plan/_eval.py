# SPDX-License-Identifier: Apache-2.0
"""The function `eval`: expressions of variables, written as text."""

import ast
import functools
from collections import ChainMap
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from ..table._arguments import check_flag, no_inplace
from ..table._ndframe import FrameBase, NDFrame
from ..table._types import Options
from ._expression import Expression, col
from ._parse import CONSTANTS, Parser, parse
from ._query import multi_line, read_text, unassigned


class _ColumnOf(NamedTuple):
    """A column of a frame that a variable holds."""

    variable: str
    column: str


def eval(
    expr: str,
    parser: str = "pandas",
    engine: str | None = None,
    local_dict: Mapping[str, object] | None = None,
    global_dict: Mapping[str, object] | None = None,
    resolvers: Sequence[object] = (),
    level: int = 0,
    target: object = None,
    inplace: bool = False,
) -> Any:
    """Evaluates an expression of the caller's variables, written as text.

    Variables hold frames, series, scalars or lists. The text is parsed and never run as Python.
    Works inside `jit`.

    Args:
        expr: the text; with `target`, lines that assign columns.
        parser: must be "pandas".
        engine: ignored; accepted for compatibility.
        local_dict: the variables in place of the caller's local ones.
        global_dict: the variables in place of the caller's global ones.
        resolvers: must be empty.
        level: the number of callers between the variables and the call.
        target: the frame whose columns are assigned, in a copy.
        inplace: must be False.

    Differences from pandas:
        Only the methods that expressions record can be called, and the only other attributes are
        the columns of a frame: see `JaxFrame.query`. Operands are aligned in pairs.

    Example:
        >>> from jaxframes import frame
        >>> trades = frame.JaxFrame({"price": [2.0, 3.0], "count": [10, 20]})
        >>> fee = 0.5
        >>> frame.eval("trades.price * trades['count'] - fee").tolist()
        [19.5, 59.5]
    """
    no_inplace("eval", check_flag(inplace, "inplace"))
    if len(resolvers):
        raise NotImplementedError("eval: resolvers must be empty. Pass local_dict=.")
    lines, variables = read_text(expr, parser, engine, level, local_dict, global_dict)
    if target is not None and not isinstance(target, FrameBase):
        raise TypeError(f"eval: target must be a JaxFrame, got {type(target).__name__}.")
    if len(lines) > 1 and target is None:
        raise multi_line()
    result: Any = None if target is None else target._like(target._table)
    for line in lines:
        value, assigned = parse(line, {}, variables, _VariableParser)
        if isinstance(value, Expression):
            value = value.evaluate_leaves(functools.partial(_value_of, variables))
        if assigned is None:
            if len(lines) > 1:
                raise unassigned(line)
            return value
        if result is None:
            raise ValueError("cannot assign without a target object. Pass target=, a frame.")
        result[assigned] = value
        variables = ChainMap({assigned: result[assigned]}, variables)
    return result


def _value_of(variables: Options, leaf: str, label: Any) -> Any:
    del leaf
    if isinstance(label, _ColumnOf):
        return variables[label.variable][label.column]
    return variables[label]


def _no_prefix() -> SyntaxError:
    return SyntaxError(
        "The '@' prefix is not allowed in top-level eval calls.\nplease refer to your variables by "
        "name without the '@' prefix."
    )


class _VariableParser(Parser):
    """Names of a text are variables, and their attributes columns or recorded methods."""

    def name(self, name: str) -> Any:
        if name in self.local_names:
            raise _no_prefix()
        if name in CONSTANTS:
            return CONSTANTS[name]
        label = self.columns.get(name, name)
        if label not in self.variables:
            raise pd.errors.UndefinedVariableError(label)
        return col(label) if isinstance(self.variables[label], NDFrame) else self.local(label)

    def constructor(self, node: ast.Name | ast.Attribute) -> Any:
        raise _no_prefix()

    def attribute(self, node: ast.Attribute) -> Any:
        frame = self._frame(node.value)
        if frame is None or hasattr(type(frame), node.attr) or node.attr not in frame._labels:
            return super().attribute(node)
        return self._column(node.value, node.attr)

    def subscript(self, node: ast.Subscript) -> Any:
        frame = self._frame(node.value)
        if frame is None:
            return super().subscript(node)
        label = self.value(node.slice)
        if not isinstance(label, str) or label not in frame._labels:
            raise KeyError(label)
        return self._column(node.value, label)

    def _frame(self, node: ast.expr) -> Any:
        """The frame that a node names; None for other nodes."""
        value = self.variables.get(self._variable(node)) if isinstance(node, ast.Name) else None
        return value if isinstance(value, FrameBase) else None

    def _variable(self, node: Any) -> str:
        return self.columns.get(node.id, node.id)

    def _column(self, node: ast.expr, label: str) -> Expression:
        return col(_ColumnOf(self._variable(node), label))
