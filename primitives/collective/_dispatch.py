# SPDX-License-Identifier: Apache-2.0
"""Rows to other shards and back: tokens to their experts, and the results to their tokens."""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..contract._arguments import as_rows, num_rows_of, type_of
from ..contract._axis_scope import size_of_axis
from ..contract._typing import Array, ArrayLike, Int, Integer, PyTree
from ..local.parts import put_back
from ._axis import AxisName, as_shards
from ._exchange import Transport, exchange
from ._exchange_runs import Runs, returning
from ._moving import move_rows
from ._partition import send_rows


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Routing:
    """The way back of dispatched rows. Pass it to `combine`; its fields are not for use."""

    positions: Array
    runs: Runs
    axis_name: AxisName = dataclasses.field(metadata={"static": True})
    capacity: int = dataclasses.field(metadata={"static": True})
    transport: Transport = dataclasses.field(metadata={"static": True})


class Dispatched(NamedTuple):
    """The rows that a shard received, at its front, their way back, and their true number."""

    rows: PyTree
    routing: Routing
    count: Int[Array, ""]


def dispatch(
    rows: PyTree,
    destination: Integer[ArrayLike, " rows"],
    *,
    axis_name: AxisName,
    capacity: int | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    transport: Transport = "auto",
) -> Dispatched:
    """Sends each row to the shard that its destination names, and remembers the way back.

    It is `partition`, with what `combine` needs to return one row for each row. A copy of a token
    for each of its experts is a row of its own.

    Args:
        rows: this shard's rows, any pytree of arrays with the same leading axis.
        destination: shard of each row, shape `(rows,)`, integers. A row with a destination outside
            `[0, num_shards)` is dropped.
        axis_name: mesh axis of the rows, or a tuple of axes.
        capacity: most rows of a shard in the result. Static; by default its number of rows before
            the call.
        num_valid: number of valid rows, at the front; all rows by default.
        transport: how the rows travel, as in `partition`; `combine` takes the same.

    Returns:
        `Dispatched(rows, routing, count)`; the first `count` of `capacity` rows are meaningful, in
        the order of (source shard, source row). `count > capacity` means that rows did not fit.

    Raises:
        TypeError: `destination` are not integers, or `capacity` is traced.
        ValueError: leading axes differ, `transport` is unknown, or `axis_name` is not an axis of
            the enclosing `shard_map`.

    Cost:
        That of `partition`. The receiver of a hot expert holds, and computes on, up to
        `num_shards * rows` rows: the exchange is bounded for any destinations, but memory for the
        rows that arrive is `capacity`, and a shard waits for the one that has most of them.

    Guarantees:
        Stable; deterministic; differentiable in `rows`. No row is lost while `count <= capacity`,
        and `count` is exact beyond.

    Example:
        Two shards:

            shard 0   rows [1 2 3]   destination [1 0 1]
            shard 1   rows [4 5 6]   destination [1 1 0]
            ->
            shard 0   rows [2 6 0]       count 2
            shard 1   rows [1 3 4]       count 4   (capacity 3: one did not fit)
    """
    return dispatch_rows(
        rows, destination, axis_name, capacity, num_valid, transport, "dispatch", "destination"
    )


def dispatch_rows(
    rows: PyTree,
    destination: Any,
    axis_name: AxisName,
    capacity: int | None,
    num_valid: Any,
    transport: Transport,
    caller: str,
    name: str,
) -> Dispatched:
    """`dispatch` for another caller, and its name for the destination."""
    num_shards = size_of_axis(axis_name, caller)
    sent = send_rows(
        rows, destination, num_shards, axis_name, capacity, num_valid, transport, caller, name
    )
    positions = _positions_of_results(sent.order, sent.runs, sent.offsets, axis_name)
    capacity = num_rows_of(sent.rows, caller)
    routing = Routing(positions, sent.runs, axis_name, capacity, transport)
    return Dispatched(sent.rows, routing, sent.runs.count)


def combine(rows: PyTree, routing: Routing) -> PyTree:
    """Returns one row for each dispatched row to its place: the inverse of `dispatch`.

    Args:
        rows: what became of the rows that `dispatch` gave, in their order: any pytree of arrays
            with `capacity` rows.
        routing: the routing that `dispatch` returned.

    Returns:
        One row for each row before `dispatch`, in that order; zeros for rows that were dropped or
        did not fit.

    Raises:
        TypeError: `routing` is not that of `dispatch`.
        ValueError: leading axes differ, or are not `capacity`.

    Cost:
        That of `partition`. No counts travel: the way back is known.

    Guarantees:
        Deterministic; differentiable in `rows`. `combine(d.rows, d.routing)` for
        `d = dispatch(rows, ...)` is `rows`, every bit, if they fit.

    Example:
        Two shards, after the example of `dispatch`, with every row times ten:

            shard 0   rows [20 60 0]
            shard 1   rows [10 30 40]
            ->
            shard 0   rows [10 20 30]
            shard 1   rows [40 0 60]   (the row that did not fit is zero)
    """
    return combine_rows(rows, routing, "combine", "rows")


def combine_rows(rows: PyTree, routing: Routing, caller: str, name: str) -> PyTree:
    """`combine` for another caller, and its name for the rows."""
    if not isinstance(routing, Routing):
        raise TypeError(f"{caller}: routing must be that of dispatch, got {type_of(routing)}.")
    axis_name, transport = routing.axis_name, routing.transport
    size_of_axis(axis_name, caller)
    rows = as_shards(as_rows(rows, routing.capacity, caller, name), axis_name)
    num_rows = routing.positions.shape[0]
    route = functools.partial(_return, num_rows=num_rows, axis_name=axis_name, transport=transport)
    plan = (routing.positions, returning(routing.runs, axis_name))
    return move_rows(rows, plan, route)


def _return(
    matrix: Array,
    plan: tuple[Array, Runs],
    *,
    num_rows: int,
    axis_name: AxisName,
    transport: Transport,
) -> Array:
    positions, runs = plan
    return exchange(matrix, runs, num_rows, axis_name, transport, at=positions)


def _positions_of_results(order: Array, runs: Runs, offsets: Array, axis_name: AxisName) -> Array:
    """The position of each row's result among those that return, or -1.

    Results return in the order of (destination, row), without the rows that did not fit.
    """
    went = runs.sent[jax.lax.axis_index(axis_name)]
    place = jax.lax.iota(jnp.int32, order.shape[0])
    num_runs = went.shape[0]
    run = jnp.searchsorted(offsets[1:], place, side="right").astype(jnp.int32)
    in_run = jnp.minimum(run, num_runs - 1)
    number = place - offsets[in_run]
    first = jnp.cumsum(went, dtype=jnp.int32) - went
    position = jnp.where((run < num_runs) & (number < went[in_run]), first[in_run] + number, -1)
    return put_back(order, (position,))[0]
