# SPDX-License-Identifier: Apache-2.0
"""Conditions on one column of strings, as an array with a bool for each string.

A stage looks up the bool of each row's string. The array is an argument of the compiled program, so
other strings need no other program, and methods of strings run on the host, once for each string.
"""

from collections.abc import Hashable, Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..table._column import Column
from ..table._column_labels import Labels
from ..table._layout import ONE_DEVICE
from ..table._ndframe import FrameBase
from ..table._row_index import RANGE
from ..table._table import Table, as_count
from ..table._take import look_up_rows
from ._expression import Expression
from ._methods import METHODS

_COMPARISONS = frozenset(["==", "!=", "<", "<=", ">", ">=", "eq", "ne", "lt", "le", "gt", "ge"])
_CONDITIONS = _COMPARISONS | frozenset([
    "&", "|", "~", "^", "between", "isin", "isna", "isnull", "notna", "notnull", "str.contains",
    "str.startswith", "str.endswith", "str.match", "str.fullmatch", "str.isalpha", "str.isalnum",
    "str.isdigit", "str.isdecimal", "str.isnumeric", "str.isspace", "str.islower", "str.isupper",
    "str.istitle",
])  # fmt: skip
# The function that looks up. Its operands are the label of the column and a position in `tables`.
LOOKUP = "lookup"
# Rows have few strings of a longer dictionary: selected rows keep that of all.
_LONGEST = 4


def is_lookup(part: Expression, frame: Any) -> bool:
    """Whether an expression is a condition on one column of strings and constants alone."""
    labels = part.columns()
    if part.function not in _CONDITIONS or len(labels) != 1 or not labels <= {*frame._labels}:
        return False
    (label,) = labels
    return (
        frame._column(label).kind == "string"
        and part.is_rowwise()
        and all(
            one.function in _CONDITIONS or one.function == "col" or one.function in METHODS
            for one in part._bottom_up()
        )
    )


def lookups_of(expression: Expression, frame: Any) -> list[Expression]:
    """The greatest parts of an expression that are lookups in columns of a frame."""
    found: dict[int, Expression] = {}
    stack = [expression]
    while stack:
        part = stack.pop()
        if is_lookup(part, frame):
            found[id(part)] = part
        else:
            stack.extend(part.children)
    return list(found.values())


def with_lookups(expression: Expression, numbers: Mapping[int, int]) -> Expression:
    """The expression with lookups in place of some parts, given the tables' numbers by identity."""
    results: dict[int, Any] = {}
    for part in expression._bottom_up():
        if id(part) in numbers:
            (label,) = part.columns()
            results[id(part)] = Expression(LOOKUP, (label, numbers[id(part)]))
        else:
            results[id(part)] = part._rebuilt(results)
    return results[id(expression)]


def table_of(condition: Expression, label: Hashable, column: Column) -> Column | None:
    """The bool of a missing string, then of each string of the column's dictionary.

    Args:
        condition: the condition.
        label: the column's label in the condition.
        column: a column of strings, whose codes are positions in its dictionary.

    Returns:
        A column; None if there are many more strings than rows, or the results are not bools.
    """
    # Strings that are nearly all distinct are not encoded, and methods run on them as they are.
    if column.stored is not column or len(column.dictionary) > _LONGEST * column.data.shape[0]:
        return None
    size = len(column.dictionary)
    capacity = ONE_DEVICE.capacity_for(size + 1)
    codes = np.arange(-1, capacity - 1, dtype=np.int32)
    codes[size + 1 :] = -1
    rows = Column(jnp.asarray(codes), None, column.type)
    table = Table((rows,), RANGE, as_count(size + 1), ONE_DEVICE)
    result = condition.evaluate(FrameBase.frame_class._of(table, Labels.of([label])))._only
    return result if result.is_bool and result.valid is None else None


def looked_up(table: Column, strings: Any) -> Column:
    """The bools of the rows of a series of strings."""
    codes = strings._only.data + np.int32(1)
    (column,) = look_up_rows((table,), codes, strings._table.layout)
    return column
