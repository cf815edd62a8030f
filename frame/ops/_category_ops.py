# SPDX-License-Identifier: Apache-2.0
"""Comparison of categories."""

import contextlib
from typing import Any

import numpy as np
import pandas as pd

from ..table._column import Column
from ..table._recode import as_string, look_up, renumbered
from ..table._scalar import Scalar
from ._array_ops import COMPARISONS, REFLECTED
from ._string_ops import compare_codes, constant, invalid


def decode_pair(op: str, a: Any, b: Any) -> tuple[Any, Any]:
    """Replaces a category by its values beside a column of another type; else returns the pair.

    Raises:
        TypeError: the category has no order that the comparison asks for.
    """
    if op not in COMPARISONS or not (isinstance(a, Column) and isinstance(b, Column)):
        return a, b
    kinds = {a.kind, b.kind}
    if "category" not in kinds or "object" in kinds or a.kind == b.kind:
        return a, b
    _check_order(op, a, b)
    if a.kind == "category" and op not in ("eq", "ne"):
        raise TypeError(
            f"Cannot compare a Categorical for op __{op}__ with type {b.dtype_name}.\n"
            "If you want to compare values, use 'np.asarray(cat) <op> other'."
        )
    return (_values(a), b) if a.kind == "category" else (a, _values(b))


def combine_categories(op: str, a: Any, b: Any) -> Column:
    """Compares a category with a category or a scalar: there is no other operation."""
    if op not in COMPARISONS:
        raise invalid(op, a, b)
    if isinstance(a, Scalar):
        a, b, op = b, a, REFLECTED[op]
    _check_order(op, a, b)
    return _with_scalar(op, a, b) if isinstance(b, Scalar) else _with_category(op, a, b)


def _check_order(op: str, a: Any, b: Any) -> None:
    categories = [x for x in (a, b) if isinstance(x, Column) and x.kind == "category"]
    is_order = op not in ("eq", "ne")
    # A column of strings on the left compares by value, whatever the category's order.
    if is_order and a.kind != "string" and not all(x.type.ordered for x in categories):
        raise TypeError("Unordered Categoricals can only compare equality or not")


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
