# SPDX-License-Identifier: Apache-2.0
"""What each row gets from the rows of its group before or after it.

Rows are put in the order of their slots, stably, so that the rows of a group stand together; what
is found there is brought back to where they stood.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ..table._column import NAT, Array
from ..table._layout import Layout
from ..table._take import before, gather, position
from ._grouped_column import GroupedRows, float64, wide


class GroupOrder(NamedTuple):
    """The rows of a table with those of a group together.

    Attributes:
        slots: the slot at each place; one past the last for rows that are in no group.
        row_ids: the row at each place.
        places: the place of each row.
    """

    slots: Array
    row_ids: Array
    places: Array


@functools.partial(jax.jit, static_argnums=(1, 2))
def order_of(slots: Array, num_slots: int, layout: Layout) -> GroupOrder:
    """Puts rows in the order of their slots."""
    return _in_order((_as_key(slots, num_slots),), (num_slots.bit_length(),), (False,), layout)


def _as_key(slots: Array, num_slots: int) -> Array:
    is_member = (slots >= 0) & (slots < np.int32(num_slots))
    return jnp.where(is_member, slots, np.int32(num_slots)).astype(jnp.uint32)


def _in_order(keys: Any, bits: Any, descending: Any, layout: Layout) -> GroupOrder:
    row_ids = primitives.radix_argsort(keys, bits=bits, descending=descending, **layout.on_mesh)
    row_ids = row_ids.astype(jnp.int32)
    own = position(row_ids.shape[0], layout)
    if layout.mesh is None:
        places = jnp.zeros_like(row_ids).at[row_ids].set(own, unique_indices=True)
    else:
        _, places = primitives.radix_sort(row_ids, values=own, **layout.on_mesh)
    return GroupOrder(gather(keys[0], row_ids, layout).astype(jnp.int32), row_ids, places)


def _scan(x: Any, op: Any, heads: Array, layout: Layout, **settings: Any) -> Any:
    return primitives.segmented_scan(x, op, head_flags=heads, **settings, **layout.on_mesh)


def _heads(x: Array) -> Array:
    """Where a value differs from the one before it."""
    return (x != before(x)) | (jnp.arange(x.shape[0], dtype=jnp.int32) == 0)


@functools.partial(jax.jit, static_argnums=(1, 2))
def places_in_groups(order: GroupOrder, ascending: bool, layout: Layout) -> Array:
    """How many rows of its group stand before each row; behind it where not `ascending`."""
    one = jnp.ones(order.slots.shape, jnp.int32)
    heads = _heads(order.slots)
    found = _scan(one, "add", heads, layout, exclusive=True, reverse=not ascending)
    return gather(found, order.places, layout)


@functools.partial(jax.jit, static_argnums=(3, 4))
def shifted_rows(
    order: GroupOrder, slots: Array, periods: Any, num_slots: int, layout: Layout
) -> Array:
    """The row `periods` before each in its group, -1 where there is none."""
    found = order.places - periods
    is_place = (found >= 0) & (found < np.int32(slots.shape[0]))
    there, row_ids = gather((order.slots, order.row_ids), found, layout)
    is_same = is_place & (there == slots) & (slots >= 0) & (slots < np.int32(num_slots))
    return jnp.where(is_same, row_ids, np.int32(-1))


@functools.partial(jax.jit, static_argnums=(3, 4, 5))
def filled_rows(
    order: GroupOrder,
    missing: Array,
    slots: Array,
    limit: int | None,
    forward: bool,
    layout: Layout,
) -> Array:
    """The nearest row before each, or behind it, of the same group that has a value; -1 if none."""
    own = position(slots.shape[0], layout)
    has_value = ~gather(missing, order.row_ids, layout)
    none = np.int32(-1 if forward else np.iinfo(np.int32).max)
    found = _scan(
        jnp.where(has_value, own, none),
        "max" if forward else "min",
        _heads(order.slots),
        layout,
        reverse=not forward,
    )
    is_near = found != none
    if limit is not None:
        is_near = is_near & (jnp.abs(own - found) <= np.int32(limit))
    row_ids = gather(order.row_ids, jnp.where(is_near, found, np.int32(0)), layout)
    row_ids = gather(jnp.where(is_near, row_ids, np.int32(-1)), order.places, layout)
    return jnp.where(slots >= 0, row_ids, np.int32(-1))


_OPERATORS = {"cumsum": "add", "cumprod": "mul", "cummin": "min", "cummax": "max"}


@functools.partial(jax.jit, static_argnums=(3, 4, 5, 6, 7))
def cumulated(
    arrays: Any,
    slots: Array,
    order: GroupOrder,
    kinds: tuple[str, ...],
    op: str,
    skipna: bool,
    may_drop: bool,
    layout: Layout,
) -> Any:
    """Columns with each value combined with those before it in its group."""
    heads = _heads(order.slots)
    results = []
    for (data, valid), kind in zip(arrays, kinds, strict=True):
        rows = GroupedRows(data, valid, kind, slots, 1, layout)
        x = _neutral(rows, op) if skipna or not rows.is_float else data
        is_bool = x.dtype == jnp.bool_
        x = x.astype(jnp.int8) if is_bool else x
        scanned = _scan(gather(x, order.row_ids, layout), _OPERATORS[op], heads, layout)
        result = gather(scanned, order.places, layout)
        result = result.astype(jnp.bool_) if is_bool else result.astype(_shown_dtype(data, op))
        missing = rows.missing
        if not skipna and rows.can_miss and not rows.is_float:
            # Only NaN stays in a scan by itself.
            is_missing = gather(missing.astype(jnp.int8), order.row_ids, layout)
            was_missing = _scan(is_missing, _OPERATORS["cummax"], heads, layout)
            missing = gather(was_missing, order.places, layout).astype(jnp.bool_)
        missing = missing | (slots < 0) if may_drop or rows.can_miss else None
        if missing is None:
            results.append((result, None))
        elif kind == "time":
            results.append((jnp.where(missing, np.int64(NAT), result), None))
        elif rows.is_float:
            results.append((jnp.where(missing, result.dtype.type(np.nan), result), None))
        else:
            results.append((result, ~missing))
    return tuple(results)


def _shown_dtype(data: Array, op: str) -> Any:
    return wide(data.dtype) if op in ("cumsum", "cumprod") else data.dtype


def _neutral(rows: GroupedRows, op: str) -> Array:
    """The values as they are scanned, a missing one as what changes nothing."""
    x = rows.data
    if op in ("cumsum", "cumprod"):
        # float32 is added up in float64, so that only the result is rounded.
        dtype = float64() if x.dtype == jnp.float32 and op == "cumsum" else wide(x.dtype)
        return rows.without_missing(x.astype(dtype), op == "cumprod")
    if x.dtype == jnp.bool_:
        return rows.without_missing(x, op == "cummin")
    if rows.is_float:
        return rows.without_missing(x, np.inf if op == "cummin" else -np.inf)
    info = jnp.iinfo(x.dtype)
    return rows.without_missing(x, info.max if op == "cummin" else info.min)


class Ranking(NamedTuple):
    """How values are ranked. Static under `jit`."""

    method: str = "average"
    ascending: bool = True
    na_option: str = "keep"
    pct: bool = False


@functools.partial(jax.jit, static_argnums=(2, 3, 4, 5))
def ranked(
    arrays: Any, slots: Array, kinds: tuple[str, ...], num_slots: int, ranking: Ranking, layout: Any
) -> tuple[Array, ...]:
    """The rank of each value in its group."""
    return tuple(
        _ranks(GroupedRows(data, valid, kind, slots, num_slots, layout), ranking)
        for (data, valid), kind in zip(arrays, kinds, strict=True)
    )


def _ranks(rows: GroupedRows, ranking: Ranking) -> Array:
    layout, data = rows.layout, rows.data
    data = data.astype(jnp.int8) if data.dtype == jnp.bool_ else data
    keeps = ranking.na_option == "keep"
    slots = rows.present if keeps else rows.slots
    missing = rows.missing if rows.can_miss else jnp.zeros(data.shape, jnp.bool_)
    data = jax.lax.stop_gradient(jnp.where(missing, jnp.zeros((), data.dtype), data))
    first = ranking.na_option == "top"
    keys = (_as_key(slots, rows.num_slots), missing != first, data)
    bits = (rows.num_slots.bit_length(), None, None)
    order = _in_order(keys, bits, (False, False, not ranking.ascending), layout)
    values, flags = gather((data, missing), order.row_ids, layout)
    group_heads = _heads(order.slots)
    heads = group_heads | (values != before(values)) | (flags != before(flags))
    own = position(slots.shape[0], layout)
    group_start = _scan(own, "min", group_heads, layout)
    match ranking.method:
        case "first":
            rank = (own - group_start + 1).astype(float64())
        case "dense":
            rank = _scan(heads.astype(jnp.int32), "add", group_heads, layout).astype(float64())
        case "min":
            rank = (_scan(own, "min", heads, layout) - group_start + 1).astype(float64())
        case "max":
            last = _scan(own, "max", heads, layout, reverse=True)
            rank = (last - group_start + 1).astype(float64())
        case _:
            both = _scan(own, "min", heads, layout) + _scan(own, "max", heads, layout, reverse=True)
            rank = both.astype(float64()) / 2 - group_start.astype(float64()) + 1
    if ranking.pct and ranking.method == "dense":
        rank = rank / _scan(rank, "max", group_heads, layout, reverse=True)
    elif ranking.pct:
        group_end = _scan(own, "max", group_heads, layout, reverse=True)
        rank = rank / (group_end - group_start + 1).astype(rank.dtype)
    rank = gather(rank, order.places, layout)
    return jnp.where(slots >= 0, rank, rank.dtype.type(np.nan))
