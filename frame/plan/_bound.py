# SPDX-License-Identifier: Apache-2.0
"""Expressions whose methods are those of the columns that they are called on.

A column of times becomes text in one form for all rows: without the time of day if that is zero in
each. So a cast of times to text depends on all rows, a cast of other dtypes on one. `col` does not
know the dtype of its column, but a step of a plan does.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pandas as pd
import pyarrow as pa

from ..table._ndframe import FrameBase, SeriesBase
from ._expression import Expression
from ._methods import OF_TIMES

_CAST = "astype"


def is_text(dtype: object) -> bool:
    """Whether an argument of `astype` names a dtype of strings."""
    with contextlib.suppress(TypeError, NotImplementedError):
        known = pd.api.types.pandas_dtype(dtype)
        if isinstance(known, pd.ArrowDtype):
            return pa.types.is_string(known.pyarrow_dtype)
        return isinstance(known, pd.StringDtype) or known.kind in "US"
    return False


def bound(
    method: str, frame: Callable[[], object], arguments: dict[str, Any], assign: Callable[..., Any]
) -> dict[str, Any]:
    """The arguments of a step, with the casts of times to text in its expressions marked.

    Args:
        method: the step.
        frame: gives the input without rows.
        arguments: the arguments by name.
        assign: assigns columns to a frame; a later one may read an earlier one.
    """
    if not any(map(_has_casts, expressions_in(arguments))):
        return arguments
    known = frame()
    if method != "assign":
        return with_expressions(arguments, lambda expression: _marked(expression, known))
    values: dict[Any, Any] = {}
    for label, value in arguments["values"].items():
        values[label] = _marked(value, known) if isinstance(value, Expression) else value
        with contextlib.suppress(Exception):
            known = assign((known,), {"values": {label: values[label]}})
    return {**arguments, "values": values}


def expressions_in(value: object) -> Iterator[Expression]:
    """The expressions among the arguments of a call."""
    if isinstance(value, Expression):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from expressions_in(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from expressions_in(one)


def with_expressions(value: Any, change: Callable[[Expression], Expression]) -> Any:
    """The arguments of a call with other expressions."""
    if isinstance(value, Expression):
        return change(value)
    if isinstance(value, dict):
        return {label: with_expressions(one, change) for label, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(with_expressions(one, change) for one in value)
    return value


def _has_casts(expression: Expression) -> bool:
    return any(map(_is_cast, expression._bottom_up()))


def _is_cast(part: Expression) -> bool:
    given = [*part.operands[1:], *(value for _, value in part.keywords)]
    return part.function == _CAST and any(map(is_text, given[:1]))


def _marked(expression: Expression, frame: object) -> Expression:
    def marked(part: Expression, new: dict[int, Any]) -> Expression:
        cast = part._rebuilt(new)
        if not (_is_cast(part) and _may_be_times(part.operands[0], frame)):
            return cast
        return Expression(f"{OF_TIMES}.{_CAST}", cast.operands, cast.keywords)

    return expression._rewritten(marked)


def _may_be_times(operand: object, frame: object) -> bool:
    """Whether an operand is a column of times, or cannot be evaluated without rows."""
    if not isinstance(operand, Expression) or not isinstance(frame, FrameBase):
        return False
    with contextlib.suppress(Exception):
        value = operand.evaluate(frame)
        return isinstance(value, SeriesBase) and value._only.type.is_time
    return True
