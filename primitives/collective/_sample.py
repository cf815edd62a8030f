# SPDX-License-Identifier: Apache-2.0
"""Random samples of the rows of a mesh axis: all of them, and by segment."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._arguments import MAX_SHARD_ROWS, as_flag, as_num_valid, as_static_int
from ..contract._random_rows import (
    INFINITE_WEIGHT,
    arrivals,
    as_key_words,
    comparable_weights,
    integers_below,
    random_words,
)
from ..contract._take import take_rows
from ..contract._typing import Array, ArrayLike, Integer, Shaped
from ..local import Sampled, searchsorted, segment_top_k
from ..local.parts import (
    SegmentIds,
    Words,
    as_segment_ids,
    as_weights,
    integer_weights,
    rows_in_segments,
    running_sums,
)
from ._axis import AxisName, as_shards, num_shards_on
from ._packing import pack_rows, unpack_rows
from ._radix_sort import global_row_ids
from ._scan import inclusive_scan
from ._top_k import top_k
from ._wide_counts import (
    WideCount,
    cumsum_wide,
    is_less_equal,
    psum_wide,
    saturated,
    subtract,
)


def sample(
    key: Shaped[ArrayLike, "..."],
    num_rows: int,
    k: int,
    *,
    axis_name: AxisName,
    replace: bool = False,
    weights: Shaped[ArrayLike, " rows"] | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Sampled:
    """Draws k rows of all shards at random, with or without replacement.

    Args:
        key: a key of `jax.random`, the same on every shard.
        num_rows: the number of rows of each shard. Static.
        k: the number of rows to draw. Static.
        axis_name: mesh axis of the rows, or a tuple of axes.
        replace: whether a row can be drawn more than once. Static.
        weights: as for `local.sample`, those of this shard's rows.
        num_valid: number of valid rows of this shard, at its front; all rows by default.

    Returns:
        `Sampled(row_ids, count)`, the same on every shard: the global ids `shard * num_rows + row`
        in the order in which they were drawn, -1 in padding; and the number of rows that could be
        drawn, at most k. Ids are int32, or int64 if the mesh holds more than 2^31 rows.

    Raises:
        TypeError: `key` is not a key of `jax.random`, `weights` are not real numbers, or
            `num_rows`, `k` or `replace` is traced.
        ValueError: `k` is negative, or without `replace` above the rows of the mesh; `weights` have
            another length; or `axis_name` is not an axis of the enclosing `shard_map`.

    Cost:
        Without replacement that of `top_k`. With it work O(k), and for weights two scans of the
        rows and a `searchsorted` of k queries on each shard. Communication: one all-reduce of k
        ids; for weights two of a number, and that of two scans.

    Guarantees:
        Deterministic; full shards draw the same rows on every mesh, those of `local.sample`. The
        result holds integers, which have no derivative.

    References:
        Efraimidis and Spirakis (2006), "Weighted random sampling with a reservoir".

    Example:
        Two shards, k = 3, in one of four orders:

            shard 0   weights [0.0 2.0]
            shard 1   weights [0.0 1.0]
            ->
            both      row ids [3 1 -1]   count 2
    """
    caller = "sample"
    replace = as_flag(replace, caller, "replace")
    num_shards = num_shards_on(axis_name, caller)
    words = as_key_words(key, caller)
    num_rows = as_static_int(num_rows, caller, "num_rows", 0, MAX_SHARD_ROWS)
    k = as_static_int(k, caller, "k", 0, MAX_SHARD_ROWS if replace else num_rows * num_shards)
    given, valid = as_weights(weights, num_rows, caller), as_num_valid(num_valid, num_rows, caller)
    own_weights, valid = as_shards((given, valid), axis_name)
    row_ids = global_row_ids(num_rows, axis_name, caller)
    can_draw = jax.lax.iota(jnp.int32, num_rows) < valid
    if own_weights is not None:
        own_weights = comparable_weights(own_weights, can_draw, axis_name)
        can_draw = own_weights > 0
    num_candidates = jnp.sum(can_draw, dtype=jnp.int32)
    total = saturated(psum_wide(num_candidates, axis_name))
    if replace:
        draws = random_words(words, jax.lax.iota(jnp.int32, k))
        drawn = _draw_rows(draws, own_weights, valid, row_ids, axis_name)
        count = jnp.where(total > 0, np.int32(k), 0)
    else:
        times = arrivals(random_words(words, row_ids), own_weights)
        if own_weights is not None:
            times = jnp.where(can_draw, times, np.float32(np.inf))
        drawn = top_k(times, k, axis_name=axis_name, largest=False, num_valid=valid).row_ids
        count = jnp.minimum(total, k)
    is_drawn = jax.lax.iota(jnp.int32, k) < count
    return Sampled(jnp.where(is_drawn, drawn, -1), count)


def segment_sample(
    key: Shaped[ArrayLike, "..."],
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    k: int,
    *,
    axis_name: AxisName,
    weights: Shaped[ArrayLike, " rows"] | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Sampled:
    """Draws k rows of each segment at random, without replacement, over the shards of an axis.

    Args:
        key: a key of `jax.random`, the same on every shard.
        segment_ids: segment of each of this shard's rows, integers of shape `(rows,)`, in any
            order. Rows with an id outside `[0, num_segments)` belong to no segment.
        num_segments: number of segments. Static.
        k: the number of rows to draw of each segment. Static.
        axis_name: mesh axis of the rows, or a tuple of axes.
        weights: as for `local.sample`, those of this shard's rows.
        num_valid: number of valid rows of this shard, at its front; all rows by default.

    Returns:
        `Sampled(row_ids, count)`, the same on every shard: for each segment the global ids in the
        order in which they were drawn, of shape `(num_segments, k)`, -1 at the end of a segment
        with fewer rows; and the number of rows drawn of each.

    Raises:
        TypeError: `key` is not a key of `jax.random`, `segment_ids` are not integers, `weights`
            are not real numbers, or `num_segments` or `k` is traced.
        ValueError: arrays of different lengths, a number is out of range, or `axis_name` is not an
            axis of the enclosing `shard_map`.

    Cost:
        Two calls of `local.segment_top_k`, of the rows and of what is gathered. Communication: one
        `all_gather` of `num_segments x k` times and ids from each shard.

    Guarantees:
        Deterministic; full shards draw the same rows on every mesh, those of
        `local.segment_sample`.

    Example:
        Two shards, num_segments = 2, k = 2, in one of two orders:

            shard 0   segment ids [0 7]
            shard 1   segment ids [0 1]
            ->
            both      row ids [[2 0] [3 -1]]   count [2 1]
    """
    caller = "segment_sample"
    num_shards_on(axis_name, caller)
    words = as_key_words(key, caller)
    num_rows = jnp.shape(segment_ids)[0] if jnp.ndim(segment_ids) else 0
    segments = as_segment_ids(segment_ids, num_segments, num_rows, num_valid, caller)
    k = as_static_int(k, caller, "k", 0, MAX_SHARD_ROWS)
    num_segments = segments.num_segments
    own_weights, ids = as_shards((as_weights(weights, num_rows, caller), segments.ids), axis_name)
    if own_weights is not None:
        own_weights = comparable_weights(own_weights, ids >= 0, axis_name)
        ids = SegmentIds(ids, num_segments).without(own_weights == 0).ids
    global_ids = global_row_ids(num_rows, axis_name, caller)
    times = arrivals(random_words(words, global_ids), own_weights)
    if not num_rows or not k:
        nothing = jnp.full((num_segments, k), -1, global_ids.dtype)
        return Sampled(nothing, jnp.zeros(num_segments, jnp.int32))
    first = segment_top_k(times, ids, num_segments, k, largest=False)
    own = first.row_ids.reshape(-1)
    own_ids = take_rows(global_ids, jnp.maximum(own, 0), is_unique=False)
    rows = first.values.reshape(-1), jnp.where(own < 0, -1, own_ids)
    message = jax.lax.all_gather(pack_rows(rows), axis_name, tiled=True, to="invarying")
    times, row_ids = unpack_rows(message, rows)
    # Those of a segment are in the order of the shards, and of their times: ties go to the lowest
    # id, as on one device.
    segment_of = jax.lax.iota(jnp.int32, row_ids.shape[0]) // k % num_segments
    segment_of = jnp.where(row_ids < 0, np.int32(-1), segment_of)
    chosen = segment_top_k(times, segment_of, num_segments, k, largest=False).row_ids
    drawn = take_rows(row_ids, jnp.maximum(chosen, 0), is_unique=False)
    count = jnp.minimum(rows_in_segments(segment_of, num_segments), k)
    return Sampled(jnp.where(chosen < 0, -1, drawn), count)


def _draw_rows(
    draws: Words,
    weights: Array | None,
    num_valid: Array,
    row_ids: Array,
    axis_name: AxisName,
) -> Array:
    """The global id of each draw with replacement, from the shard that has the row."""
    num_rows = row_ids.shape[0]
    if not num_rows:
        return jnp.full(draws[0].shape, -1, row_ids.dtype)
    sums = None
    if weights is None:
        counts = jax.lax.all_gather(num_valid, axis_name, to="invarying")
        ends = cumsum_wide(counts, 0)
    else:
        has_infinite = jax.lax.pmax(jnp.max(weights), axis_name) == INFINITE_WEIGHT
        num_total = num_rows * num_shards_on(axis_name, "sample")
        units = integer_weights(weights, has_infinite, num_total)
        sums = WideCount(
            *running_sums(units, functools.partial(inclusive_scan, axis_name=axis_name))
        )
        ends = jax.tree.map(
            lambda word: jax.lax.all_gather(word[-1], axis_name, to="invarying"), sums
        )
    target = WideCount(*integers_below(draws, (ends.high[-1], ends.low[-1])))
    shard = jax.lax.axis_index(axis_name)
    before = jax.tree.map(
        lambda word: jnp.concatenate([jnp.zeros_like(word[:1]), word])[shard], ends
    )
    is_owner = is_less_equal(before, target)
    if sums is None:
        own = saturated(subtract(target, before))
        is_owner &= own < num_valid
    else:
        own = searchsorted(tuple(sums), tuple(target), side="right")
        is_owner &= own < num_rows
    return (
        jax.lax.psum(jnp.where(is_owner, row_ids[0] + own.astype(row_ids.dtype) + 1, 0), axis_name)
        - 1
    )
