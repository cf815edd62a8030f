# SPDX-License-Identifier: Apache-2.0
"""Eager reductions by key on one device: the host sizes tables and results exactly.

The host reads the range of integer keys or the number of distinct keys, and chooses the algorithm
by it. Inside `jit`, `local.reduce_by_key` chooses instead.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ..shardings._compat import is_x64_enabled
from . import local
from ._direct_index import DirectIndex, index_in_steps, known_ranges
from ._segment_sums import Summed, rows_of_summed, sums_of_segments
from ._sized import in_steps
from .contract._typing import Array
from .kernels.reduce._segment_sum import can_sum_wide
from .local.parts import (
    Order,
    can_index,
    factorize_columns,
    first_rows_among,
    has_sum_kernel,
    index_numbers,
    reduce_columns,
    reduce_indexed,
    reduce_numbered,
    take_indexed,
)
from .tiers._tiered import tiered

# Up to this density a table of segments is filled as fast as rows are hashed.
MOST_SEGMENTS_PER_ROW = 2
# Few rows may have as many segments: such a table costs nothing.
LEAST_SEGMENTS = 32
# Keys and sums take one pass if at most a quarter of a sample's rows have a new key.
# A capacity that suffices for most such keys is tried first.
MOST_FEW_KEYS = 1 << 17
# A sample of so many rows takes less time than the call.
SAMPLE_ROWS = 1 << 15
# Sums of all leaves at once fill tables for all of them: they take fewer segments than that.
ROWS_OF_A_SEGMENT = 16
# First rows are searched in so many rows for each segment, then in all rows: in random order, n
# segments have appeared after about n log n rows.
LEAST_SEARCHED = 1 << 15
# The first attempt expects one group per this many rows: filling a capacity of all rows takes
# longer than finding few groups.
ROWS_OF_A_GROUP = 8


class Reductions(NamedTuple):
    """Reductions by key.

    Attributes:
        names: the reduction of each leaf.
        ddof: delta degrees of freedom of variances.
        order: "key", or "first" for keys in the order of their first rows.
        dtypes: the dtype in which each leaf is added up, for sums alone; () for their own.
    """

    names: tuple[str, ...]
    ddof: int = 0
    order: Order = "key"
    dtypes: tuple[str, ...] = ()


def reduce_eagerly(
    columns: tuple[Array, ...],
    leaves: Sequence[Any],
    num_valid: Array,
    how: Reductions,
    capacity_of: Callable[[int], int],
) -> tuple[tuple[tuple[Array, ...], list[Array]], Array] | None:
    """Reduces concrete rows in any order, in one of four ways.

    | Keys | Reductions | Way | Passes over the rows |
    |---|---|---|---|
    | integers of a small range | sums of products, or in the order of first rows; a sixteenth of the rows or fewer segments | direct index, all leaves at once | the range, one |
    | integers of a small range | any | direct index | the range, one for each leaf |
    | few distinct ones in a sample | one sum, in the order of the keys | hash tables with sums | one |
    | any | any | numbers by hash tables, or by a sort for keys of several words, unless they are integers whose ranges fit one; then segments | one, one for each leaf |

    The range of an array is read once, and `note_range` tells it for nothing.

    Args:
        columns: the keys.
        leaves: arrays; with `how.dtypes` also pairs of arrays, which stand for their products, and
            None to count rows.
        num_valid: the number of valid rows, at the front.
        how: the reductions.
        capacity_of: the capacity of the result for a number of keys.

    Returns:
        `((unique_columns, reduced), count)`, or None if values are traced.
    """  # noqa: E501
    if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves((columns, leaves, num_valid))):
        return None
    num_segments = _num_segments(columns, num_valid)
    if num_segments is not None:
        return _by_direct_index(columns, leaves, num_valid, num_segments, how, capacity_of)
    arrays = _written(leaves, how)
    if _are_one_sum(how) and _have_few_keys(columns, arrays, num_valid):
        keys, sums, count = reduce_columns(
            columns, arrays, num_valid, how.names, MOST_FEW_KEYS, False, how.ddof, False
        )
        capacity = capacity_of(int(count))
        if capacity <= MOST_FEW_KEYS:
            return _first((keys, sums), capacity), count
    most_keys = max(columns[0].shape[0] // ROWS_OF_A_GROUP, 1)
    words = _as_one_word(columns, num_valid)
    groups = factorize_columns(words, num_valid, most_keys, how.order == "key")
    count = int(groups.count)
    first_row_ids = groups.first_row_ids if count <= most_keys else None
    rows = reduce_numbered(
        columns, arrays, groups.group_ids, first_row_ids, groups.count, how.names, how.ddof,
        capacity_of(count),
    )  # fmt: skip
    return rows, groups.count


def _are_one_sum(how: Reductions) -> bool:
    return how.names == ("sum",) and how.order == "key"


def _by_direct_index(
    columns: tuple[Array, ...],
    leaves: Sequence[Any],
    num_valid: Array,
    num_segments: int,
    how: Reductions,
    capacity_of: Callable[[int], int],
) -> tuple[tuple[tuple[Array, ...], list[Array]], Array]:
    ranges = known_ranges(columns, num_valid)
    if how.dtypes and _add_at_once(columns, leaves, num_segments, how):
        counts, tables, count = _sum_at_once(columns, leaves, num_valid, ranges, num_segments, how)
    else:
        counts, tables, count = reduce_indexed(
            columns, _written(leaves, how), num_valid, ranges, num_segments, how.names, how.ddof
        )
    num_keys = int(count)
    first_rows = None
    if how.order == "first":
        first_rows = _first_rows(columns, num_valid, ranges, num_segments, num_keys)
    dtypes = tuple(column.dtype.name for column in columns)
    *rows, count = take_indexed(counts, tables, first_rows, ranges, dtypes, capacity_of(num_keys))
    return tuple(rows), count


def _add_at_once(
    columns: tuple[Array, ...], leaves: Sequence[Any], num_segments: int, how: Reductions
) -> bool:
    """Whether one pass adds up all leaves faster than a pass for each.

    That is so if it finds the first rows too, or if a leaf would be written first; two threads add
    up plain arrays faster one by one.
    """
    is_unwritten = any(
        leaf is not None and not _is_written(leaf, dtype)
        for leaf, dtype in zip(leaves, how.dtypes, strict=True)
    )
    if how.order == "key" and not is_unwritten:
        return False
    pairs = zip(leaves, how.names, how.dtypes, strict=True)
    are_wide = all(can_sum_wide(leaf, dtype) for leaf, name, dtype in pairs if name == "sum")
    return are_wide and num_segments * ROWS_OF_A_SEGMENT <= columns[0].shape[0]


def _sum_at_once(
    columns: tuple[Array, ...],
    leaves: Sequence[Any],
    num_valid: Array,
    ranges: Any,
    num_segments: int,
    how: Reductions,
) -> tuple[Array, list[Array], Array]:
    """Row counts of each segment, a sum or a count for each leaf, and the number of segments."""
    own = [at for at, name in enumerate(how.names) if name == "sum"]
    counts, sums, count = _sums_of_segments(
        [leaves[at] for at in own], columns, ranges, num_valid, num_segments,
        tuple(how.dtypes[at] for at in own),
    )  # fmt: skip
    tables = [counts] * len(leaves)
    for at, total in zip(own, sums, strict=True):
        tables[at] = total
    return counts, tables, count


@functools.partial(tiered, static_argnums=(4, 5))
def _sums_of_segments(
    leaves: list[Summed],
    columns: tuple[Array, ...],
    ranges: Any,
    num_valid: Array,
    num_segments: int,
    dtypes: tuple[str, ...],
) -> tuple[Array, list[Array], Array]:
    if len(columns) == 1 and columns[0].dtype.itemsize >= 4:
        # The keys are the ids of the segments.
        ids, first_id = columns[0], ranges[0][0].astype(columns[0].dtype)
    else:
        ids, first_id = index_numbers(columns, ranges, num_segments), None
    counts, sums = sums_of_segments(leaves, dtypes, ids, num_segments, first_id, num_valid)
    return counts, sums, jnp.sum(counts > 0, dtype=jnp.int32)


def _first_rows(
    columns: tuple[Array, ...], num_valid: Array, ranges: Any, num_segments: int, num_keys: int
) -> Array:
    """The first row of each segment, searched in the first rows, and then in all of them."""
    num_rows = columns[0].shape[0]
    num_searched = max(LEAST_SEARCHED, ROWS_OF_A_SEGMENT * num_segments)
    if num_searched < num_rows:
        first_rows, num_found = first_rows_among(
            columns, num_valid, ranges, num_segments, num_searched
        )
        if int(num_found) == num_keys:
            return first_rows
    return first_rows_among(columns, num_valid, ranges, num_segments, num_rows)[0]


def _written(leaves: Sequence[Any], how: Reductions) -> list[Array]:
    """Leaves as arrays of the dtypes of their sums."""
    dtypes = how.dtypes or ("",) * len(leaves)
    return [
        leaf if _is_written(leaf, dtype) else _rows_in_dtype(leaf, dtype)
        for leaf, dtype in zip(leaves, dtypes, strict=True)
    ]


def _is_written(leaf: Summed, dtype: str) -> bool:
    """Whether the rows of a leaf are in memory in the dtype of their sums."""
    return dtype == "" or (not isinstance(leaf, tuple) and leaf.dtype.name == dtype)


@functools.partial(tiered, static_argnums=1)
def _rows_in_dtype(leaf: Summed, dtype: str) -> Array:
    return rows_of_summed(leaf).astype(dtype)


def _num_segments(columns: tuple[Array, ...], num_valid: Array) -> int | None:
    """The number of segments of a direct index, in steps; None if keys are not dense integers."""
    if not can_index(columns):
        return None
    most = MOST_SEGMENTS_PER_ROW * max(columns[0].shape[0], LEAST_SEGMENTS)
    ranges = known_ranges(columns, num_valid)
    size = math.prod(max(int(high) - int(low) + 1, 1) for low, high in ranges)
    return in_steps(size) if size <= most else None


def _as_one_word(columns: tuple[Array, ...], num_valid: Array) -> tuple[Array, ...]:
    """Columns of integers as one column in their order, if their ranges fit a word of it."""
    if len(columns) == 1 or not can_index(columns):
        return columns
    dtypes = [np.int32 if column.dtype == jnp.bool_ else column.dtype for column in columns]
    most = np.iinfo(np.int64 if is_x64_enabled() else np.int32).max
    index = index_in_steps(known_ranges(columns, num_valid), dtypes, int(most))
    if index is None:
        return columns
    return (_numbers(columns, index, "int32" if index.num_segments < 2**31 else "int64"),)


@functools.partial(tiered, static_argnums=2)
def _numbers(columns: tuple[Array, ...], index: DirectIndex, dtype: str) -> Array:
    return index.numbers(columns, (None,) * len(columns), dtype)


def _have_few_keys(columns: tuple[Array, ...], leaves: list[Array], num_valid: Array) -> bool:
    """Whether the kernel adds such rows, and a sample has few distinct keys."""
    if columns[0].shape[0] < SAMPLE_ROWS or not has_sum_kernel(columns, leaves[0], num_valid):
        return False
    num_distinct, num_sampled = _distinct_of_sample(columns, num_valid)
    return bool(4 * num_distinct <= num_sampled)


@tiered
def _distinct_of_sample(columns: tuple[Array, ...], num_valid: Array) -> tuple[Array, Array]:
    """The number of distinct keys in evenly spaced rows, and the number of these rows."""
    step = max(columns[0].shape[0] // SAMPLE_ROWS, 1)
    num_sampled = (num_valid + np.int32(step - 1)) // np.int32(step)
    sample = tuple(column[::step] for column in columns)
    found = local.factorize(sample, capacity=0, sort=False, num_valid=num_sampled)
    return found.count, num_sampled


@functools.partial(tiered, static_argnums=1)
def _first(rows: Any, capacity: int) -> Any:
    return jax.tree.map(lambda leaf: leaf[:capacity], rows)
