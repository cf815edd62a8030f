# SPDX-License-Identifier: Apache-2.0
"""Operations on strings and categories: on their dictionaries, and on their codes.

The codes of strings sort as the strings.
"""

import bisect
import contextlib
import functools
import operator
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ...primitives.staging import tiered
from ..table._column import Array, Column, ColumnType, Scalar
from ..table._defer import map_rows
from ..table._dictionary import (
    UnencodedStrings,
    encode_unless_near_unique,
    sorted_dictionary,
)
from ..table._recode import category_values, look_up, recoded, renumbered, unencoded
from ..table._table import Count
from ..table._tracing import at_once, is_traced
from ..table._unencoded import as_unencoded
from ._array_ops import COMPARISONS, REFLECTED, SYMBOLS, compare


def invalid(op: str, a: Any, b: Any) -> TypeError:
    """pandas' error for an operation that is not defined for two operands."""
    names = [type(x.value).__name__ if isinstance(x, Scalar) else x.dtype_name for x in (a, b)]
    if op in COMPARISONS:
        return TypeError(f"Invalid comparison between dtype={names[0]} and {names[1]}")
    return TypeError(
        f"unsupported operand type(s) for {SYMBOLS.get(op, op)}: '{names[0]}' and '{names[1]}'"
    )


def constant(column: Column, value: bool) -> Column:
    """The same flag for each row of a column."""
    return Column(_constant(column.data, np.bool_(value)))


# The unused `data` tells JAX the devices of the program.
@functools.partial(tiered, keep_unused=True)
def _constant(data: Array, value: Array) -> Array:
    return jnp.where(jnp.zeros_like(data, jnp.bool_), False, value)


def combine_strings(op: str, a: Any, b: Any, num_rows: Count) -> Column:
    """Applies an operation with a column of strings as an operand."""
    sides = [x.value if isinstance(x, Scalar) else x for x in (a, b)]
    column = next(x for x in sides if isinstance(x, Column) and x.kind == "string")
    is_null = any(not isinstance(x, Column) and np.ndim(x) == 0 and pd.isna(x) for x in sides)
    is_text = all(
        isinstance(x, str) or (isinstance(x, Column) and x.kind == "string") for x in sides
    )
    if op in COMPARISONS:
        if is_null:
            return constant(column, op == "ne")
        if is_text:
            return _compare(op, sides[0], sides[1])
        if op in ("eq", "ne"):
            return constant(column, op == "ne")
        raise invalid(op, a, b)
    if op == "add" and is_null:
        return Column(jnp.full_like(column.data, -1), None, column.type)
    if op == "add" and is_text:
        return _concatenated(sides[0], sides[1], num_rows)
    times = next((x for x in sides if isinstance(x, (int, np.integer))), None)
    if op == "mul" and times is not None and not isinstance(times, bool):
        column = unencoded(column)
        return _with_strings(column, pd.Series(column.dictionary.values) * int(times))
    raise invalid(op, a, b)


def _compare(op: str, a: Any, b: Any) -> Column:
    if isinstance(a, str):
        a, b, op = b, a, REFLECTED[op]
    if isinstance(b, Column):
        x, y = recoded([a, b])
        return Column(compare_codes(op, x.data, y.data))
    strings = unencoded(a)
    if isinstance(strings.dictionary, UnencodedStrings):
        flags = getattr(operator, op)(pd.Series(strings.dictionary.values), b)
        return Column(look_up(strings.data, flags.to_numpy(np.bool_), np.bool_(op == "ne")))
    values = a.dictionary.values
    code = bisect.bisect_left(values, b)
    # A string outside the dictionary compares like the boundary before the next greater string.
    if code == len(values) or values[code] != b:
        if op in ("eq", "ne"):
            return constant(a, op == "ne")
        op = {"le": "lt", "gt": "ge"}.get(op, op)
    return _compared_with_code(op, a, code)


def _compared_with_code(op: str, column: Column, code: int) -> Column:
    """Compares codes with one code, deferred if possible."""
    return map_rows(compare_codes, (op,), (column, np.int32(code)), np.bool_)


@functools.partial(tiered, static_argnums=0)
def compare_codes(op: str, a: Array, b: Array) -> Array:
    """Compares codes; a missing (negative) code is unequal to every code."""
    return compare(op, a, b, (a < 0) | (b < 0))


def _with_strings(column: Column, strings: Any) -> Column:
    """The column with each string of its dictionary, encoded or not, replaced."""
    codes, dictionary = encode_unless_near_unique(pd.array(strings, dtype="str"))
    data = renumbered(column.data, codes)
    return as_unencoded(Column(data, None, ColumnType("string", dictionary)))


def _concatenated(a: Any, b: Any, num_rows: Count) -> Column:
    if isinstance(a, str):
        column = unencoded(b)
        return _with_strings(column, a + column.dictionary.values)
    if isinstance(b, str):
        column = unencoded(a)
        return _with_strings(column, column.dictionary.values + b)
    if is_traced(a.data, b.data, num_rows):
        raise NotImplementedError(
            "+: two columns of strings cannot be added inside jit, because the dictionary of the "
            "result depends on the rows. Add them outside jit."
        )
    groups = at_once(primitives.factorize, (a.data, b.data), num_valid=num_rows)
    count = int(groups.count)
    left, right = (np.asarray(keys)[:count] for keys in groups.unique_keys)
    joined = pd.Series(a.dictionary.take(left)) + pd.Series(b.dictionary.take(right))
    codes, dictionary = sorted_dictionary(joined.array)
    return Column(renumbered(groups.group_ids, codes), None, ColumnType("string", dictionary))


def decode_pair(op: str, a: object, b: object) -> tuple[Any, Any]:
    """Decodes a category that is compared with a column of another type."""
    if op not in COMPARISONS or not (isinstance(a, Column) and isinstance(b, Column)):
        return a, b
    kinds = {a.kind, b.kind}
    if "category" not in kinds or "object" in kinds or a.kind == b.kind:
        return a, b
    _check_order(op, a, b)
    if op not in ("eq", "ne") and not _compares_by_value(a):
        own, other = (op, b) if a.kind == "category" else (REFLECTED[op], a)
        raise TypeError(
            f"Cannot compare a Categorical for op __{own}__ with type {other.dtype_name}.\n"
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
    if isinstance(b, Scalar):
        return _compare_with_scalar(op, a, b)
    x, y = a.dictionary.values, b.dictionary.values
    is_ordered = a.type.ordered
    is_same = x.equals(y) if is_ordered else len(x) == len(y) and x.isin(y).all()
    if is_ordered != b.type.ordered or not is_same:
        raise TypeError("Categoricals can only be compared if 'categories' are the same.")
    codes = b.data if x.equals(y) else renumbered(b.data, x.get_indexer(y))
    return Column(compare_codes(op, a.data, codes))


def _check_order(op: str, a: Any, b: Any) -> None:
    categories = [x for x in (a, b) if isinstance(x, Column) and x.kind == "category"]
    if op in ("eq", "ne") or _compares_by_value(a):
        return
    if not all(x.type.ordered for x in categories):
        raise TypeError("Unordered Categoricals can only compare equality or not")


def _compares_by_value(left: Column) -> bool:
    """Whether a column on the left compares with the values of categories, whatever their order."""
    return left.kind == "string" or (left.kind != "category" and left.is_nullable)


def _compare_with_scalar(op: str, a: Column, b: Scalar) -> Column:
    categories = a.dictionary.values
    code: Any = -1
    # An unhashable value is not a category.
    with contextlib.suppress(TypeError):
        code = categories.get_loc(b.value) if b.value in categories else -1
    if code >= 0:
        return _compared_with_code(op, a, code)
    if op in ("eq", "ne"):
        return constant(a, op == "ne")
    raise invalid(op, a, b)


def _values(column: Column) -> Column:
    values = category_values(column)
    if values is None:
        raise NotImplementedError(
            f"categories of dtype {column.dictionary.values.dtype} can only be compared with one "
            "of the categories. Call astype with their dtype first."
        )
    return values
