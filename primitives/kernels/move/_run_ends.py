# SPDX-License-Identifier: Apache-2.0
"""The first and the last rows of runs of equal words."""

import jax
import jax.numpy as jnp

from ...contract._typing import Array


def first_of_equals(sorted_words: tuple[Array, ...]) -> Array:
    """Flags rows that differ from the previous row in any of the columns."""
    num_rows = sorted_words[0].shape[0]
    is_first = jax.lax.iota(jnp.int32, num_rows) == 0
    for word in sorted_words:
        is_first |= word != jnp.roll(word, 1)
    return is_first


def last_of_runs(is_head: Array, num_valid: Array) -> Array:
    """Flags the last row of each run of valid rows; `is_head` flags the first ones."""
    rows = jax.lax.iota(jnp.int32, is_head.shape[0])
    is_before_head = jnp.roll(is_head, -1) & (rows < num_valid - 1)
    return is_before_head | (rows == num_valid - 1)
