# SPDX-License-Identifier: Apache-2.0
"""Transformations within groups: positions, shifts, fills, cumulations and ranks."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives._accumulators import identity_of_reduction
from ...primitives.staging import tiered
from ..table._column import Array, Column
from ..table._dtypes import wide
from ..table._take import hole_kind, position, with_holes
from ._grouped_column import Segments, sum_dtype
from ._grouped_rows import GroupedRows


@functools.partial(tiered, static_argnums=1)
def positions_in_groups(segments: Segments, ascending: bool) -> Array:
    """The position of each row in its group, from zero; from the end if not `ascending`."""
    ones = jnp.ones(segments.ids.shape, jnp.int32)
    return segments.scan(ones, "add", exclusive=True, reverse=not ascending)


@tiered
def shifted_rows(segments: Segments, periods: Any) -> Array:
    """The row id `periods` rows before each row in its group; -1 if there is none."""
    ids, layout = segments.ids, segments.layout
    own = position(ids.shape[0], layout)
    return primitives.segment_shift(
        own, ids, segments.num_segments, periods, fill_value=-1, **layout.on_mesh
    )


@functools.partial(tiered, static_argnums=(2, 3))
def filled_rows(
    missing: tuple[Array, ...], segments: Segments, limit: int | None, forward: bool
) -> tuple[Array, ...]:
    """For each column, the row id of the last value in the group up to each row; -1 if none.

    If not `forward`, of the first value from each row on.
    """
    own = position(segments.ids.shape[0], segments.layout)
    no_row = np.int32(-1 if forward else np.iinfo(np.int32).max)
    positions = [own, *([] if limit is None else [positions_in_groups(segments, True)])]
    known = [
        tuple(jnp.where(is_missing, no_row, one) for one in positions) for is_missing in missing
    ]
    nearest = segments.scan(known, "max" if forward else "min", reverse=not forward)
    results = []
    for row_ids, *in_group in nearest:
        is_near = (row_ids != no_row) & (segments.ids >= 0)
        if limit is not None:
            is_near = is_near & (jnp.abs(positions[1] - in_group[0]) <= np.int32(limit))
        results.append(jnp.where(is_near, row_ids, np.int32(-1)))
    return tuple(results)


@functools.partial(tiered, static_argnums=(2, 3, 4))
def cumulated(
    columns: tuple[Column, ...], segments: Segments, op: str, skipna: bool, may_drop: bool
) -> Any:
    """Combines each value of each column with those before it in its group."""
    rows_of = [GroupedRows(column, segments) for column in columns]
    scanned = segments.scan([_scanned(rows, op, skipna) for rows in rows_of], op)
    # Only NaN propagates through a scan by itself.
    spread = {
        at: rows.missing.astype(jnp.int8)
        for at, rows in enumerate(rows_of)
        if not skipna and rows.can_miss and not rows.is_float
    }
    if spread:
        spread = segments.scan(spread, "max")
    results = []
    for at, (rows, values) in enumerate(zip(rows_of, scanned, strict=True)):
        dtype = rows.data.dtype
        result = values.astype(sum_dtype(dtype) if op in ("sum", "prod") else dtype)
        if may_drop or rows.can_miss:
            missing = spread[at].astype(jnp.bool_) if at in spread else rows.missing
            missing = missing | (segments.ids < 0)
            results.append(with_holes(result, None, missing, hole_kind(rows.column)))
        else:
            results.append((result, None))
    return tuple(results)


def _scanned(rows: GroupedRows, op: str, skipna: bool) -> Array:
    """The values in the dtype of the scan, with its identity element in place of missing ones."""
    x = rows.data
    if rows.is_float and not skipna:
        return x
    if op in ("sum", "prod"):
        # float32 is summed in float64, so that only the result is rounded.
        is_widened = x.dtype == jnp.float32 and op == "sum"
        x = x.astype(wide(np.float64) if is_widened else sum_dtype(x.dtype))
    x = rows.without_missing(x, identity_of_reduction(op, x.dtype))
    return x.astype(jnp.int8) if x.dtype == jnp.bool_ else x


class RankPlan(NamedTuple):
    """The options of a plan. Static under `jit`."""

    method: Any = "average"
    ascending: bool = True
    na_option: str = "keep"
    pct: bool = False


@functools.partial(tiered, static_argnums=2)
def ranked(columns: tuple[Column, ...], segments: Segments, plan: RankPlan) -> tuple[Array, ...]:
    """The rank of each value in its group, float64; NaN for rows without a rank."""
    return tuple(_ranks(GroupedRows(column, segments), plan) for column in columns)


def _ranks(rows: GroupedRows, plan: RankPlan) -> Array:
    segments = rows.segments
    keys, segment_ids = (jax.lax.stop_gradient(rows.data),), rows.present
    if plan.na_option != "keep" and rows.can_miss:
        # Missing values rank as one value before or after all others, in both directions.
        is_first = rows.missing == (plan.na_option != "top")
        keys, segment_ids = (is_first, rows.without_missing(keys[0], 0)), segments.ids
    ranks = primitives.segment_rank(
        keys,
        segment_ids,
        segments.num_segments,
        method=plan.method,
        descending=(*(False for _ in keys[1:]), not plan.ascending),
        **segments.layout.on_mesh,
    )
    result = ranks.astype(wide(np.float64))
    if plan.pct and plan.method == "dense":
        totals = segments.reduce("max", ranks, segment_ids, fill_value=0)
    else:
        totals = segments.reduce("count", None, segment_ids)
    if plan.pct:
        result = result / segments.for_rows(totals, segment_ids).astype(result.dtype)
    return jnp.where(segment_ids >= 0, result, result.dtype.type(np.nan))
