# SPDX-License-Identifier: Apache-2.0
"""Rows reduced block by block: each block stays in a core's cache until it is added up."""

import functools
from collections.abc import Callable
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._platform import by_platform
from ..contract._scan_operators import identity_of
from ..contract._typing import Array
from ._pairwise_sum import pairwise_sum

# Blocks are larger where the start of a step takes as long as many rows do.
BLOCK_ROWS = 1 << 17
LEAST_BLOCK = CPU_BLOCK_ROWS = 1 << 14
# A reduction without a mask combines so many rows in each of so many lanes.
LANE_ROWS, NUM_LANES = 16, 1024
LANES_ROWS = LANE_ROWS * NUM_LANES

# Arrays by the name of the reduction of their leading axis, then by a number.
BlockParts: TypeAlias = dict[str, dict[int, Array]]

COMBINE: dict[str, Callable[[Array, Array], Array]] = {
    "sum": jnp.add,
    "prod": jnp.multiply,
    "min": jnp.minimum,
    "max": jnp.maximum,
    "any": jnp.logical_or,
    "all": jnp.logical_and,
}
REDUCE: dict[str, Callable[[Array], Array]] = {
    "count": lambda x: jnp.sum(x, axis=0, dtype=x.dtype),
    "sum": lambda x: jnp.sum(x, axis=0, dtype=x.dtype),
    "prod": lambda x: jnp.prod(x, axis=0, dtype=x.dtype),
    "min": lambda x: jnp.min(x, axis=0),
    "max": lambda x: jnp.max(x, axis=0),
    "any": lambda x: jnp.any(x, axis=0),
    "all": lambda x: jnp.all(x, axis=0),
}


def identity_of_reduction(name: str, dtype: Any) -> Any:
    """The identity element of a reduction for a dtype, as a NumPy scalar."""
    if name in ("sum", "prod", "any", "all"):
        return np.dtype(dtype).type(name in ("prod", "all"))
    return identity_of("min" if name == "min" else "max", dtype)


def _reduce_leading_axis(parts: BlockParts) -> BlockParts:
    """Reduces the leading axis of every array."""
    return {
        name: {number: _reduced(name, array) for number, array in arrays.items()}
        for name, arrays in parts.items()
    }


def _reduced(name: str, x: Array) -> Array:
    """Reduces the leading axis; a column of floats in an order that is always the same."""
    if x.ndim == 1 and x.dtype.name in ("float32", "float64"):
        if name == "sum":
            return pairwise_sum(x)
        if name == "prod":
            return _product_of_halves(x)
    return REDUCE[name](x)


def _product_of_halves(x: Array) -> Array:
    """The product of a column, whose halves are multiplied until one number is left."""
    if not x.shape[0]:
        return jnp.ones((), x.dtype)
    while x.shape[0] > 1:
        half = (x.shape[0] + 1) // 2
        padding = [(0, 2 * half - x.shape[0], 0)]
        x = x[:half] * jax.lax.pad(x[half:], x.dtype.type(1), padding)
    return x[0]


def reduce_blocks(parts_of: Callable[[Any, Array], BlockParts], rows: Any) -> BlockParts:
    """Reduces a function of the rows, without materializing its result.

    Args:
        parts_of: takes a block of the rows and the ids of its rows, int32, and returns arrays with
            a row for each of them, by the name of their reduction.
        rows: a pytree of arrays with the same leading axis of at least one row.

    Returns:
        The parts, each without its leading axis.
    """
    num_rows = jax.tree.leaves(rows)[0].shape[0]
    on_cpu, elsewhere = (_block_rows(num_rows, most) for most in (CPU_BLOCK_ROWS, BLOCK_ROWS))
    reduce = functools.partial(_reduce_in_blocks, parts_of)
    if on_cpu == elsewhere:
        return reduce(rows, block=on_cpu)
    return by_platform(
        rows,
        cpu=functools.partial(reduce, block=on_cpu),
        default=functools.partial(reduce, block=elsewhere),
    )


def _reduce_in_blocks(
    parts_of: Callable[[Any, Array], BlockParts], rows: Any, *, block: int
) -> BlockParts:
    num_rows = jax.tree.leaves(rows)[0].shape[0]
    in_block = np.arange(block, dtype=np.int32)

    def of_block(rows: Any, start: Any) -> BlockParts:
        return _reduce_leading_axis(parts_of(rows, in_block + start))

    if num_rows == block:
        return of_block(rows, np.int32(0))
    blocks = jax.tree.map(lambda leaf: leaf.reshape(-1, block, *leaf.shape[1:]), rows)
    starts = jnp.arange(num_rows // block, dtype=jnp.int32) * np.int32(block)
    # The results of the blocks are added up as a tree: a running sum would round at each block.
    return _reduce_leading_axis(jax.lax.map(lambda one: of_block(*one), (blocks, starts)))


def _block_rows(num_rows: int, most: int) -> int:
    """Rows of a block: a power of two that divides all rows, or all of them."""
    if num_rows <= 2 * most:
        return num_rows
    block = min(num_rows & -num_rows, most)
    return block if block >= LEAST_BLOCK else num_rows


def has_whole_lanes(num_rows: int) -> bool:
    """Whether `reduce_lanes` takes so many rows, and pays for them."""
    return num_rows >= 2 * BLOCK_ROWS and num_rows % LANES_ROWS == 0


def reduce_lanes(name: str, x: Array, num_valid: Array, dtype: Any) -> Array:
    """The sum, minimum or maximum of the first rows of a column, calculated in a dtype.

    No row has a flag: only one block holds both valid and padding rows. The result
    is NaN if a row that counts is.
    """
    blocks = x.reshape(-1, LANE_ROWS, NUM_LANES)
    num_blocks, identity = blocks.shape[0], identity_of_reduction(name, dtype)
    whole = num_valid // np.int32(LANES_ROWS)
    # XLA materializes a value that is used twice, so each is cast where it is used.
    lanes = [blocks[:, row].astype(dtype) for row in range(LANE_ROWS)]
    while len(lanes) > 1:
        lanes = [COMBINE[name](*two) for two in zip(lanes[::2], lanes[1::2], strict=True)]
    block = jax.lax.broadcasted_iota(jnp.int32, lanes[0].shape, 0)
    partial = jnp.where(block < whole, lanes[0], identity)
    # The rows after the last whole block.
    last = jnp.minimum(whole, np.int32(num_blocks - 1))
    rest = jax.lax.dynamic_index_in_dim(blocks, last, keepdims=False).astype(dtype)
    in_block = np.arange(LANES_ROWS, dtype=np.int32).reshape(LANE_ROWS, NUM_LANES)
    rest = jnp.where(in_block < num_valid % np.int32(LANES_ROWS), rest, identity)
    # One reduction for both: the start of another takes a while.
    both = jnp.concatenate([partial, rest]).ravel()
    if name == "sum":
        # On CPU in a fixed order, so that a first call is not compiled.
        cpu, default = functools.partial(_reduced, name), REDUCE[name]
        return by_platform(both, cpu=cpu, default=default)
    if not jnp.issubdtype(both.dtype, jnp.floating):
        return REDUCE[name](both)
    # Whether XLA finds a NaN among many values depends on the platform and on their number, and
    # the derivative of a maximum that is NaN would be NaN for every row.
    is_nan = jnp.isnan(both)
    result = REDUCE[name](jnp.where(is_nan, identity, both))
    return jnp.where(jnp.any(is_nan), both.dtype.type(np.nan), result)
