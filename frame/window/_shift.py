# SPDX-License-Identifier: Apache-2.0
"""`shift`: values moved over rows or columns."""

import functools
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ...shardings._compat import is_x64_enabled
from ..combining._concat import concat
from ..table._arguments import as_scalar, axis_number
from ..table._by_pandas import by_pandas
from ..table._column import NAT, Array, Column, ColumnType, fill_missing
from ..table._dictionary import Dictionary, unify
from ..table._dtypes import as_dtype, narrowed
from ..table._from_host import check_width
from ..table._host_column import computed, moved_column
from ..table._layout import Layout
from ..table._ndframe import NDFrame, SeriesBase
from ..table._object_functions import with_object
from ..table._recode import renumbered
from ..table._table import Count, Table
from ..table._take import gather, missing_elsewhere, position, settled
from ..table._types import Axis, Function
from ..table._zones import in_utc

NO_VALUE = pd.api.extensions.no_default


# For a column of numbers pandas' answer is kept if the fill value has one of these types.
_PLAIN = (int, float, np.number, np.bool_, type(NO_VALUE))


class Filling(NamedTuple):
    """The fill value of rows without a source row.

    Attributes:
        dtype: the dtype of the shifted array.
        value: a scalar of the dtype; None if a mask marks the rows as missing.
    """

    dtype: np.dtype
    value: Any


def shift_columns(
    columns: Sequence[Column], periods: int, num_rows: Count, layout: Layout, fill_value: object
) -> tuple[Column, ...]:
    """Shifts columns down by `periods` rows, up if negative."""
    if not periods or not columns:
        return tuple(columns)
    prepared = [filling_of(fill_missing(column), fill_value) for column in columns]
    filled, fillings = zip(*prepared, strict=True)
    dtypes, values = zip(*fillings, strict=True)
    steps = steps_of(periods, columns)
    shifted = computed(
        _shift, filled, lambda arrays: (tuple(arrays), values, steps, num_rows, dtypes, layout)
    )
    return tuple(map(moved_column, filled, shifted))


def whole_periods(caller: str, periods: Any, *, across: bool = False) -> int:
    """Converts `periods`: a number of rows, or with `across` of columns."""
    periods = as_scalar(periods)
    message = f"{caller}: periods must be an integer, got {periods!r}."
    if isinstance(periods, (int, np.integer)):
        if not across and not -(2**63) <= periods < 2**63:
            raise OverflowError(message)
        return int(periods)
    if not across:
        try:
            int(periods)
        except (OverflowError, ValueError) as error:
            raise type(error)(message) from None
        except TypeError:
            pass
    raise TypeError(message)


def steps_of(periods: int, columns: Sequence[Column]) -> np.int32:
    """Clips `periods` to the capacity; a longer shift has the same result."""
    capacity = columns[0].capacity
    return np.int32(max(min(periods, capacity), -capacity))


def filling_of(column: Column, fill_value: object) -> tuple[Column, Filling]:
    """Determines the filling as pandas does, by a shift of one row of the dtype on the host."""
    if column.kind == "string":
        return _filling_of_strings(column, fill_value)
    if column.is_nullable and column.is_numeric:
        nullable: Any = _one_row(column).shift(1, fill_value=fill_value)
        value = nullable.iloc[0]
        if value is pd.NA:
            value = np.nan if column.is_float else None
        return column, Filling(column.dtype, None if value is None else column.dtype.type(value))
    if column.kind == "object":
        column, position = with_object(column, None if fill_value is NO_VALUE else fill_value)
        return column, Filling(column.dtype, position)
    holds_numbers = column.kind == "list"
    if column.dtype == jnp.bfloat16 or (holds_numbers and fill_value is NO_VALUE):
        value = -1 if holds_numbers else np.nan if fill_value is NO_VALUE else fill_value
        return column, Filling(column.dtype, column.dtype.type(value))
    if column.type.is_counted and fill_value is NO_VALUE:
        return column, Filling(column.dtype, np.int64(NAT))
    if column.kind == "number" and isinstance(fill_value, _PLAIN):
        # Equal numbers may differ in type and in the sign of zero.
        how = type(fill_value), repr(fill_value), is_x64_enabled()
        row: Any = _shifted_number(column.dtype, fill_value, how)
    else:
        row = _shifted(_one_row(column), fill_value)
    if column.kind == "category":
        return column, Filling(column.dtype, np.int32(row.cat.codes.iloc[0]))
    if column.type.is_time and row.dtype.kind in "mM":
        return column, Filling(column.dtype, in_utc(row).view(np.int64)[0])
    if row.dtype == object:
        if not column.is_bool or not pd.isna(row.iloc[0]):
            raise NotImplementedError(
                f"shift: fill_value must be a value of the column's dtype, {column.dtype_name}, "
                f"got {fill_value!r}. Cast the column first, with astype."
            )
        return column, Filling(column.dtype, None)
    check_width(row.dtype, "shift")
    return column, Filling(row.dtype, row.to_numpy()[0])


@functools.lru_cache(maxsize=256)
def _shifted_number(dtype: np.dtype, fill_value: Any, how: tuple[object, ...]) -> Any:
    del how
    return _shifted(pd.Series(np.zeros(1, dtype)), fill_value)


def _shifted(row: Any, fill_value: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return narrowed(row.shift(1, fill_value=fill_value))


def _one_row(column: Column) -> pd.Series:
    if column.kind == "category":
        categories = pd.CategoricalDtype(column.dictionary.values, column.type.ordered)
        return pd.Series([None], dtype=categories)
    if column.is_nullable and column.is_numeric:
        return pd.Series([0], dtype=column.type.nullable(column.dtype))
    name = column.type.of_family(None).named(column.dtype)
    return pd.Series(np.zeros(1, np.int64), dtype=name)


def _filling_of_strings(column: Column, fill_value: Any) -> tuple[Column, Filling]:
    if fill_value is NO_VALUE or pd.isna(fill_value):
        return column, Filling(column.dtype, np.int32(-1))
    filler = Dictionary(pd.Index([str(fill_value)], dtype="str"))
    dictionary, (codes, code) = unify([column.dictionary, filler])
    data = column.data if codes is None else renumbered(column.data, codes)
    filled = Column(data, None, ColumnType("string", dictionary, family=column.family))
    return filled, Filling(column.dtype, np.int32(0 if code is None else code[0]))


@functools.partial(tiered, static_argnums=(4, 5))
def _shift(
    arrays: Sequence[Any],
    values: tuple[Any, ...],
    periods: Count,
    num_rows: Count,
    dtypes: tuple[np.dtype, ...],
    layout: Layout,
) -> Any:
    arrays = tuple(
        (as_dtype(data, dtype), valid) for (data, valid), dtype in zip(arrays, dtypes, strict=True)
    )
    moved, is_hole = moved_rows(arrays, periods, num_rows, layout)
    results = []
    for (data, valid), value in zip(moved, values, strict=True):
        if value is None:
            valid = jnp.ones(data.shape, jnp.bool_) if valid is None else valid
            results.append((data, valid & ~is_hole))
        else:
            results.append(
                (jnp.where(is_hole, value, data), None if valid is None else valid | is_hole)
            )
    return tuple(results)


def moved_rows(rows: object, periods: Count, num_rows: Count, layout: Layout) -> tuple[Any, Array]:
    """The rows `periods` before each row, and flags of rows without one. Traced.

    `periods` is at most the capacity; see `steps_of`.
    """
    capacity = jax.tree.leaves(rows)[0].shape[0]
    source = position(capacity, layout) - periods
    if layout.mesh is None:
        # A roll by at most the capacity, without the remainder that `jnp.roll` takes.
        start = jnp.where(periods > 0, capacity - periods, -periods)

        def roll(leaf: Array) -> Array:
            twice = jnp.concatenate([leaf, leaf])
            return jax.lax.dynamic_slice(twice, [start], [capacity], allow_negative_indices=False)

        moved = jax.tree.map(roll, rows)
    else:
        moved = gather(rows, source, layout)
    return moved, (source < 0) | (source >= num_rows)


def _shifted_across(table: Table, periods: int, fill_value: object) -> Sequence[Column]:
    """Shifts columns to the right; the columns at the edge become missing."""
    if fill_value is not NO_VALUE:
        raise NotImplementedError(
            "shift: with axis=1 fill_value is not supported. Call fillna() on the edge columns."
        )
    columns, steps = table.columns, min(abs(periods), len(table.columns))
    if not steps:
        return columns
    no_row = jnp.zeros(table.capacity, jnp.bool_)
    (edge,) = missing_elsewhere([columns[0] if periods > 0 else columns[-1]], no_row)
    gap = [settled(edge, table.num_rows)] * steps
    return [*gap, *columns[:-steps]] if periods > 0 else [*columns[steps:], *gap]


def shifted_by_each(periods: Any, suffix: str | None, shift: Function) -> Any:
    """The columns that `shift` gives for each of several periods, with labels that name it."""
    shifted: list[Any] = []
    for period in periods:
        if isinstance(period, bool) or not isinstance(period, (int, np.integer)):
            raise TypeError(f"Periods must be integer, but {period} is {type(period)}.")
        rows = shift(int(period))
        rows = rows.to_frame() if isinstance(rows, SeriesBase) else rows
        shifted.append(rows.add_suffix(f"{suffix}_{period}" if suffix else f"_{period}"))
    if not shifted:
        raise ValueError("If `periods` is an iterable, it cannot be empty.")
    return concat(shifted, axis=1, sort=False)


class Shifting(NDFrame):
    """The shift of frames and series."""

    def shift(
        self,
        periods: Any = 1,
        freq: object = None,
        axis: Axis = 0,
        fill_value: object = NO_VALUE,
        suffix: str | None = None,
    ) -> Any:
        """Moves the values down by `periods` rows, up if negative; the labels stay.

        With `axis=1` values move to the right by `periods` columns, to the left if negative. A list
        of periods gives the columns of each, whose labels end with `suffix` and the period.

        Differences from pandas:
            A `fill_value` that converts the column to objects raises. Bools without rows stay
            bools.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([3, 1, 2]).shift(1, fill_value=0).tolist()
            [0, 3, 1]
        """
        if pd.api.types.is_list_like(periods):
            if axis_number(axis, self):
                raise ValueError("If `periods` contains multiple shifts, `axis` cannot be 1.")
            of: Any = self
            return shifted_by_each(periods, suffix, lambda one: of.shift(one, freq, 0, fill_value))
        if suffix:
            raise ValueError("Cannot specify `suffix` if `periods` is an int.")
        if freq is not None:
            how = {} if fill_value is NO_VALUE else {"fill_value": fill_value}
            return by_pandas(
                self, "shift: freq=", "Shift by rows.",
                lambda data: data.shift(periods, freq, axis, **how),
            )  # fmt: skip
        is_across = axis_number(axis, self)
        periods = whole_periods("shift", periods, across=bool(is_across))
        table = self._table
        if is_across:
            columns = _shifted_across(table, periods, fill_value)
        else:
            columns = shift_columns(
                table.columns, periods, table.num_rows, self._layout, fill_value
            )
        return self._with_columns(columns)
