# SPDX-License-Identifier: Apache-2.0
"""Comparison of categories."""

import contextlib
from typing import Any

import numpy as np
import pandas as pd

from ._column import Column
from ._elementwise import Scalar, combine
from ._number_ops import COMPARISONS
from ._recode import as_string, look_up, renumbered
from ._string_ops import combine_strings, compare_codes, constant, invalid
from ._table import Count

_TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


def combine_categories(op: str, a: Any, b: Any, num_rows: Count) -> Column:
    """The result of an operation of which one side is a category: they are only compared."""
    if op not in COMPARISONS:
        raise invalid(op, a, b)
    if isinstance(a, Scalar):
        a, b, op = b, a, _TURNED[op]
    is_order = op not in ("eq", "ne")
    categories = [x for x in (a, b) if isinstance(x, Column) and x.kind == "category"]
    # A column of strings on the left compares by value, whatever the category's order.
    if is_order and a.kind != "string" and not all(x.type.ordered for x in categories):
        raise TypeError("Unordered Categoricals can only compare equality or not")
    if isinstance(b, Scalar):
        return _with_scalar(op, a, b)
    if a.kind == b.kind:
        return _with_category(op, a, b)
    if a.kind == "category" and is_order:
        raise TypeError(
            f"Cannot compare a Categorical for op __{op}__ with type {b.dtype_name}.\n"
            "If you want to compare values, use 'np.asarray(cat) <op> other'."
        )
    return _with_values(op, a, b, num_rows)


def _with_scalar(op: str, a: Column, b: Scalar) -> Column:
    categories = a.dictionary.values
    place: Any = -1
    # A value that cannot be hashed is no category.
    with contextlib.suppress(TypeError):
        place = categories.get_loc(b.value) if b.value in categories else -1
    if place >= 0:
        return Column(compare_codes(op, a.data, np.int32(place)))
    if op in ("eq", "ne"):
        return constant(a, op == "ne")
    raise invalid(op, a, b)


def _with_category(op: str, a: Column, b: Column) -> Column:
    x, y = a.dictionary.values, b.dictionary.values
    is_ordered = a.type.ordered
    is_same = x.equals(y) if is_ordered else len(x) == len(y) and x.isin(y).all()
    if is_ordered != b.type.ordered or not is_same:
        raise TypeError("Categoricals can only be compared if 'categories' are the same.")
    codes = b.data if x.equals(y) else renumbered(b.data, x.get_indexer(y))
    return Column(compare_codes(op, a.data, codes))


def _with_values(op: str, a: Column, b: Column, num_rows: Count) -> Column:
    """A category and a column of its values."""
    sides = [_values(side) if side.kind == "category" else side for side in (a, b)]
    if "string" in (sides[0].kind, sides[1].kind):
        return combine_strings(op, sides[0], sides[1], num_rows)
    return combine(op, [(sides[0], sides[1])], num_rows)[0]


def _values(column: Column) -> Column:
    categories = column.dictionary.values
    if isinstance(categories.dtype, pd.StringDtype):
        return as_string(column)
    if categories.dtype.kind not in "iuf":
        raise NotImplementedError(
            f"categories of {categories.dtype} can only be compared with one of them. "
            "Cast the column to its categories' dtype first, with astype."
        )
    return Column(look_up(column.data, categories.to_numpy(np.float64), np.float64(np.nan)))
