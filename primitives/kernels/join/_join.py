# SPDX-License-Identifier: Apache-2.0
"""Pairs of rows with equal group ids: the portable definition, and the C++ kernel on CPU."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ....shardings._compat import is_x64_enabled
from ...contract._key_bits import OrderedWord
from ...contract._platform import by_platform
from ...contract._typing import Array
from ..base._cuda import on_cuda
from ..base._foreign import call, word_attribute
from ..base._library import is_native, load
from ..move._log_shift import resized
from ..sort._radix_sort import argsort_words
from ._grouped_sides import Side, grouped_sides, rows_of_groups
from ._pair_counts import (
    MOST_PAIRS,
    GroupedHow,
    expand,
    pairs_of_row,
    saturating_product,
    total_pairs,
    unmatched_rows,
)
from ._row_match import RowMatch
from ._run_match import match_by_runs, pairs_by_runs
from ._sorted_match import match_by_sort, outer_pairs_by_shifts, pairs_by_shifts

# The numbers of the kernel.
_HOW_NUMBERS = {"inner": 0, "left": 1, "outer": 2, "semi": 3, "anti": 4}


class Pairs(NamedTuple):
    """Rows of both sides, -1 for no match; the number of pairs, and of unmatched rows."""

    left_rows: Array
    right_rows: Array
    count: Array
    num_unmatched_left: Array
    num_unmatched_right: Array

    def swapped(self) -> "Pairs":
        """The pairs with the sides exchanged."""
        return Pairs(
            self.right_rows,
            self.left_rows,
            self.count,
            self.num_unmatched_right,
            self.num_unmatched_left,
        )


class Matches(NamedTuple):
    """The matches of two sides, from which pairs are written.

    On TPU, and with the kernels on CUDA, `groups` begin with the start of the matches of each left
    row in `right_rows`, and `offsets` begin with their number; see `RowMatch`, of outer joins too.

    Attributes:
        groups: the group id of each valid left row, then of each right row; arbitrary in padding.
        offsets: the start of each group in `right_rows`, and the end of the last group.
        right_rows: the right rows grouped by group id, in row order.
        num_left: the number of valid left rows.
        num_groups: the number of groups.
        total: the number of pairs: int64, or int32 without x64 mode, which saturates.
        num_unmatched_left: the number of left rows in groups without a right row.
        num_unmatched_right: the number of right rows in groups without a left row.
    """

    groups: Array
    offsets: Array
    right_rows: Array
    num_left: Array
    num_groups: Array
    total: Array
    num_unmatched_left: Array
    num_unmatched_right: Array

    @property
    def left(self) -> Side:
        """The groups of the left rows."""
        length = self.groups.shape[0] - self.right_rows.shape[0]
        return Side(self.groups[:length], self.num_left)

    def of_rows(self, how: GroupedHow) -> tuple[Array, Array]:
        """The start and the number of the matches of each row, where no groups are numbered."""
        is_outer = how == "outer"
        length = self.groups.shape[0] - (0 if is_outer else self.right_rows.shape[0])
        return self.groups[:length], self.offsets[:length]


def join_words(
    left: Side, right: Side, column: OrderedWord, how: GroupedHow, capacity: int
) -> Pairs:
    """Pairs rows with equal words; `column` describes the words of both sides.

    The pairs are in the order of the left rows, then the right rows; those of an outer join in the
    order of the words. The count is int32 and saturates at `2**31 - 1`.
    """

    def xla(left: Side, right: Side) -> Pairs:
        return _pairs(_match(left, right, column, how), how, capacity)

    def native(left: Side, right: Side) -> Pairs:
        return _native_pairs(_native_match(left, right, column, how), how, capacity)

    def tpu(left: Side, right: Side) -> Pairs:
        return _sorted_pairs(_sorted_match(left, right, column, how), how, capacity)

    def cuda(left: Side, right: Side) -> Pairs:
        return _run_pairs(_run_match(left, right, column, how), how, capacity)

    return _by_platform(native, xla, tpu, cuda, left, right)


def match_words(left: Side, right: Side, column: OrderedWord, how: GroupedHow) -> Matches:
    """The first half of `join_words`: finds and counts the pairs."""

    def xla(left: Side, right: Side) -> Matches:
        return _match(left, right, column, how)

    def native(left: Side, right: Side) -> Matches:
        return _native_match(left, right, column, how)

    def tpu(left: Side, right: Side) -> Matches:
        return _sorted_match(left, right, column, how)

    def cuda(left: Side, right: Side) -> Matches:
        return _run_match(left, right, column, how)

    return _by_platform(native, xla, tpu, cuda, left, right)


def pairs_of(matches: Matches, how: GroupedHow, capacity: int) -> Pairs:
    """The second half of `join_words`: writes the pairs."""

    def xla(matches: Matches) -> Pairs:
        return _pairs(matches, how, capacity)

    def native(matches: Matches) -> Pairs:
        return _native_pairs(matches, how, capacity)

    def tpu(matches: Matches) -> Pairs:
        return _sorted_pairs(matches, how, capacity)

    def cuda(matches: Matches) -> Pairs:
        return _run_pairs(matches, how, capacity)

    return _by_platform(native, xla, tpu, cuda, matches)


def count_pairs(left: Side, right: Side, column: OrderedWord, how: GroupedHow) -> Array:
    """Counts the pairs of `join_words`: int64, or int32 without x64 mode, which saturates."""

    def xla(left: Side, right: Side) -> Array:
        left, right, _, _ = grouped_sides(left, right, column)
        num_groups = left.words.shape[0] + right.words.shape[0]
        return total_pairs(rows_of_groups(left, num_groups), rows_of_groups(right, num_groups), how)

    def native(left: Side, right: Side) -> Array:
        return _native_match(left, right, column, how).total

    def tpu(left: Side, right: Side) -> Array:
        return match_by_sort(left, right, column, how).total

    def cuda(left: Side, right: Side) -> Array:
        return match_by_runs(left, right, column, how).total

    return _by_platform(native, xla, tpu, cuda, left, right)


def _by_platform(native: Any, xla: Any, tpu: Any, cuda: Any, *arguments: Any) -> Any:
    ways = ({"cpu": native} if is_native() else {}) | {"tpu": tpu} | on_cuda(cuda)
    return by_platform(*arguments, default=xla, **ways)


def _native_match(left: Side, right: Side, column: OrderedWord, how: GroupedHow) -> Matches:
    library, _ = load()
    assert library is not None
    num_right = right.words.shape[0]
    num_rows = left.words.shape[0] + num_right
    scratch_bytes = library.jaxframes_join_scratch_bytes(num_rows, left.words.dtype.itemsize)
    arrays = (left.words, right.words, left.num_valid, right.num_valid)
    groups, offsets, right_rows, counts, _ = call(
        "jaxframes_match_v2",
        tuple(array[None] for array in arrays),
        (
            ((num_rows,), jnp.int32),
            ((num_rows + 2,), jnp.int32),
            ((num_right,), jnp.int32),
            ((5,), jnp.uint32),
            ((scratch_bytes,), jnp.uint8),
        ),
        flip=word_attribute(column.flip),
        how=np.int32(_HOW_NUMBERS[how]),
    )
    num_groups, high, low, *num_unmatched = counts
    if is_x64_enabled():
        total = high.astype(jnp.int64) << np.int64(32) | low.astype(jnp.int64)
    else:
        fits = (high == 0) & (low <= np.uint32(MOST_PAIRS))
        total = jnp.where(fits, low, np.uint32(MOST_PAIRS)).astype(jnp.int32)
    num_groups, *num_unmatched = (count.astype(jnp.int32) for count in (num_groups, *num_unmatched))
    return Matches(groups, offsets, right_rows, left.num_valid, num_groups, total, *num_unmatched)


def _native_pairs(matches: Matches, how: GroupedHow, capacity: int) -> Pairs:
    left_rows, right_rows = call(
        "jaxframes_pairs_v1",
        tuple(array[None] for array in matches[:5]),
        (((capacity,), jnp.int32), ((capacity,), jnp.int32)),
        how=np.int32(_HOW_NUMBERS[how]),
    )
    return Pairs(left_rows, right_rows, _as_count(matches.total), *matches[-2:])


def _sorted_match(left: Side, right: Side, column: OrderedWord, how: GroupedHow) -> Matches:
    return _of_rows(match_by_sort(left, right, column, how), left, right)


def _sorted_pairs(matches: Matches, how: GroupedHow, capacity: int) -> Pairs:
    of_rows = matches.of_rows(how)
    if how == "outer":
        rows = outer_pairs_by_shifts(*of_rows, matches.right_rows, capacity)
    else:
        rows = pairs_by_shifts(*of_rows, matches.right_rows, matches.num_left, how, capacity)
    return Pairs(*rows, _as_count(matches.total), *matches[-2:])


def _run_match(left: Side, right: Side, column: OrderedWord, how: GroupedHow) -> Matches:
    return _of_rows(match_by_runs(left, right, column, how), left, right)


def _run_pairs(matches: Matches, how: GroupedHow, capacity: int) -> Pairs:
    of_rows = matches.of_rows(how)
    rows = pairs_by_runs(*of_rows, matches.right_rows, matches.num_left, how, capacity)
    return Pairs(*rows, _as_count(matches.total), *matches[-2:])


def _of_rows(match: RowMatch, left: Side, right: Side) -> Matches:
    """Matches of left rows, without groups."""
    length = left.words.shape[0] + right.words.shape[0]
    groups, offsets = resized(match.begins, length), resized(match.num_matches, length + 2)
    # No groups are numbered.
    num_groups = jnp.zeros_like(match.num_unmatched_left)
    return Matches(groups, offsets, match.right_rows, left.num_valid, num_groups, *match[3:])


def _as_count(total: Array) -> Array:
    return jnp.minimum(total, total.dtype.type(MOST_PAIRS)).astype(jnp.int32)


def _match(left: Side, right: Side, column: OrderedWord, how: GroupedHow) -> Matches:
    left, right, groups, num_groups = grouped_sides(left, right, column)
    counts = rows_of_groups(right, groups.shape[0])
    ends = jnp.cumsum(counts, dtype=jnp.int32)
    # One group more than possible, as in the kernel.
    offsets = jnp.pad(ends, (1, 1))
    right_rows = argsort_words(OrderedWord(right.words.astype(jnp.uint32), 0, 32), right.num_valid)
    left_counts = rows_of_groups(left, groups.shape[0])
    total = total_pairs(left_counts, counts, how)
    num_unmatched = unmatched_rows(left_counts, counts), unmatched_rows(counts, left_counts)
    return Matches(groups, offsets, right_rows, left.num_valid, num_groups, total, *num_unmatched)


def _pairs(matches: Matches, how: GroupedHow, capacity: int) -> Pairs:
    if how == "outer":
        return _join_by_group(matches, capacity)
    return _join_by_row(matches, how, capacity)


def _join_by_row(matches: Matches, how: GroupedHow, capacity: int) -> Pairs:
    left = matches.left
    num_left = left.words.shape[0]
    right = _GroupedRows(matches.right_rows, matches.offsets)
    is_left = jax.lax.iota(jnp.int32, num_left) < left.num_valid
    groups = jnp.where(is_left, left.words, 0)
    num_matches = right.sizes(groups)
    num_pairs = jnp.where(is_left, pairs_of_row(num_matches, how), 0)
    left_rows, positions, count = expand(num_pairs, capacity)
    if num_left == 0:
        nothing = jnp.full_like(left_rows, -1)
        return Pairs(nothing, nothing, count, *matches[-2:])
    is_pair = jax.lax.iota(jnp.int32, capacity) < count
    if how in ("semi", "anti"):
        right_rows = jnp.full_like(left_rows, -1)
    else:
        has_match = is_pair & (_take(num_matches, left_rows) > 0)
        group = _take(groups, left_rows)
        right_rows = jnp.where(has_match, right.row(group, positions), -1)
    return Pairs(jnp.where(is_pair, left_rows, -1), right_rows, count, *matches[-2:])


def _join_by_group(matches: Matches, capacity: int) -> Pairs:
    right = _GroupedRows(matches.right_rows, matches.offsets)
    left = matches.left
    most_groups = matches.groups.shape[0]
    ends = jnp.cumsum(rows_of_groups(left, most_groups), dtype=jnp.int32)
    word = OrderedWord(left.words.astype(jnp.uint32), 0, 32)
    left = _GroupedRows(argsort_words(word, left.num_valid), jnp.pad(ends, (1, 1)))
    group = jax.lax.iota(jnp.int32, max(most_groups, 1))
    num_left = jnp.maximum(left.sizes(group), 1)
    num_right = jnp.maximum(right.sizes(group), 1)
    num_pairs = jnp.where(group < matches.num_groups, saturating_product(num_left, num_right), 0)
    group, positions, count = expand(num_pairs, capacity)
    is_pair = jax.lax.iota(jnp.int32, capacity) < count
    num_beside = _take(num_right, group)

    def rows_of(side: "_GroupedRows", position: Array) -> Array:
        has_row = is_pair & (side.sizes(group) > 0)
        return jnp.where(has_row, side.row(group, position), -1)

    left_rows = rows_of(left, positions // num_beside)
    return Pairs(left_rows, rows_of(right, positions % num_beside), count, *matches[-2:])


class _GroupedRows(NamedTuple):
    """The rows of one side by group, in row order, and the start of each group."""

    row_ids: Array
    offsets: Array

    def sizes(self, groups: Array) -> Array:
        """The number of rows of each group."""
        return _take(self.offsets, groups + 1) - _take(self.offsets, groups)

    def row(self, group: Array, position: Array) -> Array:
        """The row at a position within a group; arbitrary if the position does not exist."""
        if self.row_ids.shape[0] == 0:
            return jnp.zeros_like(position)
        index = jnp.minimum(_take(self.offsets, group) + position, self.row_ids.shape[0] - 1)
        return _take(self.row_ids, index)


def _take(rows: Array, row_ids: Array) -> Array:
    return rows.at[row_ids].get(mode="promise_in_bounds")
