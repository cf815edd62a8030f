# SPDX-License-Identifier: Apache-2.0
"""Stable sort within segments over the shards of a mesh axis."""

from collections.abc import Sequence
from typing import Any

from ..contract._typing import ArrayLike, Integer, Keys, PyTree
from ..local.parts import as_segmented, without_ids
from ._axis import AxisName, num_shards_on
from ._exchange import Transport, check_transport
from ._radix_sort import radix_sort


def segmented_sort(
    keys: Keys,
    segment_ids: Integer[ArrayLike, " rows"],
    *,
    axis_name: AxisName,
    num_segments: int | None = None,
    values: PyTree | None = None,
    descending: bool | Sequence[bool] = False,
    bits: int | Sequence[int | None] | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    transport: Transport = "auto",
) -> Any:
    """Sorts the rows of each segment by their keys, over the shards of a mesh axis.

    The result is in the order of the segment ids, distributed evenly; a segment may cover any
    number of shards.

    Args:
        keys: this shard's keys: one array of shape `(rows,)`, or a tuple of them.
        segment_ids: segment of each row, integers of shape `(rows,)`.
        axis_name: mesh axis of the rows, or a tuple of axes.
        num_segments: promises that ids are in `[0, num_segments)`, so that the sort compares fewer
            bits. Static.
        values: a pytree of arrays with leading axis `rows`, which move with their keys.
        descending: the direction within segments, or one for each key.
        bits: for integer keys, compare only this many of the lowest bits, as in `radix_sort`.
        num_valid: number of valid rows of this shard, at its front; all rows by default.
        transport: transport of the rows; see `partition`.

    Returns:
        This shard's keys, an array or a tuple, like the argument; with values `(keys, values)`.

    Raises:
        TypeError: a dtype that is not a key dtype, or `segment_ids` that are not integers.
        ValueError: arrays of different lengths, or `axis_name` is not an axis of the enclosing
            `shard_map`.

    Cost:
        That of `radix_sort` by the ids and the keys.

    Guarantees:
        Stable; deterministic; exactly balanced; differentiable in `values` and in float keys.

    Example:
        Two shards:

            shard 0   keys [3 1 2]   segment ids [0 0 1]
            shard 1   keys [0 9 7]   segment ids [1 1 1]
            ->
            shard 0   keys [1 3 0]
            shard 1   keys [2 7 9]
    """
    num_shards_on(axis_name, "segmented_sort")
    check_transport(transport, "segmented_sort")
    keys_with_ids, is_tuple, options = as_segmented(
        keys, segment_ids, num_segments, values, descending, bits, num_valid
    )
    result = radix_sort(keys_with_ids, axis_name=axis_name, transport=transport, **options)
    return without_ids(result, is_tuple, values)
