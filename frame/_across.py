# SPDX-License-Identifier: Apache-2.0
"""Each row of a frame reduced over its columns."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._column import NUMBER, Array, Column
from ._group_types import as_truths
from ._moves import settled
from ._number_ops import common_dtype
from ._reduced import (
    MOMENTS,
    Reduced,
    Reduction,
    at_least_one,
    distances,
    finished,
    first_reduction,
    first_values,
    joined,
    of_powers,
    present_values,
    reduction_for,
)
from ._results import result_type
from ._table import Table


def reduce_across(columns: Sequence[Column], op: str, table: Table, **arguments: Any) -> Column:
    """A column of what each row comes to.

    Raises:
        NotImplementedError: the columns are not all numbers, or all times of one type.
    """
    types = {column.type for column in columns}
    if op in ("any", "all"):
        columns = [_truths(column, arguments["skipna"]) for column in columns]
        types = {NUMBER}
    if len(types) > 1 or not (columns[0].is_numeric or columns[0].type.is_time):
        kinds = sorted({column.dtype_name for column in columns})
        raise NotImplementedError(
            f"{op}: with axis=1 all columns must be numbers, or times of one unit, got {kinds}. "
            "Select columns first, or use numeric_only=True."
        )
    dtype = functools.reduce(common_dtype, (column.dtype for column in columns))
    plans = tuple(reduction_for(c, op, dtype=dtype, **arguments) for c in columns)
    reduced = _reduce_across(tuple(column.arrays for column in columns), plans)
    kind = result_type(columns[0].type, op)
    if kind.is_time or jnp.issubdtype(reduced.value.dtype, jnp.inexact):
        return Column(reduced.value, None, kind)
    if op in ("count", "any", "all"):
        return Column(reduced.value)
    return settled(Column(reduced.value, ~reduced.is_missing), table.num_rows)


def _truths(column: Column, skipna: bool) -> Column:
    """Whether each value is true to Python, a missing one too unless it is left out."""
    if column.is_numeric:
        return column
    missing = column.missing()
    if column.kind == "datetime":
        is_true = jnp.ones(missing.shape, jnp.bool_)
    elif column.kind == "timedelta":
        is_true = column.data != np.int64(0)
    else:
        is_true = as_truths(column).data
    return Column(is_true, ~missing) if skipna else Column(is_true | missing)


@functools.partial(jax.jit, static_argnums=1)
def _reduce_across(columns: Any, plans: tuple[Reduction, ...]) -> Reduced:
    plan = plans[0]
    is_row = jnp.ones(columns[0][0].shape, jnp.bool_)
    values = [present_values(*one, is_row) for one in zip(plans, columns, strict=True)]
    count: Array = joined("sum", [present.astype(jnp.int32) for _, present in values])
    value = joined(first_reduction(plan), [first_values(plan, *one) for one in values])
    if plan.op in MOMENTS:
        mean = value / at_least_one(count).astype(value.dtype)
        powers = [distances(plan, *one, mean) for one in values]
        sums = {p: joined("sum", [one[p] for one in powers]) for p in powers[0]}
        value = of_powers(plan, count, sums)
    return finished(plan, value, count, np.int32(len(values)))
