# SPDX-License-Identifier: Apache-2.0
"""Combines partial results of segments on one device: the identity.

The collectives have a class with the same methods. Results cover all segments on every shard,
except those of `total`, `product`, `piece` and `select`, which may be this shard's piece.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from ..contract._take import take_rows
from ..contract._typing import Array


@dataclass(frozen=True)
class OneDevice:
    """The partial results of one device are the final ones."""

    def total(self, partial: Array) -> Array:
        """The sum over shards."""
        return partial

    def whole_total(self, partial: Array) -> Array:
        """The sum over shards, for all segments."""
        return partial

    def product(self, partial: Array) -> Array:
        """The product over shards."""
        return partial

    def extreme(self, words: Array, is_max: bool) -> Array:
        """The minimum or maximum over shards."""
        del is_max
        return words

    def piece(self, whole: Array) -> Array:
        """The segments of this shard."""
        return whole

    def is_owner(self, has_row: Array, is_last: bool = False) -> Array:
        """Whether this shard is the first or last one with a row."""
        del is_last
        return has_row

    def global_row_ids(self, rows: Array, num_rows: int) -> Array:
        """Global row ids."""
        del num_rows
        return rows

    def select(self, leaf: Array, rows: Array, is_owner: Array) -> Array:
        """The owners' rows, bit for bit; zeros without an owner."""
        return _where_bits(is_owner, take_rows(leaf, rows, is_unique=False))


def _where_bits(keep: Array, rows: Array) -> Array:
    keep = keep.reshape(-1, *(1,) * (rows.ndim - 1))
    if rows.dtype == jnp.bfloat16:
        # XLA on CPU moves bfloat16 through float32, which rewrites NaNs.
        words = jax.lax.bitcast_convert_type(rows, jnp.uint16)
        words = jnp.where(keep, words, jnp.uint16(0))
        return jax.lax.bitcast_convert_type(words, rows.dtype)
    return jnp.where(keep, rows, jnp.zeros((), rows.dtype))
