# SPDX-License-Identifier: Apache-2.0
"""Results of whole arrays whose number of rows the data decides.

Such a result is one sequence, and a count: its first `count` rows are meaningful, zeros fill the
rest, and neither depends on the mesh. An eager call that is given no capacity returns as many rows
as there are, and one that is given too small a capacity raises; a traced call returns the true
count whatever the capacity.

A global call `op` is made of the two functions here:

    def op(keys, mesh=None, *, capacity=None, axis=None, transport="auto"):
        keys = ...                                  # checked
        most_rows = ...                             # what always suffices
        if mesh is None:
            row_mesh, run = None, lambda capacity: local.op(keys, capacity=capacity)
        else:
            row_mesh = RowMesh(mesh, axis, "op")
            placed = row_mesh.place(keys)
            run = lambda capacity: _op_on_mesh(placed, row_mesh, capacity, ...)   # jitted
        return Result(*sized("op", run, capacity, most_rows, row_mesh))

where `_op_on_mesh` is `map_front_packed` of what each shard does.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
from jax.core import Tracer
from jax.sharding import PartitionSpec

from ..shardings._compat import shard_map
from ._arguments import CapacityError, as_capacity
from ._over_mesh import RowMesh
from .collective._exchange import Transport
from .collective._rebalance import deal_out_rows
from .collective._sorted_runs import Dealing
from .collective._wide_counts import psum_wide, saturated


def sized(
    caller: str,
    run: Callable[[int], Any],
    capacity: Any,
    most_rows: int,
    row_mesh: RowMesh | None = None,
) -> Any:
    """Runs an op with the capacity that a global call was given.

    Args:
        caller: the op, for errors.
        run: takes a capacity; returns rows, a pytree of arrays of that many rows, and the true
            count, a scalar; and anything else, which is passed on.
        capacity: as the caller gave it; None for as many rows as there are.
        most_rows: a capacity that always suffices.
        row_mesh: where the rows lie; one device if None.

    Returns:
        `(rows, count, ...)`. Traced: rows of the capacity, or of `most_rows` where none was given.
        Eager: the same where one was given, else exactly `count` rows.

    Raises:
        CapacityError: an eager call was given too small a capacity.
    """
    room = as_capacity(capacity, most_rows, caller)
    rows, count, *rest = run(room)
    if isinstance(count, Tracer):
        return rows, count, *rest
    if capacity is None:
        return first_rows(rows, int(count), row_mesh), count, *rest
    if int(count) > room:
        raise CapacityError(caller, int(count), room)
    return rows, count, *rest


def map_front_packed(
    row_mesh: RowMesh,
    function: Callable[..., Any],
    *rows: Any,
    capacity: int,
    replicated: Any = (),
    transport: Transport = "auto",
) -> Any:
    """Runs a function of a shard, and puts what the shards return together into one sequence.

    Args:
        row_mesh: the mesh.
        function: takes this shard's piece of each of `rows`, and `replicated`; returns rows and
            this shard's own count, true where there is no room for them all; and any results
            that lie beside `rows`. It needs room for no more than `capacity` rows: what lies
            beyond on a shard lies beyond in the sequence.
        rows: what `RowMesh.place` placed, one argument of `function` each.
        capacity: rows of the whole result.
        replicated: further arguments, the same on every shard.
        transport: how the rows travel.

    Returns:
        The rows of all shards in the order of (shard, row), `capacity` of them, and how many there
        are: a scalar, true past the capacity. Then the results beside `rows`, padded as those are.
    """

    def packed(*arguments: Any) -> Any:
        results, count, *rest = function(*arguments)
        dealing = Dealing(row_mesh.axes, "full", transport, row_mesh.shard_rows(capacity))
        results, _ = deal_out_rows(results, count, dealing)
        return results, saturated(psum_wide(count, row_mesh.axes)), rest

    in_specs = (*(row_mesh.spec for _ in rows), *(PartitionSpec() for _ in replicated))
    out_specs = (row_mesh.spec, PartitionSpec(), row_mesh.spec)
    mapped = shard_map(packed, row_mesh.mesh, in_specs, out_specs)
    results, count, rest = mapped(*rows, *replicated)
    return row_mesh.trim(results, capacity), count, *rest


def in_steps(size: int) -> int:
    """A capacity that results of nearby sizes share, so that they share a compiled program."""
    step = 1 << max(size.bit_length() - 4, 0)
    return -(-size // step) * step


@functools.partial(jax.jit, static_argnums=(1, 2))
def first_rows(rows: Any, num_rows: int, row_mesh: RowMesh | None) -> Any:
    """The first rows of a result, sharded by rows where the mesh divides their number."""
    if row_mesh is None:
        return jax.tree.map(lambda leaf: leaf[:num_rows], rows)
    return row_mesh.trim(rows, num_rows)
