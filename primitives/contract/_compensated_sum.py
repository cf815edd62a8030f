# SPDX-License-Identifier: Apache-2.0
"""Sums of floats that keep what their additions round away.

A pair is a sum and its rest: the sum of the rounding errors of all additions so far. The C++
kernels have the same operations in the same order (`base/compensated_sum.h`).

References:
    Ogita, Rump, Oishi (2005), "Accurate sum and dot product", SIAM J. Sci. Comput. 26.
"""

from typing import TypeAlias

import jax.numpy as jnp
import numpy as np

from ._typing import Array

Pair: TypeAlias = tuple[Array, Array]


def two_sum(left: Array, right: Array) -> Pair:
    """The rounded sum of two floats, and its error (Knuth)."""
    total = left + right
    added = total - left
    return total, (left - (total - added)) + (right - added)


def plus_number(pair: Pair, number: Array) -> Pair:
    """Adds a number to a pair."""
    total, error = two_sum(pair[0], number)
    return total, pair[1] + error


def plus_pair(left: Pair, right: Pair) -> Pair:
    """Adds two pairs."""
    return plus_number((left[0], left[1] + right[1]), right[0])


def rounded(pair: Pair) -> Array:
    """The sum of a pair. The error of adding to an infinity or NaN is NaN: it does not count."""
    total = pair[0] + pair[1]
    # A sum without rest keeps the sign of its zero.
    return jnp.where(jnp.isfinite(total) & (pair[1] != 0), total, pair[0])


def is_compensated(rows: Array) -> bool:
    """Whether sums of rows keep their rest on CPU: those of one float of 32 or 64 bits each."""
    return rows.ndim == 1 and rows.dtype in (np.float32, np.float64)
