# SPDX-License-Identifier: Apache-2.0
"""Dispatches an operation on two columns, or a column and a scalar, by their types."""

from collections.abc import Sequence
from typing import Any

from ..table._column import Column
from ..table._scalar import Scalar
from ..table._table import Count
from ._array_ops import SYMBOLS
from ._code_ops import combine_categories, combine_strings, constant, decode_pair, invalid
from ._column_ops import combine_number_pairs
from ._datetime_ops import as_time, combine_times


def combine(
    op: str, pairs: Sequence[tuple[Any, Any]], num_rows: Count, names: Sequence[Any] = ()
) -> tuple[Column, ...]:
    """Applies an operation to pairs of operands; all pairs of numbers share one compiled call.

    An operand is a Column or a Scalar. `names` are those of the columns, for errors.

    Raises:
        TypeError: the operation is not defined for the types of a pair.
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
    """Applies an operation to a pair that is not all numeric."""
    columns = [side for side in (a, b) if isinstance(side, Column)]
    kinds = {column.kind for column in columns}
    if "object" in kinds:
        raise TypeError(
            f"unsupported operand type(s) for {SYMBOLS.get(op, op)}: column {name!r} has dtype "
            "object. Use to_pandas(), or convert it to columns of numbers or strings first."
        )
    if "category" in kinds:
        return combine_categories(op, a, b)
    if "string" in kinds:
        return combine_strings(op, a, b, num_rows)
    times = [as_time(side, other, op) for side, other in ((a, b), (b, a))]
    if any(times):
        return combine_times(op, a, b, times, num_rows)
    # Numbers and a non-number are never equal, and None has no order.
    other = a if isinstance(a, Scalar) else b
    if op in ("eq", "ne") or (other.value is None and op in ("lt", "le", "gt", "ge")):
        return constant(columns[0], op == "ne")
    raise invalid(op, a, b)
