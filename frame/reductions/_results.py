# SPDX-License-Identifier: Apache-2.0
"""Results of reductions in pandas' form: scalars, and series with a row per column."""

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ..ops._array_ops import common_dtype
from ..table._column import NUMBER, Array, Column, ColumnType
from ..table._column_labels import Labels
from ..table._counted import MOST_DIGITS
from ..table._dtypes import narrowed
from ..table._from_host import column_from, index_from
from ..table._layout import ONE_DEVICE
from ..table._table import Table, as_count
from ..table._to_host import host_array, to_host
from ..table._tracing import answered_at_once, at_once


def result_type(type: ColumnType, op: str) -> ColumnType:
    """The type of the result of a reduction."""
    if op in ("any", "all"):
        # Those of Arrow's numbers are bools of NumPy.
        is_masked = type.family == "masked" and type.kind == "number"
        return NUMBER.of_family("masked" if is_masked else None)
    if op in ("count", "size", "nunique", "argmin", "argmax"):
        return NUMBER
    if type.digits is not None and op == "sum":
        # Arrow's sums have all digits.
        return dataclasses.replace(type, digits=(MOST_DIGITS, type.digits[1]))
    if type.kind == "datetime" and op in ("std", "sem"):
        return ColumnType("timedelta", unit=type.unit).of_family(type.family)
    return type


def host_value(value: Any, is_missing: Any, type: ColumnType, is_truth: bool = False) -> Any:
    """A result as an array of one element with pandas' dtype."""
    data: Any = host_array(value).reshape(1)
    if type.kind == "number" and data.dtype.kind not in "fc" and bool(host_array(is_missing)):
        if is_truth:
            return pd.array([pd.NA], "boolean")
        missing = [np.nan] if type.family is None else pd.array([pd.NA], type.nullable(data.dtype))
        return np.array(missing) if type.family is None else missing
    return first_on_host(Column(data, None, type))


def first_on_host(column: Column) -> Any:
    """The first row of a column as an array of one element with pandas' dtype."""
    shown = to_host(column, 1)
    # NumPy's times are not those of pandas.
    return pd.array(shown) if column.type.is_time or column.kind == "period" else shown


def host_series(values: Sequence[Any], labels: pd.Index) -> pd.Series:
    """A series of one-element results, with the common dtype that pandas finds."""
    are_arrays = bool(values) and all(type(value) is np.ndarray for value in values)
    if are_arrays and len({value.dtype for value in values}) == 1:
        return pd.Series(np.concatenate(values), index=labels)
    row = pd.DataFrame(dict(enumerate(values))).iloc[0]
    row.index, row.name = labels, None
    return row


@answered_at_once
def table_of_series(series: pd.Series) -> Table:
    """The table of a short series, on one device."""
    capacity = ONE_DEVICE.capacity_for(len(series))
    column = column_from(narrowed(series), capacity, ONE_DEVICE, series.name)
    index = index_from(narrowed(series.index), capacity, ONE_DEVICE)
    return Table((column,), index, as_count(len(series)))


@answered_at_once
def table_of_frame(frame: pd.DataFrame) -> tuple[Table, Labels]:
    """The table of a short frame, on one device, and its column labels."""
    capacity = ONE_DEVICE.capacity_for(len(frame))
    columns = [
        column_from(narrowed(frame.iloc[:, position]), capacity, ONE_DEVICE, label)
        for position, label in enumerate(frame.columns)
    ]
    index = index_from(narrowed(frame.index), capacity, ONE_DEVICE)
    return Table(tuple(columns), index, as_count(len(frame))), Labels(frame.columns)


def traced_table(
    values: Sequence[tuple[Array, Any]], types: Sequence[ColumnType], labels: pd.Index, caller: str
) -> Table:
    """A table of one column with a row for each traced result."""
    if any(type != types[0] for type in types):
        raise NotImplementedError(
            f"{caller}: inside jit the results must be of one type, got "
            f"{sorted({type.kind for type in types})}. Select columns first, or use "
            "numeric_only=True."
        )
    dtype = functools.reduce(common_dtype, (np.dtype(value.dtype) for value, _ in values))
    num_rows = len(values)
    padding = ONE_DEVICE.capacity_for(num_rows) - num_rows
    data = jnp.stack([value.astype(dtype).reshape(()) for value, _ in values])
    valid = None
    if types[0].kind == "number":
        is_missing = jnp.stack([jnp.asarray(flag, jnp.bool_) for _, flag in values])
        if jnp.issubdtype(dtype, jnp.inexact):
            data = jnp.where(is_missing, dtype.type(np.nan), data)
        else:
            valid = jnp.pad(~is_missing, (0, padding))
    column = Column(jnp.pad(data, (0, padding)), valid, types[0])
    # The labels are concrete, so `frame - frame.mean()` aligns inside jit too.
    index = at_once(index_from, narrowed(labels), data.shape[0] + padding, ONE_DEVICE)
    return Table((column,), index, as_count(num_rows))
