# SPDX-License-Identifier: Apache-2.0
"""Repeats each row a given number of times and distributes the copies over the shards.

A row travels once, to the shard of its first copy. If its copies extend to later shards, these
receive the row by a `psum` of `num_shards` rows; one shard contributes each row.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...shardings._compat import is_x64_enabled, like_varying
from ..contract._take import take_rows
from ..contract._typing import Array
from ..kernels.join._pair_counts import MOST_PAIRS, running_total, saturating_add
from ..kernels.move._compact import flagged_rows
from ._axis import AxisName, num_shards_on
from ._exchange import exchange
from ._exchange_runs import plan_runs
from ._packing import pack_rows, unpack_rows
from ._sorted_runs import Dealing


class Copies(NamedTuple):
    """The copies of one shard.

    Attributes:
        rows: the row at each position; arbitrary after the last copy.
        copy: the number of the copy of its row at each position.
        count: copies of this shard; in the layout "full" the last shard also counts the copies that
            fit nowhere.
        total: number of copies on all shards.
    """

    rows: Any
    copy: Array
    count: Array
    total: Array


def count_dtype() -> Any:
    """The dtype of counts of copies: int64, or int32 without x64 mode, which saturates."""
    return jnp.int64 if is_x64_enabled() else jnp.int32


def deal_out_copies(rows: Any, num_copies: Array, dealing: Dealing) -> Copies:
    """Distributes the copies of all shards' rows in the order of (shard, row, copy).

    Args:
        rows: this shard's rows, a pytree of arrays.
        num_copies: number of copies of each row, of `count_dtype`, not negative.
        dealing: the share and the capacity of each shard, and the transport.

    Returns:
        This shard's copies, padded to its capacity.
    """
    axis_name = dealing.axis_name
    assert dealing.capacity is not None
    capacity = dealing.capacity
    begins, total = _begins(num_copies, axis_name)
    shard = jax.lax.axis_index(axis_name)
    bounds = bounds_of_shares(total, dealing)
    count = jnp.diff(bounds)[shard]

    # Rows with at least one copy, in the order of their first copies.
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
    # The row before a shard's first row continues there if its copies reach that far.
    last = jnp.maximum(before[:-1] - 1, 0)
    goes_on = (before[:-1] > 0) & (take_rows(ends, last, is_unique=False) > bounds[:-1])
    going_on = jnp.where(goes_on[:, None], take_rows(items, last, is_unique=False), np.uint32(0))
    going_on = jax.lax.psum(going_on, axis_name)[shard][None]

    items = jnp.concatenate([like_varying(going_on, arrived), arrived])
    own_rows, own_begins = unpack_rows(items, (rows, begins))
    arrived_count = jnp.minimum(runs.count, capacity)
    is_arrived = jax.lax.iota(jnp.int32, capacity) < arrived_count
    positions = jnp.where(is_arrived, own_begins[1:] - bounds[shard], capacity)
    marks = like_varying(jnp.zeros((capacity,), jnp.int32), positions)
    numbers = jax.lax.iota(jnp.int32, capacity) + 1
    marks = marks.at[positions].set(numbers, mode="drop")
    item = jax.lax.cummax(marks) if capacity else marks
    position = bounds[shard] + jax.lax.iota(bounds.dtype, capacity)
    copy = position - take_rows(own_begins, item, is_unique=False)
    return Copies(take_rows(own_rows, item, is_unique=False), copy, _as_count(count), total)


def _begins(num_copies: Array, axis_name: AxisName) -> tuple[Array, Array]:
    """The global position of each row's first copy, and the number of copies on all shards."""
    if num_copies.shape[0] == 0:
        ends = num_copies
        own = jnp.zeros((), num_copies.dtype)
    else:
        ends = running_total(num_copies)
        own = ends[-1]
    of_shards = running_total(jax.lax.all_gather(own, axis_name, to="invarying"))
    shard = jax.lax.axis_index(axis_name)
    before = jnp.where(shard == 0, jnp.zeros_like(own), of_shards[jnp.maximum(shard - 1, 0)])
    begins = jnp.concatenate([jnp.zeros_like(ends[:1]), ends[:-1]])
    if is_x64_enabled():
        return before + begins, of_shards[-1]
    begins = saturating_add(before.astype(jnp.uint32), begins.astype(jnp.uint32))
    return begins.astype(jnp.int32), of_shards[-1]


def bounds_of_shares(total: Array, dealing: Dealing) -> Array:
    """The offsets of the shards' copies: `num_shards + 1` bounds."""
    num_shards = num_shards_on(dealing.axis_name, "join")
    shards = jax.lax.iota(total.dtype, num_shards + 1)
    if dealing.layout == "even":
        quotient, remainder = total // num_shards, total % num_shards
        return quotient * shards + jnp.minimum(shards, remainder)
    full = jnp.minimum(shards * total.dtype.type(dealing.capacity), total)
    return jnp.where(shards == num_shards, total, full)


def _as_count(count: Array) -> Array:
    return jnp.minimum(count, count.dtype.type(MOST_PAIRS)).astype(jnp.int32)
