# SPDX-License-Identifier: Apache-2.0
"""Gathers rows of all shards by global row id.

1. Each shard sorts its ids and removes duplicates: a row that it requests often travels once.
2. If the requests to some shard exceed the capacity, the distinct ids of all shards are sorted over
   the mesh, and each shard requests its share of them. Each row is then requested once, or twice if
   it is at the border of two shares. So a shard gets at most one request for each of its rows, plus
   one for each shard.
3. The ids go to the owners of the rows, and the rows come back. After step 2 they then return to
   the shards that requested them first, along the path of the ids.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._arguments import as_num_valid, as_row_ids, as_rows, num_rows_of
from ..contract._key_bits import ordered_word
from ..contract._take import take_rows, take_rows_or_zeros
from ..contract._typing import Array, ArrayLike, Integer, PyTree
from ..kernels.move._compact import flagged_rows
from ..kernels.scan._running import running_count
from ..kernels.sort._lower_bound import lower_bound
from ..kernels.sort._radix_sort import sort_words_with_row_ids
from ._axis import AxisName, as_shards, num_shards_on
from ._control_flow import choose
from ._exchange import Transport, check_transport, exchange
from ._exchange_blocks import MOST_COLUMNS
from ._exchange_hops import of_whole_batch
from ._exchange_runs import Runs, plan_runs, returning
from ._moving import move_rows
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
    """Gathers rows of all shards by global row id.

    Args:
        rows: this shard's rows, any pytree of arrays with the same leading axis, of the same length
            on every shard.
        global_ids: ids of the rows for this shard, integers of shape `(ids,)`, with the same length
            on every shard: `shard * rows + row`, as in `radix_argsort`.
        axis_name: mesh axis of the rows, or a tuple of axes.
        num_valid: number of valid rows of this shard, at its front; all rows by default.
        transport: how ids and rows travel; see `partition`.

    Returns:
        The rows in the order of the ids, `ids` of them on each shard. An id out of range or of a
        padding row gives zeros.

    Raises:
        TypeError: `global_ids` are not integers.
        ValueError: leading axes differ, ids need 64 bits without x64 mode, `transport` is unknown,
            or `axis_name` is not an axis of the enclosing `shard_map`.

    Cost:
        Work O(ids + rows x row bytes), a sort of the ids included. Communication: each distinct id
        once and its row once. If the requests to a shard exceed `max(2 x ids, rows + num_shards)`
        and 128 KiB of rows, the ids travel twice more and the rows once more. Memory holds that
        many rows, or `num_shards x ids` if that is less, for any ids.

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
    ids = as_row_ids(global_ids, caller, "global_ids")
    ids = marked_ids(ids, num_rows * num_shards, caller)
    valid = as_num_valid(num_valid, num_rows, caller)
    rows, ids, valid = as_shards((rows, ids, valid), axis_name)
    if num_shards == 1 or num_rows == 0 or ids.shape[0] == 0:
        is_row = (ids >= 0) & (ids < valid.astype(ids.dtype))
        return take_rows_or_zeros(rows, jnp.where(is_row, ids, jnp.zeros_like(ids)), is_row)
    row_bytes = sum(leaf.nbytes for leaf in jax.tree.leaves(rows)) // num_rows
    few_rows = _FEW_BYTES // max(row_bytes, 1)
    plan = _plan(ids, num_rows, valid, few_rows, axis_name, transport)
    route = functools.partial(_route, axis_name=axis_name, transport=transport)
    return move_rows(rows, plan, route)


def marked_ids(ids: Array, num_total: int, caller: str) -> Array:
    """Row ids as int32 or int64, with -1 for ids out of range."""
    is_row = ids >= 0
    if num_total <= np.iinfo(ids.dtype).max:
        is_row &= ids < num_total
    return jnp.where(is_row, ids.astype(row_id_dtype(num_total, caller)), -1)


# Answers of so few bytes are planned for, whatever their number is.
_FEW_BYTES = 1 << 17


class _WayHome(NamedTuple):
    """The route of rows that were requested by other shards than the final ones.

    Attributes:
        is_direct: whether the requesting shards are the final ones.
        dealt: if not, the position of the answer to each id of this shard's share; `is_dealt` is
            false in padding.
        runs: if not, the runs from there to the final shards.
    """

    is_direct: Array
    dealt: Array
    is_dealt: Array
    runs: Runs


class _Plan(NamedTuple):
    """The route of the rows to the shards that requested them.

    Attributes:
        asked: the local rows that other shards request; `is_asked` is false in padding.
        answers: the runs back to the requesting shards.
        way_home: the route from there; None if all requests fit, so that they are direct.
        answer_positions: the position of the answer to each id; `is_row` is false for ids out of
            range.
    """

    asked: Array
    is_asked: Array
    answers: Runs
    way_home: _WayHome | None
    answer_positions: Array
    is_row: Array


def _plan(
    ids: Array,
    num_rows: int,
    num_valid: Array,
    few_rows: int,
    axis_name: AxisName,
    transport: Transport,
) -> _Plan:
    num_shards = num_shards_on(axis_name, "gather_rows")
    num_ids = ids.shape[0]
    most_requests = num_shards * num_ids
    capacity = min(max(2 * num_ids, num_rows + num_shards, few_rows), most_requests)
    distinct, count, answer_positions = _distinct(ids, jnp.asarray(num_ids, jnp.int32))

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
        requested, num_requested, positions = _distinct(received, dealt.count)
        is_dealt = jax.lax.iota(jnp.int32, num_ids) < dealt.count
        requests, home = requests_of(requested, num_requested), returning(dealt, axis_name)
        return requested, requests, positions, is_dealt, home

    requests = requests_of(distinct, count)
    requested, way_home = distinct, None
    if capacity < most_requests:
        # The requests to one shard are the last of its running sums, which only that shard knows.
        is_direct = of_whole_batch(jax.lax.pmax(requests.count, axis_name) <= capacity)
        requested, requests, *dealt = choose(
            is_direct, direct, balanced, distinct, jnp.where(is_direct, 0, count)
        )
        way_home = _WayHome(is_direct, *dealt)
    local_rows = (requested % num_rows).astype(jnp.uint32)[:, None]
    asked = exchange(local_rows, requests, capacity, axis_name, transport)[:, 0].astype(jnp.int32)
    is_asked = (jax.lax.iota(jnp.int32, capacity) < requests.count) & (asked < num_valid)
    return _Plan(
        asked,
        is_asked,
        returning(requests, axis_name),
        way_home,
        answer_positions,
        ids >= 0,
    )


def _distinct(ids: Array, num_valid: Array) -> tuple[Array, Array, Array]:
    """Returns the sorted distinct ids, their number, and each id's position among them.

    Negative ids are ignored; their position is zero. The padding after the distinct ids is
    arbitrary.
    """
    num_ids = ids.shape[0]
    sorted_ids, row_ids = sort_words_with_row_ids(ordered_word(ids), num_valid)
    is_head = jnp.concatenate([sorted_ids[:1] >= 0, sorted_ids[1:] != sorted_ids[:-1]])
    is_head &= (sorted_ids >= 0) & (jax.lax.iota(jnp.int32, num_ids) < num_valid)
    heads, count = flagged_rows(is_head, num_ids, num_valid)
    positions = jnp.maximum(running_count(is_head) - 1, 0)
    id_positions = (
        jnp.zeros_like(positions)
        .at[row_ids]
        .set(positions, unique_indices=True, mode="promise_in_bounds")
    )
    return take_rows(sorted_ids, heads, is_unique=False), count, id_positions


def _route(matrix: Array, plan: _Plan, *, axis_name: AxisName, transport: Transport) -> Array:
    # The matrix holds words or tangents; the bits of both stay unchanged.
    num_ids = plan.answer_positions.shape[0]
    answers = _take(matrix, plan.asked, plan.is_asked)
    received = exchange(answers, plan.answers, num_ids, axis_name, transport)

    def at_home(received: Array, way_home: _WayHome) -> Array:
        return received

    def by_home(received: Array, way_home: _WayHome) -> Array:
        dealt = _take(received, way_home.dealt, way_home.is_dealt)
        return exchange(dealt, way_home.runs, num_ids, axis_name, transport)

    if plan.way_home is not None:
        received = choose(plan.way_home.is_direct, at_home, by_home, received, plan.way_home)
    return _take(received, plan.answer_positions, plan.is_row)


def _take(matrix: Array, row_ids: Array, is_row: Array) -> Array:
    """Takes rows of a matrix, or zeros; a row of few words by column on TPU, as in the exchange."""
    if not 1 < matrix.shape[1] <= MOST_COLUMNS:
        return _take_by_row(matrix, row_ids, is_row)
    return jax.lax.platform_dependent(
        matrix, row_ids, is_row, tpu=_take_by_column, default=_take_by_row
    )


def _take_by_row(matrix: Array, row_ids: Array, is_row: Array) -> Array:
    return take_rows_or_zeros(matrix, row_ids, is_row, is_tangent=True)


def _take_by_column(matrix: Array, row_ids: Array, is_row: Array) -> Array:
    columns = tuple(matrix[:, word] for word in range(matrix.shape[1]))
    return jnp.stack(take_rows_or_zeros(columns, row_ids, is_row, is_tangent=True), axis=1)
