# SPDX-License-Identifier: Apache-2.0
"""Order statistics and counts of ranges of rows, by a wavelet matrix.

A query names a range of adjacent rows, such as a window. The rows are sorted by one digit of their
numbers after another, from the most significant, stably. The rows of a range with equal digits so
far stay adjacent, so that two gathers from counts of digits find where they go.

On one device a digit is one bit: counts are one array, and a scatter is the sort. Over a mesh
fewer exchanges count, so a digit has three bits.
"""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..shardings._compat import MeshLike
from ._global._gather_rows import gather_rows
from ._global._radix_sort import radix_sort
from ._global._reduce import reduce
from ._global._scan import inclusive_scan
from .contract._typing import Array, Int
from .tiers._tiered import tiered

# A row of counts is 32 bytes, half a cache line. Wider digits need fewer sorts, and more memory.
DIGIT_BITS = 3
_NUM_DIGITS = 1 << DIGIT_BITS


class Ranges(NamedTuple):
    """Ranges of rows.

    Attributes:
        start: the first row of each range, int32.
        end: the row after its last one; ranges with no later one than the first are empty.
    """

    start: Array
    end: Array


class _Query(NamedTuple):
    """Ranges of the sorted rows, what is asked for in each, and the answer so far."""

    start: Array
    end: Array
    wanted: Array
    answer: Array


def select_in_ranges(
    numbers: Int[Array, " rows"],
    ranges: Ranges,
    ranks: Sequence[Int[Array, " ranges"]],
    mesh: MeshLike | None = None,
    *,
    axis: Any = None,
) -> list[Array]:
    """Finds the number of a rank, from zero, in each range of rows; for several ranks.

    Args:
        numbers: a number of each row, int32 in [0, rows).
        ranges: the ranges, as many as there are rows.
        ranks: ranks in each range; the number at another rank is arbitrary.
        mesh: mesh of the rows and the ranges; one device by default.
        axis: mesh axis or axes of the rows.

    Cost:
        Work O(log(rows)) per row and range, memory O(1). On one device each bit takes a scatter,
        and two gathers for each rank. Over a mesh each digit of 3 bits takes a sort and two gathers
        for each rank.
    """
    return _answers(numbers, ranges, tuple(ranks), False, mesh, axis)


def count_in_ranges(
    numbers: Int[Array, " rows"],
    ranges: Ranges,
    bounds: Sequence[Int[Array, " ranges"]],
    mesh: MeshLike | None = None,
    *,
    axis: Any = None,
) -> list[Array]:
    """Counts the rows of each range whose number is below a bound; for several bounds.

    Arguments and cost are those of `select_in_ranges`; bounds are in [0, rows].
    """
    return _answers(numbers, ranges, tuple(bounds), True, mesh, axis)


@functools.partial(tiered, static_argnums=(3, 4, 5))
def _answers(
    numbers: Array,
    ranges: Ranges,
    wanted: tuple[Array, ...],
    counts: bool,
    mesh: MeshLike | None,
    axis: Any,
) -> list[Array]:
    on_mesh: dict[str, Any] = {} if mesh is None else {"mesh": mesh, "axis": axis}
    zeros = jnp.zeros_like(ranges.start)
    end = jnp.maximum(ranges.end, ranges.start)
    queries = tuple(_Query(ranges.start, end, one, zeros) for one in wanted)
    if mesh is None:
        return [query.answer for query in _by_bits(numbers, queries, counts)]
    # A bound may be the number of rows itself.
    num_levels = -(-max(numbers.shape[0].bit_length(), 1) // DIGIT_BITS)

    def level(at: Array, state: tuple[Array, tuple[_Query, ...]]) -> Any:
        numbers, queries = state
        shift = np.int32(DIGIT_BITS) * (np.int32(num_levels - 1) - at)
        digit = (numbers >> shift) & np.int32(_NUM_DIGITS - 1)
        is_digit = (digit[:, None] == _digits()).astype(jnp.int32)
        so_far = inclusive_scan(is_digit, "add", **on_mesh)
        totals = reduce(is_digit, "sum", **on_mesh).values.astype(jnp.int32)
        first = jnp.cumsum(totals, dtype=jnp.int32) - totals
        step = _counted if counts else _selected
        moved = []
        for query in queries:
            # No row is before the first one: the id -1 gives zeros.
            before = gather_rows(so_far, query.start - np.int32(1), **on_mesh)
            up_to = gather_rows(so_far, query.end - np.int32(1), **on_mesh)
            moved.append(step(query, before, up_to, first, shift))
        _, numbers = radix_sort(digit.astype(jnp.uint8), values=numbers, bits=DIGIT_BITS, **on_mesh)
        return numbers, tuple(moved)

    _, queries = jax.lax.fori_loop(np.int32(0), np.int32(num_levels), level, (numbers, queries))
    return [query.answer for query in queries]


def _by_bits(numbers: Array, queries: tuple[_Query, ...], counts: bool) -> tuple[_Query, ...]:
    """Answers queries of one device's rows by one bit after another."""
    num_rows = numbers.shape[0]
    # A bound may be the number of rows itself.
    num_bits = max((num_rows if counts else num_rows - 1).bit_length(), 1)
    row_ids = jnp.arange(num_rows, dtype=jnp.int32)

    def level(at: Array, state: tuple[Array, tuple[_Query, ...]]) -> Any:
        numbers, queries = state
        shift = np.int32(num_bits - 1) - at
        bit = (numbers >> shift) & np.int32(1)
        ones = inclusive_scan(bit, "add")
        num_zeros = np.int32(num_rows) - jnp.sum(bit, dtype=jnp.int32)
        moved = []
        for query in queries:
            # No row is before the first one: the id -1 gives zero.
            before = gather_rows(ones, query.start - np.int32(1))
            up_to = gather_rows(ones, query.end - np.int32(1))
            zeros = (query.end - up_to) - (query.start - before)
            if counts:
                is_one = (query.wanted >> shift) & np.int32(1) > 0
                wanted, answer = query.wanted, query.answer + jnp.where(is_one, zeros, 0)
            else:
                is_one = query.wanted >= zeros
                wanted = query.wanted - jnp.where(is_one, zeros, 0)
                answer = query.answer | (is_one.astype(jnp.int32) << shift)
            start = jnp.where(is_one, num_zeros + before, query.start - before)
            end = jnp.where(is_one, num_zeros + up_to, query.end - up_to)
            moved.append(_Query(start, end, wanted, answer))
        # Rows with a zero go first.
        rows = jnp.where(bit > 0, num_zeros + ones - np.int32(1), row_ids - ones)
        numbers = numbers.at[rows].set(numbers, unique_indices=True, mode="promise_in_bounds")
        return numbers, tuple(moved)

    _, queries = jax.lax.fori_loop(np.int32(0), np.int32(num_bits), level, (numbers, queries))
    return queries


def _selected(query: _Query, before: Array, up_to: Array, first: Array, shift: Array) -> _Query:
    """Chooses the digit of the wanted rank, and the rows with it."""
    upto_digit = jnp.cumsum(up_to - before, axis=1, dtype=jnp.int32)
    digit = jnp.sum(upto_digit <= query.wanted[:, None], axis=1, dtype=jnp.int32)
    digit = jnp.minimum(digit, np.int32(_NUM_DIGITS - 1))
    is_digit = digit[:, None] == _digits()
    below = _at(upto_digit - (up_to - before), is_digit)
    answer = query.answer | (digit << shift)
    return _Query(*_rows_of(is_digit, before, up_to, first), query.wanted - below, answer)


def _counted(query: _Query, before: Array, up_to: Array, first: Array, shift: Array) -> _Query:
    """Counts the rows of smaller digits, and keeps those with the digit of the bound."""
    digits = _digits()
    digit = (query.wanted >> shift) & np.int32(_NUM_DIGITS - 1)
    below = _at(up_to - before, digits < digit[:, None])
    is_digit = digits == digit[:, None]
    moved = _rows_of(is_digit, before, up_to, first)
    return _Query(*moved, query.wanted, query.answer + below)


def _rows_of(is_digit: Array, before: Array, up_to: Array, first: Array) -> tuple[Array, Array]:
    """The range of the rows with a digit, after the sort by it."""
    return _at(first[None] + before, is_digit), _at(first[None] + up_to, is_digit)


def _digits() -> Array:
    return jnp.arange(_NUM_DIGITS, dtype=jnp.int32)[None]


def _at(counts: Array, flags: Array) -> Array:
    return jnp.sum(jnp.where(flags, counts, 0), axis=1, dtype=jnp.int32)
