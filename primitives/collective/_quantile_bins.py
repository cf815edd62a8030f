# SPDX-License-Identifier: Apache-2.0
"""Bins of about equally many of the rows of a mesh axis."""

import jax
import jax.numpy as jnp

from ..contract._arguments import as_num_valid
from ..contract._typing import ArrayLike, Integer
from ..local import QuantileBins
from ..local.parts import as_bin_arguments, has_bin, place_in_bins, ranks_of_parts
from ._axis import AxisName, as_shards, num_shards_on
from ._select_rank import select_wide
from ._wide_counts import WideCount, psum_wide, subtract, widen


def quantile_bins(
    x: ArrayLike,
    num_bins: int,
    *,
    axis_name: AxisName,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> QuantileBins:
    """Divides the rows of all shards into bins of about equally many rows.

    Args:
        x: this shard's elements, of shape `(rows,)` and any key dtype.
        num_bins: number of bins, from 1 to 65,535. Static.
        axis_name: mesh axis of the rows, or a tuple of axes.
        num_valid: number of valid rows of this shard, at its front; all rows by default.

    Returns:
        `QuantileBins(bin_ids, edges)`: the bin of each of this shard's rows, int32, `num_bins` for
        NaN and for padding; and the inner edges, the same on every shard. Edge `b` is a row: of n
        rows that are not NaN that of rank `(b + 1) * (n - 1) // num_bins`. Without such rows edges
        are zeros.

    Raises:
        TypeError: a dtype that is not a key dtype, or `num_bins` is traced.
        ValueError: `num_bins` is out of range, or `axis_name` is not an axis of the enclosing
            `shard_map`.

    Cost:
        A local sort, the messages of `select_rank` for each edge, and O(rows x log(num_bins)).

    Guarantees:
        Deterministic; does not depend on the number of shards. Edges are differentiable in `x`.

    Example:
        Two shards, two bins:

            shard 0   x [7 1]
            shard 1   x [5 3]
            ->
            shard 0   bin_ids [1 0]   edges [3]
            shard 1   bin_ids [1 0]   edges [3]
    """
    caller = "quantile_bins"
    num_shards_on(axis_name, caller)
    column, num_bins = as_bin_arguments(caller, x, num_bins)
    valid = as_num_valid(num_valid, column.shape[0], caller)
    edges = jnp.zeros(num_bins - 1, column.dtype)
    if column.shape[0] == 0:
        return place_in_bins(column, edges, valid)
    column, valid = as_shards((column, valid), axis_name)
    of_shard = jnp.sum(has_bin(column, valid), dtype=jnp.int32)
    count = psum_wide(of_shard, axis_name)
    if num_bins > 1:
        last = subtract(count, widen(jnp.ones((), jnp.int32)))
        wanted = WideCount(*ranks_of_parts(*last, num_bins))
        # NaN comes after all numbers, so the numbers have the first ranks.
        total = psum_wide(valid, axis_name)
        found = select_wide(column, wanted, total, valid, axis_name)
        is_any = jax.lax.bitwise_or(count.high, count.low) != 0
        edges = jnp.where(is_any, found, edges)
    return place_in_bins(column, edges, valid)
