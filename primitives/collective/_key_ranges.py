# SPDX-License-Identifier: Apache-2.0
"""Partition by key range: equal keys meet on one shard, and shards get about equal rows.

Every shard sends sorted rows with distinct keys, so a key occurs at most `num_shards` times. Exact
splitters divide the rows of all shards evenly and are then moved to the start of their key: no
shard gets more than an even share of the rows plus one for each other shard.
"""

from typing import Any

import jax
import jax.numpy as jnp

from ..contract._key_bits import ordered_words
from ..contract._typing import Array
from ..kernels.sort._lower_bound import lower_bound
from ._axis import AxisName, num_shards_on
from ._exchange import Transport, exchange
from ._exchange_runs import Runs, plan_runs, returning
from ._moving import send_runs
from ._packing import pack_rows, unpack_rows
from ._splitters import even_ranks, keys_of_ranks
from ._wide_counts import psum_wide


def send_to_key_ranges(
    columns: tuple[Array, ...],
    rows: Any,
    count: Array,
    axis_name: AxisName,
    transport: Transport,
) -> tuple[tuple[Array, ...], Any, Runs]:
    """Sends each row to the shard of its key's range; the ranges ascend.

    Args:
        columns: the keys, sorted and distinct on this shard.
        rows: the values of the keys, a pytree of arrays.
        count: number of valid rows, at the front.
        axis_name: mesh axis, or tuple of axes.
        transport: how the rows travel.

    Returns:
        The received keys and rows, in the order of their shards and sorted within each; and the
        runs of the exchange.
    """
    num_shards = num_shards_on(axis_name, "reduce_by_key")
    capacity = columns[0].shape[0] + num_shards
    words = ordered_words(columns, (False,) * len(columns))
    ranks = even_ranks(psum_wide(count, axis_name), num_shards)
    splitters = keys_of_ranks(words, count, ranks, axis_name)
    # All rows with a splitter's key go to the shard that starts with it.
    starts = lower_bound(tuple(column.ordered() for column in words), splitters, count)
    ends = jnp.concatenate([starts, count[None]])
    runs = plan_runs(jnp.diff(ends, prepend=jnp.zeros_like(ends[:1])), capacity, axis_name)
    return *send_runs((columns, rows), runs, capacity, axis_name, transport), runs


def send_back(
    received: Any, sent: Runs, capacity: int, axis_name: AxisName, transport: Transport
) -> Any:
    """Returns one row for each received row to its original shard; not differentiable."""
    back = exchange(pack_rows(received), returning(sent, axis_name), capacity, axis_name, transport)
    return unpack_rows(back, received)


def total_before(count: Array, dtype: Any, axis_name: AxisName) -> Array:
    """The sum of a count over the shards before this one."""
    counts = jax.lax.all_gather(count, axis_name).astype(dtype)
    is_before = jax.lax.iota(jnp.int32, counts.shape[0]) < jax.lax.axis_index(axis_name)
    return jnp.sum(jnp.where(is_before, counts, 0), dtype=dtype)
