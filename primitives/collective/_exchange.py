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
so there a second `all_to_all` always runs, and its result is ignored if one hop was enough.

If the first axis of the rows is the axis of hosts (`make_mesh(hosts=...)`), each hop has two
levels: blocks change devices within their host, then hosts. A device then has one peer for each
device of its host and one for each other host, and the blocks between two hosts travel as one
message for each device, in place of one for each pair of devices.
"""

from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp

from ...shardings._compat import like_varying
from ...shardings._mesh import HOST_AXIS
from ..contract._typing import Array
from ._axis import AxisName
from ._exchange_blocks import BY_COLUMN, BY_ROW, BY_ROW_ON_TPU, MOST_COLUMNS, Blocks
from ._wide_counts import cumsum_wide, saturated

Transport = Literal["auto", "ragged", "one_hop", "two_hop"]
TRANSPORTS = ("auto", "ragged", "one_hop", "two_hop")

# Up to this size of a shard's messages, with all rows in each, latency dominates: blocks that hold
# any run are cheaper than a choice of transports, and compile faster.
_FEW_BYTES = 1 << 16


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


def check_transport(transport: Any, caller: str) -> None:
    """Raises unless `transport` is a known one."""
    if transport not in TRANSPORTS:
        raise ValueError(
            f"{caller}: transport must be one of {', '.join(map(repr, TRANSPORTS))}, "
            f"got {transport!r}."
        )


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
    return Runs(_exclusive(send_counts), sent, count)


def returning(runs: Runs, axis_name: AxisName) -> Runs:
    """The runs of the return trip of an exchange by `runs`, in which all rows fit."""
    me = jax.lax.axis_index(axis_name)
    came = runs.sent[:, me]
    return Runs(_exclusive(came), runs.sent.T, jnp.sum(runs.sent[me], dtype=jnp.int32))


def exchange(
    rows: Array, runs: Runs, capacity: int, axis_name: AxisName, transport: Transport
) -> Array:
    """Moves a matrix of rows; returns the rows this shard receives, by source, then zeros."""
    num_shards = runs.starts.shape[0]
    num_rows = rows.shape[0]
    one_hop_rows = min(num_rows, -(-5 * num_rows // (4 * num_shards)))

    def ragged(rows: Array, runs: Runs) -> Array:
        return _ragged(rows, runs, capacity, axis_name)

    def two_hop(rows: Array, runs: Runs) -> Array:
        return _two_hop(rows, runs, capacity, axis_name, BY_ROW)

    def two_hop_on_tpu(rows: Array, runs: Runs) -> Array:
        if rows.shape[1] > MOST_COLUMNS:
            return _two_hop(rows, runs, capacity, axis_name, BY_ROW_ON_TPU)
        return _two_hop(rows.T, runs, capacity, axis_name, BY_COLUMN).T

    def one_hop(rows: Array, runs: Runs) -> Array:
        return _one_hop(rows, runs, capacity, axis_name, one_hop_rows)

    def dense(rows: Array, runs: Runs) -> Array:
        fits = of_whole_batch(jnp.max(runs.sent) <= one_hop_rows)
        return jax.lax.cond(fits, one_hop, two_hop, rows, runs)

    def dense_on_cpu(rows: Array, runs: Runs) -> Array:
        return _one_or_two_hops(rows, runs, capacity, axis_name, one_hop_rows)

    if num_shards == 1:
        return _resized(rows, runs.sent[0, 0], capacity)
    if num_rows == 0 or capacity == 0 or rows.shape[1] == 0:
        return like_varying(jnp.zeros((capacity, rows.shape[1]), rows.dtype), rows, runs)
    is_few = num_shards * rows.size * rows.dtype.itemsize <= _FEW_BYTES
    if transport == "one_hop" or (transport == "auto" and is_few):
        return _one_hop(rows, runs, capacity, axis_name, num_rows)
    if transport == "two_hop":
        return two_hop(rows, runs)
    # Ragged is opt-in: XLA lacks it on CPU, on GPU it is reliable within one node only, and on TPU
    # it does not compile for every slice. Tangents never use it, because JAX cannot batch the
    # transpose of a ragged exchange.
    if transport == "ragged" and rows.dtype == jnp.uint32:
        return jax.lax.platform_dependent(rows, runs, cpu=dense_on_cpu, default=ragged)
    # On TPU the operands of a branch are padded to 128 lanes a row, so the program has no branch.
    return jax.lax.platform_dependent(
        rows, runs, cpu=dense_on_cpu, tpu=two_hop_on_tpu, default=dense
    )


@jax.custom_batching.custom_vmap
def of_whole_batch(fits: Array) -> Array:
    """Whether all elements of a batch fit: one choice for the batch stays a branch under `vmap`."""
    return fits


@of_whole_batch.def_vmap
def _of_whole_batch_vmap(axis_size: int, is_batched: list[bool], fits: Array) -> tuple[Array, bool]:
    del axis_size
    return of_whole_batch(jnp.all(fits, axis=0) if is_batched[0] else fits), False


def _ragged(rows: Array, runs: Runs, capacity: int, axis_name: AxisName) -> Array:
    me = jax.lax.axis_index(axis_name)
    offsets = (runs.starts, runs.sent[me], _exclusive(runs.sent)[me], runs.sent[:, me])
    # Under vmap JAX needs the batch axis on all operands or on none: make each depend on all.
    is_batch = rows[0, 0] == rows[0, 0]
    offsets = tuple(jnp.where(is_batch, offset, offset) for offset in offsets)
    rows = jnp.where(offsets[0][0] == 0, rows, rows)
    output = like_varying(jnp.zeros((capacity, rows.shape[1]), rows.dtype), rows)
    output = jnp.where(is_batch & (offsets[0][0] == 0), output, output)
    return jax.lax.ragged_all_to_all(rows, output, *offsets, axis_name=axis_name)


def _one_hop(rows: Array, runs: Runs, capacity: int, axis_name: AxisName, pair_rows: int) -> Array:
    received = swap(_runs_by_destination(rows, runs, pair_rows), axis_name)
    return _collect_runs(received, runs, capacity, axis_name)


def _two_hop(rows: Array, runs: Runs, capacity: int, axis_name: AxisName, steps: Blocks) -> Array:
    num_rows = rows.shape[steps.row_axis]
    first_rows, second_rows = (_stripe_capacity(size, runs) for size in (num_rows, capacity))
    _, runs, shards = _in_sequence(None, runs)
    blocks = _stripes_by_way(rows, runs, shards, first_rows, axis_name, steps)
    blocks, runs, shards = _in_sequence(swap(blocks, axis_name), runs)
    blocks = _stripes_by_destination(
        blocks, runs, shards, first_rows, second_rows, axis_name, steps
    )
    blocks, runs, shards = _in_sequence(swap(blocks, axis_name), runs)
    return _collect_stripes(blocks, runs, shards, second_rows, capacity, axis_name, steps)


def _one_or_two_hops(
    rows: Array, runs: Runs, capacity: int, axis_name: AxisName, pair_rows: int
) -> Array:
    """One hop or two, with conditionals around the local steps only.

    After one hop the second `all_to_all` moves rows that nobody reads.
    """
    num_shards = runs.starts.shape[0]
    first_rows = max(pair_rows, _stripe_capacity(rows.shape[0], runs))
    second_rows = _stripe_capacity(capacity, runs)
    fits = of_whole_batch(jnp.max(runs.sent) <= first_rows)
    shards = jnp.arange(num_shards, dtype=jnp.int32)
    blocks = jax.lax.cond(
        fits,
        lambda rows: _runs_by_destination(rows, runs, first_rows),
        lambda rows: _stripes_by_way(rows, runs, shards, first_rows, axis_name, BY_ROW),
        rows,
    )
    received = swap(blocks, axis_name)

    def after_one_hop(received: Array) -> Array:
        # All rows have arrived. The blocks of the second hop have at least as many rows.
        final_rows = _collect_runs(received, runs, capacity, axis_name)
        padding = num_shards * second_rows - capacity
        return jnp.pad(final_rows, ((0, padding), (0, 0))).reshape(num_shards, second_rows, -1)

    blocks = jax.lax.cond(
        fits,
        after_one_hop,
        lambda received: _stripes_by_destination(
            received, runs, shards, first_rows, second_rows, axis_name, BY_ROW
        ),
        received,
    )
    received = swap(blocks, axis_name)
    return jax.lax.cond(
        fits,
        lambda blocks, received: blocks.reshape(-1, rows.shape[1])[:capacity],
        lambda blocks, received: _collect_stripes(
            received, runs, shards, second_rows, capacity, axis_name, BY_ROW
        ),
        blocks,
        received,
    )


def _runs_by_destination(rows: Array, runs: Runs, pair_rows: int) -> Array:
    """A block for each destination: the run to it."""
    block_positions = jnp.arange(pair_rows, dtype=jnp.int32)
    return BY_ROW.take(rows, runs.starts[:, None] + block_positions[None, :])


def _collect_runs(blocks: Array, runs: Runs, capacity: int, axis_name: AxisName) -> Array:
    received = runs.sent[:, jax.lax.axis_index(axis_name)]
    num_shards, pair_rows, _ = blocks.shape
    offsets = _exclusive(received)
    positions = jnp.arange(capacity, dtype=jnp.int32)
    shards = jnp.arange(num_shards, dtype=jnp.int32)
    block_position = positions + BY_ROW.of_run(
        offsets, positions, pair_rows * shards - offsets, shards
    )
    is_row = positions < jnp.sum(received, dtype=jnp.int32)
    return BY_ROW.take_received(BY_ROW.joined(blocks), block_position, is_row)


def _stripe_capacity(num_rows: int, runs: Runs) -> int:
    # A block holds one stripe of each of p runs. Stripe k is longer than an even share of its run
    # by at most 1 - (k + 1) / p rows, and each k occurs once: (p - 1) / 2 rows in total.
    p = runs.starts.shape[0]
    return (num_rows + p * (p - 1) // 2) // p


def _stripes_by_way(
    rows: Array, runs: Runs, shards: Array, block_rows: int, axis_name: AxisName, steps: Blocks
) -> Array:
    """First hop: a block for each intermediate shard, its rows ordered by destination."""
    p = runs.starts.shape[0]
    me = jax.lax.axis_index(axis_name)
    way, destination = shards[:, None], shards[None, :]
    # It takes every p-th row of the run that starts at `starts[d]`.
    stripe = way - me - destination
    begins = _exclusive(_stripe_rows(runs.sent[me][None, :], stripe), axis=1)
    block_positions = jnp.arange(block_rows, dtype=jnp.int32)
    sources = p * block_positions[None, :] + steps.of_run(
        begins, block_positions, runs.starts[None, :] + stripe % p - p * begins, shards
    )
    return steps.take(rows, sources)


def _stripes_by_destination(
    blocks: Array,
    runs: Runs,
    shards: Array,
    first_rows: int,
    block_rows: int,
    axis_name: AxisName,
    steps: Blocks,
) -> Array:
    """Second hop: a block for each destination, its rows ordered by source."""
    me = jax.lax.axis_index(axis_name)
    source, destination = shards[:, None], shards[None, :]
    stripe_rows = _stripe_rows(runs.sent, me - source - destination)
    in_block = _exclusive(stripe_rows, axis=1).T
    begins = _exclusive(stripe_rows, axis=0).T
    block_positions = jnp.arange(block_rows, dtype=jnp.int32)
    sources = block_positions[None, :] + steps.of_run(
        begins, block_positions, first_rows * shards[None, :] + in_block - begins, shards
    )
    return steps.take(steps.joined(blocks), sources)


def _collect_stripes(
    blocks: Array,
    runs: Runs,
    shards: Array,
    second_rows: int,
    capacity: int,
    axis_name: AxisName,
    steps: Blocks,
) -> Array:
    # Row u of a run came through shard (u + source + destination) mod p, as its (u // p)-th row.
    p = blocks.shape[0]
    me = jax.lax.axis_index(axis_name)
    received = runs.sent[:, me]
    stripe = shards[None, :] - shards[:, None] - me
    begins = _exclusive(_stripe_rows(received[:, None], stripe), axis=0)
    offsets = _exclusive(received)
    positions = jnp.arange(capacity, dtype=jnp.int32)
    run = steps.of_run(offsets, positions, shards, shards)
    in_run = positions - steps.of_run(offsets, positions, offsets, shards)
    way = (in_run + run + me) % p
    begin = steps.look_up(begins.reshape(-1), run * p + way)
    block_position = way * second_rows + begin + in_run // p
    is_row = positions < jnp.sum(received, dtype=jnp.int32)
    return steps.take_received(steps.joined(blocks), block_position, is_row)


def _in_sequence(blocks: Array | None, runs: Runs) -> tuple[Any, Runs, Array]:
    """Stops XLA from scheduling the next step, and its memory, before `blocks` have arrived.

    Also returns the shard numbers, which each step gets anew. Tables of them do not depend on data:
    otherwise XLA computes them once for all exchanges of a program, and keeps them to the last one.
    """
    shards = jnp.arange(runs.starts.shape[0], dtype=jnp.int32)
    if blocks is not None and blocks.dtype != jnp.uint32:
        # Tangents: the counts must not depend on linear values.
        return blocks, runs, shards
    blocks, sent, shards = jax.lax.optimization_barrier((blocks, runs.sent, shards))
    return blocks, runs._replace(sent=sent), shards


def _stripe_rows(run_rows: Array, stripe: Array) -> Array:
    """Rows u of a run with u mod p equal to `stripe` mod p, for `[p, p]` runs and stripes."""
    p = stripe.shape[0]
    return run_rows // p + (stripe % p < run_rows % p).astype(run_rows.dtype)


def swap(blocks: Array, axis_name: AxisName) -> Array:
    """Sends block `d` to shard `d`; returns one block from each shard."""
    device_axes = _device_axes(axis_name)
    if not device_axes:
        return jax.lax.all_to_all(blocks, axis_name, split_axis=0, concat_axis=0, tiled=True)
    by_host = blocks.reshape(jax.lax.axis_size(HOST_AXIS), -1, *blocks.shape[1:])
    # Within a host: each device collects what its peers send to its position on all hosts.
    by_host = jax.lax.all_to_all(by_host, device_axes, split_axis=1, concat_axis=1, tiled=True)
    by_host = jax.lax.all_to_all(by_host, HOST_AXIS, split_axis=0, concat_axis=0, tiled=True)
    return by_host.reshape(blocks.shape)


def _device_axes(axis_name: AxisName) -> tuple[str, ...]:
    """The axes within a host; empty unless there are several hosts with several devices each."""
    if not isinstance(axis_name, tuple) or axis_name[:1] != (HOST_AXIS,):
        return ()
    device_axes = axis_name[1:]
    is_flat = jax.lax.axis_size(HOST_AXIS) == 1 or jax.lax.axis_size(device_axes) == 1
    return () if is_flat else device_axes


def _exclusive(counts: Array, axis: int = 0) -> Array:
    return jnp.cumsum(counts, axis, dtype=counts.dtype) - counts


def _resized(rows: Array, count: Array, capacity: int) -> Array:
    head = rows[: min(capacity, rows.shape[0])]
    head = jnp.pad(head, ((0, capacity - head.shape[0]), (0, 0)))
    is_row = jnp.arange(capacity, dtype=jnp.int32) < count
    return jnp.where(is_row[:, None], head, jnp.zeros((), rows.dtype))
