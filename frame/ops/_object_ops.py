# SPDX-License-Identifier: Apache-2.0
"""Operations on Python objects, on the host: pandas calls the objects' own operators."""

import operator
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from ..align._object_keys import common_objects
from ..table._column import Column, Scalar, select
from ..table._holes import assumes_holes, assuming_holes
from ..table._object_functions import column_like, evaluate_each, host_series
from ..table._objects import check_order
from ..table._table import Count
from ..table._tracing import at_once, is_traced
from ..table._types import Function
from ._array_ops import COMPARISONS, SYMBOLS
from ._code_ops import compare_codes

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: getattr(operator, f"{name}_" if name in ("and", "or") else name) for name in SYMBOLS
}


def combine_objects(op: str, a: object, b: object, name: Hashable, num_rows: Count) -> Column:
    """Applies an operation with a column of objects as an operand, as pandas does.

    With a scalar the operation is applied to each distinct object, else to each row.

    Raises:
        NotImplementedError: the objects of both columns are needed inside `jit`, other than for a
            comparison of their codes.
    """
    function = _function(op, name)
    try:
        # Comparisons with a missing object are true or false.
        with assuming_holes(assumes_holes() and op not in COMPARISONS):
            return _combined(function, op, a, b, num_rows)
    except TypeError as error:
        error.add_note(f"{SYMBOLS[op]}: of column {name!r}, which holds objects")
        raise


def _combined(function: Function, op: str, a: Any, b: Any, num_rows: Count) -> Column:
    if isinstance(b, Scalar):
        return evaluate_each(a, num_rows, lambda values: function(values, b.value), op)
    if isinstance(a, Scalar):
        return evaluate_each(b, num_rows, lambda values: function(a.value, values), op)
    if is_traced(a, b, num_rows):
        if op in COMPARISONS and a.kind == b.kind:
            a, b = common_objects(a, b, op, (num_rows, num_rows))
            if op not in ("eq", "ne"):
                check_order(a, "full")
            return Column(compare_codes(op, a.data, b.data))
        raise NotImplementedError(
            f"{SYMBOLS.get(op, op)}: columns of objects cannot be combined inside jit. Combine "
            "them before jit, or convert them with astype first."
        )
    return at_once(_combine_rows, function, a, b, num_rows)


def _combine_rows(function: Function, a: Column, b: Column, num_rows: Count) -> Column:
    left, right = (host_series(_divisible(column), num_rows) for column in (a, b))
    return column_like(function(left, right), a if a.kind == "object" else b)


def _divisible(column: Column) -> Column:
    """A column that has ones below its mask, by which pandas divides objects, too."""
    if not (column.is_nullable and column.is_numeric) or column.valid is None:
        return column
    ones = select(column.valid, column.data, np.asarray(1, column.dtype))
    return Column(ones, column.valid, column.type)


def _function(op: str, name: Hashable) -> Callable[..., Any]:
    if op in ("square", "sqrt") or op.startswith("np."):
        raise TypeError(
            f"unsupported operand type(s) for {op}: column {name!r} has dtype object. Convert it "
            "with astype first."
        )
    return _FUNCTIONS[op]
