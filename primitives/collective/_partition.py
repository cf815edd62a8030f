# SPDX-License-Identifier: Apache-2.0
"""Partition of rows by destination shard."""

import functools
from typing import NamedTuple

import jax.numpy as jnp

from ..contract._arguments import as_num_valid, as_rows, as_static_int, num_rows_of
from ..contract._typing import Array, ArrayLike, Int, Integer, PyTree
from ..local.parts import as_bucket_ids, group_by_bucket
from ._axis import AxisName, as_shards, num_shards_on
from ._exchange import Transport, check_transport, exchange
from ._exchange_runs import Runs, plan_runs
from ._moving import move_rows


class Partitioned(NamedTuple):
    """The rows that a shard received, at its front, and their true number."""

    rows: PyTree
    count: Int[Array, ""]


def partition(
    rows: PyTree,
    destination: Integer[ArrayLike, " rows"],
    *,
    axis_name: AxisName,
    capacity: int | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    transport: Transport = "auto",
) -> Partitioned:
    """Sends each row to the shard that its destination names.

    A shard receives its rows at its front in the order of (source shard, source row), so the
    partition is stable. Padding rows are zero.

    Args:
        rows: this shard's rows, any pytree of arrays with the same leading axis.
        destination: shard of each row, shape `(rows,)`, integers. A row with a destination outside
            `[0, num_shards)` is dropped.
        axis_name: mesh axis of the rows, or a tuple of axes.
        capacity: most rows of a shard in the result. Static; by default its number of rows before
            the call.
        num_valid: number of valid rows, at the front; all rows by default.
        transport: how the rows travel; the result is the same, bit for bit.

            - `"auto"`: one hop if the longest run is at most 1.25 times the mean, otherwise two;
              always two on TPU. One hop on every platform for few rows: if `num_shards` times the
              bytes of a shard's rows are at most 64 KiB.
            - `"ragged"`: one `ragged_all_to_all` on TPU and GPU, if their XLA compiles it; the same
              as `"auto"` on CPU.
            - `"one_hop"`: one `all_to_all` with a capacity of all rows for each pair of shards,
              which needs `num_shards` times the memory.
            - `"two_hop"`: two `all_to_all` through an intermediate shard.

    Returns:
        `Partitioned(rows, count)`; the first `count` of `capacity` rows are meaningful.
        `count > capacity` means that rows did not fit: the first `capacity` of them are there.

    Raises:
        TypeError: `destination` are not integers, or `capacity` is traced.
        ValueError: leading axes differ, `transport` is unknown, or `axis_name` is not an
            axis of the enclosing `shard_map`.

    Cost:
        Work O(rows x row bytes). Communication: one all-to-all that moves each row once, or two
        that move it twice. On CPU `"auto"` always runs two, unless one with blocks for any run
        moves no more: for two shards, a small capacity, or a capacity of the rows of all shards. In
        two hops no pair of shards carries more than `max(rows, capacity) / num_shards + num_shards
        / 2` rows in a hop, for any destinations. All columns travel as one matrix of words. If the
        first of several axes is `"hosts"`, as in `shardings.make_mesh(hosts=...)`, each hop is one
        all-to-all within the hosts and one between them.

    Guarantees:
        Stable; deterministic; differentiable in `rows`.

    References:
        Bader, Helman, JaJa (1996), "Practical parallel algorithms for personalized communication
        and integer sorting".

    Example:
        Two shards:

            shard 0   rows [1 2 3]   destination [1 0 1]
            shard 1   rows [4 5 6]   destination [1 1 1]
            ->
            shard 0   rows [2 0 0]       count 1
            shard 1   rows [1 3 4]       count 5   (capacity 3: two did not fit)
    """
    caller = "partition"
    num_shards = num_shards_on(axis_name, caller)
    sent = send_rows(
        rows, destination, num_shards, axis_name, capacity, num_valid, transport, caller
    )
    return Partitioned(sent.rows, sent.runs.count)


class Sent(NamedTuple):
    """Received rows, and how this shard's own rows went.

    Attributes:
        rows: the rows that this shard received.
        order: row ids of its own rows in the order of their destinations.
        offsets: where the rows for each shard start in that order.
        runs: how many rows went from each shard to each.
    """

    rows: PyTree
    order: Array
    offsets: Array
    runs: Runs


def send_rows(
    rows: PyTree,
    destination: Integer[ArrayLike, " rows"],
    num_shards: int,
    axis_name: AxisName,
    capacity: int | None,
    num_valid: int | Integer[ArrayLike, ""] | None,
    transport: Transport,
    caller: str,
    name: str = "destination",
) -> Sent:
    """`partition` after the check of the axis, with what the way back needs."""
    num_rows = num_rows_of(rows, caller)
    rows = as_shards(as_rows(rows, num_rows, caller, "rows"), axis_name)
    shard_ids = as_bucket_ids(destination, num_rows, caller, name)
    capacity = num_rows if capacity is None else capacity
    capacity = as_static_int(capacity, caller, "capacity", 0, 2**31 - 1)
    valid = as_num_valid(num_valid, num_rows, caller)
    check_transport(transport, caller)

    shard_ids = as_shards(shard_ids, axis_name)
    offsets, order = group_by_bucket(shard_ids, num_shards, valid)
    runs = plan_runs(jnp.diff(offsets), capacity, axis_name)
    route = functools.partial(_route, capacity=capacity, axis_name=axis_name, transport=transport)
    return Sent(move_rows(rows, (order, runs), route), order, offsets, runs)


def _route(
    matrix: Array,
    plan: tuple[Array, Runs],
    *,
    capacity: int,
    axis_name: AxisName,
    transport: Transport,
) -> Array:
    order, runs = plan
    return exchange(matrix, runs, capacity, axis_name, transport, order=order)
