# SPDX-License-Identifier: Apache-2.0
"""Pairs of rows whose groups are equal: the portable definition, and the C++ kernel on CPU."""

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...shardings._compat import is_x64_enabled, like_varying
from .._key_bits import OrderedWord
from .._typing import Array
from ._factorize import number_groups
from ._foreign import call, word_attribute
from ._library import is_native, load
from ._radix_sort import argsort_words

# As the kernel numbers them. A right join is a left one of the sides swapped.
GroupedHow = Literal["inner", "left", "outer", "semi", "anti"]
_HOW_NUMBERS = {"inner": 0, "left": 1, "outer": 2, "semi": 3, "anti": 4}

MOST_PAIRS = 2**31 - 1


class Side(NamedTuple):
    """The rows of one side: a word or a group for each, and how many count, from the front."""

    words: Array
    num_valid: Array


class Pairs(NamedTuple):
    """Rows of both sides, -1 where there is none; and how many pairs there are."""

    left_rows: Array
    right_rows: Array
    count: Array


def join_words(
    left: Side, right: Side, column: OrderedWord, how: GroupedHow, capacity: int
) -> Pairs:
    """Pairs the rows of equal words, which both sides read as `column` does.

    The pairs come in the order of the left rows, then the right ones; of an outer join in the
    order of the words. The count is int32, and `2**31 - 1` where there are more.
    """

    def xla(left: Side, right: Side) -> Pairs:
        left, right, num_groups = grouped_sides(left, right, column, how == "outer")
        if how == "outer":
            return _join_by_group(left, right, num_groups, capacity)
        return _join_by_row(left, right, how, capacity)

    def native(left: Side, right: Side) -> Pairs:
        left_rows, right_rows, count = _native_join(left, right, column, how, capacity)
        return Pairs(left_rows, right_rows, _saturated(count))

    if not is_native():
        return xla(left, right)
    return jax.lax.platform_dependent(left, right, cpu=native, default=xla)


def count_pairs(left: Side, right: Side, column: OrderedWord, how: GroupedHow) -> Array:
    """How many pairs `join_words` makes: int64, or without x64 mode int32 that saturates."""

    def xla(left: Side, right: Side) -> Array:
        left, right, _ = grouped_sides(left, right, column, False)
        num_groups = left.words.shape[0] + right.words.shape[0]
        return total_pairs(rows_of_groups(left, num_groups), rows_of_groups(right, num_groups), how)

    def native(left: Side, right: Side) -> Array:
        _, _, count = _native_join(left, right, column, how, 0)
        if is_x64_enabled():
            high, low = count[0].astype(jnp.int64), count[1].astype(jnp.int64)
            return high << np.int64(32) | low
        return _saturated(count)

    if not is_native():
        return xla(left, right)
    return jax.lax.platform_dependent(left, right, cpu=native, default=xla)


def _native_join(
    left: Side, right: Side, column: OrderedWord, how: GroupedHow, capacity: int
) -> tuple[Array, Array, Array]:
    library, _ = load()
    assert library is not None
    num_rows = left.words.shape[0] + right.words.shape[0]
    scratch_bytes = library.jaxframes_join_scratch_bytes(num_rows, left.words.dtype.itemsize)
    arrays = (left.words, right.words, left.num_valid, right.num_valid)
    left_rows, right_rows, count, _ = call(
        "jaxframes_join_v1",
        tuple(array[None] for array in arrays),
        (
            ((capacity,), jnp.int32),
            ((capacity,), jnp.int32),
            ((2,), jnp.uint32),
            ((scratch_bytes,), jnp.uint8),
        ),
        flip=word_attribute(column.flip),
        how=np.int32(_HOW_NUMBERS[how]),
    )
    return left_rows, right_rows, count


def grouped_sides(
    left: Side, right: Side, column: OrderedWord, in_key_order: bool
) -> tuple[Side, Side, Array]:
    """Numbers the words of both sides together."""
    num_left, num_right = left.words.shape[0], right.words.shape[0]
    words = one_after_the_other(left.words, right.words, left.num_valid)
    column = column._replace(word=words)
    num_valid = left.num_valid + right.num_valid
    row_ids = argsort_words(column, num_valid)
    groups = number_groups((column,), row_ids, num_valid, 0, in_key_order=in_key_order)
    right_ids = jax.lax.dynamic_slice_in_dim(groups.group_ids, left.num_valid, num_right)
    left_side = Side(groups.group_ids[:num_left], left.num_valid)
    return left_side, Side(right_ids, right.num_valid), groups.count


def _join_by_row(left: Side, right: Side, how: GroupedHow, capacity: int) -> Pairs:
    num_left = left.words.shape[0]
    grouped = _grouped(right, max(num_left + right.words.shape[0], 1))
    is_left = jax.lax.iota(jnp.int32, num_left) < left.num_valid
    groups = jnp.where(is_left, left.words, 0)
    matches = _take(grouped.counts, groups)
    num_pairs = {
        "inner": matches,
        "left": jnp.maximum(matches, 1),
        "semi": jnp.minimum(matches, 1),
        "anti": 1 - jnp.minimum(matches, 1),
    }[how]
    left_rows, places, count = expand(jnp.where(is_left, num_pairs, 0), capacity)
    if num_left == 0:
        nothing = jnp.full_like(left_rows, -1)
        return Pairs(nothing, nothing, count)
    is_pair = jax.lax.iota(jnp.int32, capacity) < count
    if how in ("semi", "anti"):
        right_rows = jnp.full_like(left_rows, -1)
    else:
        has_match = is_pair & (_take(matches, left_rows) > 0)
        group = _take(groups, left_rows)
        right_rows = jnp.where(has_match, grouped.row(group, places), -1)
    return Pairs(jnp.where(is_pair, left_rows, -1), right_rows, count)


def _join_by_group(left: Side, right: Side, num_groups: Array, capacity: int) -> Pairs:
    most_groups = max(left.words.shape[0] + right.words.shape[0], 1)
    of_left, of_right = _grouped(left, most_groups), _grouped(right, most_groups)
    is_group = jax.lax.iota(jnp.int32, most_groups) < num_groups
    num_left = jnp.maximum(of_left.counts, 1)
    num_right = jnp.maximum(of_right.counts, 1)
    num_pairs = jnp.where(is_group, saturating_product(num_left, num_right), 0)
    group, places, count = expand(num_pairs, capacity)
    is_pair = jax.lax.iota(jnp.int32, capacity) < count
    num_beside = _take(num_right, group)

    def rows_of(side: "_GroupedRows", place: Array) -> Array:
        has_row = is_pair & (_take(side.counts, group) > 0)
        return jnp.where(has_row, side.row(group, place), -1)

    left_rows = rows_of(of_left, places // num_beside)
    return Pairs(left_rows, rows_of(of_right, places % num_beside), count)


def _saturated(count: Array) -> Array:
    """The kernel's count, of which the high word comes first, as an int32 that saturates."""
    fits = (count[0] == 0) & (count[1] <= np.uint32(MOST_PAIRS))
    return jnp.where(fits, count[1], np.uint32(MOST_PAIRS)).astype(jnp.int32)


def one_after_the_other(left: Array, right: Array, num_left: Array) -> Array:
    """The valid rows of the left side, then the right ones, so that all padding is behind."""
    room = jnp.concatenate([left, jnp.zeros_like(right)])
    return jax.lax.dynamic_update_slice_in_dim(room, right, num_left, 0)


class _GroupedRows(NamedTuple):
    """The rows of one side by group, in row order, and where those of each group begin."""

    row_ids: Array
    offsets: Array
    counts: Array

    def row(self, group: Array, place: Array) -> Array:
        """The row that stands at a place within its group, or some row where there is none."""
        if self.row_ids.shape[0] == 0:
            return jnp.zeros_like(place)
        index = jnp.minimum(_take(self.offsets, group) + place, self.row_ids.shape[0] - 1)
        return _take(self.row_ids, index)


def _grouped(side: Side, num_groups: int) -> _GroupedRows:
    counts = rows_of_groups(side, num_groups)
    word = OrderedWord(side.words.astype(jnp.uint32), 0, 32)
    offsets = jnp.cumsum(counts, dtype=jnp.int32) - counts
    return _GroupedRows(argsort_words(word, side.num_valid), offsets, counts)


def rows_of_groups(side: Side, num_groups: int) -> Array:
    is_valid = jax.lax.iota(jnp.int32, side.words.shape[0]) < side.num_valid
    zeros = like_varying(jnp.zeros((num_groups,), jnp.int32), side)
    return zeros.at[jnp.where(is_valid, side.words, num_groups)].add(1, mode="drop")


def total_pairs(num_left: Array, num_right: Array, how: GroupedHow) -> Array:
    """The pairs of groups with so many rows on each side: int64, or int32 that saturates."""
    if is_x64_enabled():
        num_left, num_right = num_left.astype(jnp.int64), num_right.astype(jnp.int64)
    one = jnp.ones((), num_left.dtype)
    is_group = jnp.minimum(num_left + num_right, one)
    left, right = {
        "inner": (num_left, num_right),
        "left": (num_left, jnp.maximum(num_right, one)),
        "outer": (jnp.maximum(num_left, is_group), jnp.maximum(num_right, is_group)),
        "semi": (num_left, jnp.minimum(num_right, one)),
        "anti": (num_left, one - jnp.minimum(num_right, one)),
    }[how]
    if is_x64_enabled():
        return jnp.sum(left * right, dtype=jnp.int64)
    pairs = saturating_product(left, right).astype(jnp.uint32)
    return jax.lax.reduce(pairs, np.uint32(0), saturating_add, (0,)).astype(jnp.int32)


def expand(num_copies: Array, capacity: int) -> tuple[Array, Array, Array]:
    """Repeats each item some number of times.

    Args:
        num_copies: how often each item is repeated, int32, not negative.
        capacity: places that there is room for.

    Returns:
        The item at each place and which of its copies that is, some item behind the last; and how
        many copies there are in all, `2**31 - 1` where there are more.
    """
    if num_copies.shape[0] == 0:
        nothing = like_varying(jnp.zeros((capacity,), jnp.int32), num_copies)
        return nothing, nothing, like_varying(jnp.zeros((), jnp.int32), num_copies)
    if is_x64_enabled():
        ends = jnp.minimum(jnp.cumsum(num_copies, dtype=jnp.int64), np.int64(MOST_PAIRS))
    else:
        ends = jax.lax.associative_scan(saturating_add, num_copies.astype(jnp.uint32))
    ends = ends.astype(jnp.int32)
    begins = jnp.concatenate([jnp.zeros_like(ends[:1]), ends[:-1]])
    places = jnp.where(num_copies > 0, begins, capacity)
    room = like_varying(jnp.zeros((capacity,), jnp.int32), places)
    # What passes the capacity is dropped; so is the place of what has no copies.
    marks = room.at[places].max(jax.lax.iota(jnp.int32, num_copies.shape[0]), mode="drop")
    items = jax.lax.cummax(marks) if capacity else marks
    return items, jax.lax.iota(jnp.int32, capacity) - _take(begins, items), ends[-1]


def saturating_product(a: Array, b: Array) -> Array:
    """`a * b` of int32 that are not negative, or `2**31 - 1` where it is greater."""
    fits = a <= MOST_PAIRS // jnp.maximum(b, 1)
    return jnp.where(fits, a * b, MOST_PAIRS)


def saturating_add(a: Array, b: Array) -> Array:
    """`a + b` of uint32 up to `2**31 - 1`, or that number where it is greater."""
    # Neither is above 2**31 - 1, so that the sum does not wrap.
    return jnp.minimum(a + b, np.uint32(MOST_PAIRS))


def _take(rows: Array, row_ids: Array) -> Array:
    return rows.at[row_ids].get(mode="promise_in_bounds")
