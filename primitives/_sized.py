# SPDX-License-Identifier: Apache-2.0
"""Results of whole arrays with a data-dependent number of rows.

Such a result is one sequence, and a count: its first `count` rows are meaningful, padding is zero,
and neither depends on the mesh. An eager call without a capacity returns exactly `count` rows, and
one with too small a capacity raises. A traced call always returns the true count.

A global call `op` is made of the two functions here:

    def op(keys, mesh=None, *, capacity=None, axis=None, transport="auto"):
        keys = ...                                  # checked
        most_rows = ...                             # always suffices
        row_mesh = as_row_mesh(mesh, axis, "op")
        if row_mesh is None:
            run = lambda capacity: local.op(keys, capacity=capacity)
        else:
            placed = row_mesh.place(keys)
            run = lambda capacity: _op_on_mesh(placed, row_mesh, capacity, ...)   # jitted
        return Result(*sized("op", run, capacity, most_rows, row_mesh))

where `_op_on_mesh` is `map_front_packed` of each shard's function.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer
from jax.sharding import PartitionSpec

from ..shardings._compat import shard_map
from ._over_mesh import RowMesh
from .collective._exchange import Transport
from .collective._rebalance import deal_out_rows
from .collective._sorted_runs import Dealing
from .collective._wide_counts import psum_wide, saturated
from .contract._arguments import CapacityError, as_capacity
from .tiers._tiered import tiered


def sized(
    caller: str,
    run: Callable[[int], Any],
    capacity: Any,
    most_rows: int,
    row_mesh: RowMesh | None = None,
) -> Any:
    """Runs an op with the capacity of a global call.

    Args:
        caller: the op, for errors.
        run: takes a capacity; returns a pytree of arrays with that many rows, the true count (a
            scalar), and any further results, which are passed on.
        capacity: the caller's argument: a number, a function that returns it for a count of rows,
            or None for exactly `count` rows.
        most_rows: a capacity that always suffices.
        row_mesh: the mesh of the rows; one device if None.

    Returns:
        `(rows, count, ...)`. Traced: `capacity` rows, or `most_rows` without one.
        Eager: `capacity` rows, or exactly `count` without one.

    Raises:
        CapacityError: an eager call was given too small a capacity.
    """
    most = capacity(most_rows) if callable(capacity) else capacity
    limit = as_capacity(most, most_rows, caller)
    rows, count, *rest = run(limit)
    if isinstance(count, Tracer):
        return rows, count, *rest
    if capacity is None or callable(capacity):
        return first_rows(rows, capacity_for(int(count), capacity, caller), row_mesh), count, *rest
    if int(count) > limit:
        raise CapacityError(caller, int(count), limit)
    return rows, count, *rest


def capacity_for(count: int, capacity: Any, caller: str) -> int:
    """The capacity of an eager result: the true count, or a function of it.

    Raises:
        CapacityError: the function returns less than the count.
    """
    limit = as_capacity(None if capacity is None else capacity(count), count, caller)
    if limit < count:
        raise CapacityError(caller, count, limit)
    return limit


def map_front_packed(
    row_mesh: RowMesh,
    function: Callable[..., Any],
    *rows: Any,
    capacity: int,
    replicated: Any = (),
    transport: Transport = "auto",
) -> Any:
    """Runs a function on each shard, and joins the shards' results into one sequence.

    Args:
        row_mesh: the mesh.
        function: takes this shard's piece of each of `rows`, and `replicated`; returns rows, this
            shard's true count, even past its capacity, and any results aligned with `rows`. A
            shard needs a capacity of at most `capacity` rows: later rows of a shard are past the
            end of the sequence too.
        rows: results of `RowMesh.place`, one for each argument of `function`.
        capacity: rows of the whole result.
        replicated: further arguments, the same on every shard.
        transport: how the rows travel.

    Returns:
        The first `capacity` rows of all shards in the order of (shard, row), and their true count,
        a scalar. Then the results aligned with `rows`, padded like them.
    """

    # XLA takes arrays without elements for constants, and divides no program that has no others.
    is_empty = all(leaf.size == 0 for leaf in jax.tree.leaves(rows))
    marks = row_mesh.place(jnp.zeros(row_mesh.num_shards, jnp.int32)) if is_empty else None

    def packed(marks: Any, *arguments: Any) -> Any:
        results, count, *rest = function(*arguments)
        if marks is not None:
            count = count + marks[0]
        dealing = Dealing(row_mesh.axes, "full", transport, row_mesh.shard_rows(capacity))
        results, _ = deal_out_rows(results, count, dealing)
        return results, saturated(psum_wide(count, row_mesh.axes)), rest

    row_specs = (row_mesh.spec for _ in (marks, *rows))
    in_specs = (*row_specs, *(PartitionSpec() for _ in replicated))
    out_specs = (row_mesh.spec, PartitionSpec(), row_mesh.spec)
    mapped = shard_map(packed, row_mesh.mesh, in_specs, out_specs)
    results, count, rest = mapped(marks, *rows, *replicated)
    return row_mesh.trim(results, capacity), count, *rest


def in_steps(size: int, steps_per_doubling: int = 8) -> int:
    """Rounds a size up to a capacity that nearby sizes share, and with it a compiled program.

    Args:
        size: the size to round.
        steps_per_doubling: number of capacities between powers of two, itself a power of two.
    """
    step = 1 << max(size.bit_length() - steps_per_doubling.bit_length(), 0)
    return -(-size // step) * step


@functools.partial(tiered, static_argnums=(1, 2))
def first_rows(rows: Any, num_rows: int, row_mesh: RowMesh | None) -> Any:
    """Keeps the first rows of a result, sharded if the mesh divides their number."""
    if row_mesh is None:
        return jax.tree.map(lambda leaf: leaf[:num_rows], rows)
    return row_mesh.trim(rows, num_rows)
