# SPDX-License-Identifier: Apache-2.0
"""The rows into which documents are packed, by three rules."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...shardings._compat import like_varying
from ..contract._platform import by_platform
from ..contract._take import take_rows
from ..contract._typing import Array
from ..kernels.scan._running import running, running_count
from ._searchsorted import searchsorted


def next_fit(lengths: Array, can_fit: Array, length: int) -> tuple[Array, Array]:
    """Fills rows in order; returns the row of each document, -1 for none, and their number.

    From each document a jump leads to the one that would begin the next row. The documents at
    which rows begin are those that jumps reach from the first, found by jumps of doubled length.
    Documents that fit nowhere have the length zero.
    """
    num_documents = lengths.shape[0]
    if num_documents == 0:
        return lengths, jnp.int32(0)
    ends = running("add", lengths.astype(jnp.int32)).astype(jnp.uint32)
    full = ends - lengths.astype(jnp.uint32) + np.uint32(length)
    end = jnp.full(1, num_documents, jnp.int32)
    jump = jnp.concatenate([searchsorted(ends, full, side="right"), end])
    begins = like_varying(jnp.arange(num_documents + 1) == 0, lengths)

    def double(_: Any, state: tuple[Array, Array]) -> tuple[Array, Array]:
        begins, jump = state
        reached = jnp.where(begins, jump, np.int32(num_documents))
        return begins.at[reached].set(True), take_rows(jump, jump, is_unique=False)

    begins, _ = jax.lax.fori_loop(0, num_documents.bit_length(), double, (begins, jump))
    rows = jnp.where(can_fit, running_count(begins[:-1]) - 1, np.int32(-1))
    return rows, jnp.max(rows) + 1


def first_or_best_fit(
    lengths: Array, num_documents: Array, length: int, capacity: int, *, is_best: bool
) -> tuple[Array, Array]:
    """Places documents one by one; returns the row of each, -1 for none, and the count of rows.

    Each document without room counts as a row.
    """
    nowhere = like_varying(jnp.full(lengths.shape, -1, jnp.int32), lengths, num_documents)
    if not capacity or not lengths.shape[0]:
        return nowhere, num_documents
    in_order = jax.lax.iota(jnp.int32, lengths.shape[0])
    sizes = jnp.where(in_order < num_documents, lengths, np.int32(length + 1))

    def by_blocks(sizes: Array) -> Array:
        room = _Rows(length, capacity) if is_best else _Blocks(length, capacity)

        def step(i: Array, state: tuple[Any, Array]) -> tuple[Any, Array]:
            left, placed = state
            left, row = room.put(left, sizes[i])
            return left, placed.at[i].set(row)

        # Of a batch from the beginning: else JAX does not know how the first row of all is sharded.
        zero = sizes[0] - sizes[0]
        start = jax.tree.map(lambda leaf: leaf + zero, room.empty())
        # A fixed number of steps: a sharded batch would ask all devices whether one goes on.
        steps = np.int32(sizes.shape[0])
        return jax.lax.fori_loop(np.int32(0), steps, step, (start, nowhere))[1]

    def by_vectors(sizes: Array) -> Array:
        return _fit_by_vectors(sizes, length, capacity, is_best)

    placed = by_platform(sizes, tpu=by_vectors, default=by_blocks)
    num_placed = jnp.sum(placed >= 0, dtype=jnp.int32)
    return placed, jnp.max(placed) + 1 + num_documents - num_placed


def _fit_by_vectors(sizes: Array, length: int, capacity: int, is_best: bool) -> Array:
    """The row of each document, on TPU: a step reads and writes all rows, as vectors.

    XLA's scatters and slices by a traced number take longer there than 1,000 rows.
    """
    row_ids = jax.lax.iota(jnp.int32, capacity)

    def step(left: Array, size: Array) -> tuple[Array, Array]:
        is_chosen = left >= size
        if is_best:
            is_chosen = left == jnp.min(jnp.where(is_chosen, left, np.int32(length + 1)))
        row = _first(is_chosen)
        left = jnp.where(row_ids == row, left - size, left)
        return left, jnp.where(row < capacity, row, np.int32(-1))

    zero = sizes[0] - sizes[0]
    return jax.lax.scan(step, jnp.full(capacity, length, jnp.int32) + zero, sizes)[1]


class _Rows:
    """The places left in each row. A document goes where it leaves the fewest."""

    def __init__(self, length: int, capacity: int):
        self.length, self.capacity = length, capacity

    def empty(self) -> Array:
        return jnp.full(self.capacity, self.length, jnp.int32)

    def put(self, left: Array, size: Array) -> tuple[Array, Array]:
        fewest = jnp.min(jnp.where(left >= size, left, np.int32(self.length + 1)))
        row = _first(left == fewest)
        left = left.at[row].add(-size, mode="drop")
        return left, jnp.where(row < self.capacity, row, np.int32(-1))


class _Blocks:
    """The places left in each row, and the most of each block of rows: a first fit looks there."""

    def __init__(self, length: int, capacity: int):
        self.length, self.capacity = length, capacity
        self.width = 1 << (capacity.bit_length() // 2)

    def empty(self) -> tuple[Array, Array]:
        num_blocks = -(-self.capacity // self.width)
        row = jax.lax.iota(jnp.int32, num_blocks * self.width)
        # No document fits into a row past the capacity.
        left = jnp.where(row < self.capacity, np.int32(self.length), np.int32(-1))
        return left.reshape(num_blocks, -1), jnp.full(num_blocks, self.length, jnp.int32)

    def put(self, state: tuple[Array, Array], size: Array) -> tuple[tuple[Array, Array], Array]:
        left, most = state
        number = _first(most >= size)
        is_placed = number < most.shape[0]
        block = take_rows(left, jnp.minimum(number, most.shape[0] - 1))
        place = _first(block >= size)
        block = block.at[place].add(-size, mode="drop")
        state = (
            left.at[number].set(block, mode="drop"),
            most.at[number].set(jnp.max(block), mode="drop"),
        )
        return state, jnp.where(is_placed, number * self.width + place, np.int32(-1))


def _first(flags: Array) -> Array:
    """The position of the first flag, the number of flags without one."""
    positions = jax.lax.iota(jnp.int32, flags.shape[0])
    return jnp.min(jnp.where(flags, positions, np.int32(flags.shape[0])))
