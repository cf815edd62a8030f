# SPDX-License-Identifier: Apache-2.0
"""`combine_first`: the dtypes of its columns, and the values of one that are missing."""

from typing import Any

import numpy as np

from ..align._align import repeats_labels, same_labels
from ..combining._concat_rows import common_columns
from ..mapping._choices import choose
from ..mapping._missing import missing_flags
from ..mapping._nullable_values import cast_nullable
from ..table._column import Array, Column, common_family, in_dtype, inverse, of_family
from ..table._holes import assumes_holes
from ..table._ndframe import NDFrame
from ..table._nullable import Family, nullable_dtype
from ..table._recode import category_values
from ..table._table import Table
from ..table._take import any_flagged, missing_elsewhere, settled
from ..table._tracing import is_traced
from ..table._units import finest_unit, with_units


def has_nothing(of: NDFrame) -> bool:
    """Whether there are no rows, or no columns; inside `jit` it is taken to have some."""
    return has_no_rows(of) or not of._table.columns


def has_no_rows(of: NDFrame) -> bool:
    """Whether there are no rows; inside `jit` it is taken to have some."""
    num_rows = of._table.num_rows
    return not is_traced(num_rows) and not of._table.num_rows_on_host


def check_distinct_labels(series: Any, other: Any) -> None:
    """Raises if labels repeat, unless both have the same ones and one dtype. Not inside `jit`."""
    if series.dtype == other.dtype and same_labels(series._table, other._table):
        return
    if repeats_labels(series) or repeats_labels(other):
        raise ValueError(
            "cannot reindex on an axis with duplicate labels: combine_first got labels that "
            "repeat. Keep one row of each first, by groupby(level=0).first()."
        )


def rows_of(series: Any, beside: Any) -> Array | None:
    """Flags the aligned rows with a label of a series; None inside `jit`, where all have one.

    Other rows keep their own missing value: None, NaN, NaT or NA among objects.
    """
    table = series._table
    if is_traced(table.index, table.num_rows, beside._table.index, beside._table.num_rows):
        return None
    flags = Column(table.layout.place(np.ones(table.capacity, np.bool_)))
    return beside.align(series._with_column(flags))[1]._only.present()


def numbers_of_categories(series: Any, other: Any) -> tuple[Any, Any]:
    """Two series, in place of categories that are numbers their values beside other numbers."""
    columns = series._only, other._only
    if columns[0].type == columns[1].type:
        return series, other
    values = [category_values(one) if one.kind == "category" else one for one in columns]
    found = [one for one in values if one is not None and one.is_numeric]
    if len(found) < 2 or found[0].is_bool != found[1].is_bool:
        return series, other
    if common_family(found) is None:
        sides = zip(found, (series, other), strict=True)
        found = [settled(values, side._table.num_rows) for values, side in sides]
    return series._with_column(found[0]), other._with_column(found[1])


# Dtypes of 64 bits that float64 does not represent, and those that mark missing values beside them.
_MASKED = {np.dtype(np.int64): "Int64", np.dtype(np.uint64): "UInt64"}


def dtypes_while_aligned(*columns: Column) -> list[str | None]:
    """The nullable dtype of each column that keeps its integers exact while rows are aligned."""
    are_plain = [
        one.is_numeric and one.valid is None and not one.is_nullable and not is_traced(one.data)
        for one in columns
    ]
    if are_mixed(*columns):
        # Objects show whether a number is an integer, of any width.
        return [
            nullable_dtype("masked", "number", one.dtype).name
            if plain and one.dtype.kind in "iu"
            else None
            for one, plain in zip(columns, are_plain, strict=True)
        ]
    common = np.result_type(*(one.dtype for one in columns)) if all(are_plain) else None
    return [None if common is None else _MASKED.get(common)] * 2


def are_mixed(*columns: Column) -> bool:
    """Whether the common dtype of columns is that of objects: bools beside numbers, say."""
    # No nullable dtype holds complex numbers.
    has_nullable = any(one.is_nullable for one in columns)
    types = {
        one.type
        if one.kind == "category"
        else (
            one.kind, one.is_bool, one.type.zone, one.type.freq,
            has_nullable and one.dtype.kind == "c",
        )
        for one in columns
    }  # fmt: skip
    return len(types) > 1


def may_be_kept(own: Column, other: Column) -> bool:
    """Whether a column of a frame keeps its dtype beside one of another type if it is whole.

    Numbers, categories, objects and nullable columns have the common dtype of both sides.
    """
    is_fixed = own.kind not in ("number", "category", "object") and not own.is_nullable
    return is_fixed and are_mixed(own, other)


def is_whole(column: Column, table: Table) -> bool:
    """Whether no value is known to be missing."""
    (missing,) = missing_flags([column])
    is_unknown = is_traced(missing, table.num_rows) or assumes_holes()
    return not is_unknown and not any_flagged(missing, table.num_rows)


def filled_from(
    column: Column,
    other: Column,
    owners: tuple[Column, Column],
    table: Table,
    fills: Array | None = None,
) -> Column:
    """Fills missing values from another column, in the common dtype before rows were aligned.

    `fills` flags the rows that the other column has; all if it is None.
    """
    (missing,) = missing_flags([column])
    missing = missing if fills is None else missing & fills
    counts = table.num_rows, table.num_rows
    if column.type.compares_with(other.type) and column.type.zone == other.type.zone:
        # As in pandas, values that no row needs are not converted to the finer unit.
        (other,) = missing_elsewhere([other], missing)
        column, other = with_units((column, other), finest_unit(column, other), counts)
    family, mixes = common_family(owners), are_mixed(*owners)
    are_numbers = all(owner.is_numeric for owner in owners) and not mixes
    dtype = np.result_type(*(owner.dtype for owner in owners)) if are_numbers else None
    if mixes:
        # As in pandas, also if no value is filled.
        column, other = common_columns((column, other), "combine_first", counts, of_frames=False)
    elif dtype is not None and family is not None:
        sides = zip((column, other), owners, strict=True)
        column, other = in_dtype(
            [_as_nullable(one, owner, family, table) for one, owner in sides], dtype
        )
    filled = choose(inverse(missing), column, other, table, "combine_first")
    if family is not None and filled.kind == "string":
        return of_family(filled, family)
    if dtype is None or family is not None or any(owner.valid is not None for owner in owners):
        return filled
    if dtype.kind in "iu" or dtype.kind == filled.dtype.kind == "b":
        # A label of the result is one of either side, so that no value is missing.
        return Column(filled.data.astype(dtype))
    if dtype.kind in "fc" and filled.valid is None and filled.dtype.kind in "iufc":
        return Column(filled.data.astype(dtype))
    return filled


def _as_nullable(column: Column, owner: Column, family: Family, table: Table) -> Column:
    """Numbers in a nullable dtype: integers that became floats while rows were aligned, too."""
    dtype = nullable_dtype(family, "number", owner.dtype)
    return cast_nullable(column, dtype, table.num_rows, table.layout)
