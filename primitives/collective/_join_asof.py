# SPDX-License-Identifier: Apache-2.0
"""As-of join over a mesh axis.

1. The rows of both sides are sorted together, by group, time and side, and distributed evenly: a
   frequent group or time may fill several shards.
2. A running maximum over the shards gives each row the position of the right row before it. That
   row is on the same shard, or it is the last right row of its shard, and all shards know those.
3. The ids of the right rows go back along the path of the left rows.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..contract._key_bits import ordered_words
from ..contract._scan_operators import Scan
from ..contract._take import take_rows, take_words
from ..contract._typing import Array, ArrayLike, Int, Keys, NumValid, Shaped
from ..kernels.join._grouped_sides import one_after_the_other
from ..local.parts import (
    AsofRule,
    Candidate,
    Direction,
    Found,
    KeySides,
    ScanArguments,
    SegmentEncoding,
    argsort_columns,
    as_asof,
    choose_rows,
    find_positions,
    head_flags,
    is_nan_word,
    split_words,
    stack_columns,
)
from ._axis import AxisName, as_shards, num_shards_on
from ._exchange import Transport, check_transport, exchange
from ._exchange_runs import Runs
from ._key_ranges import send_back
from ._packing import pack_rows, unpack_rows
from ._radix_sort import global_row_ids, row_id_dtype
from ._scan_shards import scan_shards
from ._sorted_runs import Dealing, plan_shares


def join_asof(
    left: Shaped[ArrayLike, " left_rows"],
    right: Shaped[ArrayLike, " right_rows"],
    *,
    axis_name: AxisName,
    by: tuple[Keys, Keys] | None = None,
    direction: Direction = "backward",
    tolerance: Any = None,
    allow_exact: bool = True,
    num_valid: tuple[NumValid, NumValid] | None = None,
    transport: Transport = "auto",
) -> Int[Array, " left_rows"]:
    """Finds the right row with the closest time for each left row of this shard.

    Gather the rows by the returned ids: `gather_rows(values, right_rows)`.

    Args:
        left: times of this shard's left rows, as for `local.join_asof`, in any order.
        right: times of this shard's right rows, in any order.
        axis_name: mesh axis of the rows of both sides, or a tuple of axes.
        by: as for `local.join_asof`, of this shard's rows.
        direction: as for `local.join_asof`.
        tolerance: as for `local.join_asof`, the same on every shard.
        allow_exact: as for `local.join_asof`.
        num_valid: numbers of valid rows of the left and the right side on this shard, at their
            fronts.
        transport: transport of the rows; see `partition`.

    Returns:
        For each left row of this shard the global id of its right row, `shard * right_rows + row`;
        -1 for no match and in padding. int32, or int64 if the mesh holds more than 2^31 right rows.
        Of right rows with equal times a backward match takes the last, a forward match the first,
        in the order of (shard, row).

    Raises:
        TypeError: as `local.join_asof`.
        ValueError: as `local.join_asof`; ids need 64 bits without x64 mode, `transport` is unknown,
            or `axis_name` is not an axis of the enclosing `shard_map`.

    Cost:
        Work O((left_rows + right_rows) x key bytes), two sorts. Communication: that of a
        `radix_sort` of the rows of both sides with an id each, one id for each row on the way back,
        and a few numbers of each shard.

    Guarantees:
        As `local.join_asof`. No shard sorts more than its even share of all rows, for any keys and
        times.

    Example:
        Two shards, trades on the left and quotes on the right:

            shard 0   left [31 10]   right [30]
            shard 1   left [25  5]   right [20]
            ->
            shard 0   [0 -1]
            shard 1   [1 -1]
    """
    caller = "join_asof"
    num_shards_on(axis_name, caller)
    check_transport(transport, caller)
    sides, rule, limit = as_asof(left, right, by, direction, tolerance, allow_exact, num_valid)
    return join_shards(sides, rule, limit, axis_name, transport)


def join_shards(
    sides: KeySides,
    rule: AsofRule,
    tolerance: Array | None,
    axis_name: AxisName,
    transport: Transport,
) -> Array:
    """Joins checked arguments."""
    sides, tolerance = as_shards((sides, tolerance), axis_name)
    num_left, num_right = sides.a[0].shape[0], sides.b[0].shape[0]
    if num_left == 0 or num_right == 0:
        dtype = row_id_dtype(num_right * num_shards_on(axis_name, "join_asof"), "join_asof")
        return as_shards(jnp.full((num_left,), -1, dtype), axis_name)
    union = deal_out_union(sides, rule, axis_name, transport)
    rows = _matches(union, rule, tolerance, axis_name)
    home = union.at_home(rows, axis_name, transport)
    home = jax.lax.dynamic_slice_in_dim(home, sides.num_b, num_left)
    is_left = jax.lax.iota(jnp.int32, num_left) < sides.num_a
    return jnp.where(is_left, home, -1)


class _Union(NamedTuple):
    """This shard's share of the sorted rows of both sides.

    Attributes:
        columns: the columns of `by`, then the times.
        is_left: flags rows of the left side.
        ids: the global ids of right rows.
        sent: the runs of the exchange.
        row_ids: the permutation of this shard's rows before the exchange.
        final_row_ids: the permutation of the received rows.
    """

    columns: tuple[Array, ...]
    is_left: Array
    ids: Array
    sent: Runs
    row_ids: Array
    final_row_ids: Array

    def at_home(self, rows: Array, axis_name: AxisName, transport: Transport) -> Array:
        """Returns one value for each sorted row to the row's original shard and position."""
        came = _put(rows, self.final_row_ids)
        left = send_back(came, self.sent, rows.shape[0], axis_name, transport)
        return _put(left, self.row_ids)


def deal_out_union(
    sides: KeySides, rule: AsofRule, axis_name: AxisName, transport: Transport
) -> _Union:
    """Sorts the rows of both sides together and distributes them evenly."""
    columns = jax.lax.stop_gradient(stack_columns(sides.b, sides.a, sides.num_b))
    right_ids = global_row_ids(sides.b[0].shape[0], axis_name, "join_asof")
    no_ids = jnp.zeros_like(sides.a[0], right_ids.dtype)
    ids = one_after_the_other(right_ids, no_ids, sides.num_b)
    is_left = jax.lax.iota(jnp.int32, ids.shape[0]) >= sides.num_b
    num_valid = sides.num_a + sides.num_b

    def words_of(columns: tuple[Array, ...], is_left: Array) -> Any:
        side = is_left if rule.right_first else ~is_left
        return ordered_words((*columns, side), (False,) * (len(columns) + 1))

    words = words_of(columns, is_left)
    row_ids = argsort_columns(words, num_valid)
    capacity = row_ids.shape[0]
    dealing = Dealing(axis_name, "even", transport)
    sent = plan_shares(take_words(words, row_ids), num_valid, capacity, dealing)
    rows = (columns, is_left, ids)
    came = exchange(pack_rows(rows), sent, capacity, axis_name, transport, order=row_ids)
    columns, is_left, _ = unpack_rows(came, rows)
    # The runs arrive in the order of their shards, so a stable sort keeps the order of ties.
    final_row_ids = argsort_columns(words_of(columns, is_left), sent.count)
    columns, is_left, ids = unpack_rows(take_rows(came, final_row_ids), rows)
    return _Union(columns, is_left, ids, sent, row_ids, final_row_ids)


def _matches(union: _Union, rule: AsofRule, tolerance: Array | None, axis_name: AxisName) -> Any:
    """The matching right row of each left row among the sorted rows, -1 for none."""
    times, num_valid = union.columns[-1], union.sent.count
    num_rows = times.shape[0]
    group, time = split_words(ordered_words(union.columns, (False,) * len(union.columns)), times)
    is_time = ~is_nan_word(time, times.dtype)
    is_match = ~union.is_left & is_time & (jax.lax.iota(jnp.int32, num_rows) < num_valid)
    positions = _positions(num_rows, axis_name)
    heads = SegmentEncoding(_head_flags(group, num_valid, axis_name) if group else None, None)
    time_heads = None
    if rule.looks_past:
        time_heads = _head_flags((*group, time), num_valid, axis_name)

    def scan(values: Array, scan: Scan) -> Array:
        return scan_shards(ScanArguments(values, scan, None, num_valid), heads, axis_name)

    found = find_positions(is_match, positions, time_heads, rule, scan)
    candidate = functools.partial(_candidate, union=union, is_time=is_time, axis_name=axis_name)
    rows = jax.lax.iota(jnp.int32, num_rows)

    def last_match(stop: Array) -> Array:
        return jnp.max(jnp.where(is_match & (rows < stop), rows, 0))

    before_edges, behind_edges = [last_match(num_valid)], [jnp.argmax(is_match).astype(jnp.int32)]
    if time_heads is not None:
        # If a time continues on the next shard, its rows there skip the right rows of that time.
        last_head = jnp.max(jnp.where(time_heads & (rows < num_valid), rows, 0))
        before_edges.append(last_match(last_head))
    found = Found(
        None if found.before is None else candidate(found.before, jnp.stack(before_edges)),
        None if found.behind is None else candidate(found.behind, jnp.stack(behind_edges)),
    )
    return choose_rows(times, found, tolerance)


def _candidate(
    position: Array, edges: Array, union: _Union, is_time: Array, axis_name: AxisName
) -> Candidate:
    """The rows at global positions: any row of this shard, or an edge row of another one.

    Every shard shares one or two `edges` with all others.
    """
    num_rows, num_edges = position.shape[0], edges.shape[0]
    own = (union.ids, union.columns[-1])
    others = (take_rows(own, edges, is_unique=False), edges)
    others, edge_rows = jax.lax.all_gather(others, axis_name)
    pool = jax.tree.map(lambda own, other: jnp.concatenate([own, other.reshape(-1)]), own, others)
    position = jnp.where(is_time, position, -1)
    at = jnp.maximum(position, 0)
    shard, row = (at // num_rows).astype(jnp.int32), (at % num_rows).astype(jnp.int32)
    # The first of two edges, unless the position is a different row.
    is_second = row != take_rows(edge_rows[:, 0], shard, is_unique=False)
    edge = jnp.where(is_second, num_edges - 1, 0).astype(jnp.int32)
    is_here = shard == jax.lax.axis_index(axis_name)
    index = jnp.where(is_here, row, num_rows + num_edges * shard + edge)
    ids, times = take_rows(pool, index, is_unique=False)
    return Candidate(jnp.where(position >= 0, ids, -1), times)


def _positions(num_rows: int, axis_name: AxisName) -> Array:
    """The global position of each sorted row, in a dtype that can hold one more."""
    num_shards = num_shards_on(axis_name, "join_asof")
    dtype = row_id_dtype(num_rows * num_shards + 1, "join_asof")
    first = jax.lax.axis_index(axis_name).astype(dtype) * num_rows
    return first + jax.lax.iota(dtype, num_rows)


def _head_flags(parts: tuple[Array, ...], num_valid: Array, axis_name: AxisName) -> Array:
    """`head_flags` over all shards: the previous shard's last row precedes the first row."""
    # The shards are filled in order, so the shard before a row is not empty.
    last = jnp.maximum(num_valid - 1, 0)
    edges = jax.lax.all_gather(take_rows(parts, last), axis_name)
    me = jax.lax.axis_index(axis_name)
    flags = head_flags(parts, take_rows(edges, jnp.maximum(me - 1, 0)))
    # A scan does not need a flag on the very first row, but counts of heads do.
    return flags | ((jax.lax.iota(jnp.int32, flags.shape[0]) == 0) & (me == 0))


def _put(rows: Array, row_ids: Array) -> Array:
    zeros = jnp.zeros_like(rows)
    return zeros.at[row_ids].set(rows, unique_indices=True, mode="promise_in_bounds")
