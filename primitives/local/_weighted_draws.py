# SPDX-License-Identifier: Apache-2.0
"""Draws of rows with replacement, by the inverse of the running sum of their weights.

Weights are summed in blocks of rows. A draw chooses a block and then, by another random number, a
row in it: float32 tells the rows of one block apart, but not those of millions of rows.
"""

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._typing import Array


def draw_rows(
    key: Array, weights: Array | None, num_valid: Array, num_rows: int, k: int
) -> tuple[Array, Array]:
    """Draws k valid rows; returns their ids, int32, and whether any row can be drawn."""
    if weights is None or num_rows == 0:
        row_ids = jax.random.randint(key, (k,), 0, jnp.maximum(num_valid, 1), jnp.int32)
        return row_ids, num_valid > 0
    is_valid = jax.lax.iota(jnp.int32, num_rows) < num_valid
    weights = jnp.where(is_valid & (weights > 0), weights, np.float32(0))
    # A power of two, near the root of the number of rows.
    width = 1 << (num_rows.bit_length() // 2)
    blocks = jnp.pad(weights, (0, -num_rows % width)).reshape(-1, width)
    sums = running_sums(blocks)
    block_sums = running_sums(sums[:, -1])
    for_block, for_row = jax.random.uniform(key, (2, k), jnp.float32)
    block = _first_above(block_sums, jnp.zeros_like(for_block, jnp.int32), for_block)
    row = _first_above(sums.reshape(-1), block * width, for_row, width)
    return block * width + row, block_sums[-1] > 0


def running_sums(weights: Array) -> Array:
    """The running sums of the last axis, which grow at no weight of zero.

    Sums of different trees are rounded apart, so that they might decrease, or grow at a zero.
    """
    axis = weights.ndim - 1
    sums = jnp.where(weights > 0, jnp.cumsum(weights, axis=axis), 0)
    return jax.lax.cummax(sums, axis=axis)


def _first_above(sums: Array, start: Array, fraction: Array, width: int | None = None) -> Array:
    """In each stretch of running sums the first that is above a fraction of its last."""
    width = sums.shape[0] if width is None else width
    total = sums[start + (width - 1)]
    # Below the total, even where the product is rounded up to it.
    target = jnp.minimum(fraction * total, jnp.nextafter(total, np.float32(0)))
    position = jnp.zeros_like(start)
    step = 1 << max(width.bit_length() - 1, 0)
    while step:
        probe = position + step
        inside = probe <= width
        value = sums[start + jnp.minimum(probe, width) - 1]
        position = jnp.where(inside & (value <= target), probe, position)
        step //= 2
    return jnp.minimum(position, width - 1)
