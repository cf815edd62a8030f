# SPDX-License-Identifier: Apache-2.0
"""Transformations within groups: positions, shifts, fills, cumulations and ranks."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ..table._column import NAT, Array
from ..table._layout import ONE_DEVICE, Layout
from ..table._take import gather, position
from ._grouped_column import GroupedRows, float64, wide


def _scan(
    x: Any, op: Any, segment_ids: Array, num_segments: int, layout: Layout, **settings: Any
) -> Any:
    return primitives.segmented_scan(
        x,
        op,
        segment_ids=segment_ids,
        is_sorted=False,
        num_segments=num_segments,
        **settings,
        **layout.on_mesh,
    )


@functools.partial(jax.jit, static_argnums=(1, 2, 3))
def positions_in_groups(
    segment_ids: Array, num_segments: int, ascending: bool, layout: Layout
) -> Array:
    """The position of each row in its group, from zero; from the end if not `ascending`."""
    ones = jnp.ones(segment_ids.shape, jnp.int32)
    return _scan(
        ones, "add", segment_ids, num_segments, layout, exclusive=True, reverse=not ascending
    )


@functools.partial(jax.jit, static_argnums=(2, 3))
def shifted_rows(segment_ids: Array, periods: Any, num_segments: int, layout: Layout) -> Array:
    """The row id `periods` rows before each row in its group; -1 if there is none."""
    own = position(segment_ids.shape[0], layout)
    return primitives.segment_shift(
        own, segment_ids, num_segments, periods, fill_value=-1, **layout.on_mesh
    )


@functools.partial(jax.jit, static_argnums=(2, 3, 4, 5))
def filled_rows(
    missing: tuple[Array, ...],
    segment_ids: Array,
    limit: int | None,
    forward: bool,
    num_segments: int,
    layout: Layout,
) -> tuple[Array, ...]:
    """For each column, the row id of the last value in the group up to each row; -1 if none.

    If not `forward`, of the first value from each row on.
    """
    own = position(segment_ids.shape[0], layout)
    no_row = np.int32(-1 if forward else np.iinfo(np.int32).max)
    in_groups = (
        None if limit is None else positions_in_groups(segment_ids, num_segments, True, layout)
    )
    positions = (own,) if in_groups is None else (own, in_groups)
    known = [
        tuple(jnp.where(is_missing, no_row, one) for one in positions) for is_missing in missing
    ]
    op = "max" if forward else "min"
    nearest = _scan(known, op, segment_ids, num_segments, layout, reverse=not forward)
    results = []
    for row_ids, *value_positions in nearest:
        is_near = (row_ids != no_row) & (segment_ids >= 0)
        if in_groups is not None and limit is not None:
            is_near = is_near & (jnp.abs(in_groups - value_positions[0]) <= np.int32(limit))
        results.append(jnp.where(is_near, row_ids, np.int32(-1)))
    return tuple(results)


_OPERATORS = {"cumsum": "add", "cumprod": "mul", "cummin": "min", "cummax": "max"}


@functools.partial(jax.jit, static_argnums=(2, 3, 4, 5, 6, 7))
def cumulated(
    arrays: Any,
    segment_ids: Array,
    kinds: tuple[str, ...],
    op: str,
    skipna: bool,
    may_drop: bool,
    num_segments: int,
    layout: Layout,
) -> Any:
    """Combines each value of each column with those before it in its group."""
    columns = [
        GroupedRows(data, valid, kind, segment_ids, num_segments, layout)
        for (data, valid), kind in zip(arrays, kinds, strict=True)
    ]
    scanned = _scan(
        [_scanned(rows, op, skipna) for rows in columns],
        _OPERATORS[op],
        segment_ids,
        num_segments,
        layout,
    )
    # Only NaN propagates through a scan by itself.
    spread = {
        at: rows.missing.astype(jnp.int8)
        for at, rows in enumerate(columns)
        if not skipna and rows.can_miss and not rows.is_float
    }
    if spread:
        spread = _scan(spread, "max", segment_ids, num_segments, layout)
    results = []
    for at, (rows, values) in enumerate(zip(columns, scanned, strict=True)):
        result = values.astype(
            wide(rows.data.dtype) if op in ("cumsum", "cumprod") else rows.data.dtype
        )
        missing = spread[at].astype(jnp.bool_) if at in spread else rows.missing
        missing = missing | (segment_ids < 0) if may_drop or rows.can_miss else None
        if missing is None:
            results.append((result, None))
        elif rows.kind == "time":
            results.append((jnp.where(missing, np.int64(NAT), result), None))
        elif rows.is_float:
            results.append((jnp.where(missing, result.dtype.type(np.nan), result), None))
        else:
            results.append((result, ~missing))
    return tuple(results)


def _scanned(rows: GroupedRows, op: str, skipna: bool) -> Array:
    """The values in the dtype of the scan."""
    x = _with_identities(rows, op) if skipna or not rows.is_float else rows.data
    return x.astype(jnp.int8) if x.dtype == jnp.bool_ else x


def _with_identities(rows: GroupedRows, op: str) -> Array:
    """The values, with the identity element of the scan in place of missing ones."""
    x = rows.data
    if op in ("cumsum", "cumprod"):
        # float32 is summed in float64, so that only the result is rounded.
        dtype = float64() if x.dtype == jnp.float32 and op == "cumsum" else wide(x.dtype)
        return rows.without_missing(x.astype(dtype), op == "cumprod")
    if x.dtype == jnp.bool_:
        return rows.without_missing(x, op == "cummin")
    if rows.is_float:
        return rows.without_missing(x, np.inf if op == "cummin" else -np.inf)
    info = jnp.iinfo(x.dtype)
    return rows.without_missing(x, info.max if op == "cummin" else info.min)


class Ranking(NamedTuple):
    """The options of a ranking. Static under `jit`."""

    method: Any = "average"
    ascending: bool = True
    na_option: str = "keep"
    pct: bool = False


@functools.partial(jax.jit, static_argnums=(2, 3, 4, 5))
def ranked(
    arrays: Any,
    segment_ids: Array,
    kinds: tuple[str, ...],
    num_segments: int,
    ranking: Ranking,
    layout: Any,
) -> tuple[Array, ...]:
    """The rank of each value in its group, float64; NaN for rows without a rank."""
    return tuple(
        _ranks(GroupedRows(data, valid, kind, segment_ids, num_segments, layout), ranking)
        for (data, valid), kind in zip(arrays, kinds, strict=True)
    )


def _ranks(rows: GroupedRows, ranking: Ranking) -> Array:
    keys, segment_ids = (jax.lax.stop_gradient(rows.data),), rows.present
    if ranking.na_option != "keep" and rows.can_miss:
        # Missing values rank as one value before or after all others, in both directions.
        is_first = rows.missing == (ranking.na_option != "top")
        keys, segment_ids = (is_first, rows.without_missing(keys[0], 0)), rows.segment_ids
    ranks = primitives.segment_rank(
        keys,
        segment_ids,
        rows.num_segments,
        method=ranking.method,
        descending=(*(False for _ in keys[1:]), not ranking.ascending),
        **rows.layout.on_mesh,
    )
    is_ranked = segment_ids >= 0
    if ranking.pct and ranking.method == "dense":
        totals = rows.reduce("max", ranks, segment_ids, fill_value=0)
    else:
        totals = rows.reduce("count", None, segment_ids)
    ranks = ranks.astype(float64())
    if ranking.pct:
        ranks = ranks / gather(totals, segment_ids, ONE_DEVICE).astype(ranks.dtype)
    return jnp.where(is_ranked, ranks, ranks.dtype.type(np.nan))
