# SPDX-License-Identifier: Apache-2.0
"""Rows to the shards that own them, a function there, and its results back in order."""

from collections.abc import Callable
from typing import NamedTuple

import jax

from ..contract._typing import Array, ArrayLike, Int, Integer, PyTree
from ._axis import AxisName
from ._dispatch import combine_rows, dispatch_rows
from ._exchange import Transport


class Answered(NamedTuple):
    """The result of each row, and the number of rows that this shard was sent."""

    rows: PyTree
    count: Int[Array, ""]


def exchange_by_owner(
    function: Callable[[PyTree, Array], PyTree],
    rows: PyTree,
    owner: Integer[ArrayLike, " rows"],
    *,
    axis_name: AxisName,
    capacity: int | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    transport: Transport = "auto",
) -> Answered:
    """Sends each row to its owner, applies a function there, and returns the results in order.

    A lookup in a table whose rows lie on several shards is one call, and so is an update. It is
    `dispatch`, the function, and `combine`.

    Args:
        function: takes the rows that a shard received, `capacity` of them, and their number;
            returns one row for each, any pytree of arrays.
        rows: this shard's rows, any pytree of arrays with the same leading axis.
        owner: shard of each row, integers of shape `(rows,)`. A row with an owner outside `[0,
            num_shards)` is not sent.
        axis_name: mesh axis of the rows, or a tuple of axes.
        capacity: most rows that a shard receives. Static; by default its number of rows.
        num_valid: number of valid rows, at the front; all rows by default.
        transport: how the rows travel, as in `partition`.

    Returns:
        `Answered(rows, count)`: the result of each row, zeros for one that was not sent or did not
        fit; and the number of rows for this shard. `count > capacity` means that rows did not fit.

    Raises:
        TypeError: `owner` are not integers, or `capacity` is traced.
        ValueError: leading axes differ, `transport` is unknown, or `axis_name` is not an axis of
            the enclosing `shard_map`.

    Cost:
        That of `dispatch` for the rows and of `combine` for the results.

    Guarantees:
        Deterministic; differentiable in `rows` and in what the function closes over.

    Example:
        Two shards, each with two rows of a table, and a function that looks rows up:

            shard 0   table [10 11]   ids [3 0 2]   owner [1 0 1]
            shard 1   table [12 13]   ids [1 1 3]   owner [0 0 1]
            ->
            shard 0   [13 10 12]   count 3
            shard 1   [11 11 13]   count 3
    """
    caller = "exchange_by_owner"
    sent = dispatch_rows(rows, owner, axis_name, capacity, num_valid, transport, caller, "owner")
    results = function(sent.rows, sent.count)
    if not jax.tree.leaves(results):
        raise ValueError(
            f"{caller}: function must return a row for each received row, got {results!r}. Return "
            "an array, or a pytree of arrays."
        )
    name = "the result of function"
    return Answered(combine_rows(results, sent.routing, caller, name), sent.count)
