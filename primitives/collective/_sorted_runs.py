# SPDX-License-Identifier: Apache-2.0
"""Sorted shards into one sorted whole: splitters, one exchange, and a last local sort."""

import functools
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp

from ..contract._key_bits import OrderedWord, ordered_words
from ..contract._typing import Array
from ..local._moved import with_tangents
from ..local._radix_sort import argsort_columns
from ..local._take import take_rows
from ._axis import AxisName, num_shards_on
from ._exchange import Runs, Transport, exchange, plan_runs
from ._packing import pack_rows, unpack_rows
from ._splitters import even_ranks, full_ranks, rows_before_ranks
from ._wide_counts import psum_wide

# Which share of the sorted rows each shard ends with: an even one, or its capacity before the
# next shard gets a row (the layout of a global array that ends in padding).
Layout = Literal["even", "full"]


class Dealing(NamedTuple):
    """Where sorted rows go.

    Attributes:
        axis_name: mesh axis of the rows, or a tuple of axes.
        layout: the share of each shard.
        transport: how the rows travel.
        capacity: rows that a shard has room for; as many as it holds before if None.
    """

    axis_name: AxisName
    layout: Layout
    transport: Transport
    capacity: int | None = None


class SortOrder(NamedTuple):
    """How key columns compare: a direction and a number of bits for each."""

    descending: tuple[bool, ...]
    bits: tuple[int | None, ...]

    def words(self, columns: tuple[Array, ...]) -> tuple[OrderedWord, ...]:
        """The columns as words in their order."""
        return ordered_words(columns, self.descending, self.bits)


def deal_out_sorted(
    rows: tuple[tuple[Array, ...], Any],
    row_ids: Array,
    sorted_words: tuple[OrderedWord, ...],
    order: SortOrder,
    num_valid: Array,
    dealing: Dealing,
) -> tuple[tuple[tuple[Array, ...], Any], Array]:
    """Deals the rows `(columns, values)` out to the shards in the order of their columns.

    Args:
        rows: this shard's rows.
        row_ids: the permutation that sorts them.
        sorted_words: the words of the sorted columns.
        order: how the columns compare.
        num_valid: number of valid rows.
        dealing: where the rows go, and how.

    Returns:
        The rows that this shard ends with, sorted, and how many they are.
    """
    capacity = row_ids.shape[0] if dealing.capacity is None else dealing.capacity
    runs = plan_shares(sorted_words, num_valid, capacity, dealing)
    move = functools.partial(
        exchange,
        capacity=capacity,
        axis_name=dealing.axis_name,
        transport=dealing.transport,
    )
    received = move(take_rows(pack_rows(jax.lax.stop_gradient(rows)), row_ids), runs)
    columns, _ = unpack_rows(received, rows)
    # The runs arrive in the order of their shards, so a stable sort keeps the order of ties.
    final_row_ids = argsort_columns(order.words(columns), runs.count)
    moved = unpack_rows(take_rows(received, final_row_ids), rows)
    route = functools.partial(_route, move)
    return with_tangents(route, moved, rows, (row_ids, runs, final_row_ids)), runs.count


def _route(move: Callable[[Array, Runs], Array], matrix: Array, plan: Any) -> Array:
    row_ids, runs, final_row_ids = plan
    return take_rows(move(take_rows(matrix, row_ids), runs), final_row_ids)


def plan_shares(
    sorted_words: tuple[OrderedWord, ...], num_valid: Array, capacity: int, dealing: Dealing
) -> Runs:
    """The runs that take every row of the sorted shards to the shard whose share it is in."""
    axis_name = dealing.axis_name
    num_shards = num_shards_on(axis_name, "radix_sort")
    total = psum_wide(num_valid, axis_name)
    if dealing.layout == "even":
        ranks = even_ranks(total, num_shards)
    else:
        ranks = full_ranks(total, num_shards, capacity)
    rows_before = rows_before_ranks(sorted_words, num_valid, ranks, axis_name)
    ends = jnp.concatenate([rows_before, num_valid[None]])
    starts = jnp.concatenate([jnp.zeros_like(num_valid)[None], rows_before])
    return plan_runs(ends - starts, capacity, axis_name)
