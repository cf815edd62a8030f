# SPDX-License-Identifier: Apache-2.0
"""The distinct keys of all shards' rows."""

import jax
import jax.numpy as jnp

from ..contract._arguments import as_capacity, as_flag, as_keys, as_num_valid
from ..contract._take import take_rows_or_zeros
from ..contract._typing import ArrayLike, Integer, Keys
from ..local import Unique
from ..local.parts import find_runs, of_runs, segments_of, unique_columns_of
from ._axis import AxisName, as_shards, num_shards_on
from ._exchange import Transport, check_transport
from ._key_ranges import send_back, send_to_key_ranges, total_before
from ._radix_sort import global_row_ids, row_id_dtype


def unique(
    keys: Keys,
    *,
    axis_name: AxisName,
    capacity: int | None = None,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    transport: Transport = "auto",
) -> Unique:
    """Finds the distinct keys of all shards, in their order.

    Args:
        keys: this shard's keys: one array of shape `(rows,)`, or a tuple of them, as for
            `local.unique`.
        axis_name: mesh axis of the rows, or a tuple of axes.
        capacity: most distinct keys of a shard. Static; by default its number of rows, which always
            suffices.
        return_index: also return the first row of each key, a global id `shard * rows + row`.
        return_inverse: also return, for each row of this shard, the position of its key among the
            distinct keys of all shards.
        return_counts: also return the number of rows of each key, int32.
        num_valid: number of valid rows of this shard, at its front; all rows by default.
        transport: transport of the rows; see `partition`.

    Returns:
        `Unique(unique_keys, row_ids, inverse, counts, count)`: this shard's range of the distinct
        keys, at its front, sorted, with the requested results; `count` is the number of this
        shard's keys. Each key is on one shard, and the shards' ranges ascend. `inverse` has an
        entry for each row, zero in padding. Ids and positions are int32, or int64 if the mesh holds
        more than 2^31 rows. Results that were not requested are `None`.

    Raises:
        TypeError: a dtype that is not a key dtype, or `capacity` is traced.
        ValueError: keys that differ in length or are not one-dimensional, ids need 64 bits without
            x64 mode, `transport` is unknown, or `axis_name` is not an axis of the enclosing
            `shard_map`.

    Cost:
        Work O(rows x key bytes), a sort of the rows and one of the distinct keys. Communication:
        that of `reduce_by_key`; an inverse sends back a number for each distinct key of each shard.

    Guarantees:
        Deterministic; differentiable in float keys.

    Example:
        Two shards:

            shard 0   keys [7 3 7]
            shard 1   keys [9 7 3]
            ->
            shard 0   unique keys [3 0 0]   counts [2 0 0]   inverse [1 0 1]   count 1
            shard 1   unique keys [7 9 0]   counts [3 1 0]   inverse [2 1 0]   count 2
    """
    caller = "unique"
    return_index = as_flag(return_index, caller, "return_index")
    return_inverse = as_flag(return_inverse, caller, "return_inverse")
    return_counts = as_flag(return_counts, caller, "return_counts")
    num_shards = num_shards_on(axis_name, caller)
    check_transport(transport, caller)
    columns, is_tuple = as_keys(keys, caller)
    num_rows = columns[0].shape[0]
    capacity = as_capacity(capacity, num_rows, caller)
    valid = as_num_valid(num_valid, num_rows, caller)
    columns, valid = as_shards((columns, valid), axis_name)
    asked = (return_index, return_inverse, return_counts)

    unique_columns, row_ids, inverse, counts, count = unique_columns_of(
        columns, valid, num_rows, asked
    )
    if return_index:
        first = global_row_ids(num_rows, axis_name, caller)[:1]
        row_ids = first + row_ids.astype(first.dtype)
    unique_columns, (row_ids, counts), sent = send_to_key_ranges(
        unique_columns, (row_ids, counts), count, axis_name, transport
    )
    runs = find_runs(unique_columns, sent.count, is_sorted=False)
    # Rows arrive in the order of their shards: the first row with a key is its first of all.
    (unique_columns, row_ids), count = runs.first_rows((unique_columns, row_ids), capacity)
    if return_counts:
        counts = segments_of(runs, capacity).add(runs.moved(counts))
        counts = of_runs(counts, capacity, count)
    if return_inverse:
        positions = total_before(count, row_id_dtype(num_rows * num_shards, caller), axis_name)
        in_shard = jnp.maximum(runs.of_rows(runs.segment_ids), 0)
        positions = positions + in_shard.astype(positions.dtype)
        positions = send_back(positions, sent, num_rows, axis_name, transport)
        is_valid = jax.lax.iota(jnp.int32, num_rows) < valid
        inverse = take_rows_or_zeros(positions, inverse, is_valid)
    unique_keys = unique_columns if is_tuple else unique_columns[0]
    return Unique(unique_keys, row_ids, inverse, counts, count)
