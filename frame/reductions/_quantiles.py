# SPDX-License-Identifier: Apache-2.0
"""Medians and quantiles of columns, by exact selection of ranks."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives.staging import tiered
from ..table._column import NAT, Array, Column, bare
from ..table._dtypes import wide
from ..table._layout import Layout
from ..table._table import Count, is_row
from ..table._tracing import at_once
from ._identities import identity_of
from ._moments import positive
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
    """Quantiles of columns, one for each `q`, in one compiled call.

    `how` is an interpolation, or "median".
    """
    if not columns:
        return ()
    plans = tuple(reduction_for(column, "quantile", skipna=skipna) for column in columns)
    q = q if isinstance(q, jax.Array) else np.asarray(q, np.float64)
    return at_once(_quantiles, tuple(map(bare, columns)), q, num_rows, plans, how, layout)


@functools.partial(tiered, static_argnums=(3, 4, 5))
def _quantiles(
    columns: Any, q: Array, num_rows: Count, plans: tuple[Reduction, ...], how: str, layout: Layout
) -> tuple[Reduced, ...]:
    rows = is_row(columns[0].data.shape[0], num_rows, layout)
    return tuple(
        _of_column(column, q, rows, num_rows, plan, how, layout)
        for column, plan in zip(columns, plans, strict=True)
    )


def _of_column(
    column: Any, q: Array, rows: Array, num_rows: Count, plan: Reduction, how: str, layout: Layout
) -> Reduced:
    data, present = present_values(plan, column)
    present = present & rows
    if data.dtype == np.bool_:
        data = data.astype(jnp.int8)
    if data.dtype in (jnp.float16, jnp.bfloat16):
        data = data.astype(jnp.float32)
    count = jnp.sum(present, dtype=jnp.int32)
    is_float = jnp.issubdtype(data.dtype, jnp.floating)
    # Missing values sort last, after every rank that is selected.
    last_value = data.dtype.type(np.nan) if is_float else identity_of("min", data.dtype)
    filled = jnp.where(present, data, last_value)
    last = positive(count) - np.int32(1)
    rank = q.astype(wide(np.float64)) * last.astype(wide(np.float64))
    low = jnp.floor(rank)
    fraction = rank - low
    below = low.astype(jnp.int32)
    above = jnp.minimum(below + np.int32(1), last)
    ranks = jnp.concatenate([below, above])
    selected = primitives.select_rank(filled, ranks, **layout.on_mesh)
    a, b = selected[: q.shape[0]], selected[q.shape[0] :]
    narrow = plan.dtype if is_float and plan.missing != "time" else a.dtype
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
    a: Array, b: Array, fraction: Array, below: Array, how: str, narrow: np.dtype
) -> Array:
    match how:
        case "lower":
            return a
        case "higher":
            return jnp.where(fraction > 0, b, a)
        case "nearest":
            is_odd = (below & np.int32(1)) != 0
            is_above = (fraction > 0.5) | ((fraction == 0.5) & is_odd)
            return jnp.where(is_above, b, a)
    dtype = fraction.dtype
    if how == "median" and a.dtype == jnp.float32:
        dtype = np.dtype(np.float32)
    x, y = a.astype(dtype), b.astype(dtype)
    if how == "median":
        return jnp.where(fraction > 0, (x + y) / dtype.type(2), x)
    if how == "midpoint":
        fraction = jnp.where(fraction > 0, dtype.type(0.5), dtype.type(0))
    # From the nearer end, as NumPy does, with the distance of floats in their own dtype. Equal rows
    # share the derivative; between equal infinities nothing is interpolated.
    is_between = (fraction > 0) & ((x != y) | jnp.isfinite(x))
    distance = y - x
    if narrow in _NARROW:
        distance = (b.astype(narrow) - a.astype(narrow)).astype(dtype)
    distance = jnp.where(is_between, distance, dtype.type(0))
    from_below = x + distance * fraction
    from_above = y - distance * (1 - fraction)
    is_nearer = ((fraction >= 0.5) & jnp.isfinite(y)) | ~jnp.isfinite(x)
    result = jnp.where(is_nearer, from_above, from_below)
    return jnp.where(is_between, result, x)
