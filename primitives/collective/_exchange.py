# SPDX-License-Identifier: Apache-2.0
"""The exchange: every shard sends one run of rows to each shard, in bounded memory.

Three transports give the same rows at the same positions:

- ragged: `ragged_all_to_all`; each row moves once. XLA supports it on TPU and GPU.
- one hop: a dense `all_to_all`. Its blocks have a capacity of 1.25 times the mean run, so it cannot
  carry a longer run. For few rows each block has a capacity of all rows, and carries any run.
- two hops: row `u` of the run from shard `s` to shard `d` travels through shard
  `(u + s + d) mod p`. Every shard then carries an equal part of each run, to within one row. So no
  pair of shards sends more than its share of the rows plus half a row for each shard, for any runs.

A conditional selects one hop or two. On CPU it must not contain a collective (see _control_flow),
so there a second `all_to_all` always runs, and moves zeros if one hop was enough. One hop alone
runs there if its blocks can hold any run and move no more rows than those of both hops: for two
shards, and for a capacity that is small, or that holds the rows of all shards.

If the first axis of the rows is the axis of hosts (`make_mesh(hosts=...)`), each hop has two
levels: blocks change devices within their host, then hosts. A device then has one peer for each
device of its host and one for each other host, and the blocks between two hosts travel as one
message for each device, in place of one for each pair of devices.
"""

import functools
from collections.abc import Callable
from typing import Any, Literal

import jax
import jax.numpy as jnp

from ...shardings._compat import like_varying
from ..contract._platform import by_platform
from ..contract._take import take_rows
from ..contract._typing import Array
from ._axis import AxisName
from ._exchange_blocks import BY_COLUMN, BY_ROW, BY_ROW_ON_TPU, MOST_COLUMNS
from ._exchange_hops import (
    hops_on_cpu,
    of_whole_batch,
    one_hop,
    one_hop_rows,
    two_hop,
)
from ._exchange_runs import Runs, exclusive

Transport = Literal["auto", "ragged", "one_hop", "two_hop"]
TRANSPORTS = ("auto", "ragged", "one_hop", "two_hop")

# Up to this size of a shard's messages, with all rows in each, latency dominates: blocks that hold
# any run are cheaper than a choice of transports, and compile faster.
_FEW_BYTES = 1 << 16


def check_transport(transport: Any, caller: str) -> None:
    """Raises unless `transport` is a known one."""
    if transport not in TRANSPORTS:
        raise ValueError(
            f"{caller}: transport must be one of {', '.join(map(repr, TRANSPORTS))}, "
            f"got {transport!r}."
        )


def exchange(
    rows: Array,
    runs: Runs,
    capacity: int,
    axis_name: AxisName,
    transport: Transport,
    *,
    order: Array | None = None,
    at: Array | None = None,
) -> Array:
    """Moves a matrix of rows; returns the rows this shard receives, by source, then zeros.

    Args:
        rows: the matrix.
        runs: the runs that each shard sends and receives.
        capacity: most rows that a shard receives.
        axis_name: mesh axis of the rows, or a tuple of axes.
        transport: how the rows travel.
        order: row ids in the order of the runs; by default the rows are in this order.
        at: position of each row of the result among the received rows, int32, or -1 for a row of
            zeros; by default the result is the received rows.
    """
    num_shards = runs.starts.shape[0]
    num_rows = (rows if order is None else order).shape[0]
    pair_rows = min(num_rows, capacity)
    if min(pair_rows, rows.shape[1]) == 0:
        num_results = capacity if at is None else at.shape[0]
        zeros = jnp.zeros((num_results, rows.shape[1]), rows.dtype)
        return like_varying(zeros, rows, runs)

    def ragged(rows: Array, runs: Runs) -> Array:
        return _ragged(rows, runs, capacity, axis_name)

    def two_hops(rows: Array, runs: Runs) -> Array:
        return two_hop(rows, runs, capacity, axis_name, BY_ROW)

    def two_hops_on_tpu(rows: Array, runs: Runs) -> Array:
        if rows.shape[1] > MOST_COLUMNS:
            return two_hop(rows, runs, capacity, axis_name, BY_ROW_ON_TPU)
        return two_hop(rows.T, runs, capacity, axis_name, BY_COLUMN).T

    def any_run(rows: Array, runs: Runs) -> Array:
        return one_hop(rows, runs, capacity, axis_name, pair_rows)

    def short_runs(rows: Array, runs: Runs) -> Array:
        return one_hop(rows, runs, capacity, axis_name, one_hop_rows(num_rows, num_shards))

    def dense(rows: Array, runs: Runs) -> Array:
        if pair_rows <= one_hop_rows(num_rows, num_shards):
            return any_run(rows, runs)
        fits = of_whole_batch(jnp.max(runs.sent) <= one_hop_rows(num_rows, num_shards))
        return jax.lax.cond(fits, short_runs, two_hops, rows, runs)

    def alone(rows: Array, runs: Runs) -> Array:
        return _resized(rows, runs.sent[0, 0], capacity)

    is_few = num_shards * pair_rows * rows.shape[1] * rows.dtype.itemsize <= _FEW_BYTES
    is_one_hop = transport == "one_hop" or (transport == "auto" and is_few)
    if num_shards == 1:
        return _arranged(alone)(rows, runs, order, at)
    if transport == "two_hop":
        return _arranged(two_hops)(rows, runs, order, at)
    on_cpu = functools.partial(
        hops_on_cpu, capacity=capacity, axis_name=axis_name, is_one_hop=is_one_hop
    )
    if is_one_hop:
        return by_platform(rows, runs, order, at, cpu=on_cpu, default=_arranged(any_run))
    # Ragged is opt-in: XLA lacks it on CPU, on GPU it is reliable within one node only, and on TPU
    # it does not compile for every slice. Tangents never use it, because JAX cannot batch the
    # transpose of a ragged exchange.
    if transport == "ragged" and rows.dtype == jnp.uint32:
        return by_platform(rows, runs, order, at, cpu=on_cpu, default=_arranged(ragged))
    # On TPU the operands of a branch are padded to 128 lanes a row, so the program has no branch.
    return by_platform(
        rows,
        runs,
        order,
        at,
        cpu=on_cpu,
        tpu=_arranged(two_hops_on_tpu),
        default=_arranged(dense),
    )


def _arranged(move: Callable[[Array, Runs], Array]) -> Callable[..., Array]:
    """A transport of rows in the order of their runs, for rows and results in other orders."""

    def arranged(rows: Array, runs: Runs, order: Array | None, at: Array | None) -> Array:
        received = move(rows if order is None else take_rows(rows, order), runs)
        if at is None:
            return received
        taken = take_rows(received, jnp.maximum(at, 0), is_unique=False)
        return jnp.where((at >= 0)[:, None], taken, jnp.zeros((), rows.dtype))

    return arranged


def _ragged(rows: Array, runs: Runs, capacity: int, axis_name: AxisName) -> Array:
    me = jax.lax.axis_index(axis_name)
    offsets = (runs.starts, runs.sent[me], exclusive(runs.sent)[me], runs.sent[:, me])
    # Under vmap JAX needs the batch axis on all operands or on none: make each depend on all.
    is_batch = rows[0, 0] == rows[0, 0]
    offsets = tuple(jnp.where(is_batch, offset, offset) for offset in offsets)
    rows = jnp.where(offsets[0][0] == 0, rows, rows)
    output = like_varying(jnp.zeros((capacity, rows.shape[1]), rows.dtype), rows)
    output = jnp.where(is_batch & (offsets[0][0] == 0), output, output)
    return jax.lax.ragged_all_to_all(rows, output, *offsets, axis_name=axis_name)


def _resized(rows: Array, count: Array, capacity: int) -> Array:
    head = rows[: min(capacity, rows.shape[0])]
    head = jnp.pad(head, ((0, capacity - head.shape[0]), (0, 0)))
    is_row = jnp.arange(capacity, dtype=jnp.int32) < count
    return jnp.where(is_row[:, None], head, jnp.zeros((), rows.dtype))
