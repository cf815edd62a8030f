# SPDX-License-Identifier: Apache-2.0
"""Counts of bins over a mesh axis."""

from ..contract._arguments import as_num_valid
from ..contract._typing import Array, ArrayLike, Integer, PyTree, Shaped
from ..local.parts import OneDevice, as_count_arguments, count_columns
from ._axis import AxisName, as_shards, num_shards_on
from ._over_shards import OverShards


def bincount(
    bin_ids: Integer[ArrayLike, "rows *columns"],
    num_bins: int,
    *,
    axis_name: AxisName,
    weights: PyTree | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> PyTree | Shaped[Array, "*columns bins"]:
    """Counts the rows of all shards by bin, or adds up their weights, for one column or many.

    Args:
        bin_ids: bin of each of this shard's rows, integers of shape `(rows,)` or `(rows, columns)`.
            Rows with an id outside `[0, num_bins)` are dropped from that column.
        num_bins: number of bins. Static.
        axis_name: mesh axis of the rows, or a tuple of axes.
        weights: an array of shape `(rows, ...)`, or a pytree of them; one for each row by default.
        num_valid: number of valid rows of this shard, at its front; all rows by default.

    Returns:
        Counts of shape `(columns, num_bins)`, int32; with `weights` a pytree like them, of shape
        `(columns, num_bins, ...)`. Without the first axis if `bin_ids` are one column. The same on
        every shard.

    Raises:
        TypeError: `bin_ids` are not integers, or `num_bins` is traced.
        ValueError: `bin_ids` have no or more than two dimensions, `num_bins` is less than one,
            lengths differ, or `axis_name` is not an axis of the enclosing `shard_map`.

    Cost:
        For each column a local `segment_sum`. Communication O(columns x num_bins): a `psum`.

    Guarantees:
        Deterministic; differentiable in `weights`.

    Example:
        Two shards, three bins:

            shard 0   bin_ids [[0 1] [2 1]]
            shard 1   bin_ids [[0 0] [7 2]]
            ->
            both      [[2 0 1] [1 2 1]]
    """
    caller = "bincount"
    num_shards = num_shards_on(axis_name, caller)
    ids, num_bins, weights = as_count_arguments(caller, bin_ids, num_bins, weights)
    valid = as_num_valid(num_valid, ids.shape[0], caller)
    if ids.size == 0:
        # XLA cannot compile a program over a mesh if all arguments are empty.
        return count_columns(ids, weights, valid, num_bins, OneDevice())
    ids, weights, valid = as_shards((ids, weights, valid), axis_name)
    over = OverShards(axis_name, num_shards, False, caller)
    return count_columns(ids, weights, valid, num_bins, over)
