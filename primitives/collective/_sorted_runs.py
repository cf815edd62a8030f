# SPDX-License-Identifier: Apache-2.0
"""Combines sorted shards into one sorted sequence: splitters, an exchange, a final local sort."""

import functools
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp

from ..contract._key_bits import OrderedWord, ordered_words
from ..contract._moved import with_tangents
from ..contract._take import take_rows
from ..contract._typing import Array
from ..local.parts import argsort_columns
from ._axis import AxisName, num_shards_on
from ._exchange import Transport, exchange
from ._exchange_runs import Runs, plan_runs
from ._packing import pack_rows, unpack_rows
from ._splitters import even_ranks, full_ranks, rows_before_ranks
from ._wide_counts import psum_wide

# The share of each shard: an even one, or its full capacity before the next shard gets a row (the
# layout of a global array with padding at the end).
Layout = Literal["even", "full"]


class Dealing(NamedTuple):
    """The distribution of rows over the shards.

    Attributes:
        axis_name: mesh axis of the rows, or a tuple of axes.
        layout: the share of each shard.
        transport: the transport of the exchange.
        capacity: most rows of a shard; None for its number of rows before the exchange.
    """

    axis_name: AxisName
    layout: Layout
    transport: Transport
    capacity: int | None = None


class SortOrder(NamedTuple):
    """The order of key columns: a direction and a number of bits for each."""

    descending: tuple[bool, ...]
    bits: tuple[int | None, ...]

    def words(self, columns: tuple[Array, ...]) -> tuple[OrderedWord, ...]:
        """Maps the columns to words in this order."""
        return ordered_words(columns, self.descending, self.bits)


def deal_out_sorted(
    rows: tuple[tuple[Array, ...], Any],
    row_ids: Array,
    sorted_words: tuple[OrderedWord, ...],
    order: SortOrder,
    num_valid: Array,
    dealing: Dealing,
) -> tuple[tuple[tuple[Array, ...], Any], Array]:
    """Distributes the rows `(columns, values)` over the shards in the order of their columns.

    Args:
        rows: this shard's rows.
        row_ids: the permutation that sorts this shard's rows.
        sorted_words: the words of the sorted columns.
        order: the order of the columns.
        num_valid: number of valid rows.
        dealing: the distribution of the rows.

    Returns:
        This shard's sorted rows, and their number.
    """
    capacity = row_ids.shape[0] if dealing.capacity is None else dealing.capacity
    runs = plan_shares(sorted_words, num_valid, capacity, dealing)
    move = functools.partial(
        exchange,
        capacity=capacity,
        axis_name=dealing.axis_name,
        transport=dealing.transport,
    )
    received = move(pack_rows(jax.lax.stop_gradient(rows)), runs, order=row_ids)
    columns, _ = unpack_rows(received, rows)
    # The runs arrive in the order of their shards, so a stable sort keeps the order of ties.
    final_row_ids = argsort_columns(order.words(columns), runs.count)
    moved = unpack_rows(take_rows(received, final_row_ids), rows)
    route = functools.partial(_route, move)
    return with_tangents(route, moved, rows, (row_ids, runs, final_row_ids)), runs.count


def _route(move: Callable[..., Array], matrix: Array, plan: Any) -> Array:
    row_ids, runs, final_row_ids = plan
    return take_rows(move(matrix, runs, order=row_ids), final_row_ids)


def plan_shares(
    sorted_words: tuple[OrderedWord, ...], num_valid: Array, capacity: int, dealing: Dealing
) -> Runs:
    """Plans the runs of an exchange that gives each shard its share of the sorted rows."""
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
