# SPDX-License-Identifier: Apache-2.0
"""Quantiles of segments, by exact order statistics."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._typing import Array, ArrayLike, Integer, Shaped
from ..tiers._tiered import tiered
from ._between_ranks import Interpolation, between_ranks, from_low_end, mean_of_both
from ._quantile import as_quantile_arguments, quantile_dtype
from ._quantile_ranks import quantile_positions
from ._segment_rows import SegmentIds, as_segment_ids, sort_segments


def segment_quantile(
    x: Shaped[ArrayLike, " rows"],
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    q: Any = 0.5,
    *,
    interpolation: Interpolation = "linear",
    dtype: Any = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Shaped[Array, "segments ..."]:
    """Finds the quantiles of each segment; the median by default.

    Args:
        x: array of shape `(rows,)`, of any key dtype. NaN rows are skipped.
        segment_ids: segment of each row, integers of shape `(rows,)`, in any order. Rows with an id
            outside `[0, num_segments)` belong to no segment.
        num_segments: number of segments. Static.
        q: numbers of any shape, in [0, 1]. Those that are not known while tracing are clipped.
        interpolation: the value between two order statistics, as for `quantile`. "linear" is
            `low + (high - low) * fraction`, and "midpoint" is `(low + high) / 2`, without
            overflow. Beside an infinity both are infinite, and NaN between infinities of both
            signs.
        dtype: float dtype of the interpolation and of the result; by default that of a float `x`,
            else JAX's default float.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        The quantiles, of shape `(num_segments, *q.shape)`. NaN for a segment without values.

    Raises:
        TypeError: a dtype that cannot be sorted by, `segment_ids` that are not integers, `q` that
            are not numbers, `dtype` that is not a float, or `num_segments` is traced.
        ValueError: arrays of different lengths, a known `q` outside [0, 1], an unknown
            `interpolation`, or `num_segments` is less than one.

    Cost:
        Work O(rows x (id and key bytes) + num_segments x quantiles): one sort. No communication.

    Guarantees:
        Deterministic; the order statistics are exact, and "linear" rounds the product before the
        sum, as pandas does. Differentiable in `x`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> x, segment_ids = jnp.array([5.0, 1.0, 4.0, 2.0, 9.0]), jnp.array([0, 1, 0, 1, 0])
        >>> local.segment_quantile(x, segment_ids, 2).tolist()
        [5.0, 1.5]
        >>> local.segment_quantile(x, segment_ids, 2, [0.0, 1.0]).tolist()
        [[4.0, 9.0], [1.0, 2.0]]
    """
    segments, column, q, dtype = as_segment_quantile_arguments(
        "segment_quantile", x, segment_ids, num_segments, q, interpolation, dtype, num_valid
    )
    if column.shape[0] == 0:
        return jnp.full((segments.num_segments, *q.shape), jnp.nan, dtype)
    return _find(segments.ids, column, q, segments.num_segments, interpolation, dtype)


@functools.partial(tiered, static_argnums=(3, 4, 5))
def _find(
    ids: Array,
    column: Array,
    q: Array,
    num_segments: int,
    interpolation: Interpolation,
    dtype: np.dtype,
) -> Array:
    rows = sort_segments(SegmentIds(ids, num_segments), (column,), (False,))
    return quantiles_of(rows, num_segments, q, interpolation, dtype)


def as_segment_quantile_arguments(
    caller: str,
    x: Any,
    segment_ids: Any,
    num_segments: Any,
    q: Any,
    interpolation: Any,
    dtype: Any,
    num_valid: Any,
    num_shards: int = 1,
) -> tuple[SegmentIds, Array, Array, np.dtype]:
    """Checks the arguments; returns the segments of rows without a NaN, the column, `q` as floats
    in [0, 1] and the dtype of the result.
    """
    column, q = as_quantile_arguments(caller, x, q, interpolation, num_shards)
    dtype = np.dtype(quantile_dtype(column.dtype) if dtype is None else dtype)
    if not jnp.issubdtype(dtype, jnp.floating):
        raise TypeError(f"{caller}: dtype must be a float, got {dtype}.")
    if jax.dtypes.canonicalize_dtype(dtype) != dtype:
        raise TypeError(
            f"{caller}: dtype {dtype} needs JAX's x64 mode. "
            'Call jax.config.update("jax_enable_x64", True) first, or use float32.'
        )
    segments = as_segment_ids(segment_ids, num_segments, column.shape[0], num_valid, caller)
    return segments.of_numbers((column,)), column, q, dtype


def quantiles_of(
    rows: Any, num_segments: int, q: Array, interpolation: Interpolation, dtype: np.dtype
) -> Array:
    """The quantiles of sorted segments of one key."""
    offsets = rows.offsets(num_segments)
    counts = jnp.diff(offsets)[:, None]
    last = jnp.maximum(counts - 1, 0)
    places = quantile_positions(*_words_of(last), q.reshape(1, -1))
    rank = jnp.minimum(_count_of(places.high, places.low, last.dtype), last)
    ranks = jnp.concatenate([rank, jnp.minimum(rank + 1, last)], axis=1)
    positions = jnp.where(counts > 0, offsets[:-1, None] + ranks, jnp.zeros_like(ranks))
    values = rows.at(rows.keys[0], positions.reshape(-1)).reshape(ranks.shape)
    wide = dtype if dtype.itemsize >= 4 else np.dtype(np.float32)
    low, high = jnp.split(values.astype(wide), 2, axis=1)
    is_odd = (places.low & np.uint32(1)) != 0
    # The part is rounded apart from the sum: no compiler knows that no count is negative.
    linear = functools.partial(
        from_low_end, part_of=lambda part: jnp.where(counts >= 0, part, jnp.zeros_like(part))
    )
    result = between_ranks(
        low, high, places.fraction, is_odd, interpolation,
        linear=linear, midpoint=mean_of_both,
    )  # fmt: skip
    is_nothing = (counts == 0) | jnp.isnan(q.reshape(1, -1))
    result = jnp.where(is_nothing, wide.type(np.nan), result)
    return result.astype(dtype).reshape(num_segments, *q.shape)


def _words_of(counts: Array) -> tuple[Array, Array]:
    if counts.dtype.itemsize < 8:
        return jnp.zeros(counts.shape, jnp.uint32), counts.astype(jnp.uint32)
    return (counts >> 32).astype(jnp.uint32), counts.astype(jnp.uint32)


def _count_of(high: Array, low: Array, dtype: Any) -> Array:
    if np.dtype(dtype).itemsize < 8:
        return low.astype(dtype)
    return (high.astype(dtype) << 32) | low.astype(dtype)
