# SPDX-License-Identifier: Apache-2.0
"""Stable selection over the shards of a mesh axis."""

import jax
import jax.numpy as jnp

from ..contract._arguments import as_capacity, as_flag, as_num_valid
from ..contract._typing import ArrayLike, Bool, Integer, PyTree
from ..local import Compacted
from ..local.parts import as_masked_rows, select_rows
from ._axis import AxisName, as_shards, num_shards_on
from ._exchange import Transport, check_transport
from ._radix_sort import global_row_ids
from ._rebalance import deal_out_rows
from ._sorted_runs import Dealing


def compact(
    mask: Bool[ArrayLike, " rows"],
    rows: PyTree | None,
    *,
    axis_name: AxisName,
    capacity: int | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    return_index: bool = False,
    transport: Transport = "auto",
) -> Compacted:
    """Selects rows by a mask and distributes them evenly, keeping their order.

    Args:
        mask: a flag for each row of this shard, bool of shape `(rows,)`.
        rows: this shard's rows, any pytree of arrays with the same leading axis; None for the ids
            of the rows alone.
        axis_name: mesh axis of the rows, or a tuple of axes.
        capacity: most rows of a shard in the result. Static; by default its number of rows before
            the call, which always suffices.
        num_valid: number of valid rows of this shard, at its front; all rows by default.
        return_index: whether the global ids of the rows, `shard * rows + row`, come with them.
        transport: transport of the rows; see `partition`.

    Returns:
        `Compacted(rows, row_ids, count)`: this shard's share of the selected rows, padded
        with zeros; their global ids, int32, or int64 above 2^31 rows; and the size of that
        share, as in `even_share`. `row_ids` is None unless `return_index` is true or `rows`
        is None. `count > capacity` means that rows did not fit.

    Raises:
        TypeError: `mask` is not bool, or `capacity` is traced.
        ValueError: lengths differ, `transport` is unknown, or `axis_name` is not an axis of the
            enclosing `shard_map`.

    Cost:
        That of `local.compact` and of `rebalance`.

    Guarantees:
        Stable, in the order of (shard, row); deterministic; exactly balanced; differentiable in
        `rows`.

    Example:
        Two shards:

            shard 0   mask [1 1 1]   rows [1 2 3]
            shard 1   mask [0 1 0]   rows [4 5 6]
            ->
            shard 0   rows [1 2 0]       count 2
            shard 1   rows [3 5 0]       count 2
    """
    caller = "compact"
    return_index = as_flag(return_index, caller, "return_index")
    num_shards_on(axis_name, caller)
    flags, rows, num_rows = as_masked_rows(mask, rows, caller)
    capacity = as_capacity(capacity, num_rows, caller)
    valid = as_num_valid(num_valid, num_rows, caller)
    check_transport(transport, caller)
    wants_ids = return_index or rows is None
    moved = rows, global_row_ids(num_rows, axis_name, caller) if wants_ids else None
    if num_rows == 0:
        # XLA cannot compile an exchange over a mesh if all arguments are empty.
        nothing = jax.tree.map(
            lambda leaf: jnp.zeros((capacity, *leaf.shape[1:]), leaf.dtype), moved
        )
        return Compacted(*as_shards((*nothing, jnp.zeros((), jnp.int32)), axis_name))
    flags, moved, valid = as_shards((flags, moved, valid), axis_name)
    dealing = Dealing(axis_name, "even", transport, capacity)
    (kept, row_ids), count = deal_out_rows(*select_rows(moved, flags, num_rows, valid), dealing)
    return Compacted(kept, row_ids, count)
