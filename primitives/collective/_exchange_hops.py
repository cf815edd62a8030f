# SPDX-License-Identifier: Apache-2.0
"""The dense transports of an exchange: one hop, two hops, and on CPU a choice between them."""

from typing import Any

import jax
import jax.numpy as jnp

from ...shardings._mesh import HOST_AXIS
from ..contract._take import take_rows
from ..contract._typing import Array
from ._axis import AxisName
from ._exchange_blocks import BY_ROW, Blocks
from ._exchange_runs import (
    Runs,
    destination_sources,
    run_positions,
    run_sources,
    stripe_capacity,
    stripe_positions,
    way_sources,
)


def one_hop(rows: Array, runs: Runs, capacity: int, axis_name: AxisName, pair_rows: int) -> Array:
    """One `all_to_all` of blocks of `pair_rows` rows, which hold any run."""
    received = swap(BY_ROW.take(rows, run_sources(runs, pair_rows)), axis_name)
    results = jnp.arange(capacity, dtype=jnp.int32)
    positions = run_positions(runs, results, pair_rows, axis_name, BY_ROW)
    return _received(received, positions, results, runs, axis_name, BY_ROW)


def two_hop(rows: Array, runs: Runs, capacity: int, axis_name: AxisName, steps: Blocks) -> Array:
    """Two `all_to_all` of even shares of all runs, through an intermediate shard."""
    num_shards = runs.starts.shape[0]
    num_rows = rows.shape[steps.row_axis]
    first_rows, second_rows = (stripe_capacity(size, num_shards) for size in (num_rows, capacity))
    _, runs, shards = _in_sequence(None, runs)
    blocks = steps.take(rows, way_sources(runs, shards, first_rows, axis_name, steps))
    blocks, runs, shards = _in_sequence(swap(blocks, axis_name), runs)
    sources = destination_sources(runs, shards, first_rows, second_rows, axis_name, steps)
    blocks = steps.take(steps.joined(blocks), sources)
    blocks, runs, shards = _in_sequence(swap(blocks, axis_name), runs)
    results = jnp.arange(capacity, dtype=jnp.int32)
    positions = stripe_positions(runs, results, shards, second_rows, axis_name, steps)
    return _received(blocks, positions, results, runs, axis_name, steps)


def hops_on_cpu(
    rows: Array,
    runs: Runs,
    order: Array | None,
    at: Array | None,
    *,
    capacity: int,
    axis_name: AxisName,
    is_one_hop: bool,
) -> Array:
    """One hop or two, with conditionals around the local steps only.

    Only positions are computed for the order of the rows and for their final positions. So each row
    is taken once into a block, and once from a block.

    Args:
        rows, runs, order, at, capacity, axis_name: see `exchange`.
        is_one_hop: whether one hop runs, whatever its blocks cost.
    """
    num_shards = runs.starts.shape[0]
    num_rows = (rows if order is None else order).shape[0]
    shards = jnp.arange(num_shards, dtype=jnp.int32)
    num_results = capacity if at is None else at.shape[0]

    def results(num_rows: int = num_results) -> Array:
        """The position of each result. Made in each branch: as its operand it would take memory."""
        if at is None:
            return jnp.arange(num_rows, dtype=jnp.int32)
        return jnp.pad(at, (0, num_rows - num_results), constant_values=-1)

    def blocks_of(sources: Array) -> tuple[Array, ...]:
        if order is not None:
            sources = take_rows(order, jnp.clip(sources, 0, num_rows - 1), is_unique=False)
        if rows.dtype == jnp.uint32:
            return tuple(BY_ROW.take(rows, sources[block]) for block in range(num_shards))
        # Tangents: the transpose of one gather is one scatter.
        return tuple(BY_ROW.take(rows, sources))

    def from_runs(received: tuple[Array, ...], results: Array) -> Array:
        pair_rows = received[0].shape[0]
        positions = run_positions(runs, results, pair_rows, axis_name, BY_ROW)
        return _received(jnp.stack(received), positions, results, runs, axis_name, BY_ROW)

    first_rows = max(one_hop_rows(num_rows, num_shards), stripe_capacity(num_rows, num_shards))
    second_rows = stripe_capacity(max(capacity, num_results), num_shards)
    pair_rows = min(num_rows, capacity)
    if is_one_hop or pair_rows <= first_rows + second_rows:
        received = _swap_apart(blocks_of(run_sources(runs, pair_rows)), axis_name)
        return from_runs(received, results())

    fits = of_whole_batch(jnp.max(runs.sent) <= first_rows)
    sources = jax.lax.cond(
        fits,
        lambda: run_sources(runs, first_rows),
        lambda: way_sources(runs, shards, first_rows, axis_name, BY_ROW),
    )
    received = _swap_apart(blocks_of(sources), axis_name)

    def results_in_blocks(received: tuple[Array, ...]) -> tuple[Array, ...]:
        # All rows have arrived. They travel on, so that `received` needs no memory any more.
        taken = from_runs(received, results(num_shards * second_rows))
        return tuple(taken.reshape(num_shards, second_rows, -1))

    def second_blocks(received: tuple[Array, ...]) -> tuple[Array, ...]:
        sources = destination_sources(runs, shards, first_rows, second_rows, axis_name, BY_ROW)
        return tuple(BY_ROW.take(jnp.concatenate(received), sources))

    blocks = jax.lax.cond(fits, results_in_blocks, second_blocks, received)
    received = _swap_apart(blocks, axis_name)

    def from_stripes(blocks: tuple[Array, ...], received: tuple[Array, ...]) -> Array:
        given = results()
        positions = stripe_positions(runs, given, shards, second_rows, axis_name, BY_ROW)
        return _received(jnp.stack(received), positions, given, runs, axis_name, BY_ROW)

    return jax.lax.cond(
        fits,
        lambda blocks, received: jnp.concatenate(blocks)[:num_results],
        from_stripes,
        blocks,
        received,
    )


def one_hop_rows(num_rows: int, num_shards: int) -> int:
    """The rows of a block of one hop, if not every run fits: 1.25 times the mean run."""
    return min(num_rows, -(-5 * num_rows // (4 * num_shards)))


@jax.custom_batching.custom_vmap
def of_whole_batch(fits: Array) -> Array:
    """Whether all elements of a batch fit: one choice for the batch stays a branch under `vmap`."""
    return fits


@of_whole_batch.def_vmap
def _of_whole_batch_vmap(axis_size: int, is_batched: list[bool], fits: Array) -> tuple[Array, bool]:
    del axis_size
    return of_whole_batch(jnp.all(fits, axis=0) if is_batched[0] else fits), False


def _received(
    blocks: Array,
    positions: Array,
    results: Array,
    runs: Runs,
    axis_name: AxisName,
    steps: Blocks,
) -> Array:
    """The rows of blocks at positions, and zeros for results that are not received rows."""
    num_received = jnp.sum(runs.sent[:, jax.lax.axis_index(axis_name)], dtype=jnp.int32)
    is_row = (results >= 0) & (results < num_received)
    return steps.take_received(steps.joined(blocks), positions, is_row)


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


def _swap_apart(blocks: tuple[Array, ...], axis_name: AxisName) -> tuple[Array, ...]:
    """`swap` of one array for each block.

    XLA on CPU divides the operand of an `all_to_all` into its blocks, and joins those of the
    result. It removes these copies if the blocks were arrays of their own.
    """
    received = swap(jnp.stack(blocks), axis_name)
    return tuple(received[block] for block in range(len(blocks)))


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
