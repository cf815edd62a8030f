# SPDX-License-Identifier: Apache-2.0
"""Numbers of distinct rows of segments."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...shardings._compat import is_x64_enabled
from ..contract._arguments import as_keys
from ..contract._key_bits import OrderedWord
from ..contract._platform import by_platform
from ..contract._typing import Array, ArrayLike, Int, Integer, Keys
from ..kernels.reduce._integer_range import range_of_integers
from ..kernels.reduce._run_nunique import MOST_RUN_ROWS, can_count_in_runs, native_run_nunique
from ..kernels.sort._radix_sort import sort_words
from ..tiers._tiered import tiered
from ._segment_rows import (
    SegmentIds,
    as_segment_ids,
    differs_from_row_before,
    rows_in_segments,
    sort_segments,
)

# Ids and values are packed into the longest word.
WORD_BITS = 64
# A table of all pairs of a segment and an integer stays in the cache, and is filled by more rows.
MOST_SLOTS = 1 << 22
LEAST_DIGITS = 16


def segment_nunique(
    x: Keys,
    segment_ids: Integer[ArrayLike, " rows"],
    num_segments: int,
    *,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Int[Array, " segments"]:
    """Counts the distinct values of each segment.

    Args:
        x: array of shape `(rows,)`, of any key dtype, or a tuple of them, for distinct rows. Rows
            with a NaN are not counted; -0.0 equals 0.0.
        segment_ids: segment of each row, integers of shape `(rows,)`, in any order. Rows with an id
            outside `[0, num_segments)` belong to no segment.
        num_segments: number of segments. Static.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        The counts, int32 of shape `(num_segments,)`.

    Raises:
        TypeError: a dtype that cannot be sorted by, `segment_ids` that are not integers, or
            `num_segments` is traced.
        ValueError: arrays of different lengths, or `num_segments` is less than one.

    Cost:
        Work O(rows x (id and key bytes) + num_segments): a sort and a count. One column of integers
        whose range fits into a word of 64 bits, beside the ids, is sorted without row ids, in x64
        mode. If ids are sorted and no segment has more than 8 rows, or if more than 4 million rows
        have integers of a small range, one pass and a count. No communication.

    Guarantees:
        Deterministic and exact.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> x, segment_ids = jnp.array([30, 10, 30, 20, 10]), jnp.array([1, 0, 1, 1, 0])
        >>> local.segment_nunique(x, segment_ids, 3).tolist()
        [1, 2, 0]
    """
    segments, columns = as_nunique_arguments(
        "segment_nunique", x, segment_ids, num_segments, num_valid
    )
    ids = segments.ids
    has_missing = any(jnp.issubdtype(column.dtype, jnp.floating) for column in columns)
    if num_valid is None and not has_missing and getattr(segment_ids, "dtype", None) == np.int32:
        # Without -1 in place of ids out of range: to write all ids takes as long as to count.
        ids = jnp.asarray(segment_ids)
    return _count(ids, columns, segments.num_segments)


@functools.partial(tiered, static_argnums=2)
def _count(ids: Array, columns: tuple[Array, ...], num_segments: int) -> Array:
    """Counts the distinct values of each segment; ids are int32, some perhaps out of range."""
    num_rows = ids.shape[0]
    segments = as_segment_ids(ids, num_segments, num_rows, None, "segment_nunique")
    # If segments are many, and no run can be longer than all of their rows.
    if not MOST_RUN_ROWS < num_rows <= MOST_RUN_ROWS * num_segments:
        return _count_by_sort(segments, columns)

    def portable(ids: Array, columns: tuple[Array, ...]) -> Array:
        segments = as_segment_ids(ids, num_segments, num_rows, None, "segment_nunique")
        return jax.lax.cond(
            _has_short_runs(segments),
            lambda: _count_in_runs(segments, columns),
            lambda: _count_by_sort(segments, columns),
        )

    def native(ids: Array, columns: tuple[Array, ...]) -> Array:
        (column,) = columns
        counts, are_short = native_run_nunique(ids, column, num_segments)

        def by_sort(_: Any) -> tuple[Array, Array]:
            segments = as_segment_ids(ids, num_segments, num_rows, None, "segment_nunique")
            return _count_by_sort(segments, columns), jnp.bool_(True)

        # At most once. Other than a `cond`, a loop returns counts that it leaves without a copy.
        counts, _ = jax.lax.while_loop(lambda state: ~state[1], by_sort, (counts, are_short))
        return counts

    column, *others = columns
    if others or not can_count_in_runs(column):
        return portable(ids, columns)
    return by_platform(ids, columns, cpu=native, default=portable)


def _has_short_runs(segments: SegmentIds) -> Array:
    """Whether the rows of each segment are neighbours, in order of the ids, and few."""
    key, _ = segments.key
    distance = MOST_RUN_ROWS
    is_long = (key[distance:] == key[:-distance]) & (key[distance:] < segments.num_segments)
    is_long = jnp.pad(is_long, (distance - 1, 0))
    # One reduction: two would take twice as long to compile.
    return ~jnp.any(is_long | (key[1:] < key[:-1]))


def _count_in_runs(segments: SegmentIds, columns: tuple[Array, ...]) -> Array:
    """Compares each row with those before it in its run."""
    is_repeat = jnp.zeros(segments.ids.shape, jnp.bool_)
    for distance in range(1, MOST_RUN_ROWS):
        is_same = segments.ids[distance:] == segments.ids[:-distance]
        for column in columns:
            is_same &= column[distance:] == column[:-distance]
        is_repeat |= jnp.pad(is_same, (distance, 0))
    return _count_flags(~is_repeat, segments.ids, segments.num_segments)


def _count_flags(is_counted: Array, ids: Array, num_segments: int) -> Array:
    return rows_in_segments(jnp.where(is_counted, ids, np.int32(-1)), num_segments)


def _count_by_sort(segments: SegmentIds, columns: tuple[Array, ...]) -> Array:
    column, *others = columns
    if not others and _can_fill_table(segments, column):
        num_digits = MOST_SLOTS // segments.num_segments
        least, greatest = range_of_integers(column, jnp.int32(column.shape[0]))
        # The difference of signed numbers may wrap around to a negative one.
        distance = greatest - least
        return jax.lax.cond(
            (distance >= 0) & (distance < column.dtype.type(num_digits)),
            lambda: _count_in_table(segments, column, least, num_digits),
            lambda: _count_words(segments, columns),
        )
    return _count_words(segments, columns)


def _count_words(segments: SegmentIds, columns: tuple[Array, ...]) -> Array:
    column, *others = columns
    is_whole = jnp.issubdtype(column.dtype, jnp.integer) and column.shape[0] > 0
    if others or not is_whole or not is_x64_enabled():
        return _count_sorted(segments, columns)
    _, id_bits = segments.key
    bits = WORD_BITS - id_bits
    if 8 * column.dtype.itemsize <= bits:
        word = np.dtype(f"uint{8 * column.dtype.itemsize}")
        digits = jax.lax.bitcast_convert_type(column, word).astype(jnp.uint64)
        return _count_packed(segments, digits, bits)
    words = jax.lax.bitcast_convert_type(column, jnp.uint64)
    # Rows of no segment may only make the range larger.
    ends = range_of_integers(column, jnp.int32(column.shape[0]))
    least, greatest = (jax.lax.bitcast_convert_type(end, jnp.uint64) for end in ends)
    return jax.lax.cond(
        (greatest - least) >> np.uint64(bits) == 0,
        lambda: _count_packed(segments, words - least, bits),
        lambda: _count_sorted(segments, columns),
    )


def _can_fill_table(segments: SegmentIds, column: Array) -> bool:
    """Whether rows are many for a table of integers of a small range, if their range is small."""
    num_slots = LEAST_DIGITS * segments.num_segments
    is_whole = jnp.issubdtype(column.dtype, jnp.integer) and column.dtype.itemsize >= 4
    return is_whole and num_slots <= MOST_SLOTS and column.shape[0] >= MOST_SLOTS


def _count_in_table(segments: SegmentIds, column: Array, least: Array, num_digits: int) -> Array:
    """Counts the rows of each pair of a segment and an integer, and the pairs that occur."""
    digits = (column - least).astype(jnp.int32)
    slots = segments.ids * np.int32(num_digits) + digits
    slots = jnp.where(segments.ids < 0, np.int32(-1), slots)
    counts = rows_in_segments(slots, segments.num_segments * num_digits)
    occurs = counts.reshape(segments.num_segments, num_digits) > 0
    return jnp.sum(occurs, axis=1, dtype=jnp.int32)


def _count_packed(segments: SegmentIds, digits: Array, bits: int) -> Array:
    """Sorts words of a segment and a digit of so many bits; equal words are neighbours then."""
    key, _ = segments.key
    words = key.astype(jnp.uint64) << np.uint64(bits) | digits
    column = OrderedWord(words, 0, WORD_BITS)
    words = sort_words(column, jnp.int32(words.shape[0]))
    ids = (words >> np.uint64(bits)).astype(jnp.int32)
    is_counted = differs_from_row_before((words,)) & (ids < segments.num_segments)
    return _count_flags(is_counted, ids, segments.num_segments)


def _count_sorted(segments: SegmentIds, columns: tuple[Array, ...]) -> Array:
    rows = sort_segments(segments, columns, (False,) * len(columns))
    return rows.counts(rows.tie_heads(), segments.num_segments)


def as_nunique_arguments(
    caller: str,
    x: Any,
    segment_ids: Any,
    num_segments: Any,
    num_valid: Any,
    num_shards: int = 1,
) -> tuple[SegmentIds, tuple[Array, ...]]:
    """Checks the arguments; returns the segments of rows without a NaN, and the keys."""
    columns, _ = as_keys(x, caller, "x", num_shards)
    num_rows = columns[0].shape[0]
    segments = as_segment_ids(segment_ids, num_segments, num_rows, num_valid, caller)
    return segments.of_numbers(columns), columns
