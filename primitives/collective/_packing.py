# SPDX-License-Identifier: Apache-2.0
"""Packs the rows of a pytree into one matrix of 32-bit words, so all columns travel together."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._typing import Array


def pack_rows(rows: Any) -> Array:
    """Concatenates the bits of every leaf: `uint32[rows, words]`.

    Leaves of one item size share words: four columns of 8 bits, or two of 16, make one.
    """
    leaves = jax.tree.leaves(rows)
    num_rows = leaves[0].shape[0]
    by_item_bytes: dict[int, list[Array]] = {}
    for leaf in leaves:
        items = _as_unsigned(leaf).reshape(num_rows, _num_items(leaf))
        by_item_bytes.setdefault(items.dtype.itemsize, []).append(items)
    matrices = []
    for item_bytes in sorted(by_item_bytes):
        items = jnp.concatenate(by_item_bytes[item_bytes], axis=1)
        if item_bytes < 4:
            per_word = 4 // item_bytes
            items = jnp.pad(items, ((0, 0), (0, -items.shape[1] % per_word)))
            items = items.reshape(num_rows, items.shape[1] // per_word, per_word)
        if item_bytes != 4:
            items = jax.lax.bitcast_convert_type(items, jnp.uint32)
        matrices.append(items.reshape(num_rows, math.prod(items.shape[1:])))
    return jnp.concatenate(matrices, axis=1)


def unpack_rows(words: Array, like: Any) -> Any:
    """Inverts `pack_rows`: returns leaves with the dtypes and row shapes of `like`."""
    leaves, structure = jax.tree.flatten(like)
    num_rows = words.shape[0]
    by_item_bytes: dict[int, list[int]] = {}
    for i, leaf in enumerate(leaves):
        by_item_bytes.setdefault(_unsigned_dtype(leaf.dtype).itemsize, []).append(i)
    restored: list[Any] = [None] * len(leaves)
    start = 0
    for item_bytes in sorted(by_item_bytes):
        members = by_item_bytes[item_bytes]
        num_items = sum(_num_items(leaves[i]) for i in members)
        num_words = -(-num_items * item_bytes // 4)
        items = words[:, start : start + num_words]
        start += num_words
        dtype = np.dtype(f"uint{8 * item_bytes}")
        if item_bytes > 4:
            items = items.reshape(num_rows, num_items, item_bytes // 4)
        if item_bytes != 4:
            items = jax.lax.bitcast_convert_type(items, dtype)
        if item_bytes < 4:
            items = items.reshape(num_rows, num_words * 4 // item_bytes)
        column = 0
        for i in members:
            width = _num_items(leaves[i])
            leaf_items = items[:, column : column + width]
            restored[i] = _from_unsigned(leaf_items, leaves[i])
            column += width
    return jax.tree.unflatten(structure, restored)


def _num_items(leaf: Array) -> int:
    per_element = 2 if jnp.issubdtype(leaf.dtype, jnp.complexfloating) else 1
    return per_element * math.prod(leaf.shape[1:])


def _unsigned_dtype(dtype: Any) -> np.dtype:
    item_bytes = np.dtype(dtype).itemsize
    if jnp.issubdtype(dtype, jnp.complexfloating):
        item_bytes //= 2
    return np.dtype(f"uint{8 * item_bytes}")


def _as_unsigned(leaf: Array) -> Array:
    if leaf.dtype == jnp.bool_:
        return leaf.astype(jnp.uint8)
    if jnp.issubdtype(leaf.dtype, jnp.complexfloating):
        leaf = jnp.stack([leaf.real, leaf.imag], axis=-1)
    return jax.lax.bitcast_convert_type(leaf, _unsigned_dtype(leaf.dtype))


def _from_unsigned(items: Array, like: Array) -> Array:
    shape = (items.shape[0], *like.shape[1:])
    if like.dtype == jnp.bool_:
        return items.reshape(shape) != 0
    if jnp.issubdtype(like.dtype, jnp.complexfloating):
        part_dtype = jnp.zeros((), like.dtype).real.dtype
        parts = jax.lax.bitcast_convert_type(items, part_dtype).reshape(*shape, 2)
        return jax.lax.complex(parts[..., 0], parts[..., 1])
    return jax.lax.bitcast_convert_type(items, like.dtype).reshape(shape)
