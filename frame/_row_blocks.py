# SPDX-License-Identifier: Apache-2.0
"""Reductions over all rows of columns, block by block, on one device or a mesh."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._column import Array
from ._layout import Layout
from ._table import Count

# What is calculated of the rows of a block stays in a core's cache until it is added up; where a
# step takes as long to start as many rows do, blocks are larger.
BLOCK_ROWS = 1 << 17
LEAST_BLOCK = CPU_BLOCK_ROWS = 1 << 14
# A plain sum adds up so many rows in each of so many lanes in their own dtype.
LANE_ROWS, NUM_LANES = 64, 1024
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

    def by_blocks_of(most: int) -> Callable[[Any, Count], Parts]:
        block = _block_rows(shard_rows, most)
        return lambda rows, num_rows: _reduce_blocks(parts, rows, num_rows, layout, block)

    if shard_rows <= 2 * CPU_BLOCK_ROWS:
        return by_blocks_of(BLOCK_ROWS)(rows, num_rows)
    return jax.lax.platform_dependent(
        rows, num_rows, cpu=by_blocks_of(CPU_BLOCK_ROWS), default=by_blocks_of(BLOCK_ROWS)
    )


def _reduce_blocks(
    parts: Callable[[Any, Array, Array], Parts],
    rows: Any,
    num_rows: Count,
    layout: Layout,
    block: int,
) -> Parts:
    capacity, shards = jax.tree.leaves(rows)[0].shape[0], layout.num_shards
    shard_rows = capacity // shards
    in_block = np.arange(block, dtype=np.int32)
    if shards > 1:
        in_block = np.arange(shards, dtype=np.int32)[:, None] * np.int32(shard_rows) + in_block

    def of_block(block_rows: Any, start: Any) -> Parts:
        place = in_block + start
        made = parts(block_rows, place < num_rows, place)
        return {name: jax.tree.map(REDUCE[name], part) for name, part in made.items()}

    def step(so_far: Parts, one: Any) -> tuple[Parts, None]:
        of_one = of_block(*one)
        return {n: jax.tree.map(COMBINE[n], so_far[n], of_one[n]) for n in of_one}, None

    if shard_rows == block:
        shape = (shards, block) if shards > 1 else (block,)
        reduced = of_block(jax.tree.map(lambda leaf: leaf.reshape(shape), rows), np.int32(0))
    else:
        blocks = jax.tree.map(lambda leaf: _in_blocks(leaf, shards, block), rows)
        starts = jnp.arange(shard_rows // block, dtype=jnp.int32) * np.int32(block)
        shapes = jax.eval_shape(lambda b: of_block(jax.tree.map(lambda x: x[0], b), 0), blocks)
        nothing = {name: jax.tree.map(_identity(name), part) for name, part in shapes.items()}
        reduced, _ = jax.lax.scan(step, nothing, (blocks, starts))
    if shards == 1:
        return reduced
    return {name: jax.tree.map(REDUCE[name], part) for name, part in reduced.items()}


def can_sum_plainly(x: Array, layout: Layout) -> bool:
    """Whether `sum_plainly` pays for a column."""
    is_wide = np.dtype(x.dtype).kind == "f" and np.dtype(x.dtype).itemsize >= 4
    shard_rows = x.shape[0] // layout.num_shards
    return is_wide and shard_rows >= 2 * BLOCK_ROWS and shard_rows % PLAIN_ROWS == 0


def sum_plainly(x: Array, num_rows: Count, dtype: np.dtype, layout: Layout) -> Array:
    """The sum of a column of floats of which none is missing: no flag is made for any row.

    Not finite where one is missing, and where float32 does not hold the sum of a few rows. Only
    one number leaves a shard.
    """
    blocks = x.reshape(layout.num_shards, -1, LANE_ROWS, NUM_LANES)
    num_blocks, zero = blocks.shape[1], x.dtype.type(0)
    shard_rows = np.int32(num_blocks * PLAIN_ROWS)
    starts = np.arange(layout.num_shards, dtype=np.int32) * shard_rows
    counts = jnp.clip(jnp.asarray(num_rows, jnp.int32) - starts, np.int32(0), shard_rows)
    whole = counts // np.int32(PLAIN_ROWS)
    partial = jnp.sum(blocks, axis=2, dtype=x.dtype)
    block = jax.lax.broadcasted_iota(jnp.int32, (*partial.shape[:2], 1), 1)
    partial = jnp.where(block < whole[:, None, None], partial, zero)
    # The rows of a shard behind its last whole block.
    last = jnp.minimum(whole, np.int32(num_blocks - 1))
    rest = jnp.take_along_axis(blocks, last[:, None, None, None], axis=1)[:, 0]
    num_rest = counts % np.int32(PLAIN_ROWS)
    iota = functools.partial(jax.lax.broadcasted_iota, jnp.int32, rest.shape)
    place = iota(1) * np.int32(NUM_LANES) + iota(2)
    rest = jnp.where(place < num_rest[:, None, None], rest, zero)
    # One sum of both: a step more takes a while to start, beside what it takes to read the rows.
    return jnp.sum(jnp.concatenate([partial, rest], axis=1), dtype=dtype)


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


def _identity(name: str) -> Callable[[Any], Array]:
    def identity(shape: Any) -> Array:
        return jnp.full(shape.shape, identity_of(name, shape.dtype), shape.dtype)

    return identity


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
