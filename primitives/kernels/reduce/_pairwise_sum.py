# SPDX-License-Identifier: Apache-2.0
"""Sums of floats, and of squared distances, in a fixed order: the portable definitions, and the
kernels on CPU and CUDA.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...contract._compensated_sum import Pair, plus_number, plus_pair, rounded
from ...contract._platform import by_platform
from ...contract._typing import Array
from ..base._cuda import call_on_cuda, on_cuda
from ..base._foreign import call
from ..base._library import is_native

# A block is a matrix of numbers in row-major order. Its rows are added in sequence. The resulting
# row is halved until one number is left: the second half is added to the first. The sums of the
# blocks, padded with zeros to a power of two, are halved in the same way. Each sum keeps its rest.
#
# A block is a row of 1,024 numbers here, and its rows are slices of it: an array with an axis of 16
# numbers is padded to 128 on TPU.
ROWS, LANES = 64, 16
BLOCK = ROWS * LANES


def sum_of_rows(x: Array, num_valid: Array, dtype: np.dtype) -> Array:
    """The sum of the first `num_valid` rows, calculated in `dtype`."""
    if x.shape[0] == 0:
        return jnp.zeros((), dtype)

    def xla(x: Array, num_valid: Array) -> Array:
        return _sum_of_rows_xla(x, num_valid, dtype)

    def native(x: Array, num_valid: Array) -> Array:
        (total,) = call("jaxframes_pairwise_sum_v1", (x[None], num_valid[None]), (((), dtype),))
        return total

    def cuda(x: Array, num_valid: Array) -> Array:
        return _sum_on_cuda(x, num_valid, jnp.zeros((0,), dtype), dtype, skip_nan=False)

    kernels = _kernels(x.dtype, dtype, native, cuda)
    return by_platform(x, num_valid, default=xla, **kernels)


def squared_distances_of_rows(x: Array, num_valid: Array, center: Array, skip_nan: bool) -> Array:
    """The sum of the squared distances of the first `num_valid` rows from a center, of its dtype.

    NaNs are at no distance if they are skipped.
    """
    if x.shape[0] == 0:
        return jnp.zeros((), center.dtype)

    def xla(x: Array, num_valid: Array, center: Array) -> Array:
        distance = x.astype(center.dtype) - center
        square = distance * distance
        if skip_nan:
            square = jnp.where(jnp.isnan(x), center.dtype.type(0), square)
        return _sum_of_rows_xla(square, num_valid, center.dtype)

    def native(x: Array, num_valid: Array, center: Array) -> Array:
        (total,) = call(
            "jaxframes_sum_of_squared_distances_v1",
            (x[None], num_valid[None], center[None]),
            (((), center.dtype),),
            skips_nan=np.bool_(skip_nan),
        )
        return total

    def cuda(x: Array, num_valid: Array, center: Array) -> Array:
        return _sum_on_cuda(x, num_valid, center[None], center.dtype, skip_nan)

    kernels = _kernels(x.dtype, center.dtype, native, cuda)
    return by_platform(x, num_valid, center, default=xla, **kernels)


def _kernels(
    dtype: Any, of_sum: Any, native: Callable[..., Array], cuda: Callable[..., Array]
) -> dict[str, Callable[..., Array]]:
    """The kernels by platform, if they add floats of a dtype."""
    known = ("float32", "float64")
    if dtype.name not in known or of_sum.name not in known:
        return {}
    return ({"cpu": native} if is_native() else {}) | on_cuda(cuda)


def _sum_on_cuda(
    x: Array, num_valid: Array, centers: Array, dtype: np.dtype, skip_nan: bool
) -> Array:
    """The sum of squared distances from a center, or without one of the numbers themselves."""
    (total,) = call_on_cuda(
        "pairwise_sum",
        (x[None], num_valid[None], centers[None]),
        (((), dtype),),
        (x.shape[0], dtype.itemsize),
        skips_nan=np.bool_(skip_nan),
    )
    return total


def _sum_of_rows_xla(x: Array, num_valid: Array, dtype: np.dtype) -> Array:
    blocks = jnp.pad(x, (0, -x.shape[0] % BLOCK)).reshape(-1, BLOCK)
    # Whole blocks need no mask: at most one block is partly valid.
    whole, rest = num_valid // np.int32(BLOCK), num_valid % np.int32(BLOCK)
    last = jnp.minimum(whole, np.int32(blocks.shape[0] - 1))
    of_last = jax.lax.dynamic_index_in_dim(blocks, last)
    position = np.arange(BLOCK, dtype=np.int32)
    of_last = jnp.where(position < rest, of_last, x.dtype.type(0))
    block = jax.lax.iota(jnp.int32, blocks.shape[0])
    num_blocks = blocks.shape[0]
    padding = (0, (1 << (num_blocks - 1).bit_length()) - num_blocks)

    def of_all(whole_blocks: Array, last_block: Array) -> Array:
        sums = jnp.where(block < whole, whole_blocks, dtype.type(0))
        return jnp.pad(jnp.where(block == whole, last_block, sums), padding)

    pairs = zip(_sums_of_blocks(blocks, dtype), _sums_of_blocks(of_last, dtype), strict=True)
    sums, rests = (of_all(*pair) for pair in pairs)
    total = rounded(_halved((sums, rests)))
    # Zeros and NaNs lose their sign, which would depend on the last addition.
    total = jnp.where(total == 0, dtype.type(0), total)
    return jnp.where(jnp.isnan(total), dtype.type(np.nan), total)


def _sums_of_blocks(blocks: Array, dtype: np.dtype) -> Pair:
    # XLA materializes values that are used twice: cast each number where it is added.
    first, *rows = (blocks[:, row : row + LANES].astype(dtype) for row in range(0, BLOCK, LANES))
    return _halved(functools.reduce(plus_number, rows, (first, jnp.zeros_like(first))))


def _halved(pair: Pair) -> Pair:
    """Sums the last axis; its length is a power of two."""
    while (size := pair[0].shape[-1]) > 1:
        # Several halvings per step, because XLA materializes each step.
        part = max(size // 16, 1)
        halves = [
            (pair[0][..., start : start + part], pair[1][..., start : start + part])
            for start in range(0, size, part)
        ]
        while len(halves) > 1:
            middle = len(halves) // 2
            halves = list(map(plus_pair, halves[:middle], halves[middle:]))
        (pair,) = halves
    return pair[0][..., 0], pair[1][..., 0]
