# SPDX-License-Identifier: Apache-2.0
"""Dates, times of day, decimals and periods of several labels brought to one."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from ._column import UNITS, Array, Column, ColumnType
from ._table import Count
from ._tracing import at_once, is_traced
from ._units import finer, units_per


def in_one_label(columns: Sequence[Column], counts: Sequence[Count]) -> tuple[Column, ...] | None:
    """Columns of labelled counts with one label; None unless there is one that holds all.

    Decimals get the largest scale, times of day the finest unit. `counts` are the numbers of rows.

    Raises:
        OverflowError: outside `jit`, where such a value is missing, one exceeds 64 bits.
    """
    first = columns[0].type
    kinds = {column.kind for column in columns}
    if len(kinds) > 1 or first.is_time or not first.is_counted:
        return None
    if len({column.type.freq for column in columns}) > 1:
        return None
    sides = zip(columns, counts, strict=True)
    if first.kind == "decimal":
        scale = max(scale_of(column) for column in columns)
        return tuple(with_scale(column, scale, count) for column, count in sides)
    if first.kind == "time":
        unit = max((column.type.unit or "s" for column in columns), key=UNITS.index)
        return tuple(
            _multiplied(
                column,
                units_per(column.type.unit or unit, unit),
                count,
                dataclasses.replace(column.type, unit=unit),
            )
            for column, count in sides
        )
    return tuple(columns)


def scale_of(column: Column) -> int:
    """The digits behind the point of a column of decimals."""
    assert column.type.digits is not None
    return column.type.digits[1]


def with_scale(column: Column, scale: int, num_rows: Count) -> Column:
    """Decimals with more digits behind the point."""
    assert column.type.digits is not None
    precision, own = column.type.digits
    digits = (max(precision + scale - own, precision), scale)
    kind = dataclasses.replace(column.type, digits=digits)
    return _multiplied(column, power_of_ten(scale - own), num_rows, kind)


def power_of_ten(exponent: int) -> np.int64:
    """A factor of counts; raises if it exceeds 64 bits."""
    if exponent > 18:
        raise OverflowError(
            f"decimals of {exponent} more digits behind the point do not fit 64 bits. Cast the "
            "column with astype('float64')."
        )
    return np.int64(10**exponent)


def _multiplied(column: Column, factor: np.int64, num_rows: Count, kind: ColumnType) -> Column:
    if factor == 1:
        return Column(column.data, None, kind)
    data, is_any_lost = at_once(finer, column.data, factor, num_rows)
    check_kept(is_any_lost, column.dtype_name)
    return Column(data, None, kind)


def check_kept(is_any_lost: Array, what: str) -> None:
    """Raises outside `jit` if a count exceeds 64 bits."""
    if not is_traced(is_any_lost) and bool(is_any_lost):
        raise OverflowError(
            f"values of {what} exceed 64 bits, in which decimals are held. Cast the column with "
            "astype('float64')."
        )
