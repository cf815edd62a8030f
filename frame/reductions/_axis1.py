# SPDX-License-Identifier: Apache-2.0
"""Reductions of each row of a frame over its few columns."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives._global._quantile import mean_of_both, unless_overflow
from ...primitives.staging import tiered
from ..ops._array_ops import common_dtype
from ..table._column import (
    NUMBER,
    Array,
    Column,
    bare,
    common_family,
    fill_missing,
    in_dtype,
    inverse,
    missing_rows,
    of_family,
)
from ..table._distinct_values import column_of_results, looked_up
from ..table._dtypes import wide
from ..table._recode import as_truths
from ..table._table import Table
from ..table._take import any_missing, settled
from ..table._tracing import is_traced
from ._reduce_columns import reduce_rows, reduction_for
from ._results import result_type


def reduce_across(columns: Sequence[Column], op: str, table: Table, **arguments: Any) -> Column:
    """Reduces each row over its columns."""
    family = common_family(columns)
    types = {column.type.of_family(family) for column in columns}
    if op in ("any", "all"):
        columns = [_truths(column, arguments["skipna"]) for column in columns]
        types = {NUMBER}
        family = "masked" if family == "masked" else None
    is_count = op == "count"
    if not is_count and (len(types) > 1 or not (columns[0].is_numeric or columns[0].type.is_time)):
        raise NotImplementedError(
            f"{op}: with axis=1 all columns must be numbers, or times of one unit, got "
            f"{_shown_types(columns)}. Select columns first, or use numeric_only=True."
        )
    dtype = None
    if not is_count:
        dtype = functools.reduce(common_dtype, (column.dtype for column in columns))
    plans = tuple(reduction_for(c, op, dtype=dtype, **arguments) for c in columns)
    reduced = reduce_rows(tuple(map(bare, columns)), plans)
    kind = result_type(columns[0].type, op).of_family(family)
    if kind.is_time or jnp.issubdtype(reduced.value.dtype, jnp.inexact):
        return Column(reduced.value, None, kind)
    if any(plan.is_kleene for plan in plans):
        flags = of_family(Column(reduced.value, inverse(reduced.is_missing)), "masked")
        return settled(flags, table.num_rows)
    if op in ("count", "any", "all"):
        return of_family(Column(reduced.value), None if is_count else family)
    return settled(Column(reduced.value, inverse(reduced.is_missing), kind), table.num_rows)


def _truths(column: Column, skipna: bool) -> Column:
    """Converts codes and dates to Python's truth values; a missing one is True unless `skipna`."""
    if column.kind in ("number", "timedelta"):
        return column
    missing = column.missing()
    is_true = as_truths(column).data if column.type.has_codes else jnp.ones_like(missing)
    return Column(is_true, ~missing) if skipna else Column(is_true | missing)


def of_one_type(op: str, columns: Sequence[Column], *, bools: bool = False) -> tuple[Column, ...]:
    """Casts columns of real numbers, or of bools, to their common dtype.

    With `bools` both may be mixed, which pandas converts to objects.
    """
    if common_family(columns) is not None:
        raise NotImplementedError(
            f"{op}: with axis=1 columns must have default dtypes, got {_shown_types(columns)}. "
            "Convert them first, with astype."
        )
    shown = tuple(map(fill_missing, columns))
    is_real = all(c.is_numeric and c.dtype.kind != "c" and c.valid is None for c in shown)
    if not is_real or (not bools and len({column.is_bool for column in shown}) > 1):
        raise NotImplementedError(
            f"{op}: with axis=1 all columns must be real numbers, or all bools without missing "
            f"values, got {_shown_types(shown)}. Select columns first, or cast them with astype."
        )
    return in_dtype(shown, functools.reduce(common_dtype, (column.dtype for column in shown)))


def _shown_types(columns: Sequence[Column]) -> list[str]:
    return sorted({column.dtype_name for column in columns})


def median_across(columns: Sequence[Column], skipna: bool) -> Column:
    """The median of each row."""
    columns = of_one_type("median", columns)
    if not columns[0].is_float:
        columns = in_dtype(columns, wide(np.float64))
    return Column(_median_across(tuple(column.data for column in columns), skipna))


@functools.partial(tiered, static_argnums=1)
def _median_across(columns: tuple[Array, ...], skipna: bool) -> Array:
    values = jnp.sort(jnp.stack(columns, axis=1), axis=1)
    dtype = values.dtype
    count = jnp.sum(~jnp.isnan(values), axis=1, dtype=jnp.int32)
    positions = jnp.arange(len(columns), dtype=jnp.int32)

    def at(position: Array) -> Array:
        is_selected = positions[None, :] == position[:, None]
        return jnp.max(jnp.where(is_selected, values, dtype.type(-np.inf)), axis=1)

    first, second = (count - 1) // 2, count // 2
    low, high = at(first), at(second)
    half = dtype.type(0.5)
    between = unless_overflow(mean_of_both(low, high, half), low, high, half)
    median = jnp.where(first == second, low, between)
    is_defined = count > 0 if skipna else count == len(columns)
    return jnp.where(is_defined, median, dtype.type(np.nan))


def nunique_across(columns: Sequence[Column], dropna: bool) -> Column:
    """The number of distinct values in each row."""
    columns = of_one_type("nunique", columns, bools=True)
    return Column(_nunique_across(tuple(column.data for column in columns), dropna))


@functools.partial(tiered, static_argnums=1)
def _nunique_across(columns: tuple[Array, ...], dropna: bool) -> Array:
    values = jnp.sort(jnp.stack(columns, axis=1), axis=1)
    is_new = jnp.pad(values[:, 1:] != values[:, :-1], ((0, 0), (1, 0)), constant_values=True)
    is_missing = missing_rows(values, None, "nan")
    count = jnp.sum(is_new & ~is_missing, axis=1, dtype=jax.dtypes.canonicalize_dtype(np.int64))
    return count if dropna else count + jnp.any(is_missing, axis=1).astype(count.dtype)


def labels_across(
    op: str, columns: Sequence[Column], labels: pd.Index, skipna: bool, table: Table
) -> Column:
    """The label of the first column that holds the extreme of each row.

    Inside `jit` the label of a row without an extreme is missing.
    """
    caller = op.replace("arg", "idx")
    if labels.nlevels > 1:
        raise NotImplementedError(
            f"{caller}: with axis=1 column labels must have one level, got {labels.nlevels}."
        )
    if not columns:
        raise ValueError(f"attempt to get {op} of an empty sequence")
    data = tuple(column.data for column in of_one_type(caller, columns, bools=True))
    positions = _positions_across(data, op == "argmax", skipna)
    is_concrete = not is_traced(positions, table.num_rows)
    if is_concrete and bool(any_missing(positions >= 0, table.num_rows)):
        what = "all NA values" if skipna else "an NA value with skipna=False"
        raise ValueError(f"Encountered {what}")
    found = column_of_results(pd.Series(labels), caller)
    return looked_up(found, positions, table.num_rows, table.layout)


@functools.partial(tiered, static_argnums=(1, 2))
def _positions_across(columns: tuple[Array, ...], is_greatest: bool, skipna: bool) -> Array:
    best, position = columns[0], jnp.full(columns[0].shape, -1, jnp.int32)
    is_complete = jnp.ones(best.shape, jnp.bool_)
    for i, x in enumerate(columns):
        is_missing = missing_rows(x, None, "nan")
        is_better = ~is_missing & ((position < 0) | (x > best if is_greatest else x < best))
        best, position = jnp.where(is_better, x, best), jnp.where(is_better, np.int32(i), position)
        is_complete = is_complete & ~is_missing
    return position if skipna else jnp.where(is_complete, position, np.int32(-1))
