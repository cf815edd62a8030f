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
    """Decodes a category that is compared with a column of another type.

    Raises:
        TypeError: an order comparison of an unordered category.
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
    """Compares a category with a category or a scalar; other operations raise."""
    if op not in COMPARISONS:
        raise invalid(op, a, b)
    if isinstance(a, Scalar):
        a, b, op = b, a, REFLECTED[op]
    _check_order(op, a, b)
    return _with_scalar(op, a, b) if isinstance(b, Scalar) else _with_category(op, a, b)


def _check_order(op: str, a: Any, b: Any) -> None:
    categories = [x for x in (a, b) if isinstance(x, Column) and x.kind == "category"]
    is_order = op not in ("eq", "ne")
    # Strings on the left compare by value, whatever the order of the categories.
    if is_order and a.kind != "string" and not all(x.type.ordered for x in categories):
        raise TypeError("Unordered Categoricals can only compare equality or not")


def _with_scalar(op: str, a: Column, b: Scalar) -> Column:
    categories = a.dictionary.values
    code: Any = -1
    # An unhashable value is not a category.
    with contextlib.suppress(TypeError):
        code = categories.get_loc(b.value) if b.value in categories else -1
    if code >= 0:
        return Column(compare_codes(op, a.data, np.int32(code)))
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
            f"categories of dtype {categories.dtype} can only be compared with one of the "
            "categories. Call astype with their dtype first."
        )
    return Column(look_up(column.data, categories.to_numpy(np.float64), np.float64(np.nan)))
