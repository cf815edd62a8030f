# SPDX-License-Identifier: Apache-2.0
"""The choice between two columns by flags, or of a scalar in their place, with pandas' dtypes."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..combining._concat_rows import common_columns
from ..ops._array_ops import common_dtype
from ..table._column import (
    Array,
    Column,
    as_floats,
    fill_missing,
    in_dtype,
    inverse,
    of_family,
    select,
    show_holes,
)
from ..table._count_types import in_one_label
from ..table._distinct_values import through_values
from ..table._dtypes import narrowed
from ..table._from_host import column_from
from ..table._holes import assumes_holes
from ..table._host_column import column_of, computed
from ..table._layout import ON_HOST
from ..table._nullable_scalars import scalar_in_dtype
from ..table._object_functions import (
    as_objects,
    column_like,
    host_series,
    joined_objects,
    with_object,
)
from ..table._recode import category_values, has_strings, recoded, renumbered
from ..table._table import Count, Table
from ..table._take import any_missing, missing_elsewhere, settled
from ..table._to_host import to_host
from ..table._tracing import is_traced
from ..table._types import DtypeLike
from ..table._units import finest_unit, with_unit_if_exact, with_units
from ._fitting_values import fits_dtype
from ._nullable_values import numbers_in_dtype


def choose_scalar(keep: Array, column: Column, value: object, table: Table, method: str) -> Column:
    """Keeps the values that `keep` flags, and replaces others by a scalar.

    The dtype is pandas' dtype: integers become floats only if a value is actually replaced. Inside
    `jit` every column counts as replaced.
    """
    column = show_holes(column)
    if isinstance(value, (jax.Array, np.ndarray)) and value.ndim == 0:
        if isinstance(value, jax.Array):
            other = Column(jnp.broadcast_to(value, (table.capacity,)))
            if column.is_nullable:
                return choose(keep, column, other, table, method)
            return _choose_numbers(keep, column, other, _number_dtype(column, other))
        value = value[()]
    if value is pd.NaT and column.family == "masked" and column.is_numeric:
        if _may_replace(keep, table.num_rows):
            raise TypeError(f"Invalid value 'NaT' for dtype '{column.dtype_name}'")
        return column
    is_null = value is None or value is pd.NaT or value is pd.NA
    if is_null and column.kind == "object":
        return _choose_object(keep, column, value, table, method)
    if is_null or (np.isscalar(value) and bool(pd.isna(value))):
        (missing,) = missing_elsewhere([column], keep)
        return settled(missing, table.num_rows)
    if column.is_nullable:
        try:
            one = scalar_in_dtype(column, value, method)
        except (TypeError, OverflowError):
            if _may_replace(keep, table.num_rows):
                raise
            return column
        counts = (table.num_rows, np.int32(1))
        return _choose_typed(keep, column, one, column.dtype, counts, method)
    if column.kind == "list":
        column = as_objects(column, table.num_rows, method)
    try:
        promoted = promoted_for(column, value)
    except ValueError:
        # A time or a number past the range of the column is an error only if a row needs it.
        if _may_replace(keep, table.num_rows):
            raise
        return column
    replacement, keeps_dtype = None, False
    if promoted is not None and promoted.dtype != object:
        replacement = column_from(narrowed(promoted), 1, ON_HOST, method)
        is_same_unit = replacement.type.unit == column.type.unit
        keeps_dtype = is_same_unit and replacement.dtype == column.dtype
    # The dtype changes only if a value does.
    is_changed = is_traced(keep, table.num_rows) or assumes_holes()
    if not (keeps_dtype or is_changed or any_missing(keep, table.num_rows)):
        return column
    if replacement is None:
        return _choose_object(keep, column, value, table, method)
    data = np.asarray(replacement.data) if isinstance(keep, np.ndarray) else replacement.data
    other = column_of(data, type=replacement.type)
    return _choose_typed(keep, column, other, other.dtype, (table.num_rows, np.int32(1)), method)


def _choose_object(keep: Array, column: Column, value: object, table: Table, method: str) -> Column:
    """Python objects, with one in place of the values that `keep` does not flag."""
    objects, position = with_object(as_objects(column, table.num_rows, method), value)
    return objects.with_arrays((select(keep, objects.data, position), None))


def _may_replace(keep: Array, num_rows: Count) -> bool:
    """Whether a row is replaced; inside `jit` one may be."""
    return is_traced(keep, num_rows) or bool(any_missing(keep, num_rows))


def like_row(column: Column) -> Any:
    """One value of a column's dtype, as pandas holds it."""
    no_value = column.type.has_codes and not len(column.type.dictionary or ())
    short: Any = np.full(1, -1 if no_value else 0, column.dtype)
    return to_host(Column(short, None, column.type), 1)


def promoted_for(column: Column, value: object) -> pd.Series | None:
    """A scalar in the dtype that pandas gives a column for it; None for a column of objects."""
    if column.kind == "object":
        return None
    is_known = column.is_numeric or column.kind == "string"
    if is_known and isinstance(value, (int, float, np.number, str)):
        dtype = column.dtype if column.is_numeric else "str"
        # Equal numbers may differ in type and in the sign of zero.
        return _promoted_by_dtype(dtype, value, type(value), repr(value))
    return _promoted(pd.Series(like_row(column)), value)


@functools.lru_cache(maxsize=256)
def _promoted_by_dtype(dtype: Any, value: Any, of: type, text: str) -> pd.Series:
    """`promoted_for` a column whose dtype alone decides."""
    del of, text
    like: Any = [""] if dtype == "str" else np.zeros(1, dtype)
    return _promoted(pd.Series(like, dtype=dtype), value)


def _promoted(like: pd.Series, value: Any) -> pd.Series:
    """A scalar in the dtype that pandas gives a column of one row for it."""
    is_wide = isinstance(value, int) and not -(2**63) <= value < 2**64
    if is_wide and like.dtype.kind != "f" and not isinstance(like.dtype, pd.CategoricalDtype):
        # pandas gives objects, or fails for int64.
        return pd.Series([value], dtype=object)
    try:
        return like.where(np.array([False]), value)
    except AssertionError:
        # pandas takes 255 for an int8, and fails. The next signed dtype represents it.
        dtype = np.result_type(like.to_numpy().dtype, np.min_scalar_type(-int(value) - 1))
        return pd.Series([value], dtype=dtype)


def choose(keep: Array, column: Column, other: Column, table: Table, method: str) -> Column:
    """Keeps the values that `keep` flags, and takes others from `other`; see `choose_scalar`.

    Times get the unit of `other` only if a value is replaced, and the unit of the column does not
    represent all times of `other`; inside `jit` they get the finer unit.
    """
    column, counts = show_holes(column), (table.num_rows, table.num_rows)
    is_known = not is_traced(keep, other, table.num_rows)
    if other.kind == "category" != column.kind and (column.kind != "object" or is_known):
        # Categories of integers are floats among objects, too, if one is missing.
        values = category_values(other)
        other = other if values is None else settled(values, table.num_rows)
    if column.is_nullable and column.is_numeric:
        other = numbers_in_dtype(column, other, method, inverse(keep), table.num_rows)
        return _choose_numbers(keep, column, other, column.dtype)
    if not keeps_kind(column, other):
        other = _in_arrow_dtype(keep, column, other, table, method)
    if other.is_nullable:
        mix = column.is_numeric and other.is_numeric and column.is_bool == other.is_bool
        if mix and method != "fillna":
            return _choose_nullable(keep, column, other, table)
        if mix or other.kind == column.kind != "number":
            other = of_family(as_floats(other) if column.is_float else other, column.family)
        elif other.is_numeric and not other.is_bool:
            # Missing bools and strings are NA among objects, missing numbers are NaN.
            other = as_floats(other)
    if column.kind == "category" != other.kind and not is_traced(keep, other, table.num_rows):
        other = _in_categories(keep, column, other, table, method)
    if column.type.is_time and other.kind == "string":
        other = _as_times(other, column, table, method)
    dtype = _number_dtype(column, other)
    if column.type.compares_with(other.type) and column.type != other.type:
        if not is_traced(keep, other, table.num_rows):
            if not assumes_holes() and not any_missing(keep, table.num_rows):
                return column
            if finest_unit(column, other) == other.type.unit and not assumes_holes():
                unit = column.type.unit or "ns"
                other = with_unit_if_exact(other, unit, table.num_rows) or other
            # Only times that a row needs must be in the range of the unit.
            (other,) = missing_elsewhere([other], ~keep)
        return _choose_typed(keep, column, other, dtype, counts, method)
    if dtype is not None and dtype != column.dtype and not is_traced(keep, other, table.num_rows):
        if not assumes_holes() and not any_missing(keep, table.num_rows):
            return column
        # pandas keeps a dtype that can represent all values of the other column.
        is_candidate = column.dtype.kind + other.dtype.kind in ("if", "uf", "ui", "fi", "fu", "ff")
        if (
            not assumes_holes()
            and other.valid is None
            and is_candidate
            and bool(fits_dtype(other.data, column.data, table.num_rows))
        ):
            dtype = column.dtype
    elif dtype is not None and column.is_float and other.dtype.kind in "iu":
        dtype = column.dtype
    return _choose_typed(keep, column, other, dtype, counts, method)


def _choose_nullable(keep: Array, column: Column, other: Column, table: Table) -> Column:
    """Numbers of a default dtype, or of a nullable one: they are nullable if one is replaced."""
    is_changed = is_traced(keep, other, table.num_rows) or assumes_holes()
    if not is_changed and not any_missing(keep, table.num_rows):
        return column
    dtype = common_dtype(column.dtype, other.dtype)
    column, other = in_dtype([column, other], dtype)
    return _choose_numbers(keep, column, other, dtype)


def keeps_kind(column: Column, other: Column) -> bool:
    """Whether a column of an Arrow dtype takes values of another one without a cast by Arrow."""
    if column.family != "arrow" or column.is_numeric or other.kind == column.kind:
        return True
    return column.kind == "string" and has_strings(other)


def _in_arrow_dtype(
    keep: Array, column: Column, other: Column, table: Table, method: str
) -> Column:
    """Values as those of a column of an Arrow dtype, which keeps it: Arrow casts those it needs.

    Raises:
        TypeError: Arrow does not cast them.
    """
    is_known = not is_traced(keep, column, other, table.num_rows)
    if assumes_holes() or (is_known and not any_missing(keep, table.num_rows)):
        return column
    refused = (
        f"Invalid values of dtype {other.dtype_name} for dtype {column.dtype_name!r} in {method}"
    )
    if not is_known:
        raise NotImplementedError(f"{refused}. Cast one of them with astype before jit.")
    count = table.num_rows_on_host
    is_needed = ~np.asarray(keep)[:count]
    held = host_series(column, count)
    values: Any = host_series(other, count)[is_needed]
    remedy = "Cast one of them with astype to a dtype that holds both"
    try:
        held[is_needed] = values.array
    except (TypeError, ValueError, NotImplementedError) as error:
        raise TypeError(f"{refused}. {remedy}. Arrow says: {error}") from error
    # Arrow makes missing values of texts that are no times.
    if (held.isna().to_numpy()[is_needed] & values.notna().to_numpy()).any():
        raise TypeError(f"{refused}. {remedy}.")
    return column_like(held, column)


def _in_categories(keep: Array, column: Column, other: Column, table: Table, method: str) -> Column:
    """Values as those of a column of categories, if any row is replaced."""
    if not any_missing(keep, table.num_rows):
        return column
    dtype: Any = pd.Series(like_row(column)).dtype

    def convert(values: pd.Series) -> pd.Series:
        codes = dtype.categories.get_indexer(values.astype(object))
        return pd.Series(pd.Categorical.from_codes(codes, dtype=dtype), values.index)

    found = through_values(other, table.num_rows, table.layout, convert, method)
    may_miss = found.present() | ~other.present()
    # pandas checks the values that fill missing ones, and all of those of where.
    if any_missing(may_miss | keep if method == "fillna" else may_miss, table.num_rows):
        raise TypeError(
            "Cannot setitem on a Categorical with a new category, set the categories first"
        )
    return found


def _as_times(other: Column, like: Column, table: Table, method: str) -> Column:
    """Strings as times of the dtype of another column, if pandas reads all of them."""
    try:
        return through_values(
            other, table.num_rows, table.layout, lambda texts: texts.astype(like.dtype_name), method
        )
    except (ValueError, TypeError):
        return other


def _choose_typed(
    keep: Array,
    column: Column,
    other: Column,
    dtype: DtypeLike,
    counts: tuple[Count, Count],
    method: str,
) -> Column:
    """Takes values of two columns, given their numbers of rows, after converting their types."""
    if column.is_numeric and other.is_numeric and dtype is not None:
        return _choose_numbers(keep, column, other, dtype)
    if column.kind == other.kind == "list":
        # Objects, if the values of the lists have no common type.
        column, other = common_columns([column, other], method, counts)
        return column.with_arrays((select(keep, column.data, other.data), None))
    common = _in_one_type(column, other, counts)
    if common is None:
        return _choose_objects(keep, column, other, counts, method)
    column, other = common
    return Column(select(keep, column.data, other.data), None, column.type)


def _in_one_type(
    column: Column, other: Column, counts: tuple[Count, Count]
) -> tuple[Column, ...] | None:
    """Strings, categories, times and labelled counts in one type; None if they have none."""
    if column.type.compares_with(other.type):
        return with_units((column, other), finest_unit(column, other), counts)
    if column.kind == "string" and has_strings(other):
        family = column.family
        column, other = recoded([column, other])
        return of_family(column, family), other
    if column.kind == other.kind == "category":
        if column.type != other.type:
            a, b = column.dictionary.values, other.dictionary.values
            if column.type.ordered != other.type.ordered or set(a) != set(b):
                raise TypeError(
                    "Cannot set a Categorical with another, without identical categories"
                )
            other = Column(renumbered(other.data, a.get_indexer(b)), None, column.type)
        return column, other
    return in_one_label((column, other), counts)


def _choose_objects(
    keep: Array, column: Column, other: Column, counts: tuple[Count, Count], method: str
) -> Column:
    """Takes values of two columns as Python objects, unless none of the other is needed."""
    is_changed = is_traced(keep, column, other, counts) or assumes_holes()
    if not is_changed and not any_missing(keep, counts[0]):
        return column
    if column.kind == "category":
        raise NotImplementedError(
            f"{method}: inside jit values of dtype {other.dtype_name} cannot become categories. "
            "Convert them with astype before jit."
        )
    sides = zip((column, other), counts, strict=True)
    column, other = joined_objects([as_objects(one, count, method) for one, count in sides])
    return column.with_arrays((select(keep, column.data, other.data), None))


def _number_dtype(column: Column, other: Column) -> Any:
    """The common dtype of two columns of numbers, or None if there is none."""
    if not (column.is_numeric and other.is_numeric) or column.is_bool != other.is_bool:
        return None
    return common_dtype(column.dtype, fill_missing(other).dtype)


def _choose_numbers(keep: Array, column: Column, other: Column, dtype: DtypeLike) -> Column:
    if dtype is None:
        raise NotImplementedError(
            f"Invalid values of dtype {other.dtype_name} for dtype {column.dtype_name!r}. "
            "Cast one of them with astype first."
        )
    other = fill_missing(other)
    arrays = computed(_select_numbers, (column, other), lambda sides: (keep, *sides, dtype))
    return of_family(column_of(*arrays), column.family)


@functools.partial(tiered, static_argnums=3)
def _select_numbers(keep: Array, column: Any, other: Any, dtype: np.dtype) -> Any:
    """The chosen numbers and their mask; missing floats are NaN."""
    (data, valid), (other_data, other_valid) = column, other
    data = jnp.where(keep, data.astype(dtype), other_data.astype(dtype))
    if valid is None and other_valid is None:
        return data, None
    is_valid = jnp.where(
        keep, True if valid is None else valid, True if other_valid is None else other_valid
    )
    if dtype.kind in "fc":
        return jnp.where(is_valid, data, data.dtype.type(np.nan)), None
    return data, is_valid
