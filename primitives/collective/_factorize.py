# SPDX-License-Identifier: Apache-2.0
"""Dense group ids for the keys of all shards' rows."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...shardings._compat import like_varying
from ..contract._arguments import as_capacity, as_flag, as_keys, as_num_valid
from ..contract._take import take_rows, take_rows_or_zeros
from ..contract._typing import Array, ArrayLike, Integer, Keys
from ..kernels.scan._running import running_count
from ..local import Factorized
from ..local.parts import find_runs, select_rows, unique_columns_of
from ._axis import AxisName, as_shards, num_shards_on
from ._exchange import Transport, check_transport, exchange
from ._key_ranges import send_back, send_to_key_ranges, total_before
from ._packing import pack_rows, unpack_rows
from ._radix_sort import global_row_ids, row_id_dtype
from ._unique import unique


def factorize(
    keys: Keys,
    *,
    axis_name: AxisName,
    capacity: int | None = None,
    sort: bool = True,
    return_first: bool = False,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    transport: Transport = "auto",
) -> Factorized:
    """Encodes the keys of all shards as dense group ids: equal keys get equal ids.

    Args:
        keys: this shard's keys: one array of shape `(rows,)`, or a tuple of them, most significant
            first. -0.0 equals 0.0, and all NaNs are equal.
        axis_name: mesh axis of the rows, or a tuple of axes.
        capacity: most distinct keys of a shard. Static; by default its number of rows, which always
            suffices.
        sort: number the keys in ascending order, NaN last; otherwise in the order of their first
            rows, by (shard, row).
        return_first: also return the first row of each key, a global id `shard * rows + row`.
        num_valid: number of valid rows of this shard, at its front; all rows by default.
        transport: transport of the rows; see `partition`.

    Returns:
        `Factorized(group_ids, unique_keys, row_ids, count)`: the number of each row's key among
        those of all shards, -1 in padding; this shard's part of the distinct keys, as those of
        their first rows; these rows, `None` unless requested; and how many keys the part has,
        padded with zeros. The parts follow one another in the order of the numbers: with `sort`
        they are ranges of keys, else each key is on the shard of its first row. Numbers and rows
        are int32, or int64 if the mesh holds more than 2^31 rows. `count > capacity` means that
        some keys did not fit: numbers are right all the same.

    Raises:
        TypeError: a dtype that cannot be a key, or `capacity` is traced.
        ValueError: arrays of different lengths, `capacity` is negative, group ids need 64 bits
            without x64 mode, `transport` is unknown, or `axis_name` is not an axis of the enclosing
            `shard_map`.

    Cost:
        Work O(rows x key bytes), two sorts. Communication: that of `unique` with an inverse: each
        shard sends each of its distinct keys once and receives its group id. Without `sort` a flag
        and a number travel too.

    Guarantees:
        Deterministic; differentiable in float keys.

    Example:
        Two shards, with `sort` and without:

            shard 0   keys [7 3 7]
            shard 1   keys [9 7 3]
            ->
            shard 0   group ids [1 0 1]   unique keys [3 0 0]   row ids [1 0 0]   count 1
            shard 1   group ids [2 1 0]   unique keys [7 9 0]   row ids [0 3 0]   count 2
            ->
            shard 0   group ids [0 1 0]   unique keys [7 3 0]   row ids [0 1 0]   count 2
            shard 1   group ids [2 0 1]   unique keys [9 0 0]   row ids [3 0 0]   count 1
    """
    caller = "factorize"
    sort = as_flag(sort, caller, "sort")
    return_first = as_flag(return_first, caller, "return_first")
    num_shards = num_shards_on(axis_name, caller)
    check_transport(transport, caller)
    columns, is_tuple = as_keys(keys, caller)
    num_rows = columns[0].shape[0]
    capacity = as_capacity(capacity, num_rows, caller)
    valid = as_num_valid(num_valid, num_rows, caller)
    dtype = row_id_dtype(num_rows * num_shards, caller)
    columns, valid = as_shards((columns, valid), axis_name)
    if sort:
        found = unique(
            columns,
            axis_name=axis_name,
            capacity=capacity,
            return_index=return_first,
            return_inverse=True,
            num_valid=valid,
            transport=transport,
        )
        assert found.inverse is not None
        numbers, count = found.inverse, found.count
        unique_columns, row_ids = found.unique_keys, found.row_ids
    else:
        numbers, is_first = _number_first_rows(columns, valid, dtype, axis_name, transport)
        own_ids = global_row_ids(num_rows, axis_name, caller) if return_first else None
        rows, count = select_rows((columns, own_ids), is_first, capacity, valid)
        unique_columns, row_ids = rows
    is_valid = jax.lax.iota(jnp.int32, num_rows) < valid
    group_ids = jnp.where(is_valid, numbers, np.array(-1, dtype))
    unique_keys = unique_columns if is_tuple else unique_columns[0]
    return Factorized(group_ids, unique_keys, row_ids, count)


def _number_first_rows(
    columns: tuple[Array, ...],
    num_valid: Array,
    dtype: Any,
    axis_name: AxisName,
    transport: Transport,
) -> tuple[Array, Array]:
    """Group ids in the order of first rows, and a flag for each first row."""
    num_rows = columns[0].shape[0]
    columns = jax.lax.stop_gradient(columns)
    unique_columns, row_ids, key_positions, _, count = unique_columns_of(
        columns, num_valid, num_rows, (True, True, False)
    )
    arrived_columns, _, sent = send_to_key_ranges(unique_columns, (), count, axis_name, transport)
    num_arrived = arrived_columns[0].shape[0]
    arrived = find_runs(arrived_columns, sent.count, is_sorted=False)

    # Rows arrive in the order of their shards: the first row with a key is its first of all.
    is_first_key = arrived.of_rows(arrived.is_head)
    is_first_key = send_back(is_first_key, sent, num_rows, axis_name, transport)
    positions = jnp.where(is_first_key, row_ids, num_rows)
    is_first = like_varying(jnp.zeros((num_rows,), bool), positions)
    is_first = is_first.at[positions].set(True, mode="drop")

    # Each first row assigns a group id to its key; all shards with the key receive it.
    before = total_before(jnp.sum(is_first, dtype=jnp.int32), dtype, axis_name)
    numbers = before + running_count(is_first).astype(dtype) - 1
    numbers = take_rows_or_zeros(numbers, row_ids, is_first_key)
    words = exchange(pack_rows(numbers), sent, num_arrived, axis_name, transport)
    numbers, _ = arrived.first_rows(unpack_rows(words, numbers), num_arrived)
    of_arrived = take_rows(numbers, jnp.maximum(arrived.segment_ids, 0), is_unique=False)
    of_keys = send_back(arrived.of_rows(of_arrived), sent, num_rows, axis_name, transport)
    is_valid = jax.lax.iota(jnp.int32, num_rows) < num_valid
    return take_rows_or_zeros(of_keys, key_positions, is_valid), is_first
