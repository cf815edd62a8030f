# SPDX-License-Identifier: Apache-2.0
"""Bins of about equally many rows, as tree learners and encoders of features make them."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._arguments import as_key, as_num_valid, as_static_int
from ..contract._typing import Array, ArrayLike, Int, Integer, Shaped
from ..tiers._tiered import tiered
from ._quantile_ranks import ranks_of_parts
from ._searchsorted import searchsorted
from ._select_rank import select_rank

# As many as ids of 16 bits hold.
MOST_BINS = 2**16 - 1


class QuantileBins(NamedTuple):
    """The bin of each row; rows of bin `b` are above `edges[b - 1]` and at most `edges[b]`."""

    bin_ids: Int[Array, " rows"]
    edges: Shaped[Array, " bins-1"]


def quantile_bins(
    x: ArrayLike, num_bins: int, *, num_valid: int | Integer[ArrayLike, ""] | None = None
) -> QuantileBins:
    """Divides the rows of a column into bins of about equally many rows.

    Args:
        x: array of shape `(rows,)`, of any key dtype.
        num_bins: number of bins, from 1 to 65,535. Static.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        `QuantileBins(bin_ids, edges)`: the bin of each row, int32, `num_bins` for NaN and for
        padding; and the inner edges, of the dtype of `x`. Edge `b` is a row: of n rows that are
        not NaN that of rank `(b + 1) * (n - 1) // num_bins`, a quantile by the rule "lower".
        Without such rows edges are zeros. For new rows the bins are `searchsorted(edges, x)`.

    Raises:
        TypeError: a dtype that is not a key dtype, or `num_bins` is traced.
        ValueError: `num_bins` is out of range.

    Cost:
        A sort, and O(rows x log(num_bins)). No communication.

    Guarantees:
        Deterministic; equal rows lie in one bin, so that some are empty where many are equal.
        Edges are differentiable in `x`.

    References:
        Ke et al. (2017), "LightGBM: a highly efficient gradient boosting decision tree".

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> binned = local.quantile_bins(jnp.array([7.0, 1, 5, jnp.nan, 3]), 2)
        >>> binned.bin_ids.tolist(), binned.edges.tolist()
        ([1, 0, 1, 2, 0], [3.0])
    """
    caller = "quantile_bins"
    column, num_bins = as_bin_arguments(caller, x, num_bins)
    valid = as_num_valid(num_valid, column.shape[0], caller)
    return _bins_on_one_device(column, valid, num_bins)


def as_bin_arguments(caller: str, x: Any, num_bins: Any, num_shards: int = 1) -> tuple[Array, int]:
    """Checks the column and the number of bins."""
    column = as_key(x, caller, num_shards=num_shards)
    return column, as_static_int(num_bins, caller, "num_bins", 1, MOST_BINS)


@functools.partial(tiered, static_argnums=2)
def _bins_on_one_device(column: Array, valid: Array, num_bins: int) -> QuantileBins:
    count = jnp.sum(has_bin(column, valid), dtype=jnp.int32)
    if column.shape[0] == 0:
        return place_in_bins(column, jnp.zeros(num_bins - 1, column.dtype), valid)
    last = jnp.maximum(count - 1, 0).astype(jnp.uint32)
    ranks = ranks_of_parts(jnp.zeros_like(last), last, num_bins)[1].astype(jnp.int32)
    # NaN comes after all numbers.
    edges = select_rank(column, ranks, num_valid=valid)
    edges = jnp.where(count > 0, edges, jnp.zeros((), edges.dtype))
    return place_in_bins(column, edges, valid)


def has_bin(column: Array, valid: Array) -> Array:
    """Whether a row is valid and not NaN."""
    is_valid = jax.lax.iota(jnp.int32, column.shape[0]) < valid
    is_float = jnp.issubdtype(column.dtype, jnp.floating)
    return is_valid & ~jnp.isnan(column) if is_float else is_valid


def place_in_bins(column: Array, edges: Array, valid: Array) -> QuantileBins:
    """Finds the bin of each row of a column."""
    bin_ids = searchsorted(edges, column)
    outside = np.int32(edges.shape[0] + 1)
    return QuantileBins(jnp.where(has_bin(column, valid), bin_ids, outside), edges)
