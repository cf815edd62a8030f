# SPDX-License-Identifier: Apache-2.0
"""The runs of an exchange, and the positions of their rows in the blocks of one hop and of two."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from ..contract._typing import Array
from ._axis import AxisName
from ._exchange_blocks import Blocks
from ._wide_counts import cumsum_wide, saturated


class Runs(NamedTuple):
    """The number of rows from each shard to each, before and after the capacity applies.

    Attributes:
        starts: first row of each of this shard's runs, one for each destination.
        sent: rows that travel, `[source, destination]`; rows past a capacity are not sent.
        count: rows for this shard, including those that do not fit.
    """

    starts: Array
    sent: Array
    count: Array


def plan_runs(send_counts: Array, capacity: int, axis_name: AxisName) -> Runs:
    """Shares the lengths of all runs with every shard: one `all_gather` of `num_shards` counts."""
    lengths = jax.lax.all_gather(send_counts, axis_name)
    # More rows than an int32 can count may be sent to a shard; its capacity is smaller.
    arrived = saturated(cumsum_wide(lengths, axis=0))
    before = jnp.concatenate([jnp.zeros_like(arrived[:1]), arrived[:-1]])
    sent = jnp.clip(capacity - before, 0, lengths)
    count = arrived[-1, jax.lax.axis_index(axis_name)]
    # Otherwise XLA keeps all of `arrived` on TPU until `count` is read, after the exchange.
    sent, count = jax.lax.optimization_barrier((sent, count))
    return Runs(exclusive(send_counts), sent, count)


def returning(runs: Runs, axis_name: AxisName) -> Runs:
    """The runs of the return trip of an exchange by `runs`, in which all rows fit."""
    me = jax.lax.axis_index(axis_name)
    came = runs.sent[:, me]
    return Runs(exclusive(came), runs.sent.T, jnp.sum(runs.sent[me], dtype=jnp.int32))


def exclusive(counts: Array, axis: int = 0) -> Array:
    """The exclusive running sums of counts."""
    return jnp.cumsum(counts, axis, dtype=counts.dtype) - counts


def stripe_capacity(num_rows: int, num_shards: int) -> int:
    """The most rows of a block in a hop of two that moves `num_rows` rows of a shard."""
    # A block holds one stripe of each of p runs. Stripe k is longer than an even share of its run
    # by at most 1 - (k + 1) / p rows, and each k occurs once: (p - 1) / 2 rows in total.
    p = num_shards
    return (num_rows + p * (p - 1) // 2) // p


def run_sources(runs: Runs, pair_rows: int) -> Array:
    """One hop: the rows of a block for each destination, which is the run to it."""
    return runs.starts[:, None] + jnp.arange(pair_rows, dtype=jnp.int32)[None, :]


def run_positions(
    runs: Runs, results: Array, pair_rows: int, axis_name: AxisName, steps: Blocks
) -> Array:
    """One hop: the position, in the received blocks, of each result."""
    offsets = exclusive(runs.sent[:, jax.lax.axis_index(axis_name)])
    shards = jnp.arange(runs.starts.shape[0], dtype=jnp.int32)
    return results + steps.of_run(offsets, results, pair_rows * shards - offsets, shards)


def way_sources(
    runs: Runs, shards: Array, block_rows: int, axis_name: AxisName, steps: Blocks
) -> Array:
    """First hop: the rows of a block for each intermediate shard, ordered by destination."""
    p = runs.starts.shape[0]
    me = jax.lax.axis_index(axis_name)
    way, destination = shards[:, None], shards[None, :]
    # It takes every p-th row of the run that starts at `starts[d]`.
    stripe = way - me - destination
    begins = exclusive(_stripe_rows(runs.sent[me][None, :], stripe), axis=1)
    block_positions = jnp.arange(block_rows, dtype=jnp.int32)
    return p * block_positions[None, :] + steps.of_run(
        begins, block_positions, runs.starts[None, :] + stripe % p - p * begins, shards
    )


def destination_sources(
    runs: Runs,
    shards: Array,
    first_rows: int,
    block_rows: int,
    axis_name: AxisName,
    steps: Blocks,
) -> Array:
    """Second hop: the received rows of a block for each destination, ordered by source."""
    me = jax.lax.axis_index(axis_name)
    source, destination = shards[:, None], shards[None, :]
    stripe_rows = _stripe_rows(runs.sent, me - source - destination)
    in_block = exclusive(stripe_rows, axis=1).T
    begins = exclusive(stripe_rows, axis=0).T
    block_positions = jnp.arange(block_rows, dtype=jnp.int32)
    return block_positions[None, :] + steps.of_run(
        begins, block_positions, first_rows * shards[None, :] + in_block - begins, shards
    )


def stripe_positions(
    runs: Runs,
    results: Array,
    shards: Array,
    second_rows: int,
    axis_name: AxisName,
    steps: Blocks,
) -> Array:
    """After the second hop: the position, in the received blocks, of each result."""
    # Row u of a run came through shard (u + source + destination) mod p, as its (u // p)-th row.
    p = runs.starts.shape[0]
    me = jax.lax.axis_index(axis_name)
    received = runs.sent[:, me]
    stripe = shards[None, :] - shards[:, None] - me
    begins = exclusive(_stripe_rows(received[:, None], stripe), axis=0)
    offsets = exclusive(received)
    run = steps.of_run(offsets, results, shards, shards)
    in_run = results - steps.of_run(offsets, results, offsets, shards)
    way = (in_run + run + me) % p
    begin = steps.look_up(begins.reshape(-1), run * p + way)
    return way * second_rows + begin + in_run // p


def _stripe_rows(run_rows: Array, stripe: Array) -> Array:
    """Rows u of a run with u mod p equal to `stripe` mod p, for `[p, p]` runs and stripes."""
    p = stripe.shape[0]
    return run_rows // p + (stripe % p < run_rows % p).astype(run_rows.dtype)
