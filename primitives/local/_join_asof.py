# SPDX-License-Identifier: Apache-2.0
"""As-of join of one device's rows: matches the right row with the closest time."""

import functools
from typing import Any

import jax
import jax.numpy as jnp

from ...shardings._compat import like_varying
from ..contract._key_bits import OrderedWord, ordered_words
from ..contract._platform import by_platform
from ..contract._scan_operators import Scan
from ..contract._take import take_rows, take_rows_or_zeros
from ..contract._typing import Array, ArrayLike, Int, Keys, NumValid, Shaped
from ..kernels.base._pallas import on_tpu
from ..kernels.join._sorted_match import rows_of_side
from ..kernels.move._gather_by_sorts import gather_ascending
from ..kernels.sort._put_back import put_back
from ..kernels.sort._radix_sort import sort_columns
from ..tiers._tiered import tiered
from ._asof_rule import (
    AsofRule,
    Candidate,
    Direction,
    Found,
    as_asof,
    choose_rows,
    find_positions,
    head_flags,
    is_nan_word,
    split_words,
)
from ._scan_segments import ScanArguments, SegmentEncoding, scan_segments
from ._sides import KeySides, stack_columns


def join_asof(
    left: Shaped[ArrayLike, " left_rows"],
    right: Shaped[ArrayLike, " right_rows"],
    *,
    by: tuple[Keys, Keys] | None = None,
    direction: Direction = "backward",
    tolerance: Any = None,
    allow_exact: bool = True,
    num_valid: tuple[NumValid, NumValid] | None = None,
) -> Int[Array, " left_rows"]:
    """Finds the right row with the closest time for each left row.

    Gather the rows by the returned ids: `values[right_rows]`, for rows with a match.

    Args:
        left: times of the left rows, or other ordered values, in any order, of shape `(left_rows,)`
            and any key dtype.
        right: times of the right rows, in any order, of the same dtype and shape `(right_rows,)`.
        by: keys of the left and of the right rows, each an array or a tuple of arrays,
            that must be equal in matching rows. NaN equals NaN.
        direction: the direction of the search.

            - `"backward"`: the last right row at or before the left row's time.
            - `"forward"`: the first right row at or after the left row's time.
            - `"nearest"`: the closer of the two; the earlier one at equal distance.

        tolerance: the largest distance of matching times, a non-negative number of their dtype;
            unlimited by default.
        allow_exact: whether equal times match.
        num_valid: numbers of valid rows of the left and the right side, at their fronts.

    Returns:
        For each left row the id of its right row, int32; -1 for no match and in padding.
        Of right rows with equal times a backward match takes the last, a forward match the first.

    Raises:
        TypeError: dtypes of the sides differ or cannot be sorted by, or `tolerance` is not a number
            of the dtype of the times.
        ValueError: arrays that are not one-dimensional or differ in length, a negative `tolerance`,
            or an unknown `direction`.

    Cost:
        Work O((left_rows + right_rows) x key bytes): one sort of both sides together, and a scan,
        or two for the nearest row. On TPU shifts and one more sort find the rows in place of
        gathers. No communication.

    Guarantees:
        Deterministic. Distances of integers are exact for any distance; those of floats are rounded
        to their dtype, or to float32 if it is wider. NaN is not a time: such rows have no match,
        where pandas raises. A traced `tolerance` that is negative or NaN matches nothing. Values
        that are gathered by the ids are differentiable.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> trades, quotes = jnp.array([10, 25, 31]), jnp.array([30, 10, 20])
        >>> local.join_asof(trades, quotes).tolist()
        [1, 2, 0]
        >>> local.join_asof(trades, quotes, direction="nearest", tolerance=4).tolist()
        [1, -1, 0]
        >>> tickers = jnp.array([1, 1, 2]), jnp.array([2, 1, 2])
        >>> local.join_asof(trades, quotes, by=tickers).tolist()
        [1, 1, 0]
    """
    sides, rule, limit = as_asof(left, right, by, direction, tolerance, allow_exact, num_valid)
    return _join_sides(sides, limit, rule)


@functools.partial(tiered, static_argnums=2)
def _join_sides(sides: KeySides, tolerance: Array | None, rule: AsofRule) -> Array:
    sides = jax.lax.stop_gradient(sides)
    left_times, right_times = sides.a[-1], sides.b[-1]
    num_left = left_times.shape[0]
    if right_times.shape[0] == 0 or num_left == 0:
        return like_varying(jnp.full((num_left,), -1, jnp.int32), sides)
    if rule.right_first:
        columns = stack_columns(sides.b, sides.a, sides.num_b)
        first_left, first_right = sides.num_b, jnp.zeros_like(sides.num_b)
    else:
        columns = stack_columns(sides.a, sides.b, sides.num_a)
        first_left, first_right = jnp.zeros_like(sides.num_a), sides.num_a
    num_valid = sides.num_a + sides.num_b
    # Equal rows keep their order, so one side comes first.
    words = ordered_words(columns, (False,) * len(columns))
    in_order, row_ids, _ = sort_columns(words, num_valid, words="order", with_ids=True)
    words = tuple(
        OrderedWord(word, 0, column.bits, is_whole=True)
        for word, column in zip(in_order, words, strict=True)
    )
    group, time = split_words(words, left_times)
    positions = jax.lax.iota(jnp.int32, row_ids.shape[0])
    right_ids = row_ids - first_right
    is_match = (right_ids >= 0) & (right_ids < sides.num_b)
    is_match &= ~is_nan_word(time, left_times.dtype)
    heads = SegmentEncoding(head_flags(group) if group else None, None)

    def scan(values: Array, scan: Scan) -> Array:
        arguments = ScanArguments(values, scan, None, num_valid)
        return scan_segments(arguments, heads)

    found_positions = find_positions(is_match, positions, head_flags((*group, time)), rule, scan)
    is_left = jax.lax.iota(jnp.int32, num_left) < sides.num_a
    is_left &= left_times == left_times

    def by_gathers(position: Array, right_ids: Array, row_ids: Array) -> Array:
        right_rows = take_rows(right_ids, jnp.maximum(position, 0), is_unique=False)
        (in_order,) = put_back(row_ids, (jnp.where(position >= 0, right_rows, -1),))
        return jax.lax.dynamic_slice_in_dim(in_order, first_left, num_left)

    def by_shifts(position: Array, right_ids: Array, row_ids: Array) -> Array:
        # Positions ascend among the rows that have one: others repeat the row before them.
        (right_rows,) = gather_ascending((right_ids,), jnp.maximum(jax.lax.cummax(position), 0))
        right_rows = jnp.where(position >= 0, right_rows, -1)
        left_ids = row_ids - first_left
        is_left = (left_ids >= 0) & (left_ids < sides.num_a)
        (right_rows,) = rows_of_side(is_left, left_ids, (right_rows,), num_left, num_valid)
        return right_rows

    def candidate(position: Array) -> Candidate:
        right_rows = by_platform(
            position, right_ids, row_ids, default=by_gathers, **on_tpu(by_shifts)
        )
        right_rows = jnp.where(is_left, right_rows, -1)
        has_match = right_rows >= 0
        times = take_rows_or_zeros(right_times, jnp.maximum(right_rows, 0), has_match)
        return Candidate(right_rows, times)

    found = Found(
        *(None if position is None else candidate(position) for position in found_positions)
    )
    return choose_rows(left_times, found, tolerance)
