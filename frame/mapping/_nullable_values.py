# SPDX-License-Identifier: Apache-2.0
"""Values set in columns of nullable dtypes, and casts to and from these dtypes.

A nullable dtype never changes for a value: what does not fit is an error, as in pandas.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..ops._array_ops import converted
from ..table._column import Array, Column, as_floats, of_family, plain
from ..table._counted import label_of
from ..table._distinct_values import through_values
from ..table._dtypes import cast_exactly
from ..table._from_host import check_width
from ..table._layout import Layout
from ..table._nullable import default_dtype, family_of, is_nullable
from ..table._object_functions import as_objects
from ..table._table import Count, is_row
from ..table._take import any_missing
from ..table._tracing import answered_at_once, at_once, is_traced
from ..table._types import DtypeLike
from ._fitting_values import fits_dtype


def numbers_in_dtype(
    column: Column, other: Column, method: str, is_needed: Array, num_rows: Count
) -> Column:
    """Numbers in the dtype of another column of numbers, which is nullable.

    Bools are the integers 0 and 1.

    Raises:
        TypeError: the dtype does not hold the numbers of the rows that are needed: no number is a
            bool, a float is an integer only if it is whole, and integers must be in range. Inside
            `jit` neither a float nor a wider integer is.
    """
    order = "biuf"
    fits = other.is_numeric and other.dtype.kind in order and column.is_bool <= other.is_bool
    if fits and not column.is_float and not np.can_cast(other.dtype, column.dtype):
        fits = not is_traced(other, is_needed, num_rows) and bool(
            fits_dtype(_needed(other.data, is_needed), column.data, num_rows)
        )
    if not fits:
        raise TypeError(
            f"Invalid values of dtype {other.dtype_name} for dtype {column.dtype_name!r} in "
            f"{method}. Cast one of them with astype first."
        )
    other = as_floats(other) if column.is_float else plain(other)
    if other.is_float and not column.is_float:
        return Column(_whole(other.data, column.dtype), other.present(), column.type)
    data = cast_exactly(converted(other.data, column.dtype), column.dtype)
    return Column(data, other.valid, column.type)


def cast_nullable(column: Column, dtype: DtypeLike, num_rows: Count, layout: Layout) -> Column:
    """Casts a column to or from a nullable dtype."""
    if dtype == np.dtype(object):
        return as_objects(column, num_rows, "astype")
    family = family_of(dtype)
    default: Any = None if label_of(dtype) is not None else default_dtype(dtype)
    if column.kind == "string" and isinstance(default, pd.StringDtype):
        return of_family(column, family)
    is_number = isinstance(default, np.dtype) and default.kind in "biuf"
    if not (column.is_numeric and is_number):
        return through_values(
            column, num_rows, layout, lambda values: values.astype(dtype), "astype"
        )
    check_width(default, "astype")
    if family is None and default.kind != "f" and column.can_miss:
        _check_none_missing(column, default, num_rows)
    if default.kind == "f":
        return of_family(plain_cast(as_floats(column), default), family)
    valid = column.present() if column.can_miss and family is not None else None
    if column.is_float and default.kind in "iu" and family is not None:
        _check_whole(column, dtype, num_rows)
    return of_family(Column(_whole(column.data, default), valid), family)


def in_dtype_of(column: Column, like: Column, num_rows: Count, layout: Layout) -> Column:
    """A column in the dtype of another one, if either is nullable."""
    if column.family == like.family and column.dtype == like.dtype:
        return column
    dtype = like.dtype if like.family is None else like.type.nullable(like.dtype)
    return cast_nullable(column, dtype, num_rows, layout)


def plain_cast(column: Column, dtype: np.dtype) -> Column:
    """Casts numbers to floats."""
    return Column(cast_exactly(converted(column.data, dtype), dtype))


def _whole(data: Array, dtype: np.dtype) -> Array:
    if dtype == np.bool_:
        return data != data.dtype.type(0)
    if jnp.issubdtype(data.dtype, jnp.inexact):
        data = jnp.where(jnp.isnan(data), data.dtype.type(0), data)
    return data.astype(dtype)


def _check_none_missing(column: Column, dtype: np.dtype, num_rows: Count) -> None:
    if is_traced(column, num_rows) or not any_missing(column.present(), num_rows):
        return
    if dtype.kind == "b":
        raise ValueError("cannot convert float NaN to bool")
    raise ValueError("cannot convert NA to integer")


def _check_whole(column: Column, dtype: DtypeLike, num_rows: Count) -> None:
    """Raises where a float is no integer; inside `jit` its fraction is dropped."""
    every = np.bool_(True)
    if is_traced(column, num_rows) or not bool(
        at_once(_any_fraction, column.data, every, num_rows)
    ):
        return
    raise TypeError(
        f"cannot safely cast non-equivalent {column.dtype} to {default_dtype(dtype)}: column "
        f"{column.dtype_name} has values that are no integers. Round them first."
    )


@answered_at_once
@tiered
def _needed(data: Array, is_needed: Array) -> Array:
    """Numbers of the rows that are needed; zero for the others and for missing ones."""
    is_number = is_needed & ~jnp.isnan(data) if data.dtype.kind == "f" else is_needed
    return jnp.where(is_number, data, data.dtype.type(0))


@tiered
def _any_fraction(data: Array, is_needed: Array, num_rows: Count) -> Array:
    is_fraction = (data != jnp.trunc(data)) & ~jnp.isnan(data) & is_needed
    return jnp.any(is_fraction & is_row(data.shape[0], num_rows))


def casts_nullable(column: Column, dtype: DtypeLike) -> bool:
    """Whether a cast has a nullable dtype on either side."""
    return column.is_nullable or is_nullable(dtype)
