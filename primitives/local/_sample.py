# SPDX-License-Identifier: Apache-2.0
"""Random samples of one device's rows: all of them, and by segment."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._arguments import (
    MAX_SHARD_ROWS,
    as_array,
    as_flag,
    as_num_valid,
    as_static_int,
    type_of,
)
from ..contract._random_rows import (
    arrivals,
    as_key_words,
    comparable_weights,
    random_words,
)
from ..contract._typing import Array, ArrayLike, Int, Integer, Shaped
from ..tiers._tiered import tiered
from ._segment_rows import SegmentIds, as_segment_ids, rows_in_segments
from ._segment_top_k import segment_top_k
from ._top_k import top_k
from ._weighted_draws import draw_rows


class Sampled(NamedTuple):
    """The ids of sampled rows, -1 where too few can be drawn, and the number of those drawn."""

    row_ids: Int[Array, " *segments k"]
    count: Int[Array, " *segments"]


def sample(
    key: Shaped[ArrayLike, "..."],
    num_rows: int,
    k: int,
    *,
    replace: bool = False,
    weights: Shaped[ArrayLike, " rows"] | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Sampled:
    """Draws k rows at random, with or without replacement.

    Without replacement it is a race: each row arrives after a random time, and the first k are the
    sample. With weights that is the sequential draw of `numpy.random.Generator.choice(p=)`; it is
    the Gumbel top-k, of another scale.

    Args:
        key: a key of `jax.random`.
        num_rows: the number of rows. Static.
        k: the number of rows to draw. Static.
        replace: whether a row can be drawn more than once. Static.
        weights: for each row a number in proportion to which it is drawn, of shape `(rows,)`; they
            need not add up to one. Their ratios to the greatest are rounded to float32, and those
            below 2**-126 count as that. A row whose weight is not above zero is never drawn, and
            one of infinite weight before all others. All rows are equally likely by default.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        `Sampled(row_ids, count)`: the rows in the order in which they were drawn, int32, -1 in
        padding; and the number of rows that could be drawn, at most k.

    Raises:
        TypeError: `key` is not a key of `jax.random`, `weights` are not real numbers, or
            `num_rows`, `k` or `replace` is traced.
        ValueError: `k` is negative, or without `replace` above `num_rows`; or `weights` have
            another length.

    Cost:
        Without replacement work O(rows) on CPU and a sort elsewhere; with it O(k), with weights two
        scans of the rows and a `searchsorted` of k queries. No communication.

    Guarantees:
        Deterministic. Without replacement the time of a row depends on the key and its number
        alone. With it each draw does, so a longer sample begins with a shorter one; weights are
        rounded to 2**-29 of the greatest, and those below count as that. The result holds integers,
        which have no derivative.

    References:
        Efraimidis and Spirakis (2006), "Weighted random sampling with a reservoir".

    Example:
        >>> import jax
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> drawn = local.sample(jax.random.key(0), 4, 3, weights=jnp.array([0, 2.0, 0, 1]))
        >>> sorted(drawn.row_ids.tolist()), drawn.count.tolist()
        ([-1, 1, 3], 2)
    """
    caller = "sample"
    replace = as_flag(replace, caller, "replace")
    words = as_key_words(key, caller)
    num_rows = as_static_int(num_rows, caller, "num_rows", 0, MAX_SHARD_ROWS)
    k = as_static_int(k, caller, "k", 0, MAX_SHARD_ROWS if replace else num_rows)
    weights = as_weights(weights, num_rows, caller)
    valid = as_num_valid(num_valid, num_rows, caller)
    return _sample(words, weights, valid, num_rows, k, replace)


def segment_sample(
    key: Shaped[ArrayLike, "..."],
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    k: int,
    *,
    weights: Shaped[ArrayLike, " rows"] | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Sampled:
    """Draws k rows of each segment at random, without replacement.

    Args:
        key: a key of `jax.random`.
        segment_ids: segment of each row, integers of shape `(rows,)`, in any order. Rows with an id
            outside `[0, num_segments)` belong to no segment.
        num_segments: number of segments. Static.
        k: the number of rows to draw of each segment. Static.
        weights: as for `sample`.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        `Sampled(row_ids, count)`: for each segment the rows in the order in which they were drawn,
        int32 of shape `(num_segments, k)`, -1 at the end of a segment with fewer; and the number
        of rows drawn of each.

    Raises:
        TypeError: `key` is not a key of `jax.random`, `segment_ids` are not integers, `weights`
            are not real numbers, or `num_segments` or `k` is traced.
        ValueError: arrays of different lengths, or a number is out of range.

    Cost:
        That of `segment_top_k`.

    Guarantees:
        Deterministic: whether a row is drawn depends on the key, its number and its segment's rows.

    Example:
        >>> import jax
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> drawn = local.segment_sample(jax.random.key(0), jnp.array([0, 2, 0, 0]), 3, 2)
        >>> drawn.row_ids[2].tolist(), drawn.count.tolist()
        ([1, -1], [2, 0, 1])
    """
    caller = "segment_sample"
    words = as_key_words(key, caller)
    num_rows = jnp.shape(segment_ids)[0] if jnp.ndim(segment_ids) else 0
    segments = as_segment_ids(segment_ids, num_segments, num_rows, num_valid, caller)
    k = as_static_int(k, caller, "k", 0, MAX_SHARD_ROWS)
    weights = as_weights(weights, num_rows, caller)
    return _sample_segments(words, segments.ids, weights, segments.num_segments, k)


def as_weights(weights: Any, num_rows: int, caller: str) -> Array | None:
    """Checks weights of rows; returns them as float32, or as they are if that is float64."""
    if weights is None:
        return None
    weights = as_array(weights, caller, "weights")
    if jnp.issubdtype(weights.dtype, jnp.complexfloating):
        raise TypeError(f"{caller}: weights must be real numbers, got {type_of(weights)}.")
    if weights.shape != (num_rows,):
        raise ValueError(
            f"{caller}: weights must have one entry for each of the {num_rows} rows, got "
            f"{type_of(weights)}."
        )
    dtype = jnp.float64 if weights.dtype == jnp.float64 else jnp.float32
    return jax.lax.stop_gradient(weights).astype(dtype)


@functools.partial(tiered, static_argnums=(3, 4, 5))
def _sample(
    words: Array,
    weights: Array | None,
    num_valid: Array,
    num_rows: int,
    k: int,
    replace: bool,
) -> Sampled:
    row_ids = jax.lax.iota(jnp.int32, num_rows)
    if weights is not None:
        weights = comparable_weights(weights, row_ids < num_valid)
    if replace:
        draws = random_words(words, jax.lax.iota(jnp.int32, k))
        drawn, can_draw = draw_rows(draws, weights, num_valid)
        return Sampled(
            jnp.where(can_draw, drawn, np.int32(-1)), jnp.where(can_draw, np.int32(k), 0)
        )
    times = arrivals(random_words(words, row_ids), weights)
    num_candidates = num_valid
    if weights is not None:
        is_candidate = weights > 0
        times = jnp.where(is_candidate, times, np.float32(np.inf))
        num_candidates = jnp.sum(is_candidate, dtype=jnp.int32)
    first = top_k(times, k, largest=False, num_valid=num_valid).row_ids
    is_drawn = jax.lax.iota(jnp.int32, k) < num_candidates
    count = jnp.minimum(num_candidates, k)
    return Sampled(jnp.where(is_drawn, first, np.int32(-1)), count)


@functools.partial(tiered, static_argnums=(3, 4))
def _sample_segments(
    words: Array,
    segment_ids: Array,
    weights: Array | None,
    num_segments: int,
    k: int,
) -> Sampled:
    row_ids = jax.lax.iota(jnp.int32, segment_ids.shape[0])
    segments = SegmentIds(segment_ids, num_segments)
    if weights is not None:
        weights = comparable_weights(weights, segment_ids >= 0)
        segments = segments.without(weights == 0)
    times = arrivals(random_words(words, row_ids), weights)
    first = segment_top_k(times, segments.ids, num_segments, k, largest=False).row_ids
    return Sampled(first, jnp.minimum(rows_in_segments(segments.ids, num_segments), k))
