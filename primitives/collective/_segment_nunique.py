# SPDX-License-Identifier: Apache-2.0
"""Numbers of distinct rows of segments that may lie over several shards."""

import jax.numpy as jnp
import numpy as np

from ..contract._arguments import as_flag
from ..contract._typing import Array, ArrayLike, Int, Integer, Keys
from ..local.parts import as_nunique_arguments
from ._axis import AxisName, num_shards_on
from ._exchange import Transport, check_transport
from ._segment_ranges import Ranges, piece_of
from ._segment_rows import sort_segments


def segment_nunique(
    x: Keys,
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    *,
    axis_name: AxisName,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    scattered: bool = False,
    transport: Transport = "auto",
) -> Int[Array, " segments"]:
    """Counts the distinct values of each segment.

    Args:
        x: this shard's rows: an array of any key dtype, or a tuple of them, for distinct rows.
            Rows with a NaN are not counted; -0.0 equals 0.0.
        segment_ids: segment of each row, integers of shape `(rows,)`, in any order. Rows with an id
            outside `[0, num_segments)` belong to no segment.
        num_segments: number of segments. Static.
        axis_name: mesh axis of the rows, or a tuple of axes.
        num_valid: number of valid rows of this shard, at its front; all rows by default.
        scattered: give each shard only its piece of the segments, as in `segment_reduce`. Static.
        transport: how the rows travel; see `partition`.

    Returns:
        The counts, int32 of shape `(num_segments,)`, the same on every shard. With `scattered`,
        this shard's piece.

    Raises:
        TypeError: a dtype that cannot be sorted by, `segment_ids` that are not integers, or
            `num_segments` is traced.
        ValueError: arrays of different lengths, `num_segments` is less than one, `transport` is
            unknown, or `axis_name` is not an axis of the enclosing `shard_map`.

    Cost:
        Work O(rows x (id and key bytes) + num_segments). Communication: a `radix_sort` by id and
        key, and one `psum` of the counts; with `scattered` two `partition` of a count for each
        segment of a shard.

    Guarantees:
        Deterministic and exact; does not depend on the mesh.

    Example:
        Two shards, three segments:

            shard 0   x [30 10 30]   segment ids [1 0 1]
            shard 1   x [20 10 10]   segment ids [1 0 7]
            ->
            both      [1 2 0]
    """
    caller = "segment_nunique"
    scattered = as_flag(scattered, caller, "scattered")
    num_shards = num_shards_on(axis_name, caller)
    check_transport(transport, caller)
    segments, columns = as_nunique_arguments(caller, x, segment_ids, num_segments, num_valid)
    num_segments = segments.num_segments
    if columns[0].shape[0] == 0:
        shape = piece_of(num_segments, num_shards) if scattered else num_segments
        return jnp.zeros(shape, jnp.int32)
    rows = sort_segments(
        segments,
        columns,
        (False,) * len(columns),
        axis_name=axis_name,
        transport=transport,
        caller=caller,
        is_put_back=False,
    )
    if not scattered:
        return rows.counts(rows.tie_heads(), num_segments)
    is_counted = rows.tie_heads() & (rows.ids < num_segments)
    ids = jnp.where(is_counted, rows.ids, np.int32(-1))
    return Ranges(ids, num_segments, axis_name, transport, caller).reduce(None, "count")
