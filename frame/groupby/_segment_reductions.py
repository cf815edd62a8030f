# SPDX-License-Identifier: Apache-2.0
"""Reductions of columns by segment ids."""

import functools
from collections.abc import Callable, Hashable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives._accumulators import kurtosis, powers_of, quotient, skewness
from ...primitives.staging import tiered
from ..reductions._methods import check_has_operation
from ..table._column import NAT, Array, Column
from ..table._dtypes import wide
from ..table._take import gather
from ._grouped_column import Reduction, Segments, sum_dtype
from ._grouped_rows import GroupedRows
from ._in_step import Reducing, Request, in_step

# The values of all segments, and flags of those that have one; None if all have.
Reduced = tuple[Array, Array | None]


def _as_float(dtype: Any) -> Any:
    return dtype if jnp.issubdtype(dtype, jnp.complexfloating) else wide(np.float64)


def _shown(values: Array, rows: GroupedRows) -> Reduced:
    """Casts a computed float to the dtype of the result: that of floats, or counts."""
    if not rows.column.type.is_counted:
        return values.astype(rows.data.dtype) if rows.is_float else values, None
    # A deviation may be past the range of its unit, and the greatest time is rounded up to 2^63.
    is_missing = ~(jnp.abs(values) <= 2.0**63)
    whole = jnp.where(is_missing, np.float64(0), values).astype(jnp.int64)
    return jnp.where(is_missing, np.int64(NAT), whole), None


def _unless(is_missing: Array, values: Array, valid: Array | None, rows: GroupedRows) -> Reduced:
    """Marks results as missing."""
    if jnp.issubdtype(values.dtype, jnp.inexact):
        return jnp.where(is_missing, values.dtype.type(np.nan), values), valid
    if not rows.column.is_numeric:
        return jnp.where(is_missing, _fill(rows), values), valid
    return values, ~is_missing if valid is None else valid & ~is_missing


def _sum(rows: GroupedRows, spec: Reduction) -> Reducing:
    dtype = sum_dtype(rows.data.dtype)
    # float32 is added and multiplied in float64, so that only the result is rounded.
    accumulator = _as_float(dtype) if rows.is_float else dtype
    x = rows.without_missing(rows.data, spec.op == "prod").astype(accumulator)
    values = (yield rows.of_group(spec.op, x)).astype(dtype)
    if spec.min_count <= 0:
        return values, None
    counts = yield from rows.counted()
    return _unless(counts < np.int32(spec.min_count), values, None, rows)


def _mean(rows: GroupedRows, spec: Reduction) -> Reducing:
    del spec
    if rows.column.type.is_counted:
        # pandas rounds each time to float64 and sums with compensation. Exact sums of the two
        # halves of 32 bits give the same mean.
        x = rows.without_missing(rows.data, 0).astype(jnp.float64).astype(jnp.int64)
        high = (yield rows.of_group("sum", x >> np.int64(32))).astype(jnp.float64)
        low = (yield rows.of_group("sum", x & np.int64(2**32 - 1))).astype(jnp.float64)
        total = high * np.float64(2.0**32) + low
    else:
        x = rows.data.astype(_as_float(rows.data.dtype))
        total = yield rows.of_group("sum", rows.without_missing(x, 0))
    counts = yield from rows.counted()
    return _shown(quotient(total, counts.astype(total.real.dtype)), rows)


def _spread(rows: GroupedRows, spec: Reduction) -> Reducing:
    x = rows.data.astype(wide(np.float64))
    result = yield rows.of_present("std" if spec.op == "sem" else spec.op, x, ddof=spec.ddof)
    if spec.op == "sem":
        counts = yield from rows.counted()
        result = result / jnp.sqrt(jnp.maximum(counts, 1).astype(result.dtype))
    return _shown(result, rows)


def _shape(rows: GroupedRows, spec: Reduction) -> Reducing:
    """Skewness or kurtosis: powers of the distances from the mean, in a second pass."""
    distance = yield from distances(rows)
    sums = []
    for power in powers_of(distance, distance * distance, spec.op):
        sums.append((yield rows.of_present("sum", power)))
    counts = yield from rows.counted()
    shape = skewness if spec.op == "skew" else kurtosis
    return _shown(shape(counts.astype(distance.dtype), sums), rows)


def distances(rows: GroupedRows) -> Reducing:
    """Returns the distance of each value from the mean of its group, 0 for equal values."""
    x = rows.data.astype(wide(np.float64))
    # About the first value of the group, so that the mean of equal values is exact.
    first = yield rows.of_present("first", x)
    x = x - rows.for_rows(jax.lax.stop_gradient(first))
    total = yield rows.of_present("sum", x)
    counts = yield from rows.counted()
    return x - rows.for_rows(quotient(total, counts.astype(total.dtype)))


def _count(rows: GroupedRows, spec: Reduction) -> Reducing:
    counts = (yield from rows.sizes()) if spec.op == "size" else (yield from rows.counted())
    return counts.astype(wide(np.int64)), None


def _fill(rows: GroupedRows) -> Any:
    if rows.column.is_numeric:
        return rows.data.dtype.type(np.nan) if rows.is_float else None
    return np.int64(NAT) if rows.column.type.is_counted else np.int32(-1)


def _picked(rows: GroupedRows, spec: Reduction) -> Reducing:
    """The reduction "min", "max", "first" or "last", which selects one of the values."""
    op, fill, segments = spec.op, _fill(rows), rows.segments
    takes_missing = not spec.skipna and op in ("first", "last")
    counts = yield from rows.counted()
    data, ids = rows.data, segments.ids if takes_missing else rows.present
    if op in ("min", "max"):
        data, ids = rows.for_extreme(op == "max")
    if rows.is_float and op in ("min", "max"):
        # By row id, because pandas selects the first of zeros with different signs.
        row_ids = yield Request(f"arg{op}", jax.lax.stop_gradient(data), ids)
        selected = gather(data, row_ids.astype(jnp.int32), segments.layout)
        if not segments.is_sharded:
            # On every device, like the results of reductions.
            selected = segments.layout.on_every_device(selected)
        values = jnp.where(counts > 0, selected, fill)
    elif data.dtype == jnp.bool_:
        values = (yield Request(op, data.astype(jnp.int8), ids)).astype(jnp.bool_)
    else:
        values = yield Request(op, data, ids, fill_value=fill)
        if ids is segments.ids and rows.can_miss and fill is not None and not takes_missing:
            values = jnp.where(counts > 0, values, fill)
    valid = counts >= max(spec.min_count, 1)
    if takes_missing and rows.column.valid is not None:
        flags = rows.column.valid.astype(jnp.int8)
        valid = (yield Request(op, flags, ids)) > 0
    if fill is None:
        return values, valid
    return (jnp.where(valid, values, fill) if spec.min_count > 1 else values), None


def _truth(rows: GroupedRows, spec: Reduction) -> Reducing:
    ids = rows.present if spec.skipna or spec.is_kleene else rows.segments.ids
    truths = yield Request(spec.op, rows.data != rows.data.dtype.type(0), ids)
    if not (spec.is_kleene and rows.can_miss):
        return truths, None
    # A missing value makes the result missing, unless others decide it.
    is_whole = yield from rows.whole()
    return truths, is_whole | (truths == np.bool_(spec.op == "any"))


def _row_of(rows: GroupedRows, spec: Reduction) -> Reducing:
    data = rows.data.astype(jnp.int8) if rows.data.dtype == jnp.bool_ else rows.data
    row_ids = yield rows.of_present(spec.op, data)
    return row_ids.astype(jnp.int32), None


def _quantile(rows: GroupedRows, spec: Reduction) -> Reducing:
    """The median or a quantile, as floats unless an integer is picked."""
    q, how = (0.5, "midpoint") if spec.op == "median" else (spec.q, spec.interpolation)
    segments = rows.segments
    values = primitives.segment_quantile(
        rows.data,
        rows.present,
        segments.num_segments,
        q,
        interpolation=how,  # pyright: ignore
        dtype=wide(np.float64),
        **segments.on_mesh,
    )
    if rows.column.type.is_counted or (rows.is_float and spec.op == "median"):
        return _shown(values, rows)
    if rows.is_float or how not in ("lower", "higher", "nearest"):
        return values, None
    dtype = rows.data.dtype if rows.data.dtype == jnp.uint64 else wide(np.int64)
    counts = yield from rows.counted()
    return values.astype(dtype), counts > 0


def _nunique(rows: GroupedRows, spec: Reduction) -> Reducing:
    """The number of distinct values; missing ones are one value if not skipped."""
    is_complex = jnp.issubdtype(rows.data.dtype, jnp.complexfloating)
    keys = (rows.data.real, rows.data.imag) if is_complex else rows.data
    segments = rows.segments
    counts = primitives.segment_nunique(
        keys, rows.present, segments.num_segments, **segments.on_mesh
    )
    if not spec.skipna and rows.can_miss:
        is_whole = yield from rows.whole()
        counts = counts + (~is_whole).astype(counts.dtype)
    return counts.astype(wide(np.int64)), None


REDUCTIONS: dict[str, Callable[[GroupedRows, Reduction], Reducing]] = {
    **dict.fromkeys(("sum", "prod"), _sum),
    "mean": _mean,
    **dict.fromkeys(("var", "std", "sem"), _spread),
    **dict.fromkeys(("skew", "kurt"), _shape),
    **dict.fromkeys(("count", "size"), _count),
    **dict.fromkeys(("min", "max", "first", "last"), _picked),
    **dict.fromkeys(("any", "all"), _truth),
    **dict.fromkeys(("argmin", "argmax"), _row_of),
    **dict.fromkeys(("median", "quantile"), _quantile),
    "nunique": _nunique,
}
_ANY = ("count", "size", "nunique", "first", "last")
_EXTREMES = ("min", "max", "argmin", "argmax")
_OF_COMPLEX = (*_ANY, "sum", "prod", "mean", "any", "all")
_OF_TIMES = (*_ANY, *_EXTREMES, "mean", "median", "quantile", "std", "sem")
_OF_TYPE = {
    "string": (*_ANY, *_EXTREMES, "any", "all", "sum"),
    "category": (*_ANY, *_EXTREMES, "any", "all"),
    "list": ("count", "size", "first", "last"),
    "datetime": _OF_TIMES,
    "timedelta": (*_OF_TIMES, "sum", "any", "all"),
    **dict.fromkeys(("date", "time"), (*_ANY, *_EXTREMES)),
    "period": (*_ANY, *_EXTREMES, "mean", "median", "quantile"),
    "decimal": (*_ANY, *_EXTREMES, "sum"),
}


def check_reducible(op: str, column: Column, label: Hashable) -> None:
    """Raises a TypeError unless a column supports a reduction."""
    kind = column.kind
    what = {"argmin": "idxmin", "argmax": "idxmax"}.get(op, op)
    if kind == "category" and op in _EXTREMES and not column.type.ordered:
        raise TypeError(
            f"Cannot perform {what} with non-ordered Categorical: column {label!r}. "
            "Use ordered categories."
        )
    if kind == "number":
        if column.is_bool and op == "quantile":
            raise TypeError(f"Cannot use quantile with bool dtype: column {label!r}")
        if column.dtype.kind == "c" and op not in _OF_COMPLEX:
            raise TypeError(
                f"complex column {label!r} does not support operation {what!r}. "
                "Reduce its parts, map(jnp.real) and map(jnp.imag)."
            )
    elif kind != "object" and op not in _OF_TYPE[kind]:
        check_has_operation(column, what, label)
        raise TypeError(
            f"dtype '{column.dtype_name}' of column {label!r} does not support operation '{what}'"
        )


# Reductions whose own functions treat missing values if `skipna` is False.
_KNOW_MISSING = ("count", "size", "first", "last", "any", "all", "argmin", "argmax", "nunique")


def _reduced(rows: GroupedRows, spec: Reduction) -> Reducing:
    values, valid = yield from REDUCTIONS[spec.op](rows, spec)
    if spec.skipna or spec.op in _KNOW_MISSING or not rows.can_miss:
        return values, valid
    is_whole = yield from rows.whole()
    return _unless(~is_whole, values, valid, rows)


@functools.partial(tiered, static_argnums=(2, 3))
def reduce_arrays(
    columns: tuple[Column, ...],
    segments: Segments,
    plan: tuple[tuple[int, Reduction], ...],
    by_segment: bool = False,
) -> tuple[Reduced, ...]:
    """Reduces columns (see `bare`) by a plan: pairs of a column's position and a reduction."""
    rows = [GroupedRows(column, segments) for column in columns]
    reductions = (_reduced(rows[position], spec) for position, spec in plan)
    results = tuple(in_step(reductions, segments))
    return results if by_segment else tuple(map(segments.select_groups, results))
