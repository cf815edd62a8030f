# SPDX-License-Identifier: Apache-2.0
"""Operations on two columns, or on a column and a scalar, dispatched by their types."""

from collections.abc import Sequence
from typing import Any

from ..table._column import Column
from ..table._scalar import Scalar
from ..table._table import Count
from ._array_ops import SYMBOLS
from ._category_ops import combine_categories, decode_pair
from ._column_ops import combine_number_pairs
from ._datetime_ops import as_time, combine_times
from ._string_ops import combine_strings, constant, invalid


def combine(
    op: str, pairs: Sequence[tuple[Any, Any]], num_rows: Count, names: Sequence[Any] = ()
) -> tuple[Column, ...]:
    """The results of an operation for pairs of a column and a column or scalar.

    Pairs of numbers are one compiled call, whatever their number.

    Args:
        op: the operation.
        pairs: left and right sides, each a Column or a Scalar.
        num_rows: how many rows count.
        names: of the columns, for errors.

    Raises:
        TypeError: the operation has no meaning for the types of a pair.
    """
    results: dict[int, Column] = {}
    numbers: dict[int, tuple[Any, Any]] = {}
    for position, pair in enumerate(pairs):
        a, b = decode_pair(op, *pair)
        if _is_number(a) and _is_number(b):
            numbers[position] = a, b
        else:
            name = names[position] if position < len(names) else None
            results[position] = _combine_typed(op, a, b, name, num_rows)
    if numbers:
        combined = combine_number_pairs(op, tuple(numbers.values()), num_rows)
        results.update(zip(numbers, combined, strict=True))
    return tuple(results[position] for position in range(len(pairs)))


def _is_number(side: Any) -> bool:
    return side.is_number if isinstance(side, Scalar) else side.is_numeric


def _combine_typed(op: str, a: Any, b: Any, name: Any, num_rows: Count) -> Column:
    """The result of an operation for a pair, one side of which is no number."""
    columns = [side for side in (a, b) if isinstance(side, Column)]
    kinds = {column.kind for column in columns}
    if "object" in kinds:
        raise TypeError(
            f"column {name!r} holds objects, to which operator {SYMBOLS.get(op, op)} cannot be "
            "applied. Use to_pandas(), or make columns of numbers or strings of it."
        )
    if "category" in kinds:
        return combine_categories(op, a, b)
    if "string" in kinds:
        return combine_strings(op, a, b, num_rows)
    times = [as_time(side, other, op) for side, other in ((a, b), (b, a))]
    if any(times):
        return combine_times(op, a, b, times, num_rows)
    return _with_other(op, a, b, columns[0])


def _with_other(op: str, a: Any, b: Any, column: Column) -> Column:
    """Numbers with something that is none: no value equals it."""
    other = a if isinstance(a, Scalar) else b
    if op in ("eq", "ne") or (other.value is None and op in ("lt", "le", "gt", "ge")):
        return constant(column, op == "ne")
    raise invalid(op, a, b)
