# SPDX-License-Identifier: Apache-2.0
"""The distinct keys of two sides over all shards, with row counts of each side.

Each shard sends the distinct keys of its rows, of both sides together, to the shard of their range.
A frequent key is then at most one row of each shard. So no shard gets more than an even share of
the distinct keys plus one for each other shard, for any keys.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...shardings._compat import like_varying
from ..contract._take import take_rows, take_rows_or_zeros
from ..contract._typing import Array
from ..kernels.move._compact import flagged_rows
from ..local.parts import KeyRuns, find_runs, scatter, segments_of, stack_columns, unique_columns_of
from ._axis import AxisName, num_shards_on
from ._exchange import Transport
from ._exchange_runs import Runs
from ._key_ranges import send_back, send_to_key_ranges, total_before
from ._radix_sort import row_id_dtype


class KeyCounts(NamedTuple):
    """Row counts over all shards for each of the `num_keys` keys in this shard's range.

    Attributes:
        num_left: rows of the left side with the key.
        num_right: rows of the right side with the key.
        left_before: rows of the left side with a smaller key.
        right_before: rows of the right side with a smaller key.
    """

    num_left: Array
    num_right: Array
    left_before: Array
    right_before: Array


class Meeting(NamedTuple):
    """The distinct keys of both sides, each on one shard.

    Attributes:
        columns: the sorted keys in this shard's range, with the bits of their first rows: rows of
            the left side precede those of the right.
        num_keys: the number of keys.
        counts: the row counts of each key.
        arrived: the runs of equal keys among the received ones.
        sent: the runs of the exchange.
        key_positions: for each row of this shard, left rows first, the position of its key among
            the distinct keys that this shard sent.
    """

    columns: tuple[Array, ...]
    num_keys: Array
    counts: KeyCounts
    arrived: KeyRuns
    sent: Runs
    key_positions: Array

    def of_left_rows(
        self, of_keys: Any, num_rows: int, axis_name: AxisName, transport: Transport
    ) -> Any:
        """Returns the values of each key to the `num_rows` rows of the left side."""
        positions = jnp.maximum(self.arrived.segment_ids, 0)

        def as_it_came(leaf: Array) -> Array:
            return self.arrived.of_rows(take_rows(leaf, positions, is_unique=False))

        of_arrived = jax.tree.map(as_it_came, of_keys)
        capacity = self.key_positions.shape[0]
        of_sent = send_back(of_arrived, self.sent, capacity, axis_name, transport)
        return take_rows(of_sent, self.key_positions[:num_rows], is_unique=False)


def meet(
    left: tuple[Array, ...],
    right: tuple[Array, ...],
    num_left: Array,
    num_right: Array,
    axis_name: AxisName,
    transport: Transport,
    caller: str,
) -> Meeting:
    """Counts the rows of both sides by key; `num_left` and `num_right` rows are valid here."""
    num_rows = left[0].shape[0] + right[0].shape[0]
    num_shards = num_shards_on(axis_name, caller)
    dtype = row_id_dtype(num_rows * num_shards, caller)
    both = stack_columns(left, right, num_left)
    num_valid = num_left + num_right
    columns, _, key_positions, _, count = unique_columns_of(
        both, num_valid, num_rows, (False, True, False)
    )
    rows = jax.lax.iota(jnp.int32, num_rows)
    is_left = rows < num_left
    of_side = (
        _rows_of_keys(key_positions, is_left),
        _rows_of_keys(key_positions, ~is_left & (rows < num_valid)),
    )
    columns, of_side, sent = send_to_key_ranges(columns, of_side, count, axis_name, transport)
    arrived = find_runs(columns, sent.count, is_sorted=False)
    capacity = columns[0].shape[0]
    columns, num_keys = _keys_of_first_rows(arrived, columns, of_side[0])
    keys = segments_of(arrived, capacity)
    totals = tuple(keys.add(arrived.moved(side).astype(dtype)) for side in of_side)
    before = tuple(
        jnp.cumsum(total, dtype=dtype)
        - total
        + total_before(jnp.sum(total, dtype=dtype), dtype, axis_name)
        for total in totals
    )
    return Meeting(columns, num_keys, KeyCounts(*totals, *before), arrived, sent, key_positions)


def _keys_of_first_rows(
    arrived: KeyRuns, columns: tuple[Array, ...], num_left: Array
) -> tuple[tuple[Array, ...], Array]:
    """The distinct keys of the received rows, and their number."""
    capacity = columns[0].shape[0]
    if not any(jnp.issubdtype(column.dtype, jnp.floating) for column in columns):
        return arrived.first_rows(columns, capacity)
    # Equal floats may differ in their bits. The rows of a key arrive in the order of their shards,
    # and a shard prefers to send a row of its left side.
    heads, num_keys = flagged_rows(arrived.is_head, capacity, arrived.num_valid)
    positions = jnp.where(arrived.moved(num_left) > 0, jax.lax.iota(jnp.int32, capacity), capacity)
    lefts = scatter("min", positions, arrived.segment_ids, capacity, capacity)
    positions = jnp.where(lefts < capacity, lefts, heads)
    is_key = jax.lax.iota(jnp.int32, capacity) < num_keys
    return take_rows_or_zeros(arrived.moved(columns), positions, is_key), num_keys


def _rows_of_keys(key_positions: Array, is_row: Array) -> Array:
    zeros = like_varying(jnp.zeros(key_positions.shape, jnp.int32), key_positions, is_row)
    positions = jnp.where(is_row, key_positions, np.int32(key_positions.shape[0]))
    return zeros.at[positions].add(1, mode="drop")
