# SPDX-License-Identifier: Apache-2.0
"""Predicates that can be evaluated before other steps: split, combined and checked."""

import functools
import operator
from collections.abc import Sequence

from ..ops._array_ops import COMPARISONS, SYMBOLS
from ._expression import Expression

MASKS = frozenset([
    *COMPARISONS, *(SYMBOLS[op] for op in COMPARISONS),
    "between", "isin", "isna", "isnull", "notna", "notnull", "str.startswith", "str.endswith",
    "str.contains",
])  # fmt: skip
# They give a value for each row, whatever the values are. Casts, powers and integer divisions are
# not among them, since they may raise.
_TOTAL = MASKS | frozenset([
    "col", "alias", "&", "|", "~", "^", "+", "-", "*", "/", "neg", "pos", "abs", "add", "sub",
    "mul", "fillna", "str.lower", "str.upper", "str.len", "str.strip", "dt.year", "dt.month",
    "dt.day", "dt.hour", "dt.minute", "dt.second", "dt.day_of_week", "dt.dayofweek", "dt.weekday",
    "dt.day_of_year", "dt.dayofyear", "dt.quarter",
])  # fmt: skip


def conjuncts(predicate: Expression) -> list[Expression]:
    """The predicates that a conjunction consists of."""
    if predicate.function != "&":
        return [predicate]
    sides = [one for one in predicate.operands if isinstance(one, Expression)]
    if len(sides) < 2:
        return [predicate]
    return [part for side in sides for part in conjuncts(side)]


def conjunction(predicates: Sequence[Expression]) -> Expression:
    """The predicate that all of some predicates hold."""
    return functools.reduce(operator.and_, predicates)


def is_movable(predicate: Expression) -> bool:
    """Whether a predicate can be evaluated on more rows, or on fewer, with the same answer.

    It depends on one row alone, raises for no value, and is true or false for each row.
    """
    return (
        predicate.is_rowwise()
        and all(part.function in _TOTAL for part in predicate._bottom_up())
        and _is_mask(predicate)
    )


def _is_mask(predicate: Expression) -> bool:
    """Whether the result is a bool in each row, and never missing."""
    if predicate.function in ("&", "|", "^", "~"):
        return all(isinstance(one, Expression) and _is_mask(one) for one in predicate.operands)
    return predicate.function in MASKS
