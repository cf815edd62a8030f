# SPDX-License-Identifier: Apache-2.0
"""Repeats the rows of all shards and distributes the copies."""

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._arguments import MAX_SHARD_ROWS, as_num_valid, as_static_int
from ..contract._typing import Array, ArrayLike, Integer
from ..local import Repeated
from ..local.parts import as_repeats, repeats_of_valid
from ._axis import AxisName, as_shards, num_shards_on
from ._copies import count_dtype, deal_out_copies
from ._exchange import Transport, check_transport
from ._radix_sort import global_row_ids
from ._sorted_runs import Dealing

CALLER = "repeat_rows"


def repeat_rows(
    repeats: Integer[ArrayLike, " rows"],
    *,
    axis_name: AxisName,
    capacity: int,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    transport: Transport = "auto",
) -> Repeated:
    """Repeats the id of each row a given number of times, and distributes the copies evenly.

    Args:
        repeats: number of copies of each row of this shard, integers of shape `(rows,)`. A negative
            number counts as zero.
        axis_name: mesh axis of the rows, or a tuple of axes.
        capacity: most copies of a shard in the result. Static.
        num_valid: number of valid rows of this shard, at its front; all rows by default.
        transport: transport of the row ids; see `partition`.

    Returns:
        `Repeated(row_ids, copies, count)`: the global id of the row of each copy, `shard * rows +
        row`, int32, or int64 above 2^31 rows, -1 in padding; the number of the copy among those of
        its row, int32, 0 in padding; and the size of this shard's share, as in `even_share`.
        `count > capacity` means that copies did not fit.

    Raises:
        TypeError: `repeats` are not integers, or `capacity` is traced.
        ValueError: `repeats` are not one-dimensional, `transport` is unknown, or `axis_name` is not
            an axis of the enclosing `shard_map`.

    Cost:
        Work O(rows + capacity). Communication: a row id travels once, to the shard of its first
        copy, by `partition`; an `all_gather` of one number and a `psum` of one row id for each
        shard.

    Guarantees:
        Deterministic; in the order of (shard, row, copy); exactly balanced.

    Example:
        Two shards:

            shard 0   repeats [3 0]
            shard 1   repeats [1 2]
            ->
            shard 0   row_ids [0 0 0]   copies [0 1 2]   count 3
            shard 1   row_ids [2 3 3]   copies [0 0 1]   count 3
    """
    num_shards_on(axis_name, CALLER)
    repeats = as_repeats(repeats, CALLER)
    capacity = as_static_int(capacity, CALLER, "capacity", 0, MAX_SHARD_ROWS)
    check_transport(transport, CALLER)
    valid = as_num_valid(num_valid, repeats.shape[0], CALLER)
    dealing = Dealing(axis_name, "even", transport, capacity)
    return repeat_shards(repeats, valid, dealing)[0]


def repeat_shards(repeats: Array, num_valid: Array, dealing: Dealing) -> tuple[Repeated, Array]:
    """Repeats checked rows in the layout of a dealing; also returns the copies of all shards."""
    axis_name, capacity = dealing.axis_name, dealing.capacity
    assert capacity is not None
    if repeats.shape[0] == 0:
        # XLA cannot compile an exchange over a mesh if all arguments are empty: one row.
        repeats = jnp.zeros((1,), jnp.int32)
    repeats, num_valid = as_shards((repeats, num_valid), axis_name)
    row_ids = global_row_ids(repeats.shape[0], axis_name, CALLER)
    num_copies = repeats_of_valid(repeats, num_valid).astype(count_dtype())
    copies = deal_out_copies(row_ids, num_copies, dealing)
    is_copy = jax.lax.iota(jnp.int32, capacity) < copies.count
    repeated = Repeated(
        jnp.where(is_copy, copies.rows, copies.rows.dtype.type(-1)),
        jnp.where(is_copy, copies.copy.astype(jnp.int32), np.int32(0)),
        copies.count,
    )
    return repeated, copies.total
