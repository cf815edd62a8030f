# SPDX-License-Identifier: Apache-2.0
"""How what each device has of a segment becomes one, where there is one device.

The collectives have a class with the same methods. Results are whole, all segments on every shard,
but for those of `total`, `product`, `piece` and `select`, which may be each shard's piece of them.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp

from ..contract._typing import Array
from ._take import take_rows


@dataclass(frozen=True)
class OneDevice:
    """What this device has of a segment is all of it."""

    def total(self, partial: Array) -> Array:
        """The sum over shards."""
        return partial

    def whole_total(self, partial: Array) -> Array:
        """The sum over shards, of all segments."""
        return partial

    def product(self, partial: Array) -> Array:
        """The product over shards."""
        return partial

    def extreme(self, words: Array, is_max: bool) -> Array:
        """The least or greatest over shards."""
        del is_max
        return words

    def piece(self, whole: Array) -> Array:
        """The segments of this shard."""
        return whole

    def is_owner(self, has_row: Array, is_last: bool = False) -> Array:
        """Whether this shard is the first or last of those that have a row."""
        del is_last
        return has_row

    def global_row_ids(self, rows: Array, num_rows: int) -> Array:
        """Ids among the rows of all shards."""
        del num_rows
        return rows

    def select(self, leaf: Array, rows: Array, is_owner: Array) -> Array:
        """The rows of their owners, bit for bit; zeros where nobody is one."""
        return _where_bits(is_owner, take_rows(leaf, rows, is_unique=False))


def _where_bits(keep: Array, rows: Array) -> Array:
    keep = keep.reshape(-1, *(1,) * (rows.ndim - 1))
    if rows.dtype == jnp.bfloat16:
        # XLA on CPU moves bfloat16 by way of float32, which rewrites NaNs.
        words = jax.lax.bitcast_convert_type(rows, jnp.uint16)
        words = jnp.where(keep, words, jnp.uint16(0))
        return jax.lax.bitcast_convert_type(words, rows.dtype)
    return jnp.where(keep, rows, jnp.zeros((), rows.dtype))
