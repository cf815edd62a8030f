# SPDX-License-Identifier: Apache-2.0
"""Draws of rows with replacement, by the inverse of the running sum of their weights.

Weights are rounded to integers, whose sums of 64 bits are exact. So the draws do not depend on how
the rows lie on devices, and the rows of any number are told apart.
"""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np

from ..contract._random_rows import INFINITE_WEIGHT, integers_below
from ..contract._typing import Array
from ._scan import inclusive_scan
from ._searchsorted import searchsorted

# Two words of 32 bits, most significant first.
Words = tuple[Array, Array]
# Binary digits of a weight between one and two.
WEIGHT_BITS = 29


def draw_rows(draws: Words, weights: Array | None, num_valid: Array) -> tuple[Array, Array]:
    """Draws a valid row for each pair of random words.

    Args:
        draws: 64 random bits for each draw.
        weights: those of `comparable_weights`; all rows are equally likely if None.
        num_valid: number of valid rows, int32.

    Returns:
        The ids of the drawn rows, int32, and whether any row can be drawn.
    """
    if weights is None:
        num_rows = num_valid.astype(jnp.uint32)
        _, row_ids = integers_below(draws, (jnp.zeros_like(num_rows), num_rows))
        return row_ids.astype(jnp.int32), num_valid > 0
    if not weights.shape[0]:
        return jnp.zeros(draws[0].shape, jnp.int32), jnp.asarray(False)
    has_infinite = jnp.max(weights) == INFINITE_WEIGHT
    sums = running_sums(integer_weights(weights, has_infinite, weights.shape[0]), inclusive_scan)
    total = sums[0][-1], sums[1][-1]
    row_ids = searchsorted(sums, integers_below(draws, total), side="right")
    # With a total of zero every draw is past the last row.
    return row_ids, (total[0] | total[1]) > 0


def integer_weights(weights: Array, has_infinite: Array, num_rows: int) -> Array:
    """Weights of `comparable_weights` as uint32, whose sum over `num_rows` rows is below 2^64.

    A weight is at least one unit, 2^-29 of a weight of one. Beside infinite weights, others are
    never drawn.
    """
    bits = WEIGHT_BITS - max(num_rows.bit_length() - 33, 0)
    is_drawn = (weights > 0) & (~has_infinite | (weights == INFINITE_WEIGHT))
    units = jnp.where(has_infinite, 1, weights * np.float32(2**bits)).astype(jnp.uint32)
    return jnp.where(is_drawn, jnp.maximum(units, np.uint32(1)), np.uint32(0))


def running_sums(units: Array, scan: Callable[[Array], Array]) -> Words:
    """The running sums of words, as two words; `scan` gives those of one word."""
    low = scan(units)
    # The sum of one word has wrapped around where it is below what was added.
    return scan((low < units).astype(jnp.uint32)), low
