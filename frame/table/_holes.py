# SPDX-License-Identifier: Apache-2.0
"""Missing values that decide a dtype, where pandas takes the dtype of a result from its values.

Integers become float64 in pandas if a row has no value, and bools become objects. Eager calls read
the rows. A plan has no rows before it runs: its schema assumes that a row has no value.
"""

import contextlib
import threading
from collections.abc import Iterator

from ._column import Column, show_holes


class _Assumption(threading.local):
    is_on: bool = False
    of_values: bool = False


_assumption = _Assumption()


def assumes_holes() -> bool:
    """Whether results count as having missing values, whatever their rows are."""
    return _assumption.is_on


@contextlib.contextmanager
def assuming_holes(is_on: bool = True) -> Iterator[None]:
    """Calls within have the widest dtypes that values can give them; if off, as rows do."""
    before, _assumption.is_on = _assumption.is_on, is_on
    try:
        yield
    finally:
        _assumption.is_on = before


def assumes_values() -> bool:
    """Whether a reduction of no rows stands for one of some rows."""
    return _assumption.of_values


@contextlib.contextmanager
def assuming_values() -> Iterator[None]:
    """Reductions of nullable columns within are numbers, also those of no rows, which are NA."""
    before, _assumption.of_values = _assumption.of_values, True
    try:
        yield
    finally:
        _assumption.of_values = before


def with_holes_elsewhere(column: Column) -> Column:
    """Rows of a column that has missing values in other rows: these decide the dtype of all.

    Integers become float64, bools and nullable columns get a mask, and other types have missing
    values anyway.
    """
    if column.can_miss:
        return column
    masked = Column(column.data, column.mask(), column.type)
    return masked if column.is_nullable else show_holes(masked)
