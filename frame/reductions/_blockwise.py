# SPDX-License-Identifier: Apache-2.0
"""Reductions over all rows of columns, block by block, on one device or a mesh."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ..table._column import Array
from ..table._layout import Layout
from ..table._table import Count

# What is calculated of the rows of a block stays in a core's cache until it is added up; where a
# step takes as long to start as many rows do, blocks are larger.
BLOCK_ROWS = 1 << 17
LEAST_BLOCK = CPU_BLOCK_ROWS = 1 << 14
# A plain reduction brings so many rows together in each of so many lanes.
LANE_ROWS, NUM_LANES = 16, 1024
PLAIN_ROWS = LANE_ROWS * NUM_LANES

Parts = dict[str, Any]
COMBINE: dict[str, Callable[[Array, Array], Array]] = {
    "sum": jnp.add,
    "prod": jnp.multiply,
    "min": jnp.minimum,
    "max": jnp.maximum,
    "any": jnp.logical_or,
    "all": jnp.logical_and,
}
REDUCE: dict[str, Callable[[Array], Array]] = {
    "sum": lambda x: jnp.sum(x, axis=-1, dtype=x.dtype),
    "prod": lambda x: jnp.prod(x, axis=-1, dtype=x.dtype),
    "min": lambda x: jnp.min(x, axis=-1),
    "max": lambda x: jnp.max(x, axis=-1),
    "any": lambda x: jnp.any(x, axis=-1),
    "all": lambda x: jnp.all(x, axis=-1),
}


def reduce_rows(
    parts: Callable[[Any, Array, Array], Parts], rows: Any, num_rows: Count, layout: Layout
) -> Parts:
    """Inside a compiled function: reduces what `parts` makes of each row to scalars.

    Args:
        parts: given a block of the rows, a flag for each whether it counts, and its place, returns
            by the name of a reduction ("sum", "min", ...) a pytree of arrays of rows. Rows that do
            not count must hold there what changes nothing.
        rows: a pytree of arrays of the capacity.
        num_rows: how many rows count.
        layout: where they lie. Only one number of each array leaves a shard.

    Returns:
        The same dictionary, each array reduced to a scalar.
    """
    shard_rows = jax.tree.leaves(rows)[0].shape[0] // layout.num_shards
    blocks = [_block_rows(shard_rows, most) for most in (CPU_BLOCK_ROWS, BLOCK_ROWS)]
    on_cpu, elsewhere = (
        functools.partial(_reduce_blocks, parts, layout=layout, block=block) for block in blocks
    )
    if blocks[0] == blocks[1]:
        return on_cpu(rows, num_rows)
    return jax.lax.platform_dependent(rows, num_rows, cpu=on_cpu, default=elsewhere)


def _reduce_blocks(
    parts: Callable[[Any, Array, Array], Parts],
    rows: Any,
    num_rows: Count,
    *,
    layout: Layout,
    block: int,
) -> Parts:
    shards = layout.num_shards
    shard_rows = jax.tree.leaves(rows)[0].shape[0] // shards
    in_block = np.arange(block, dtype=np.int32)
    if shards > 1:
        in_block = np.arange(shards, dtype=np.int32)[:, None] * np.int32(shard_rows) + in_block

    def of_block(block_rows: Any, start: Any) -> Parts:
        place = in_block + start
        return _reduced(parts(block_rows, place < num_rows, place))

    if shard_rows == block:
        shape = (shards, block) if shards > 1 else (block,)
        reduced = of_block(jax.tree.map(lambda leaf: leaf.reshape(shape), rows), np.int32(0))
    else:
        blocks = jax.tree.map(lambda leaf: _in_blocks(leaf, shards, block), rows)
        starts = jnp.arange(shard_rows // block, dtype=jnp.int32) * np.int32(block)
        # What each block comes to is kept, and added up as a tree: a sum that went from block to
        # block would round once for each.
        reduced = jax.lax.map(lambda one: of_block(*one), (blocks, starts))
        reduced = _reduced(jax.tree.map(lambda part: jnp.moveaxis(part, 0, -1), reduced))
    return reduced if shards == 1 else _reduced(reduced)


def _reduced(parts: Parts) -> Parts:
    return {name: jax.tree.map(REDUCE[name], part) for name, part in parts.items()}


def can_reduce_plainly(name: str, x: Array, layout: Layout) -> bool:
    """Whether `reduce_plainly` knows a reduction of a column, and pays for it."""
    is_known = name in ("sum", "min", "max") and np.dtype(x.dtype).kind in "iuf"
    shard_rows = x.shape[0] // layout.num_shards
    return is_known and shard_rows >= 2 * BLOCK_ROWS and shard_rows % PLAIN_ROWS == 0


def reduce_plainly(name: str, x: Array, num_rows: Count, dtype: np.dtype, layout: Layout) -> Array:
    """A column of which no value is missing, reduced in a dtype: no flag is made for any row.

    The result is NaN where a value is. Only one number leaves a shard.
    """
    if name == "sum" and x.dtype.kind == "f" and layout.mesh is None:
        return primitives.local.pairwise_sum(x, num_valid=num_rows, dtype=dtype)
    blocks = x.reshape(layout.num_shards, -1, LANE_ROWS, NUM_LANES)
    num_blocks, nothing = blocks.shape[1], identity_of(name, dtype)
    shard_rows = np.int32(num_blocks * PLAIN_ROWS)
    starts = np.arange(layout.num_shards, dtype=np.int32) * shard_rows
    counts = jnp.clip(jnp.asarray(num_rows, jnp.int32) - starts, np.int32(0), shard_rows)
    whole = counts // np.int32(PLAIN_ROWS)
    # XLA writes down what is used twice, and so each value is cast where it is used.
    lanes = [blocks[:, :, row].astype(dtype) for row in range(LANE_ROWS)]
    while len(lanes) > 1:
        lanes = [COMBINE[name](*two) for two in zip(lanes[::2], lanes[1::2], strict=True)]
    partial = lanes[0]
    block = jax.lax.broadcasted_iota(jnp.int32, partial.shape, 1)
    partial = jnp.where(block < whole[:, None, None], partial, nothing)
    # The rows of a shard behind its last whole block.
    last = jnp.minimum(whole, np.int32(num_blocks - 1))
    rest = jnp.take_along_axis(blocks, last[:, None, None, None], axis=1)[:, 0].astype(dtype)
    num_rest = counts % np.int32(PLAIN_ROWS)
    iota = functools.partial(jax.lax.broadcasted_iota, jnp.int32, rest.shape)
    place = iota(1) * np.int32(NUM_LANES) + iota(2)
    rest = jnp.where(place < num_rest[:, None, None], rest, nothing)
    # Both at once: a step more takes a while to start, beside what it takes to read the rows.
    both = jnp.concatenate([partial, rest], axis=1)
    if name == "sum" or x.dtype.kind != "f":
        return REDUCE[name](both.ravel())
    # Whether XLA finds a NaN among many values depends on the platform and on how many they are,
    # and a derivative of a maximum that is NaN would be NaN for every row.
    is_nan = jnp.isnan(both)
    result = REDUCE[name](jnp.where(is_nan, nothing, both).ravel())
    return jnp.where(jnp.any(is_nan), np.nan, result)


def _block_rows(shard_rows: int, most: int) -> int:
    """Rows of a block: a power of two that divides those of a shard, or all of them."""
    if shard_rows <= 2 * most:
        return shard_rows
    block = min(shard_rows & -shard_rows, most)
    return block if block >= LEAST_BLOCK else shard_rows


def _in_blocks(leaf: Array, shards: int, block: int) -> Array:
    if shards == 1:
        return leaf.reshape(-1, block)
    return jnp.swapaxes(leaf.reshape(shards, -1, block), 0, 1)


def identity_of(name: str, dtype: Any) -> Any:
    """What changes nothing in a reduction of values of a dtype."""
    dtype = np.dtype(dtype)
    if name in ("sum", "prod", "any", "all"):
        return dtype.type(name in ("prod", "all"))
    if dtype == np.bool_:
        return np.bool_(name == "min")
    if jnp.issubdtype(dtype, jnp.inexact):
        return dtype.type(np.inf if name == "min" else -np.inf)
    info = np.iinfo(dtype)
    return dtype.type(info.max if name == "min" else info.min)
