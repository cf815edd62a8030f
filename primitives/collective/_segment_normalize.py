# SPDX-License-Identifier: Apache-2.0
"""Softmax and normalization within segments that may lie over several shards."""

from typing import Any

from ..contract._arguments import as_num_valid
from ..contract._typing import Array, ArrayLike, Float, Integer, PyTree
from ..local.parts import OneDevice, as_epsilon, as_normalize_arguments, scale_rows
from ._axis import AxisName, as_shards, num_shards_on
from ._over_shards import OverShards


def segment_softmax(
    x: PyTree,
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    *,
    axis_name: AxisName,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> PyTree:
    """Divides the exponential of each row by the sum of those of its segment, on any shards.

    Args:
        x: this shard's rows, an array of shape `(rows, ...)` or a pytree of them.
        segment_ids: segment of each row, integers of shape `(rows,)`, in any order. Rows with an id
            outside `[0, num_segments)` belong to no segment.
        num_segments: number of segments. Static.
        axis_name: mesh axis of the rows, or a tuple of axes.
        num_valid: number of valid rows of this shard, at its front; all rows by default.

    Returns:
        A pytree like `x`: integers and bools give JAX's default float, floats their own dtype. Zero
        for rows of no segment, and for the rows of a segment in which all are minus infinity.

    Raises:
        TypeError: `segment_ids` are not integers, `num_segments` is traced, or `x` is complex.
        ValueError: lengths differ, `num_segments` is less than one, or `axis_name` is not an axis
            of the enclosing `shard_map`.

    Cost:
        Work O(rows + num_segments). Communication O(num_segments) for any number of rows: a `pmax`
        of the maxima and a `psum` of the sums.

    Guarantees:
        Deterministic; differentiable in `x`. Exponentials are of distances from the maximum of the
        segment, so that none overflows.

    Example:
        Two shards, two segments:

            shard 0   x [0 5]   segment_ids [0 1]
            shard 1   x [0 3]   segment_ids [0 7]
            ->
            shard 0   [0.5 1.0]
            shard 1   [0.5 0.0]
    """
    return _on_shards("segment_softmax", x, segment_ids, num_segments, axis_name, num_valid, None)


def segment_normalize(
    x: PyTree,
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    *,
    axis_name: AxisName,
    epsilon: float | Float[ArrayLike, ""] = 1e-5,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> PyTree:
    """Gives the rows of each segment, on any shards, a mean of zero and a variance of one.

    Args:
        x: this shard's rows, an array of shape `(rows, ...)` or a pytree of them.
        segment_ids: segment of each row, integers of shape `(rows,)`, in any order. Rows with an id
            outside `[0, num_segments)` belong to no segment.
        num_segments: number of segments. Static.
        axis_name: mesh axis of the rows, or a tuple of axes.
        epsilon: positive number that is added to the variance, so that equal rows give zeros.
        num_valid: number of valid rows of this shard, at its front; all rows by default.

    Returns:
        A pytree like `x`, `(x - mean) / sqrt(variance + epsilon)`: integers and bools give JAX's
        default float, floats their own dtype. Zero for rows of no segment.

    Raises:
        TypeError: `segment_ids` are not integers, `num_segments` is traced, or `x` is complex.
        ValueError: lengths differ, `num_segments` is less than one, a known `epsilon` is not
            positive, or `axis_name` is not an axis of the enclosing `shard_map`.

    Cost:
        Work O(rows + num_segments). Communication O(num_segments) for any number of rows: a `psum`
        of the counts, one of the sums and one of the squares.

    Guarantees:
        Deterministic; differentiable in `x` and `epsilon`. The variance is about the mean, so that
        nothing cancels.

    Example:
        Two shards, two segments, with an `epsilon` of 3:

            shard 0   x [1 5]   segment_ids [0 1]
            shard 1   x [3 4]   segment_ids [0 7]
            ->
            shard 0   [-0.5 0.0]
            shard 1   [ 0.5 0.0]
    """
    caller = "segment_normalize"
    epsilon = as_epsilon(epsilon, caller)
    return _on_shards(caller, x, segment_ids, num_segments, axis_name, num_valid, epsilon)


def _on_shards(
    caller: str,
    x: Any,
    segment_ids: Any,
    num_segments: Any,
    axis_name: AxisName,
    num_valid: Any,
    epsilon: Array | None,
) -> Any:
    """`epsilon` is None for softmax."""
    num_shards = num_shards_on(axis_name, caller)
    x, ids, num_segments = as_normalize_arguments(caller, x, segment_ids, num_segments)
    num_rows = ids.shape[0]
    if num_rows == 0:
        # XLA cannot compile a program over a mesh if all arguments are empty.
        return scale_rows(x, ids, None, epsilon, num_segments, OneDevice())
    valid = None if num_valid is None else as_num_valid(num_valid, num_rows, caller)
    x, ids, valid = as_shards((x, ids, valid), axis_name)
    over = OverShards(axis_name, num_shards, False, caller)
    return scale_rows(x, ids, valid, epsilon, num_segments, over)
