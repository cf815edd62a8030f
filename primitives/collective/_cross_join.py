# SPDX-License-Identifier: Apache-2.0
"""Every row of one side with every row of the other, on all shards: ids by division.

A shard knows its pairs by their positions among all pairs, so no row travels: each shard learns the
numbers of valid rows of the others, and turns the ordinal of a valid row into a global id by them.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from ...shardings._compat import is_x64_enabled
from ..contract._typing import Array
from ..kernels.join._pair_counts import MOST_PAIRS, saturating_product, unmatched_rows
from ..local.parts import KeySides
from ._axis import AxisName
from ._copies import bounds_of_shares, count_dtype
from ._radix_sort import global_row_ids
from ._sorted_runs import Dealing


class _ValidRows(NamedTuple):
    """The valid rows of one side on all shards.

    Attributes:
        rows_of_shard: number of rows of each shard, valid or not.
        counts: number of valid rows of each shard, of the dtype of global ids.
        ends: running totals of `counts`.
    """

    rows_of_shard: int
    counts: Array
    ends: Array

    @property
    def total(self) -> Array:
        """Number of valid rows of all shards."""
        return self.ends[-1]

    def ids(self, ordinals: Array) -> Array:
        """Global ids of valid rows by their ordinal among those of all shards."""
        ordinals = ordinals.astype(self.ends.dtype)
        shard = jnp.searchsorted(self.ends, ordinals, side="right").astype(jnp.int32)
        shard = jnp.minimum(shard, self.ends.shape[0] - 1)
        row = ordinals - (self.ends - self.counts)[shard]
        return shard.astype(row.dtype) * self.rows_of_shard + row


def cross_pairs(
    sides: KeySides, dealing: Dealing
) -> tuple[Array, Array, Array, Array, tuple[Array, Array]]:
    """A shard's share of all pairs, by left row, then right row.

    Returns:
        Global ids of left and right rows, -1 in padding; the number of pairs of this shard and of
        all shards; and the numbers of left and right rows without a partner.
    """
    assert dealing.capacity is not None
    left, right = _valid_rows(sides, dealing.axis_name)
    total = _product(left.total, right.total)
    shard = jax.lax.axis_index(dealing.axis_name)
    bounds = bounds_of_shares(total, dealing)
    count = jnp.diff(bounds)[shard]
    own = jax.lax.iota(bounds.dtype, dealing.capacity)
    is_pair = own < count
    divisor = jnp.maximum(right.total, 1).astype(bounds.dtype)
    position = jnp.where(is_pair, bounds[shard] + own, 0)
    rows = left.ids(position // divisor), right.ids(position % divisor)
    left_rows, right_rows = (jnp.where(is_pair, ids, -1) for ids in rows)
    num_unmatched = (
        _saturated(unmatched_rows(left.total[None], right.total[None])),
        _saturated(unmatched_rows(right.total[None], left.total[None])),
    )
    return left_rows, right_rows, _saturated(count), total, num_unmatched


def cross_size(sides: KeySides, axis_name: AxisName) -> Array:
    """Counts all pairs: int64, or without x64 mode int32 that saturates."""
    left, right = _valid_rows(sides, axis_name)
    return _product(left.total, right.total)


def _valid_rows(sides: KeySides, axis_name: AxisName) -> tuple[_ValidRows, _ValidRows]:
    def of_side(columns: tuple[Array, ...], num_valid: Array) -> _ValidRows:
        rows_of_shard = columns[0].shape[0]
        dtype = global_row_ids(rows_of_shard, axis_name, "join").dtype
        counts = jax.lax.all_gather(num_valid, axis_name, to="invarying").astype(dtype)
        return _ValidRows(rows_of_shard, counts, jnp.cumsum(counts, dtype=dtype))

    return of_side(sides.a, sides.num_a), of_side(sides.b, sides.num_b)


def _product(num_left: Array, num_right: Array) -> Array:
    if is_x64_enabled():
        return num_left.astype(count_dtype()) * num_right.astype(count_dtype())
    return saturating_product(num_left, num_right)


def _saturated(count: Array) -> Array:
    return jnp.minimum(count, count.dtype.type(MOST_PAIRS)).astype(jnp.int32)
