# SPDX-License-Identifier: Apache-2.0
"""Every row of one side with every row of the other: ids by division."""

import jax
import jax.numpy as jnp

from ...shardings._compat import is_x64_enabled
from ..contract._typing import Array
from ..kernels.join._join import Pairs
from ..kernels.join._pair_counts import saturating_product


def cross_pairs(num_left: Array, num_right: Array, capacity: int) -> Pairs:
    """Pairs the first `num_left` rows with the first `num_right`, by left row, then right row."""
    position = jax.lax.iota(jnp.int32, capacity)
    count = saturating_product(num_left, num_right)
    is_pair = position < count
    divisor = jnp.maximum(num_right, 1)
    return Pairs(
        jnp.where(is_pair, position // divisor, -1),
        jnp.where(is_pair, position % divisor, -1),
        count,
        unmatched(num_left, num_right),
        unmatched(num_right, num_left),
    )


def count_cross(num_left: Array, num_right: Array) -> Array:
    """Counts the pairs: int64, or without x64 mode int32 that saturates."""
    if is_x64_enabled():
        return num_left.astype(jnp.int64) * num_right.astype(jnp.int64)
    return saturating_product(num_left, num_right)


def unmatched(num_rows: Array, num_others: Array) -> Array:
    """Counts the rows of one side without a partner: all of them if the other side is empty."""
    return jnp.where(num_others == 0, num_rows, jnp.zeros_like(num_rows))
