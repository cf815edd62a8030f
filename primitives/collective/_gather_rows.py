# SPDX-License-Identifier: Apache-2.0
"""Rows of all shards taken by their global ids.

1. Each shard sorts its ids and keeps the distinct ones: a row that it wants often travels once.
2. Where some shard would be asked for more rows than there is room for, the distinct ids of all
   shards are sorted over the mesh, and each shard asks for the share that it was dealt. A row is
   then asked for once, or once more where the shares of two shards meet in it, so that a shard is
   asked for no more rows than it has, and one for each shard.
3. The ids go to the shards that own the rows, and the rows come back; after step 2 they then go
   home, by the way that the ids came.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._arguments import as_array, as_num_valid, as_rows, num_rows_of, type_of
from ..contract._key_bits import ordered_word
from ..contract._typing import Array, ArrayLike, Integer, PyTree
from ..kernels.move._compact import flagged_rows
from ..kernels.sort._lower_bound import lower_bound
from ..kernels.sort._radix_sort import sort_words_with_row_ids
from ..local._moved import with_tangents
from ..local._take import take_rows, take_rows_or_zeros
from ._axis import AxisName, as_shards, num_shards_on
from ._exchange import (
    Runs,
    Transport,
    check_transport,
    exchange,
    of_whole_batch,
    plan_runs,
    returning,
)
from ._packing import pack_rows, unpack_rows
from ._radix_sort import row_id_dtype
from ._sorted_runs import Dealing, plan_shares


def gather_rows(
    rows: PyTree,
    global_ids: Integer[ArrayLike, " ids"],
    *,
    axis_name: AxisName,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    transport: Transport = "auto",
) -> PyTree:
    """Takes rows of all shards by their global ids.

    Args:
        rows: this shard's rows, any pytree of arrays with the same leading axis, equally long on
            every shard.
        global_ids: the rows that this shard wants, integers of shape `(ids,)`, equally many on
            every shard: `shard * rows + row`, as `radix_argsort` gives them.
        axis_name: mesh axis of the rows, or a tuple of axes.
        num_valid: number of valid rows of this shard, at its front; all rows by default.
        transport: how ids and rows travel; see `partition`.

    Returns:
        The rows in the order of the ids, `ids` of them on each shard. An id that names no row, or
        one that does not count, gives zeros.

    Raises:
        TypeError: `global_ids` are not integers.
        ValueError: leading axes differ, ids need 64 bits without x64 mode, `transport` is unknown,
            or `axis_name` is not an axis of the enclosing `shard_map`.

    Cost:
        Work O(ids + rows x row bytes), a sort of the ids included. Communication: each distinct id
        once and its row once; where a shard would be asked for more than `max(2 x ids, rows +
        num_shards)` rows, the ids twice more and the rows once more. Memory is for that many rows
        of answers, or for `num_shards x ids` where that is less, whatever the ids.

    Guarantees:
        Deterministic; differentiable in `rows`: the cotangent of a row is the sum over all its
        copies.

    Example:
        Two shards:

            shard 0   rows [10 11]   global ids [3 0 3]
            shard 1   rows [12 13]   global ids [0 9 1]
            ->
            shard 0   rows [13 10 13]
            shard 1   rows [10  0 11]
    """
    caller = "gather_rows"
    num_shards = num_shards_on(axis_name, caller)
    check_transport(transport, caller)
    num_rows = num_rows_of(rows, caller)
    rows = as_rows(rows, num_rows, caller, "rows")
    ids = as_global_ids(global_ids, num_rows * num_shards, caller)
    valid = as_num_valid(num_valid, num_rows, caller)
    rows, ids, valid = as_shards((rows, ids, valid), axis_name)
    if num_shards == 1 or num_rows == 0 or ids.shape[0] == 0:
        is_row = (ids >= 0) & (ids < valid.astype(ids.dtype))
        return take_rows_or_zeros(rows, jnp.where(is_row, ids, jnp.zeros_like(ids)), is_row)
    plan = _plan(ids, num_rows, valid, axis_name, transport)
    route = functools.partial(_route, axis_name=axis_name, transport=transport)
    moved = unpack_rows(route(pack_rows(jax.lax.stop_gradient(rows)), plan), rows)
    return with_tangents(route, moved, rows, plan)


def as_global_ids(ids: Any, num_total: int, caller: str) -> Array:
    """Checks ids of rows; returns them as int32 or int64, with -1 where they name no row."""
    ids = as_array(ids, caller, "global_ids")
    if not jnp.issubdtype(ids.dtype, jnp.integer):
        raise TypeError(f"{caller}: global_ids must be integers, got {type_of(ids)}.")
    if ids.ndim != 1:
        raise ValueError(
            f"{caller}: global_ids must be one-dimensional, got {type_of(ids)}. Flatten them, and "
            "reshape what comes back."
        )
    is_row = ids >= 0
    if num_total <= np.iinfo(ids.dtype).max:
        is_row &= ids < num_total
    return jnp.where(is_row, ids.astype(row_id_dtype(num_total, caller)), -1)


class _Plan(NamedTuple):
    """How rows travel to the shards that want them.

    Attributes:
        asked: the rows that this shard is asked for; `is_asked` is false where there is none.
        answers: the way back to the shards that asked.
        is_direct: whether those that asked are those that want the rows.
        dealt: if not, the answer for each id that was dealt to this shard; `is_dealt` is false
            where there is none.
        home: if not, the way from there to the shards that want them.
        slots: the answer that each of the ids gets; `is_row` is false where it names no row.
    """

    asked: Array
    is_asked: Array
    answers: Runs
    is_direct: Array
    dealt: Array
    is_dealt: Array
    home: Runs
    slots: Array
    is_row: Array


def _plan(
    ids: Array, num_rows: int, num_valid: Array, axis_name: AxisName, transport: Transport
) -> _Plan:
    num_shards = num_shards_on(axis_name, "gather_rows")
    num_ids = ids.shape[0]
    capacity = min(max(2 * num_ids, num_rows + num_shards), num_shards * num_ids)
    distinct, count, slots = _distinct(ids, jnp.asarray(num_ids, jnp.int32))

    def requests_of(distinct: Array, count: Array) -> Runs:
        first_ids = num_rows * jax.lax.iota(ids.dtype, num_shards)
        words = ordered_word(distinct).ordered(), ordered_word(first_ids).ordered()
        starts = lower_bound((words[0],), (words[1],), count)
        return plan_runs(jnp.diff(starts, append=count[None]), capacity, axis_name)

    def direct(distinct: Array, count: Array) -> Any:
        nobody = as_shards(jnp.zeros((num_ids,), jnp.int32), axis_name)
        home = plan_runs(as_shards(jnp.zeros((num_shards,), jnp.int32), axis_name), 0, axis_name)
        return distinct, requests, nobody, nobody != 0, home

    def balanced(distinct: Array, count: Array) -> Any:
        dealing = Dealing(axis_name, "even", transport)
        dealt = plan_shares((ordered_word(distinct),), count, num_ids, dealing)
        received = exchange(pack_rows(distinct), dealt, num_ids, axis_name, transport)
        received = unpack_rows(received, distinct)
        wanted, num_wanted, slots = _distinct(received, dealt.count)
        is_dealt = jax.lax.iota(jnp.int32, num_ids) < dealt.count
        return wanted, requests_of(wanted, num_wanted), slots, is_dealt, returning(dealt, axis_name)

    requests = requests_of(distinct, count)
    # What one shard is asked for is the last of the running sums, which no shard sees but its own.
    is_direct = of_whole_batch(jax.lax.pmax(requests.count, axis_name) <= capacity)
    wanted, requests, dealt, is_dealt, home = jax.lax.cond(
        is_direct, direct, balanced, distinct, count
    )
    local_rows = (wanted % num_rows).astype(jnp.uint32)[:, None]
    asked = exchange(local_rows, requests, capacity, axis_name, transport)[:, 0].astype(jnp.int32)
    is_asked = (jax.lax.iota(jnp.int32, capacity) < requests.count) & (asked < num_valid)
    return _Plan(
        asked,
        is_asked,
        returning(requests, axis_name),
        is_direct,
        dealt,
        is_dealt,
        home,
        slots,
        ids >= 0,
    )


def _distinct(ids: Array, num_valid: Array) -> tuple[Array, Array, Array]:
    """The distinct ids in their order, how many they are, and for each id its place among them.

    Negative ids are none; their place is zero. Behind the distinct ids stands some id.
    """
    num_ids = ids.shape[0]
    sorted_ids, row_ids = sort_words_with_row_ids(ordered_word(ids), num_valid)
    is_head = jnp.concatenate([sorted_ids[:1] >= 0, sorted_ids[1:] != sorted_ids[:-1]])
    is_head &= (sorted_ids >= 0) & (jax.lax.iota(jnp.int32, num_ids) < num_valid)
    heads, count = flagged_rows(is_head, num_ids, num_valid)
    places = jnp.maximum(jnp.cumsum(is_head, dtype=jnp.int32) - 1, 0)
    slots = (
        jnp.zeros_like(places)
        .at[row_ids]
        .set(places, unique_indices=True, mode="promise_in_bounds")
    )
    return take_rows(sorted_ids, heads, is_unique=False), count, slots


def _route(matrix: Array, plan: _Plan, *, axis_name: AxisName, transport: Transport) -> Array:
    # A matrix of words or of tangents: neither is rewritten.
    num_ids = plan.slots.shape[0]
    answers = take_rows_or_zeros(matrix, plan.asked, plan.is_asked, is_tangent=True)
    received = exchange(answers, plan.answers, num_ids, axis_name, transport)

    def at_home(received: Array, plan: _Plan) -> Array:
        return received

    def by_home(received: Array, plan: _Plan) -> Array:
        dealt = take_rows_or_zeros(received, plan.dealt, plan.is_dealt, is_tangent=True)
        return exchange(dealt, plan.home, num_ids, axis_name, transport)

    received = jax.lax.cond(plan.is_direct, at_home, by_home, received, plan)
    return take_rows_or_zeros(received, plan.slots, plan.is_row, is_tangent=True)
