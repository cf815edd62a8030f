# SPDX-License-Identifier: Apache-2.0
"""The exchange: every shard sends one run of rows to each shard, in bounded memory.

Three transports give the same rows in the same places:

- ragged: `ragged_all_to_all`, each row moved once. XLA has it on TPU and GPU.
- one hop: a dense `all_to_all` with room for a quarter more than the mean run. It cannot carry a
  longer run, unless the rows are so few that there is room for all of them in each pair.
- two hops: row `u` of the run from shard `s` to shard `d` travels through shard
  `(u + s + d) mod p`. Of a run every shard then carries an equal part, give or take a row, so no
  pair of shards sends more than its share of the rows plus half a row for each shard, whatever the
  runs are.
"""

from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp

from ...shardings._compat import like_varying
from ..contract._typing import Array
from ._axis import AxisName
from ._wide_counts import cumsum_wide, saturated

Transport = Literal["auto", "ragged", "one_hop", "two_hop"]
TRANSPORTS = ("auto", "ragged", "one_hop", "two_hop")

# Where a shard sends no more than this, all its rows to each shard, a message costs its latency and
# not its bytes: room for every run is cheaper than a choice of transports, and compiles faster.
_FEW_BYTES = 1 << 16

# Below this many runs comparing with every offset is quicker than a binary search in them.
_FEW_RUNS = 32


class Runs(NamedTuple):
    """How many rows each shard has for each, and how many of them fit.

    Attributes:
        starts: first row of each of this shard's runs, one for each destination.
        sent: rows that travel, `[source, destination]`; what passes a capacity stays behind.
        count: rows meant for this shard, those that do not fit included.
    """

    starts: Array
    sent: Array
    count: Array


def check_transport(transport: Any, caller: str) -> None:
    """Raises unless `transport` is one that exists."""
    if transport not in TRANSPORTS:
        raise ValueError(
            f"{caller}: transport must be one of {', '.join(map(repr, TRANSPORTS))}, "
            f"got {transport!r}."
        )


def plan_runs(send_counts: Array, capacity: int, axis_name: AxisName) -> Runs:
    """Tells every shard the lengths of all runs: one `all_gather` of `num_shards` counts."""
    wanted = jax.lax.all_gather(send_counts, axis_name)
    # A shard may be meant to get more rows than an int32 counts; it has room for fewer.
    arrived = saturated(cumsum_wide(wanted, axis=0))
    before = jnp.concatenate([jnp.zeros_like(arrived[:1]), arrived[:-1]])
    sent = jnp.clip(capacity - before, 0, wanted)
    return Runs(_exclusive(send_counts), sent, arrived[-1, jax.lax.axis_index(axis_name)])


def returning(runs: Runs, axis_name: AxisName) -> Runs:
    """The runs by which rows go back, from where an exchange of all of `runs` has put them."""
    me = jax.lax.axis_index(axis_name)
    came = runs.sent[:, me]
    return Runs(_exclusive(came), runs.sent.T, jnp.sum(runs.sent[me], dtype=jnp.int32))


def exchange(
    rows: Array, runs: Runs, capacity: int, axis_name: AxisName, transport: Transport
) -> Array:
    """Moves a matrix of rows; the result holds what this shard receives, by source, then zeros."""
    num_shards = runs.starts.shape[0]
    num_rows = rows.shape[0]
    one_hop_rows = min(num_rows, -(-5 * num_rows // (4 * num_shards)))

    def ragged(rows: Array, runs: Runs) -> Array:
        return _ragged(rows, runs, capacity, axis_name)

    def two_hop(rows: Array, runs: Runs) -> Array:
        return _two_hop(rows, runs, capacity, axis_name)

    def one_hop(rows: Array, runs: Runs) -> Array:
        return _one_hop(rows, runs, capacity, axis_name, one_hop_rows)

    def dense(rows: Array, runs: Runs) -> Array:
        fits = of_whole_batch(jnp.max(runs.sent) <= one_hop_rows)
        return jax.lax.cond(fits, one_hop, two_hop, rows, runs)

    if num_shards == 1:
        return _resized(rows, runs.sent[0, 0], capacity)
    if num_rows == 0 or capacity == 0 or rows.shape[1] == 0:
        return like_varying(jnp.zeros((capacity, rows.shape[1]), rows.dtype), rows, runs)
    is_few = num_shards * rows.size * rows.dtype.itemsize <= _FEW_BYTES
    if transport == "one_hop" or (transport == "auto" and is_few):
        return _one_hop(rows, runs, capacity, axis_name, num_rows)
    if transport == "two_hop":
        return two_hop(rows, runs)
    # Ragged is taken only where it is asked for: XLA has none on CPU, on GPU it is sound within one
    # node only, and on TPU it does not compile for every slice. Tangents never travel so, because
    # what JAX makes of their ragged exchange cannot be batched.
    if transport == "ragged" and rows.dtype == jnp.uint32:
        return jax.lax.platform_dependent(rows, runs, cpu=dense, default=ragged)
    # On TPU what enters a branch is laid out in 128 lanes a row, so there is no choice to be made.
    return jax.lax.platform_dependent(rows, runs, tpu=two_hop, default=dense)


@jax.custom_batching.custom_vmap
def of_whole_batch(fits: Array) -> Array:
    """Whether all elements of a batch fit: under `vmap` one choice for all stays a branch."""
    return fits


@of_whole_batch.def_vmap
def _of_whole_batch_vmap(axis_size: int, is_batched: list[bool], fits: Array) -> tuple[Array, bool]:
    del axis_size
    return of_whole_batch(jnp.all(fits, axis=0) if is_batched[0] else fits), False


def _ragged(rows: Array, runs: Runs, capacity: int, axis_name: AxisName) -> Array:
    me = jax.lax.axis_index(axis_name)
    offsets = (runs.starts, runs.sent[me], _exclusive(runs.sent)[me], runs.sent[:, me])
    # Under vmap JAX wants every operand to have the batch axis, or none: let each depend on all.
    is_batch = rows[0, 0] == rows[0, 0]
    offsets = tuple(jnp.where(is_batch, offset, offset) for offset in offsets)
    rows = jnp.where(offsets[0][0] == 0, rows, rows)
    room = like_varying(jnp.zeros((capacity, rows.shape[1]), rows.dtype), rows)
    room = jnp.where(is_batch & (offsets[0][0] == 0), room, room)
    return jax.lax.ragged_all_to_all(rows, room, *offsets, axis_name=axis_name)


def _one_hop(rows: Array, runs: Runs, capacity: int, axis_name: AxisName, pair_rows: int) -> Array:
    me = jax.lax.axis_index(axis_name)
    slots = jnp.arange(pair_rows, dtype=jnp.int32)
    blocks = _take_blocks(rows, runs.starts[:, None] + slots[None, :], axis_name)
    received = runs.sent[:, me]
    offsets = _exclusive(received)
    places = jnp.arange(capacity, dtype=jnp.int32)
    block = pair_rows * jnp.arange(offsets.shape[0], dtype=jnp.int32)
    slot = places + _of_run(offsets, places, block - offsets)
    return _take_received(blocks, slot, places < jnp.sum(received, dtype=jnp.int32))


def _two_hop(rows: Array, runs: Runs, capacity: int, axis_name: AxisName) -> Array:
    p = runs.starts.shape[0]
    me = jax.lax.axis_index(axis_name)
    shards = jnp.arange(p, dtype=jnp.int32)
    # Of the p runs that meet in a block, stripe k of one is longer than an even share of its run
    # by 1 - (k + 1) / p of a row at most, and each k occurs once: that is (p - 1) / 2 in all.
    first_rows = (rows.shape[0] + p * (p - 1) // 2) // p
    second_rows = (capacity + p * (p - 1) // 2) // p

    # First hop: a block for each shard on the way, its rows by destination. Of the run from
    # `starts[d]` on, it takes every p-th row.
    way, destination = shards[:, None], shards[None, :]
    stripe = way - me - destination
    begins = _exclusive(_stripe_rows(runs.sent[me][None, :], stripe), axis=1)
    slots = jnp.arange(first_rows, dtype=jnp.int32)
    sources = p * slots[None, :] + _of_run(
        begins, slots, runs.starts[None, :] + stripe % p - p * begins
    )
    blocks = _take_blocks(rows, sources, axis_name)

    # Second hop: a block for each destination, its rows by source.
    blocks, sent = _in_sequence(blocks, runs.sent)
    source = shards[:, None]
    stripe_rows = _stripe_rows(sent, me - source - destination)
    in_block = _exclusive(stripe_rows, axis=1).T
    begins = _exclusive(stripe_rows, axis=0).T
    slots = jnp.arange(second_rows, dtype=jnp.int32)
    sources = slots[None, :] + _of_run(
        begins, slots, first_rows * shards[None, :] + in_block - begins
    )
    blocks = _take_blocks(blocks, sources, axis_name)

    # Row u of a run came by shard (u + source + destination) mod p, as the (u // p)-th of it.
    blocks, received = _in_sequence(blocks, runs.sent[:, me])
    begins = _exclusive(_stripe_rows(received[:, None], shards[None, :] - source - me), axis=0)
    offsets = _exclusive(received)
    places = jnp.arange(capacity, dtype=jnp.int32)
    run = _of_run(offsets, places, shards)
    in_run = places - _of_run(offsets, places, offsets)
    way = (in_run + run + me) % p
    begin = begins.reshape(-1).at[run * p + way].get(mode="promise_in_bounds")
    slot = way * second_rows + begin + in_run // p
    return _take_received(blocks, slot, places < jnp.sum(received, dtype=jnp.int32))


def _in_sequence(blocks: Array, counts: Array) -> tuple[Array, Array]:
    """Keeps XLA from preparing the next step, and filling memory, before `blocks` are there."""
    if blocks.dtype != jnp.uint32:
        # Tangents: the counts must not come to depend on what is linear.
        return blocks, counts
    return jax.lax.optimization_barrier((blocks, counts))


def _stripe_rows(run_rows: Array, stripe: Array) -> Array:
    """Rows u of a run with u mod p equal to `stripe` mod p, for `[p, p]` runs and stripes."""
    p = stripe.shape[0]
    return run_rows // p + (stripe % p < run_rows % p).astype(run_rows.dtype)


def _take_blocks(rows: Array, sources: Array, axis_name: AxisName) -> Array:
    # Slots behind the last row of a block repeat some row: nobody reads them.
    num_blocks, block_rows = sources.shape
    blocks = rows.at[jnp.clip(sources, 0, rows.shape[0] - 1)].get(mode="promise_in_bounds")
    received = jax.lax.all_to_all(blocks, axis_name, split_axis=0, concat_axis=0, tiled=True)
    return received.reshape(num_blocks * block_rows, rows.shape[1])


def _take_received(blocks: Array, slots: Array, is_row: Array) -> Array:
    slots = jnp.clip(slots, 0, blocks.shape[0] - 1)
    received = blocks.at[slots].get(mode="promise_in_bounds")
    return jnp.where(is_row[:, None], received, jnp.zeros((), blocks.dtype))


def _of_run(begins: Array, places: Array, table: Array) -> Array:
    """For each place, the entry of the table that belongs to the run it lies in.

    Args:
        begins: place where each run begins, `[runs]` or `[blocks, runs]`, ascending from zero.
            Empty runs hold no place.
        places: the places, `[places]`.
        table: an entry for each run, of the shape of `begins`.

    Returns:
        Entries, `[places]` or `[blocks, places]`.
    """
    num_runs = begins.shape[-1]
    if begins.ndim == 2:
        return jax.vmap(_of_run, in_axes=(0, None, 0))(begins, places, table)
    if num_runs > _FEW_RUNS:
        run = jnp.searchsorted(begins[1:], places, side="right")
        return table.at[run].get(mode="promise_in_bounds")
    # Written as a sum of steps, the entries need no memory of their own: XLA fuses them into the
    # gather that they serve.
    entries = jnp.broadcast_to(table[0], places.shape)
    for run in range(1, num_runs):
        step = table[run] - table[run - 1]
        entries = entries + jnp.where(places >= begins[run], step, jnp.zeros_like(step))
    return entries


def _exclusive(counts: Array, axis: int = 0) -> Array:
    return jnp.cumsum(counts, axis, dtype=counts.dtype) - counts


def _resized(rows: Array, count: Array, capacity: int) -> Array:
    kept = rows[: min(capacity, rows.shape[0])]
    kept = jnp.pad(kept, ((0, capacity - kept.shape[0]), (0, 0)))
    is_row = jnp.arange(capacity, dtype=jnp.int32) < count
    return jnp.where(is_row[:, None], kept, jnp.zeros((), rows.dtype))
