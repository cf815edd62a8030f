# SPDX-License-Identifier: Apache-2.0
"""Rows repeated some number of times each, and the copies dealt out to the shards.

A row travels once, to the shard that its first copy is dealt to. Those whose copies reach into
shards behind are told to these by a sum of `num_shards` rows, to which one shard contributes each.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...shardings._compat import is_x64_enabled, like_varying
from ..contract._associative_scan import associative_scan
from ..contract._typing import Array
from ..kernels.join._pair_counts import MOST_PAIRS, saturating_add
from ..kernels.move._compact import flagged_rows
from ..local._take import take_rows
from ._axis import AxisName, num_shards_on
from ._exchange import exchange, plan_runs
from ._packing import pack_rows, unpack_rows
from ._sorted_runs import Dealing


class Copies(NamedTuple):
    """What a shard was dealt.

    Attributes:
        rows: the row at each place, some row behind the last copy.
        copy: which of its row's copies stands at each place.
        count: copies dealt to this shard; the last shard of the layout "full" counts what fits
            nowhere.
        total: copies on all shards.
    """

    rows: Any
    copy: Array
    count: Array
    total: Array


def count_dtype() -> Any:
    """What counts copies over the mesh: int64, or without x64 mode int32, which saturates."""
    return jnp.int64 if is_x64_enabled() else jnp.int32


def deal_out_copies(rows: Any, num_copies: Array, dealing: Dealing) -> Copies:
    """Deals the copies of all shards' rows out, in the order of (shard, row, copy).

    Args:
        rows: this shard's rows, a pytree of arrays.
        num_copies: how often each is repeated, of `count_dtype`, not negative.
        dealing: the share of each shard, its room, and how rows travel.

    Returns:
        The copies that this shard was dealt, as many places as it has room for.
    """
    axis_name = dealing.axis_name
    assert dealing.capacity is not None
    capacity = dealing.capacity
    begins, total = _begins(num_copies, axis_name)
    shard = jax.lax.axis_index(axis_name)
    bounds = _bounds(total, dealing)
    count = jnp.diff(bounds)[shard]

    # Rows with copies, in the order of their first ones.
    num_rows = num_copies.shape[0]
    all_rows = jnp.asarray(num_rows, jnp.int32)
    row_ids, num_items = flagged_rows(num_copies > 0, num_rows, all_rows)
    is_item = jax.lax.iota(jnp.int32, num_rows) < num_items
    begins, ends = take_rows((begins, begins + num_copies), row_ids, is_unique=False)
    begins = jnp.where(is_item, begins, jnp.iinfo(begins.dtype).max)
    items = pack_rows((take_rows(rows, row_ids, is_unique=False), begins))
    before = jnp.searchsorted(begins, bounds, side="left").astype(jnp.int32)

    runs = plan_runs(jnp.diff(before), capacity, axis_name)
    arrived = exchange(items, runs, capacity, axis_name, dealing.transport)
    # The row before a shard's first one goes on there, if its copies reach so far.
    last = jnp.maximum(before[:-1] - 1, 0)
    goes_on = (before[:-1] > 0) & (take_rows(ends, last, is_unique=False) > bounds[:-1])
    going_on = jnp.where(goes_on[:, None], take_rows(items, last, is_unique=False), np.uint32(0))
    going_on = jax.lax.psum(going_on, axis_name)[shard][None]

    items = jnp.concatenate([like_varying(going_on, arrived), arrived])
    own_rows, own_begins = unpack_rows(items, (rows, begins))
    arrived_count = jnp.minimum(runs.count, capacity)
    is_arrived = jax.lax.iota(jnp.int32, capacity) < arrived_count
    places = jnp.where(is_arrived, own_begins[1:] - bounds[shard], capacity)
    marks = like_varying(jnp.zeros((capacity,), jnp.int32), places)
    numbers = jax.lax.iota(jnp.int32, capacity) + 1
    marks = marks.at[places].set(numbers, mode="drop")
    item = jax.lax.cummax(marks) if capacity else marks
    place = bounds[shard] + jax.lax.iota(bounds.dtype, capacity)
    copy = place - take_rows(own_begins, item, is_unique=False)
    return Copies(take_rows(own_rows, item, is_unique=False), copy, _as_count(count), total)


def _begins(num_copies: Array, axis_name: AxisName) -> tuple[Array, Array]:
    """Where the copies of each row begin among those of all shards, and how many there are."""
    if num_copies.shape[0] == 0:
        ends = num_copies
        own = jnp.zeros((), num_copies.dtype)
    else:
        ends = _running_total(num_copies)
        own = ends[-1]
    of_shards = _running_total(jax.lax.all_gather(own, axis_name, to="invarying"))
    shard = jax.lax.axis_index(axis_name)
    before = jnp.where(shard == 0, jnp.zeros_like(own), of_shards[jnp.maximum(shard - 1, 0)])
    begins = jnp.concatenate([jnp.zeros_like(ends[:1]), ends[:-1]])
    if is_x64_enabled():
        return before + begins, of_shards[-1]
    begins = saturating_add(before.astype(jnp.uint32), begins.astype(jnp.uint32))
    return begins.astype(jnp.int32), of_shards[-1]


def _running_total(counts: Array) -> Array:
    if is_x64_enabled():
        return jnp.cumsum(counts, dtype=jnp.int64)
    totals = associative_scan(saturating_add, counts.astype(jnp.uint32))
    return totals.astype(jnp.int32)


def _bounds(total: Array, dealing: Dealing) -> Array:
    """Where the copies of each shard begin, and where those of the last one end."""
    num_shards = num_shards_on(dealing.axis_name, "join")
    shards = jax.lax.iota(total.dtype, num_shards + 1)
    if dealing.layout == "even":
        quotient, remainder = total // num_shards, total % num_shards
        return quotient * shards + jnp.minimum(shards, remainder)
    full = jnp.minimum(shards * total.dtype.type(dealing.capacity), total)
    return jnp.where(shards == num_shards, total, full)


def _as_count(count: Array) -> Array:
    return jnp.minimum(count, count.dtype.type(MOST_PAIRS)).astype(jnp.int32)
