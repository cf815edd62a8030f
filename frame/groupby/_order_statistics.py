# SPDX-License-Identifier: Apache-2.0
"""What is read off the values of each group in their order: median, quantiles, distinct values."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..table._column import Array
from ..table._take import before
from ._grouped_column import GroupedRows, Reduction, as_times, float64

# The interpolations that take a value as it is, so that integers stay integers.
_PICK = ("lower", "higher", "nearest")


def median(rows: GroupedRows, spec: Reduction) -> Any:
    """The middle value of each slot, or half of what the two in the middle add up to."""
    low, high, is_one = _two_values(
        rows, jnp.maximum(rows.counts - 1, 0) // 2, jnp.maximum(rows.counts, 0) // 2
    )
    middle = jnp.where(is_one, low, (low + high) / 2)
    return _shown(middle, rows, spec, narrow=True)


def quantile(rows: GroupedRows, spec: Reduction) -> Any:
    """What stands at a fraction of the way from the least to the greatest value of each slot."""
    last = jnp.maximum(rows.counts - 1, 0)
    place = last.astype(float64()) * float64()(spec.q)
    whole = jnp.floor(place)
    fraction = place - whole
    first = whole.astype(jnp.int32)
    low, high, _ = _two_values(rows, first, jnp.minimum(first + 1, last))
    match spec.interpolation:
        case "lower":
            value = low
        case "higher":
            value = jnp.where(fraction > 0, high, low)
        case "midpoint":
            value = jnp.where(fraction > 0, (low + high) / 2, low)
        case "nearest":
            # Of two equally near ones that at an even place.
            is_high = (fraction > 0.5) | ((fraction == 0.5) & (first % 2 == 1))
            value = jnp.where(is_high, high, low)
        case _:
            # Infinities have no distance: there only what stands at the place itself counts.
            distance = jnp.where(fraction > 0, high - low, jnp.zeros((), low.dtype))
            value = low + distance * fraction
    values, valid = _shown(value, rows, spec, narrow=False)
    if rows.kind == "number" and not rows.is_float and spec.interpolation in _PICK:
        is_wide = rows.data.dtype == jnp.uint64
        dtype = rows.data.dtype if is_wide else jax.dtypes.canonicalize_dtype(np.int64)
        return values.astype(dtype), rows.counts > 0
    return values, valid


def _two_values(rows: GroupedRows, first: Array, second: Array) -> tuple[Array, Array, Array]:
    """The values at two places of each slot's order, as floats, and whether it is one place."""
    _, (values,) = rows.in_order
    places = jnp.concatenate([rows.offsets + first, rows.offsets + second])
    taken = rows.for_slots(values, places).astype(float64())
    low, high = jnp.split(taken, 2)
    return low, high, first == second


def _shown(values: Array, rows: GroupedRows, spec: Reduction, narrow: bool) -> Any:
    is_known = rows.counts > 0
    if not spec.skipna:
        total = rows.reduce("count", None, rows.slots)
        is_known = is_known & (rows.counts == total)
    values = jnp.where(is_known, values, values.dtype.type(np.nan))
    if rows.kind == "time":
        return as_times(values), None
    return values.astype(rows.data.dtype) if rows.is_float and narrow else values, None


def distinct_values(rows: GroupedRows, spec: Reduction) -> Any:
    """How many different values each slot has; with `skipna=False` a missing one is a value."""
    slots, values = rows.in_order
    is_head = functools.reduce(jnp.logical_or, (x != before(x) for x in (slots, *values)))
    # Before the first row stands nothing.
    is_head = is_head | (jnp.arange(slots.shape[0], dtype=jnp.int32) == 0)
    ids = jnp.where(is_head & (slots < np.int32(rows.num_slots)), slots, np.int32(-1))
    counts = rows.reduce("count", None, rows.layout.constrain(ids))
    if not spec.skipna and rows.can_miss:
        total = rows.reduce("count", None, rows.slots)
        counts = counts + (total > rows.counts).astype(counts.dtype)
    return counts.astype(jax.dtypes.canonicalize_dtype(np.int64)), None
