# SPDX-License-Identifier: Apache-2.0
"""Even redistribution of the rows of all shards, in order."""

from typing import Any

import jax
import jax.numpy as jnp

from ..contract._arguments import as_capacity, as_num_valid, as_rows, num_rows_of
from ..contract._typing import Array, ArrayLike, Integer, PyTree
from ._axis import AxisName, as_shards, num_shards_on
from ._exchange import Transport, check_transport
from ._exchange_runs import plan_runs
from ._moving import send_runs
from ._partition import Partitioned
from ._sorted_runs import Dealing
from ._splitters import even_ranks, full_ranks
from ._wide_counts import WideCount, psum_wide, saturated, subtract, sum_wide


def rebalance(
    rows: PyTree,
    *,
    num_valid: int | Integer[ArrayLike, ""],
    axis_name: AxisName,
    capacity: int | None = None,
    transport: Transport = "auto",
) -> Partitioned:
    """Distributes the valid rows of all shards evenly, keeping their order.

    Args:
        rows: this shard's rows, any pytree of arrays with the same leading axis, of the same length
            on every shard.
        num_valid: number of valid rows of this shard, at its front.
        axis_name: mesh axis of the rows, or a tuple of axes.
        capacity: most rows of a shard in the result. Static; by default its number of rows before
            the call, which always suffices.
        transport: transport of the rows; see `partition`.

    Returns:
        `Partitioned(rows, count)`; the first `count` of `capacity` rows are meaningful, and padding
        rows are zero. `count` is the share of `even_share`; `count > capacity` means that rows did
        not fit.

    Raises:
        TypeError: `capacity` is traced, or `num_valid` is not an integer.
        ValueError: leading axes differ, `transport` is unknown, or `axis_name` is not an axis of
            the enclosing `shard_map`.

    Cost:
        Work O(rows x row bytes). Communication: one `all_gather` of a count, and that of
        `partition`.

    Guarantees:
        Stable, in the order of (shard, row); deterministic; exactly balanced; differentiable in
        `rows`.

    Example:
        Two shards:

            shard 0   rows [1 2 3 4]   num_valid 4
            shard 1   rows [5 6 7 8]   num_valid 1
            ->
            shard 0   rows [1 2 3 0]       count 3
            shard 1   rows [4 5 0 0]       count 2
    """
    caller = "rebalance"
    num_shards_on(axis_name, caller)
    num_rows = num_rows_of(rows, caller)
    rows = as_rows(rows, num_rows, caller, "rows")
    capacity = as_capacity(capacity, num_rows, caller)
    valid = as_num_valid(num_valid, num_rows, caller)
    check_transport(transport, caller)
    return Partitioned(*deal_out_rows(rows, valid, Dealing(axis_name, "even", transport, capacity)))


def deal_out_rows(rows: Any, num_valid: Array, dealing: Dealing) -> tuple[Any, Array]:
    """Distributes the first `num_valid` rows of every shard in the order of (shard, row).

    Args:
        rows: this shard's rows, a pytree of arrays.
        num_valid: number of valid rows, int32, clipped to the number of rows.
        dealing: the share and the capacity of each shard, and the transport. In the layout "full"
            rows that do not fit the mesh are not sent, and the last shard counts them.

    Returns:
        This shard's rows, padded with zeros, and their true number.
    """
    axis_name = dealing.axis_name
    num_shards = num_shards_on(axis_name, "rebalance")
    num_rows = num_rows_of(rows, "rebalance")
    capacity = num_rows if dealing.capacity is None else dealing.capacity
    rows = as_shards(rows, axis_name)
    num_valid = as_shards(jnp.minimum(num_valid, num_rows), axis_name)

    total = psum_wide(num_valid, axis_name)
    if dealing.layout == "even":
        ranks = even_ranks(total, num_shards)
    else:
        ranks = full_ranks(total, num_shards, capacity)
    before = rows_of_shards_before(num_valid, axis_name)
    return send_to_ranks(rows, num_valid, before, ranks, dealing._replace(capacity=capacity))


def rows_of_shards_before(num_valid: Array, axis_name: AxisName) -> WideCount:
    """The valid rows on the shards before this one."""
    valid_of_shards = jax.lax.all_gather(num_valid, axis_name)
    shards = jax.lax.iota(jnp.int32, valid_of_shards.shape[0])
    is_before = shards < jax.lax.axis_index(axis_name)
    return sum_wide(jnp.where(is_before, valid_of_shards, 0), axis=0)


def send_to_ranks(
    rows: Any, num_valid: Array, before: WideCount, ranks: WideCount, dealing: Dealing
) -> tuple[Any, Array]:
    """Sends each row to the shard of its position.

    Args:
        rows: this shard's rows, a pytree of arrays, marked as different on every shard.
        num_valid: number of valid rows, int32, at most the number of rows.
        before: the position of the first row.
        ranks: the position at which each shard but the first begins.
        dealing: how the rows travel, and the capacity of a shard.

    Returns:
        The rows of this shard, padded with zeros, and their true number.
    """
    axis_name, capacity = dealing.axis_name, dealing.capacity
    assert capacity is not None
    # The rows before a rank are all rows of the previous shards, then rows of this one.
    ends = jnp.minimum(saturated(subtract(ranks, before)), num_valid)
    ends = jnp.concatenate([ends, num_valid[None]])
    runs = plan_runs(jnp.diff(ends, prepend=jnp.zeros_like(ends[:1])), capacity, axis_name)
    return send_runs(rows, runs, capacity, axis_name, dealing.transport), runs.count
