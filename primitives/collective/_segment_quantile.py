# SPDX-License-Identifier: Apache-2.0
"""Quantiles of segments that may lie over several shards."""

from typing import Any

import jax.numpy as jnp

from ..contract._arguments import as_flag
from ..contract._typing import Array, ArrayLike, Integer, Shaped
from ..local.parts import Interpolation, as_segment_quantile_arguments, quantiles_of
from ._axis import AxisName, num_shards_on
from ._exchange import Transport, check_transport
from ._segment_ranges import SortedRanges, piece_of
from ._segment_rows import sort_segments
from ._select_rank import as_shared


def segment_quantile(
    x: Shaped[ArrayLike, " rows"],
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    q: Any = 0.5,
    *,
    axis_name: AxisName,
    interpolation: Interpolation = "linear",
    dtype: Any = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    scattered: bool = False,
    transport: Transport = "auto",
) -> Shaped[Array, "segments ..."]:
    """Finds the quantiles of each segment; the median by default.

    Args:
        x: this shard's rows, an array of any key dtype. NaN rows are skipped.
        segment_ids: segment of each row, integers of shape `(rows,)`, in any order. Rows with an id
            outside `[0, num_segments)` belong to no segment.
        num_segments: number of segments. Static.
        q: numbers of any shape, in [0, 1], the same on every shard. Those that are not known while
            tracing are clipped.
        axis_name: mesh axis of the rows, or a tuple of axes.
        interpolation: the value between two order statistics, as for `quantile`. "linear" is
            `low + (high - low) * fraction`, and "midpoint" is `(low + high) / 2`. Beside an
            infinity both are infinite, and NaN between infinities of both signs.
        dtype: float dtype of the interpolation and of the result; by default that of a float `x`,
            else JAX's default float.
        num_valid: number of valid rows of this shard, at its front; all rows by default.
        scattered: give each shard only its piece of the segments, as in `segment_reduce`. Static.
        transport: how the rows travel; see `partition`.

    Returns:
        The quantiles, of shape `(num_segments, *q.shape)`, the same on every shard; with
        `scattered`, this shard's piece. NaN for a segment without values.

    Raises:
        TypeError: a dtype that cannot be sorted by, `segment_ids` that are not integers, `q` that
            are not numbers, `dtype` that is not a float, or `num_segments` is traced.
        ValueError: arrays of different lengths, a known `q` outside [0, 1], an unknown
            `interpolation`, `num_segments` is less than one, `transport` is unknown, or `axis_name`
            is not an axis of the enclosing `shard_map`.

    Cost:
        Work O(rows x (id and key bytes) + num_segments x quantiles). Communication: a `radix_sort`
        by id and key, and a `psum` of two rows for each quantile; with `scattered` a `gather_rows`
        of them.

    Guarantees:
        Deterministic; does not depend on the mesh; the order statistics are exact. Differentiable
        in `x`.

    Example:
        Two shards, two segments:

            shard 0   x [5 1 4]   segment ids [0 1 0]
            shard 1   x [2 9 3]   segment ids [1 0 7]
            ->
            both      [5.0 1.5]
    """
    caller = "segment_quantile"
    scattered = as_flag(scattered, caller, "scattered")
    num_shards = num_shards_on(axis_name, caller)
    check_transport(transport, caller)
    segments, column, quantiles, dtype = as_segment_quantile_arguments(
        caller, x, segment_ids, num_segments, q, interpolation, dtype, num_valid
    )
    quantiles = as_shared(quantiles, axis_name, caller, "q")
    num_segments = segments.num_segments
    piece = piece_of(num_segments, num_shards) if scattered else num_segments
    if column.shape[0] == 0:
        return jnp.full((piece, *quantiles.shape), jnp.nan, dtype)
    rows = sort_segments(
        segments,
        (column,),
        (False,),
        axis_name=axis_name,
        transport=transport,
        caller=caller,
        is_put_back=False,
    )
    seen = SortedRanges(rows, num_segments) if scattered else rows
    return quantiles_of(seen, piece, quantiles, interpolation, dtype)
