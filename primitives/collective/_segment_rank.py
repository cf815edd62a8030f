# SPDX-License-Identifier: Apache-2.0
"""Ranks of rows within segments that may lie over several shards."""

from collections.abc import Sequence

import jax.numpy as jnp

from ..contract._typing import Array, ArrayLike, Integer, Keys, Shaped
from ..local.parts import RankMethod, as_rank_arguments, rank_dtype, ranks_of
from ._axis import AxisName, num_shards_on
from ._exchange import Transport, check_transport
from ._segment_rows import sort_segments


def segment_rank(
    x: Keys,
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    *,
    axis_name: AxisName,
    method: RankMethod = "average",
    descending: bool | Sequence[bool] = False,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    transport: Transport = "auto",
) -> Shaped[Array, " rows"]:
    """Ranks the rows of each segment by their values, from 1.

    Args:
        x: this shard's rows: an array of any key dtype, or a tuple of them, most significant
            first. Rows with a NaN have no rank; -0.0 equals 0.0.
        segment_ids: segment of each row, integers of shape `(rows,)`, in any order. Rows with an id
            outside `[0, num_segments)` belong to no segment.
        num_segments: number of segments. Static.
        axis_name: mesh axis of the rows, or a tuple of axes.
        method: the rank of equal rows: the "average", "min" or "max" of their positions in the
            sorted segment; "first" ranks them in row order; "dense" counts distinct values.
        descending: the direction, or one for each array of `x`.
        num_valid: number of valid rows of this shard, at its front; all rows by default.
        transport: how the rows travel; see `partition`.

    Returns:
        The rank of each row, of shape `(rows,)`. For "average" of JAX's default float, NaN for rows
        without a rank; else int32, 0 for rows without a rank; int64 if the mesh holds more than
        2^31 rows.

    Raises:
        TypeError: a dtype that cannot be sorted by, `segment_ids` that are not integers, or
            `num_segments` is traced.
        ValueError: arrays of different lengths, an unknown `method`, `num_segments` is less than
            one, `transport` is unknown, or `axis_name` is not an axis of the enclosing `shard_map`.

    Cost:
        Work O(rows x (id and key bytes)). Communication: a `radix_sort` by id and key, one
        `all_gather` of a row for each scan, and a `partition` of the ranks.

    Guarantees:
        Deterministic; does not depend on the mesh. Ranks are exact, "average" up to 2^23 rows of a
        segment without x64 mode.

    References:
        `scipy.stats.rankdata`, for the methods.

    Example:
        Two shards, two segments, "average":

            shard 0   x [30 10 30]   segment ids [1 0 1]
            shard 1   x [20 10 10]   segment ids [1 0 7]
            ->
            shard 0   [2.5 1.5 2.5]
            shard 1   [1.0 1.5 nan]
    """
    caller = "segment_rank"
    num_shards_on(axis_name, caller)
    check_transport(transport, caller)
    segments, columns, directions = as_rank_arguments(
        caller, x, segment_ids, num_segments, method, descending, num_valid
    )
    if columns[0].shape[0] == 0:
        return jnp.zeros(0, rank_dtype(method))
    rows = sort_segments(
        segments, columns, directions, axis_name=axis_name, transport=transport, caller=caller
    )
    return ranks_of(rows, method)
