# SPDX-License-Identifier: Apache-2.0
"""Order statistics of groups: median, quantiles and the number of distinct values."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ..table._column import Array
from ._grouped_column import GroupedRows, Reduction, as_times, float64

# The interpolations that take a value as it is, so that integers stay integers.
_PICK = ("lower", "higher", "nearest")


def median(rows: GroupedRows, spec: Reduction) -> Any:
    """The median of each group's values."""
    values = _shown(_quantiles(rows, 0.5, "midpoint"), rows, spec)
    if rows.kind == "time":
        return as_times(values), None
    return values.astype(rows.data.dtype) if rows.is_float else values, None


def quantile(rows: GroupedRows, spec: Reduction) -> Any:
    """The quantile of each group's values, as floats unless an integer is picked."""
    values = _shown(_quantiles(rows, spec.q, spec.interpolation), rows, spec)
    if rows.kind == "time":
        return as_times(values), None
    if not rows.is_float and rows.kind == "number" and spec.interpolation in _PICK:
        is_wide = rows.data.dtype == jnp.uint64
        dtype = rows.data.dtype if is_wide else jax.dtypes.canonicalize_dtype(np.int64)
        return values.astype(dtype), rows.counts > 0
    return values, None


def _quantiles(rows: GroupedRows, q: float, interpolation: Any) -> Array:
    return primitives.segment_quantile(
        rows.data,
        rows.present,
        rows.num_segments,
        q,
        interpolation=interpolation,
        dtype=float64(),
        **rows.layout.on_mesh,
    )


def _shown(values: Array, rows: GroupedRows, spec: Reduction) -> Array:
    """The values, NaN for groups with missing ones unless those are skipped."""
    if spec.skipna:
        return values
    is_whole = rows.counts == rows.reduce("count", None, rows.segment_ids)
    return jnp.where(is_whole, values, values.dtype.type(np.nan))


def distinct_values(rows: GroupedRows, spec: Reduction) -> Any:
    """The number of distinct values of each group; missing ones are one value if not skipped."""
    is_complex = jnp.issubdtype(rows.data.dtype, jnp.complexfloating)
    keys = (rows.data.real, rows.data.imag) if is_complex else rows.data
    counts = primitives.segment_nunique(
        keys, rows.present, rows.num_segments, **rows.layout.on_mesh
    )
    if not spec.skipna and rows.can_miss:
        total = rows.reduce("count", None, rows.segment_ids)
        counts = counts + (total > rows.counts).astype(counts.dtype)
    return counts.astype(jax.dtypes.canonicalize_dtype(np.int64)), None
