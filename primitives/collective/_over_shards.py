# SPDX-License-Identifier: Apache-2.0
"""Combines the shards' partial results of each segment."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._take import take_rows
from ..contract._typing import Array
from ._axis import AxisName
from ._exchange_hops import swap
from ._packing import pack_rows, unpack_rows
from ._radix_sort import row_id_dtype


@dataclass(frozen=True)
class OverShards:
    """Combines segments with rows on any shards; `local._segment_ops.OneDevice` documents the
    methods.

    With `scattered`, `num_segments` is a multiple of `num_shards`, and each shard gets its piece.
    """

    axis_name: AxisName
    num_shards: int
    scattered: bool
    caller: str

    def total(self, partial: Array) -> Array:
        if self.scattered:
            return jax.lax.psum_scatter(partial, self.axis_name, tiled=True)
        return self.whole_total(partial)

    def whole_total(self, partial: Array) -> Array:
        return jax.lax.psum(partial, self.axis_name)

    def product(self, partial: Array) -> Array:
        # Each shard multiplies its piece of the segments, in the order of the shards.
        num_segments = partial.shape[0]
        padding = (-num_segments % self.num_shards, *partial.shape[1:])
        padded = jnp.concatenate([partial, jnp.ones(padding, partial.dtype)])
        pieces = padded.reshape(self.num_shards, -1, *partial.shape[1:])
        pieces = swap(pieces, self.axis_name)
        piece = pieces[0]
        for other in pieces[1:]:
            piece = piece * other
        if self.scattered:
            return piece
        whole = jax.lax.all_gather(piece, self.axis_name, tiled=True, to="invarying")
        return whole[:num_segments]

    def extreme(self, words: Array, is_max: bool) -> Array:
        return (jax.lax.pmax if is_max else jax.lax.pmin)(words, self.axis_name)

    def piece(self, whole: Array) -> Array:
        if not self.scattered:
            return whole
        num_segments = whole.shape[0] // self.num_shards
        start = jax.lax.axis_index(self.axis_name) * num_segments
        return jax.lax.dynamic_slice_in_dim(whole, start, num_segments)

    def is_owner(self, has_row: Array, is_last: bool = False) -> Array:
        shard = jax.lax.axis_index(self.axis_name)
        none = np.int32(-1 if is_last else self.num_shards)
        owner = self.extreme(jnp.where(has_row, shard, none), is_last)
        return owner == shard

    def global_row_ids(self, rows: Array, num_rows: int) -> Array:
        dtype = row_id_dtype(num_rows * self.num_shards, self.caller)
        return jax.lax.axis_index(self.axis_name).astype(dtype) * num_rows + rows.astype(dtype)

    def select(self, leaf: Array, rows: Array, is_owner: Array) -> Array:
        # One shard has the row and all others add zero, which preserves its bits.
        taken = take_rows(leaf, rows, is_unique=False)
        words = pack_rows(taken)
        words = self.total(jnp.where(is_owner[:, None], words, jnp.uint32(0)))
        return unpack_rows(words, leaf)
