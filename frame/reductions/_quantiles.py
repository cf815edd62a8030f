# SPDX-License-Identifier: Apache-2.0
"""Medians and quantiles of columns, by exact selection of ranks."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives._accumulators import identity_of_reduction, positive
from ...primitives._global._quantile import between_ranks, from_nearer_end, mean_of_both
from ...primitives.staging import tiered
from ...primitives.tiers._rounding import rounded
from ..table._column import NAT, Array, Column, bare
from ..table._dtypes import wide
from ..table._layout import Layout
from ..table._map_program import ZERO
from ..table._table import Count, is_row
from ..table._tracing import at_once
from ._reduce_columns import Reduced, Reduction, present_values, reduction_for

INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def quantiles_of_columns(
    columns: Sequence[Column],
    q: Any,
    how: str,
    num_rows: Count,
    layout: Layout,
    skipna: bool = True,
) -> tuple[Reduced, ...]:
    """Quantiles of columns, one for each `q`.

    `how` is an interpolation, or "median".
    """
    if not columns:
        return ()
    plans = tuple(reduction_for(column, "quantile", skipna=skipna) for column in columns)
    q = q if isinstance(q, jax.Array) else np.asarray(q, np.float64)
    return at_once(_quantiles, tuple(map(bare, columns)), q, num_rows, plans, how, layout)


def _quantiles(
    columns: object,
    q: Array,
    num_rows: Count,
    plans: tuple[Reduction, ...],
    how: str,
    layout: Layout,
) -> tuple[Reduced, ...]:
    selected = _selected(columns, q, num_rows, plans, layout)
    return tuple(
        _interpolated(*neighbours, num_rows, ZERO, plan, how)
        for neighbours, plan in zip(selected, plans, strict=True)
    )


@functools.partial(tiered, static_argnums=(3, 4))
def _selected(
    columns: Any, q: Array, num_rows: Count, plans: tuple[Reduction, ...], layout: Layout
) -> Any:
    """For each column the values below and above each quantile, its rank, and a count of values."""
    rows = is_row(columns[0].data.shape[0], num_rows, layout)
    return tuple(
        _select(column, q, rows, plan, layout) for column, plan in zip(columns, plans, strict=True)
    )


def _select(column: Column, q: Array, rows: Array, plan: Reduction, layout: Layout) -> Any:
    data, present = present_values(plan, column)
    present = present & rows
    if data.dtype == np.bool_:
        data = data.astype(jnp.int8)
    if data.dtype in (jnp.float16, jnp.bfloat16):
        data = data.astype(jnp.float32)
    count = jnp.sum(present, dtype=jnp.int32)
    is_float = jnp.issubdtype(data.dtype, jnp.floating)
    # Missing values sort last, after every rank that is selected.
    last_value = data.dtype.type(np.nan) if is_float else identity_of_reduction("min", data.dtype)
    filled = jnp.where(present, data, last_value)
    last = positive(count) - np.int32(1)
    rank = q.astype(wide(np.float64)) * last.astype(wide(np.float64))
    below = jnp.floor(rank).astype(jnp.int32)
    above = jnp.minimum(below + np.int32(1), last)
    ranks = jnp.concatenate([below, above])
    selected = primitives.select_rank(filled, ranks, **layout.on_mesh)
    return selected[: q.shape[0]], selected[q.shape[0] :], rank, count


# Apart from the selection: XLA compiles this, which takes longer the more there is around it.
@functools.partial(tiered, static_argnums=(6, 7))
def _interpolated(
    a: Array,
    b: Array,
    rank: Array,
    count: Array,
    num_rows: Count,
    zero: Array,
    plan: Reduction,
    how: str,
) -> Reduced:
    low = jnp.floor(rank)
    fraction, below = rank - low, low.astype(jnp.int32)
    is_float = jnp.issubdtype(a.dtype, jnp.floating)
    narrow = plan.dtype if is_float and plan.missing != "time" else a.dtype
    if plan.missing == "time":
        # A count of units is cut off, so the last bit of the float could change it.
        values = _between(a, b, fraction, below, how, narrow, lambda x: rounded(x, zero))
    else:
        values = _between(a, b, fraction, below, how, narrow)
    is_missing = count == 0
    if not plan.skipna:
        is_missing = is_missing | (count < num_rows)
    if jnp.issubdtype(values.dtype, jnp.floating) and plan.missing != "time":
        values = jnp.where(is_missing, values.dtype.type(np.nan), values)
        # Interpolated values are float64, as in NumPy.
        if how not in ("linear", "midpoint") and plan.dtype in _NARROW:
            values = values.astype(plan.dtype)
    elif plan.missing == "time":
        values = jnp.where(is_missing, np.int64(NAT), values.astype(jnp.int64))
    return Reduced(values, is_missing)


_NARROW = (np.float16, np.float32, jnp.bfloat16)


def _between(
    a: Array,
    b: Array,
    fraction: Array,
    below: Array,
    how: str,
    narrow: np.dtype,
    part_of: Callable[[Array], Array] = lambda part: part,
) -> Array:
    dtype = fraction.dtype
    if how == "median" and a.dtype == jnp.float32:
        dtype = np.dtype(np.float32)
    if how in ("median", "linear", "midpoint"):
        a, b = a.astype(dtype), b.astype(dtype)

    def linear(low: Array, high: Array, weight: Array) -> Array:
        """Interpolates as NumPy does, with the distance of floats in their own dtype."""
        if narrow not in _NARROW:
            return from_nearer_end(low, high, weight, part_of=part_of)
        distance = (high.astype(narrow) - low.astype(narrow)).astype(dtype)
        return from_nearer_end(low, high, weight, distance)

    is_odd = (below & np.int32(1)) != 0
    if how == "median":
        return between_ranks(a, b, fraction, is_odd, "midpoint", linear, mean_of_both)
    return between_ranks(a, b, fraction, is_odd, how, linear)
