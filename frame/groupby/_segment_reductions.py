# SPDX-License-Identifier: Apache-2.0
"""Reductions of columns by segment ids."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ..table._column import NAT, Array
from ..table._layout import Layout
from ..table._moments import kurtosis, skewness
from ._grouped_column import GroupedRows, Reduction, as_times, float64, quotient, wide
from ._order_statistics import distinct_values, median, quantile


def _as_float(dtype: Any) -> Any:
    return dtype if jnp.issubdtype(dtype, jnp.complexfloating) else float64()


def _enough(values: Array, rows: GroupedRows, spec: Reduction) -> tuple[Array, Array | None]:
    """Marks sums and products of fewer than `min_count` values as missing."""
    if spec.min_count <= 0:
        return values, None
    is_enough = rows.counts >= np.int32(spec.min_count)
    if rows.kind == "time":
        return jnp.where(is_enough, values, np.int64(NAT)), None
    if jnp.issubdtype(values.dtype, jnp.inexact):
        return jnp.where(is_enough, values, values.dtype.type(np.nan)), None
    return values, is_enough


def _sum(rows: GroupedRows, spec: Reduction) -> Any:
    dtype = wide(rows.data.dtype)
    # float32 is summed in float64, so that only the result is rounded.
    x = rows.without_missing(rows.data, 0).astype(_as_float(dtype) if rows.is_float else dtype)
    return _enough(rows.reduce("sum", x, rows.segment_ids).astype(dtype), rows, spec)


def _prod(rows: GroupedRows, spec: Reduction) -> Any:
    x = rows.without_missing(rows.data, 1).astype(wide(rows.data.dtype))
    return _enough(rows.reduce("prod", x, rows.segment_ids), rows, spec)


def _mean(rows: GroupedRows, spec: Reduction) -> Any:
    if rows.kind == "time":
        return _mean_of_times(rows), None
    dtype = _as_float(rows.data.dtype)
    x = rows.data.astype(dtype)
    total = rows.reduce("sum", rows.without_missing(x, 0), rows.segment_ids)
    mean = quotient(total, rows.counts.astype(total.real.dtype))
    return mean.astype(rows.data.dtype) if rows.is_float else mean, None


def _mean_of_times(rows: GroupedRows) -> Array:
    # pandas rounds each time to float64 and sums with compensation. Exact sums of the two halves
    # of 32 bits give the same mean.
    x = rows.without_missing(rows.data, 0).astype(jnp.float64).astype(jnp.int64)
    high = rows.reduce("sum", x >> np.int64(32), rows.segment_ids)
    low = rows.reduce("sum", x & np.int64(2**32 - 1), rows.segment_ids)
    total = high.astype(jnp.float64) * np.float64(2.0**32) + low.astype(jnp.float64)
    mean = quotient(total, rows.counts.astype(jnp.float64))
    return as_times(mean)


def _spread(op: str) -> Callable[[GroupedRows, Reduction], Any]:
    def spread(rows: GroupedRows, spec: Reduction) -> Any:
        x = rows.data.astype(float64())
        name = "std" if op == "sem" else op
        result = rows.reduce(name, x, rows.present, ddof=spec.ddof)
        if op == "sem":
            result = result / jnp.sqrt(jnp.maximum(rows.counts, 1).astype(result.dtype))
        if rows.kind == "time":
            return as_times(result), None
        return result.astype(rows.data.dtype) if rows.is_float else result, None

    return spread


def _shape(op: str) -> Callable[[GroupedRows, Reduction], Any]:
    """Skewness or kurtosis: powers of the distances from the mean, in a second pass."""

    def shape(rows: GroupedRows, spec: Reduction) -> Any:
        del spec
        distance = distances(rows)
        square = distance * distance
        terms = {1: distance, 2: square, 3: square * distance}
        if op == "kurt":
            terms[4] = square * square
        powers = {power: rows.reduce("sum", term, rows.present) for power, term in terms.items()}
        n = rows.counts.astype(distance.dtype)
        result = skewness(n, powers) if op == "skew" else kurtosis(n, powers)
        is_defined = (rows.counts >= np.int32(len(terms))) & (powers[2] != 0)
        result = jnp.where(is_defined, result, result.dtype.type(np.nan))
        return result.astype(rows.data.dtype) if rows.is_float else result, None

    return shape


def distances(rows: GroupedRows) -> Array:
    """The distance of each value from the mean of its group, 0 for equal values."""
    x = rows.data.astype(float64())
    # About the first value of the group, so that the mean of equal values is exact.
    first = jax.lax.stop_gradient(rows.reduce("first", x, rows.present))
    x = x - rows.for_rows(first)
    return x - rows.for_rows(rows.reduce("mean", x, rows.present))


def _count(rows: GroupedRows, spec: Reduction) -> Any:
    del spec
    return rows.counts.astype(jax.dtypes.canonicalize_dtype(np.int64)), None


def _size(rows: GroupedRows, spec: Reduction) -> Any:
    del spec
    counts = primitives.segment_count(rows.segment_ids, rows.num_segments, **rows.layout.on_mesh)
    return counts.astype(jax.dtypes.canonicalize_dtype(np.int64)), None


def _fill(rows: GroupedRows) -> Any:
    if rows.kind == "code":
        return np.int32(-1)
    if rows.kind == "time":
        return np.int64(NAT)
    return rows.data.dtype.type(np.nan) if rows.is_float else None


def _picked(op: str) -> Callable[[GroupedRows, Reduction], Any]:
    """The reduction "min", "max", "first" or "last", which selects one of the values."""

    def pick(rows: GroupedRows, spec: Reduction) -> Any:
        data, fill = rows.data, _fill(rows)
        takes_missing = not spec.skipna and op in ("first", "last")
        ids = rows.segment_ids if takes_missing else rows.present
        if rows.is_float and op in ("min", "max"):
            # By row id, because pandas selects the first of zeros with different signs.
            row_ids = rows.reduce(f"arg{op}", jax.lax.stop_gradient(data), ids)
            selected = rows.for_segments(data, row_ids.astype(jnp.int32))
            values = jnp.where(row_ids >= 0, selected, fill)
        elif data.dtype == jnp.bool_:
            values = rows.reduce(op, data.astype(jnp.int8), ids).astype(jnp.bool_)
        else:
            values = rows.reduce(op, data, ids, fill_value=fill)
        valid = rows.counts >= max(spec.min_count, 1)
        if takes_missing and rows.valid is not None:
            valid = rows.reduce(op, rows.valid.astype(jnp.int8), ids) > 0
        if fill is None:
            return values, valid
        return (jnp.where(valid, values, fill) if spec.min_count > 1 else values), None

    return pick


def _truth(op: str) -> Callable[[GroupedRows, Reduction], Any]:
    def truth(rows: GroupedRows, spec: Reduction) -> Any:
        ids = rows.present if spec.skipna else rows.segment_ids
        return rows.reduce(op, rows.data != rows.data.dtype.type(0), ids), None

    return truth


def _row_of(op: str) -> Callable[[GroupedRows, Reduction], Any]:
    def row_of(rows: GroupedRows, spec: Reduction) -> Any:
        del spec
        data = rows.data.astype(jnp.int8) if rows.data.dtype == jnp.bool_ else rows.data
        return rows.reduce(op, data, rows.present).astype(jnp.int32), None

    return row_of


REDUCTIONS: dict[str, Callable[[GroupedRows, Reduction], Any]] = {
    "sum": _sum,
    "prod": _prod,
    "mean": _mean,
    "var": _spread("var"),
    "std": _spread("std"),
    "sem": _spread("sem"),
    "skew": _shape("skew"),
    "kurt": _shape("kurt"),
    "count": _count,
    "min": _picked("min"),
    "max": _picked("max"),
    "first": _picked("first"),
    "last": _picked("last"),
    "any": _truth("any"),
    "all": _truth("all"),
    "argmin": _row_of("argmin"),
    "argmax": _row_of("argmax"),
    "size": _size,
    "median": median,
    "quantile": quantile,
    "nunique": distinct_values,
}


# Reductions that are missing if any value is and `skipna` is False.
_SPOILT = (
    *("sum", "prod", "mean", "var", "std", "sem", "skew", "kurt"),
    *("min", "max", "median", "quantile"),
)


def _reduced(rows: GroupedRows, spec: Reduction) -> tuple[Array, Array | None]:
    values, valid = REDUCTIONS[spec.op](rows, spec)
    if spec.skipna or spec.op not in _SPOILT or not rows.can_miss:
        return values, valid
    is_whole = rows.counts == rows.reduce("count", None, rows.segment_ids)
    if jnp.issubdtype(values.dtype, jnp.inexact):
        return jnp.where(is_whole, values, values.dtype.type(np.nan)), valid
    if rows.kind != "number":
        return jnp.where(is_whole, values, _fill(rows)), valid
    return values, is_whole if valid is None else valid & is_whole


@functools.partial(jax.jit, static_argnums=(3, 4, 5, 6, 7))
def reduce_arrays(
    arrays: Sequence[tuple[Array, Array | None]],
    segment_ids: Array,
    segments: Array | None,
    kinds: tuple[str, ...],
    plan: tuple[tuple[int, Reduction], ...],
    num_segments: int,
    layout: Layout,
    by_segment: bool = False,
) -> tuple[tuple[Array, Array | None], ...]:
    """Reduces columns by a plan: pairs of an operand's position and a reduction."""
    columns = [
        GroupedRows(data, valid, kind, segment_ids, num_segments, layout)
        for (data, valid), kind in zip(arrays, kinds, strict=True)
    ]
    results = [_reduced(columns[position], spec) for position, spec in plan]
    if by_segment:
        return tuple(results)
    return tuple(of_groups(result, segments, layout) for result in results)


def of_groups(result: Any, segments: Array | None, layout: Layout) -> Any:
    """Selects the groups' values from those of all segments. Traced."""
    if segments is not None:
        result = jax.tree.map(lambda leaf: leaf[segments], result)
    return layout.constrain(result)
