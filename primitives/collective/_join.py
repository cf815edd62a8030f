# SPDX-License-Identifier: Apache-2.0
"""Joins of the rows of all shards."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...shardings._compat import is_x64_enabled, like_varying
from ..contract._key_bits import ordered_words
from ..contract._take import take_rows, take_words
from ..contract._typing import Array, Int, Keys, NumValid
from ..kernels.join._pair_counts import (
    MOST_PAIRS,
    saturating_add,
    saturating_product,
    total_pairs,
    unmatched_rows,
)
from ..kernels.sort._lower_bound import lower_bound, upper_bound
from ..local import Joined
from ..local.parts import How, KeySides, argsort_columns, as_pair_capacity, as_sides, select_rows
from ._axis import AxisName, as_shards, num_shards_on
from ._copies import Copies, count_dtype, deal_out_copies
from ._cross_join import cross_pairs, cross_size
from ._exchange import Transport, check_transport
from ._gather_rows import gather_rows
from ._meeting import Meeting, meet
from ._packing import pack_rows, unpack_rows
from ._radix_sort import global_row_ids
from ._rebalance import deal_out_rows
from ._sort_shards import sort_shards
from ._sorted_runs import Dealing, SortOrder
from ._wide_counts import psum_wide, saturated


def join(
    left_keys: Keys,
    right_keys: Keys,
    *,
    axis_name: AxisName,
    how: How = "inner",
    capacity: int | None = None,
    num_valid: tuple[NumValid, NumValid] | None = None,
    transport: Transport = "auto",
) -> Joined:
    """Pairs rows of two sides with equal keys, many to many, and distributes the pairs evenly.

    Args:
        left_keys: this shard's keys of the left side: one array of shape `(left_rows,)`, or a
            tuple of them, as for `local.join`.
        right_keys: the same number of columns, of the same dtypes, each of shape `(right_rows,)`.
        axis_name: mesh axis of the rows of both sides, or a tuple of axes.
        how: the kind of join, which decides rows and order, as for `local.join`.
        capacity: most pairs of this shard. Static. By default its left rows for semi and anti
            joins, and its share of all pairs of rows for cross joins.
        num_valid: numbers of valid rows of the left and the right side on this shard.
        transport: transport of the rows; see `partition`.

    Returns:
        `Joined(left_rows, right_rows, count, num_unmatched_left, num_unmatched_right)`: this
        shard's share of the pairs, in the order of the shards, even to within one pair; global ids
        `shard * rows + row` of both sides, -1 for no match and in padding; the size of the share;
        and the number of rows of each side, of all shards, without a match. `count > capacity`
        means that pairs did not fit. Ids are int32, or int64 if a side has more than 2^31 rows.
        Without x64 mode the count is exact below 2^31 pairs.

    Raises:
        TypeError: dtypes of the sides differ or cannot be keys, or `capacity` is traced.
        ValueError: numbers of columns or lengths differ, `how` is unknown, a join that needs
            `capacity` has none, or `axis_name` is not an axis of the enclosing `shard_map`.

    Cost:
        Work O((left_rows + right_rows) x key bytes + capacity), including sorts. Communication: the
        distinct keys of each shard go to the shard of their range and counts come back, as in
        `unique`; the right rows are sorted; the ids of matching left rows go once to the shard of
        their pairs; the right ids follow by `gather_rows`. A right side with fewer rows in total
        than the left side has on one shard is broadcast to all shards instead. A cross join
        gathers the numbers of valid rows alone.

    Guarantees:
        Deterministic; pairs and their order do not depend on the number of shards. The rows of both
        sides, the distinct keys and the pairs are distributed evenly, so a frequent key does not
        overload a shard.

    Example:
        Two shards:

            shard 0   left [7 3]   right [3 5]
            shard 1   left [3 9]   right [3 7]
            ->
            shard 0   left rows [0 1 1]   right rows [3 0 2]   count 3
            shard 1   left rows [2 2 -1]  right rows [0 2 -1]  count 2
    """
    caller = "join"
    check_transport(transport, caller)
    num_shards = num_shards_on(axis_name, caller)
    sides = as_sides(left_keys, right_keys, how, num_valid, caller)
    capacity = as_pair_capacity(capacity, how, sides, caller, num_shards)
    dealing = Dealing(axis_name, "even", transport, capacity)
    pairs = join_shards(sides, how, dealing)
    return Joined(pairs.left_rows, pairs.right_rows, pairs.count, *pairs.num_unmatched)


def join_size(
    left_keys: Keys,
    right_keys: Keys,
    *,
    axis_name: AxisName,
    how: How = "inner",
    num_valid: tuple[NumValid, NumValid] | None = None,
    transport: Transport = "auto",
) -> Int[Array, ""]:
    """Counts the pairs of a join of all shards' rows, without building them.

    Args:
        left_keys: as for `join`.
        right_keys: as for `join`.
        axis_name: mesh axis of the rows of both sides, or a tuple of axes.
        how: as for `join`.
        num_valid: as for `join`.
        transport: transport of the rows; see `partition`.

    Returns:
        The number of pairs on all shards, the same on each, exact: int64 with x64 mode. Without it
        int32, which saturates at `2**31 - 1`.

    Raises:
        TypeError: dtypes of the sides differ or cannot be keys.
        ValueError: numbers of columns or lengths differ, `how` is unknown, or `axis_name` is not an
            axis of the enclosing `shard_map`.

    Cost:
        Work O((left_rows + right_rows) x key bytes), a sort. Communication: the distinct keys of
        each shard go to the shard of their range.

    Guarantees:
        Deterministic.

    Example:
        Two shards:

            shard 0   left [7 3]   right [3 5]
            shard 1   left [3 9]   right [3 7]
            ->
            both      5
    """
    caller = "join_size"
    check_transport(transport, caller)
    num_shards_on(axis_name, caller)
    sides = as_sides(left_keys, right_keys, how, num_valid, caller)
    if how == "cross":
        return cross_size(_on_shards(sides, axis_name), axis_name)
    if how == "right":
        sides, how = sides.swapped(), "left"
    met = _meet(_on_shards(sides, axis_name), Dealing(axis_name, "even", transport))
    own = total_pairs(met.counts.num_left, met.counts.num_right, how)
    if is_x64_enabled():
        return jax.lax.psum(own, axis_name)
    of_shards = jax.lax.all_gather(own.astype(jnp.uint32), axis_name, to="invarying")
    return jax.lax.reduce(of_shards, np.uint32(0), saturating_add, (0,)).astype(jnp.int32)


class DealtPairs(NamedTuple):
    """A shard's share of the pairs, and counts over all shards.

    Attributes:
        left_rows: global ids of left rows, -1 for none.
        right_rows: global ids of right rows, -1 for none.
        count: number of pairs of this shard.
        total: number of pairs of all shards.
        num_unmatched: numbers of left and of right rows without a match, of all shards.
    """

    left_rows: Array
    right_rows: Array
    count: Array
    total: Array
    num_unmatched: tuple[Array, Array]

    def swapped(self) -> "DealtPairs":
        """The pairs with the sides exchanged."""
        left, right = self.num_unmatched
        return self._replace(
            left_rows=self.right_rows, right_rows=self.left_rows, num_unmatched=(right, left)
        )


def join_shards(sides: KeySides, how: How, dealing: Dealing) -> DealtPairs:
    """The join of checked arguments."""
    if how == "right":
        return join_shards(sides.swapped(), "left", dealing).swapped()
    sides = _on_shards(sides, dealing.axis_name)
    if how == "cross":
        return DealtPairs(*cross_pairs(sides, dealing))
    if how == "outer":
        return _join_by_key(sides, dealing)
    matches = _broadcast_matches if _is_small(sides, dealing.axis_name) else _met_matches
    found = matches(sides, dealing)
    is_left = jax.lax.iota(jnp.int32, sides.a[0].shape[0]) < sides.num_a
    is_unmatched = is_left & (found.num_matches == 0)
    own = jnp.sum(is_unmatched, dtype=jnp.int32)
    num_unmatched = saturated(psum_wide(own, dealing.axis_name)), found.num_unmatched_right
    left_ids = global_row_ids(sides.a[0].shape[0], dealing.axis_name, "join")
    if how in ("semi", "anti"):
        is_kept = is_left & ~is_unmatched if how == "semi" else is_unmatched
        return _deal_out_left(left_ids, is_kept, num_unmatched, dealing)
    one = jnp.ones((), found.num_matches.dtype)
    num_pairs = jnp.maximum(found.num_matches, one) if how == "left" else found.num_matches
    num_pairs = jnp.where(is_left, num_pairs, jnp.zeros_like(one)).astype(count_dtype())
    start = jnp.where(found.num_matches > 0, found.start, jnp.full_like(found.start, -1))
    copies = deal_out_copies((left_ids, start), num_pairs, dealing)
    left_rows, start = copies.rows
    is_pair = jax.lax.iota(jnp.int32, start.shape[0]) < copies.count
    position = jnp.where(is_pair & (start >= 0), start + copies.copy.astype(start.dtype), -1)
    right_rows = found.right_rows(position)
    left_rows = jnp.where(is_pair, left_rows, -1)
    return DealtPairs(left_rows, right_rows, copies.count, copies.total, num_unmatched)


class _Matches(NamedTuple):
    """The matching right rows of each left row: their number, and the position of the first.

    `right_rows` maps positions of right rows in key order to global ids, and -1 to -1.
    `num_unmatched_right` is the number of right rows of all shards without a match.
    """

    num_matches: Array
    start: Array
    right_rows: Any
    num_unmatched_right: Array


def _on_shards(sides: KeySides, axis_name: AxisName) -> KeySides:
    """Marks both sides as varying over the shards, and pads empty ones to one row."""
    columns = (
        tuple(column if column.shape[0] else jnp.zeros((1,), column.dtype) for column in side)
        for side in (sides.a, sides.b)
    )
    return KeySides(*as_shards((*columns, sides.num_a, sides.num_b), axis_name))


def _is_small(sides: KeySides, axis_name: AxisName) -> bool:
    """Whether the right rows of all shards are at most the left rows of one shard."""
    num_right = sides.b[0].shape[0] * num_shards_on(axis_name, "join")
    return num_right <= sides.a[0].shape[0]


def _met_matches(sides: KeySides, dealing: Dealing) -> _Matches:
    axis_name, transport = dealing.axis_name, dealing.transport
    met = _meet(sides, dealing)
    of_keys = (met.counts.num_right, met.counts.right_before)
    num_left = sides.a[0].shape[0]
    num_matches, start = met.of_left_rows(of_keys, num_left, axis_name, transport)
    num_unmatched = _num_unmatched(met.counts.num_right, met.counts.num_left, axis_name)
    return _Matches(num_matches, start, _row_finder(sides.b, sides.num_b, dealing), num_unmatched)


def _num_unmatched(num_rows: Array, num_others: Array, axis_name: AxisName) -> Array:
    """Counts the rows of one side, on all shards, without a match on the other side."""
    total = jax.lax.psum(unmatched_rows(num_rows, num_others), axis_name)
    return jnp.minimum(total, total.dtype.type(MOST_PAIRS)).astype(jnp.int32)


def _broadcast_matches(sides: KeySides, dealing: Dealing) -> _Matches:
    axis_name = dealing.axis_name
    num_right = sides.b[0].shape[0]
    ids = global_row_ids(num_right, axis_name, "join")
    is_valid = jax.lax.iota(jnp.int32, num_right) < sides.num_b
    everywhere = pack_rows((sides.b, ids, is_valid))
    everywhere = jax.lax.all_gather(everywhere, axis_name, tiled=True)
    rows = unpack_rows(everywhere, (sides.b, ids, is_valid))
    all_rows = jnp.asarray(everywhere.shape[0], jnp.int32)
    (columns, ids, _), num_valid = select_rows(rows, rows[2], everywhere.shape[0], all_rows)
    words = ordered_words(columns, (False,) * len(columns))
    row_ids = argsort_columns(words, num_valid)
    sorted_words = tuple(column.ordered() for column in take_words(words, row_ids))
    queries = ordered_words(sides.a, (False,) * len(columns))
    queries = tuple(column.ordered() for column in queries)
    start = lower_bound(sorted_words, queries, num_valid)
    num_matches = upper_bound(sorted_words, queries, num_valid) - start
    sorted_ids = take_rows(ids, row_ids)

    def right_rows(position: Array) -> Array:
        if sorted_ids.shape[0] == 0:
            return jnp.full(position.shape, -1, sorted_ids.dtype)
        found = take_rows(sorted_ids, jnp.maximum(position, 0), is_unique=False)
        return jnp.where(position >= 0, found, -1)

    # The right rows of a key are adjacent: the first of them tells how many are matched.
    num_sorted = sorted_ids.shape[0]
    is_left = jax.lax.iota(jnp.int32, start.shape[0]) < sides.num_a
    positions = jnp.where(is_left & (num_matches > 0), start, num_sorted)
    zeros = like_varying(jnp.zeros((num_sorted,), num_matches.dtype), positions)
    matched = jax.lax.pmax(zeros.at[positions].max(num_matches, mode="drop"), axis_name)
    num_right_rows = saturated(psum_wide(sides.num_b, axis_name))
    num_unmatched = num_right_rows - jnp.sum(matched, dtype=jnp.int32)
    return _Matches(num_matches, start, right_rows, num_unmatched)


def _row_finder(columns: tuple[Array, ...], num_valid: Array, dealing: Dealing) -> Any:
    """Sorts the rows of one side; returns a function from positions in that order to row ids."""
    num_rows = columns[0].shape[0]
    order = SortOrder((False,) * len(columns), (None,) * len(columns))
    ids = global_row_ids(num_rows, dealing.axis_name, "join")
    # The shards are filled in order, so a position is the global id of a sorted row.
    full = Dealing(dealing.axis_name, "full", dealing.transport)
    _, sorted_ids, count = sort_shards(columns, ids, order, num_valid, full)

    def find(position: Array) -> Array:
        found = gather_rows(
            sorted_ids,
            position,
            axis_name=dealing.axis_name,
            num_valid=count,
            transport=dealing.transport,
        )
        return jnp.where(position >= 0, found, -1)

    return find


def _meet(sides: KeySides, dealing: Dealing) -> Meeting:
    return meet(
        sides.a,
        sides.b,
        sides.num_a,
        sides.num_b,
        dealing.axis_name,
        dealing.transport,
        "join",
    )


def _deal_out_left(
    left_ids: Array, is_kept: Array, num_unmatched: tuple[Array, Array], dealing: Dealing
) -> DealtPairs:
    num_left = left_ids.shape[0]
    kept, count = select_rows(left_ids, is_kept, num_left, jnp.asarray(num_left, jnp.int32))
    total = saturated(psum_wide(count, dealing.axis_name))
    dealt, count = deal_out_rows(kept, count, dealing)
    is_row = jax.lax.iota(jnp.int32, dealt.shape[0]) < count
    dealt = jnp.where(is_row, dealt, -1)
    return DealtPairs(dealt, jnp.full_like(dealt, -1), count, total, num_unmatched)


def _join_by_key(sides: KeySides, dealing: Dealing) -> DealtPairs:
    """The outer join: every key has pairs, and the shards' keys are in order."""
    met = _meet(sides, dealing)
    counts = met.counts
    one = jnp.ones((), counts.num_left.dtype)
    num_beside = jnp.maximum(counts.num_right, one)
    is_key = jax.lax.iota(jnp.int32, counts.num_left.shape[0]) < met.num_keys
    num_pairs = _product(jnp.maximum(counts.num_left, one), num_beside)
    num_pairs = jnp.where(is_key, num_pairs, jnp.zeros_like(num_pairs))
    left_start = jnp.where(counts.num_left > 0, counts.left_before, -one)
    right_start = jnp.where(counts.num_right > 0, counts.right_before, -one)
    copies: Copies = deal_out_copies((left_start, right_start, num_beside), num_pairs, dealing)
    left_start, right_start, num_beside = copies.rows
    is_pair = jax.lax.iota(jnp.int32, left_start.shape[0]) < copies.count
    beside = jnp.maximum(num_beside, one).astype(copies.copy.dtype)
    left_position = left_start + (copies.copy // beside).astype(one.dtype)
    right_position = right_start + (copies.copy % beside).astype(one.dtype)
    find_left = _row_finder(sides.a, sides.num_a, dealing)
    find_right = _row_finder(sides.b, sides.num_b, dealing)
    return DealtPairs(
        find_left(jnp.where(is_pair & (left_start >= 0), left_position, -1)),
        find_right(jnp.where(is_pair & (right_start >= 0), right_position, -1)),
        copies.count,
        copies.total,
        (
            _num_unmatched(counts.num_left, counts.num_right, dealing.axis_name),
            _num_unmatched(counts.num_right, counts.num_left, dealing.axis_name),
        ),
    )


def _product(a: Array, b: Array) -> Array:
    if is_x64_enabled():
        return a.astype(jnp.int64) * b.astype(jnp.int64)
    return saturating_product(a, b)
