# SPDX-License-Identifier: Apache-2.0
"""Where the keys of two sides meet: how many rows of each side have a key, and how many a lesser.

Each shard sends the distinct keys of its rows, of both sides together, to the shard in whose range
they lie. A key that fills whole shards is then one row of each, so no shard gets more than an even
share of the distinct keys, and one for each other shard, whatever the keys.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...shardings._compat import like_varying
from ..contract._typing import Array
from ..kernels.move._compact import flagged_rows
from ..local._reduce_by_key import segments_of
from ..local._runs import KeyRuns, find_runs
from ..local._segments import scatter
from ..local._sides import stack_columns
from ..local._take import take_rows, take_rows_or_zeros
from ..local._unique import unique_columns_of
from ._axis import AxisName, num_shards_on
from ._exchange import Runs, Transport
from ._key_ranges import send_back, send_to_key_ranges, total_before
from ._radix_sort import row_id_dtype


class KeyCounts(NamedTuple):
    """What all shards know of the keys in the range of this one, for each of its `num_keys`.

    Attributes:
        num_left: rows of the left side that have the key.
        num_right: rows of the right side that have it.
        left_before: rows of the left side, on all shards, whose key is less.
        right_before: rows of the right side whose key is less.
    """

    num_left: Array
    num_right: Array
    left_before: Array
    right_before: Array


class Meeting(NamedTuple):
    """The distinct keys of both sides, each on one shard.

    Attributes:
        columns: the keys in the range of this shard, sorted, at its front, with the bits of their
            first rows: those of the left side come before those of the right.
        num_keys: how many they are.
        counts: what is known of each key.
        arrived: how the keys of the shards, as they came, lie in `columns`.
        sent: the runs in which they came.
        key_places: for each row of this shard, the left ones and behind them the right ones, its
            key among the distinct ones that this shard has sent.
    """

    columns: tuple[Array, ...]
    num_keys: Array
    counts: KeyCounts
    arrived: KeyRuns
    sent: Runs
    key_places: Array

    def of_left_rows(
        self, of_keys: Any, num_rows: int, axis_name: AxisName, transport: Transport
    ) -> Any:
        """Brings what is known of each key to the `num_rows` rows of the left side."""
        places = jnp.maximum(self.arrived.segment_ids, 0)

        def as_it_came(leaf: Array) -> Array:
            return self.arrived.of_rows(take_rows(leaf, places, is_unique=False))

        of_arrived = jax.tree.map(as_it_came, of_keys)
        room = self.key_places.shape[0]
        of_sent = send_back(of_arrived, self.sent, room, axis_name, transport)
        return take_rows(of_sent, self.key_places[:num_rows], is_unique=False)


def meet(
    left: tuple[Array, ...],
    right: tuple[Array, ...],
    num_left: Array,
    num_right: Array,
    axis_name: AxisName,
    transport: Transport,
    caller: str,
) -> Meeting:
    """Lets the keys of two sides meet; `num_left` and `num_right` rows of this shard count."""
    num_rows = left[0].shape[0] + right[0].shape[0]
    num_shards = num_shards_on(axis_name, caller)
    dtype = row_id_dtype(num_rows * num_shards, caller)
    both = stack_columns(left, right, num_left)
    num_valid = num_left + num_right
    columns, _, key_places, _, count = unique_columns_of(
        both, num_valid, num_rows, (False, True, False)
    )
    rows = jax.lax.iota(jnp.int32, num_rows)
    is_left = rows < num_left
    of_side = (
        _rows_of_keys(key_places, is_left),
        _rows_of_keys(key_places, ~is_left & (rows < num_valid)),
    )
    columns, of_side, sent = send_to_key_ranges(columns, of_side, count, axis_name, transport)
    arrived = find_runs(columns, sent.count, is_sorted=False)
    room = columns[0].shape[0]
    columns, num_keys = _keys_of_first_rows(arrived, columns, of_side[0])
    keys = segments_of(arrived, room)
    totals = tuple(keys.add(arrived.moved(side).astype(dtype)) for side in of_side)
    before = tuple(
        jnp.cumsum(total, dtype=dtype)
        - total
        + total_before(jnp.sum(total, dtype=dtype), dtype, axis_name)
        for total in totals
    )
    return Meeting(columns, num_keys, KeyCounts(*totals, *before), arrived, sent, key_places)


def _keys_of_first_rows(
    arrived: KeyRuns, columns: tuple[Array, ...], num_left: Array
) -> tuple[tuple[Array, ...], Array]:
    """The distinct keys of what arrived, and how many they are."""
    room = columns[0].shape[0]
    if not any(jnp.issubdtype(column.dtype, jnp.floating) for column in columns):
        return arrived.first_rows(columns, room)
    # Equal floats may differ in their bits. The rows of a key came by shard, and a shard sends
    # those of its left side where it has any.
    heads, num_keys = flagged_rows(arrived.is_head, room, arrived.num_valid)
    places = jnp.where(arrived.moved(num_left) > 0, jax.lax.iota(jnp.int32, room), room)
    lefts = scatter("min", places, arrived.segment_ids, room, room)
    places = jnp.where(lefts < room, lefts, heads)
    is_key = jax.lax.iota(jnp.int32, room) < num_keys
    return take_rows_or_zeros(arrived.moved(columns), places, is_key), num_keys


def _rows_of_keys(key_places: Array, is_row: Array) -> Array:
    zeros = like_varying(jnp.zeros(key_places.shape, jnp.int32), key_places, is_row)
    places = jnp.where(is_row, key_places, np.int32(key_places.shape[0]))
    return zeros.at[places].add(1, mode="drop")
