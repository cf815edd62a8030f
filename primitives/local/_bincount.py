# SPDX-License-Identifier: Apache-2.0
"""Counts of bins in one column of ids or in many, as of the features of a tree learner."""

import functools
from typing import Any

import jax
import jax.numpy as jnp

from ..contract._arguments import (
    MAX_SHARD_ROWS,
    as_array,
    as_num_valid,
    as_rows,
    as_static_int,
    num_rows_of,
    type_of,
)
from ..contract._typing import Array, ArrayLike, Integer, PyTree, Shaped
from ..tiers._tiered import tiered
from ._one_device import OneDevice
from ._segment_reduce import segment_sum
from ._segment_rows import rows_in_segments
from ._segments import place_segment_ids


def bincount(
    bin_ids: Integer[ArrayLike, "rows *columns"],
    num_bins: int,
    *,
    weights: PyTree | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> PyTree | Shaped[Array, "*columns bins"]:
    """Counts the rows of each bin, or adds up their weights, in one column of ids or in many.

    For each column it is `segment_sum` of the same weights: the histograms of gradients by feature
    from which a boosted tree takes its splits.

    Args:
        bin_ids: bin of each row, integers of shape `(rows,)` or `(rows, columns)`. Rows with an id
            outside `[0, num_bins)` are dropped from that column.
        num_bins: number of bins. Static.
        weights: an array of shape `(rows, ...)`, or a pytree of them; one for each row by default.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        Counts of shape `(columns, num_bins)`, int32; with `weights` a pytree like them, of shape
        `(columns, num_bins, ...)`. Without the first axis if `bin_ids` are one column.

    Raises:
        TypeError: `bin_ids` are not integers, or `num_bins` is traced.
        ValueError: `bin_ids` have no or more than two dimensions, `num_bins` is less than one, or
            lengths differ.

    Cost:
        For each column that of `segment_sum`, one column after the other. No communication.

    Guarantees:
        Deterministic; weights are added as in `segment_sum`; differentiable in `weights`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> bin_ids = jnp.array([[0, 1], [2, 1], [0, 0]])
        >>> local.bincount(bin_ids, 3).tolist()
        [[2, 0, 1], [1, 2, 0]]
        >>> local.bincount(bin_ids, 3, weights=jnp.array([0.5, 2.0, 3.0])).tolist()
        [[3.5, 0.0, 2.0], [3.0, 2.5, 0.0]]
    """
    caller = "bincount"
    ids, num_bins, weights = as_count_arguments(caller, bin_ids, num_bins, weights)
    valid = as_num_valid(num_valid, ids.shape[0], caller)
    return count_columns(ids, weights, valid, num_bins, OneDevice())


def as_count_arguments(
    caller: str, bin_ids: Any, num_bins: Any, weights: Any
) -> tuple[Array, int, Any]:
    """Checks the arguments that all levels share."""
    ids = as_array(bin_ids, caller, "bin_ids")
    if not jnp.issubdtype(ids.dtype, jnp.integer):
        raise TypeError(f"{caller}: bin_ids must be integers, got {type_of(ids)}.")
    if ids.ndim not in (1, 2):
        raise ValueError(
            f"{caller}: bin_ids must have a row axis, and may have one for columns, got "
            f"{type_of(ids)}. Use jax.vmap for a batch."
        )
    num_bins = as_static_int(num_bins, caller, "num_bins", 1, MAX_SHARD_ROWS)
    if weights is not None:
        num_rows_of(weights, caller, "weights")
    return ids, num_bins, as_rows(weights, ids.shape[0], caller, "weights")


@functools.partial(tiered, static_argnums=(3, 4))
def count_columns(ids: Array, weights: Any, valid: Array, num_bins: int, over: Any) -> Any:
    """Counts checked arguments, on one device or over shards."""

    def count(column: Array) -> Any:
        placed = place_segment_ids(column, num_bins, valid, is_exact=False)
        if weights is None:
            return rows_in_segments(placed, num_bins)
        return segment_sum(weights, placed, num_bins)

    # A loop: weights that `vmap` repeated for each column would have to be read for each.
    partial = count(ids) if ids.ndim == 1 else jax.lax.map(count, ids.T)
    return jax.tree.map(over.whole_total, partial)
