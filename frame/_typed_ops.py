# SPDX-License-Identifier: Apache-2.0
"""Operations on columns that are no numbers: strings, categories, times."""

from typing import Any

import pandas as pd

from ._column import Column
from ._elementwise import Scalar
from ._number_ops import SYMBOLS
from ._string_ops import combine_strings, constant, invalid
from ._table import Count


def combine_typed(op: str, a: Any, b: Any, name: Any, num_rows: Count) -> Column:
    """The result of an operation for a pair of which one side is no number.

    Args:
        op: the operation.
        a: the left side, a Column or a Scalar.
        b: the right side.
        name: of the column, for errors.
        num_rows: how many rows count.

    Raises:
        TypeError: the operation has no meaning for the types.
    """
    from ._category_ops import combine_categories
    from ._time_ops import as_time, combine_times

    columns = [side for side in (a, b) if isinstance(side, Column)]
    kinds = {column.kind for column in columns}
    if "object" in kinds:
        raise TypeError(
            f"column {name!r} holds objects, to which operator {SYMBOLS.get(op, op)} cannot be "
            "applied. Use to_pandas(), or make columns of numbers or strings of it."
        )
    if "category" in kinds:
        return combine_categories(op, a, b, num_rows)
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


def is_null(side: Any) -> bool:
    """Whether a side is a scalar that stands for a missing value."""
    return isinstance(side, Scalar) and bool(pd.isna(side.value))
