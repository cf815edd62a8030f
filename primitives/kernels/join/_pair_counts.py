# SPDX-License-Identifier: Apache-2.0
"""Numbers of pairs from group sizes, with saturating arithmetic."""

from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np

from ....shardings._compat import is_x64_enabled, like_varying
from ...contract._associative_scan import associative_scan
from ...contract._platform import by_platform
from ...contract._typing import Array
from ..base._cuda import call_on_cuda, on_cuda
from ..base._pallas import on_tpu
from ..move._expand import repeat_by_shifts, saturating_ends
from ..scan._running import running

# A right join is a left join with the sides swapped.
GroupedHow = Literal["inner", "left", "outer", "semi", "anti"]

# Counts of pairs are int32, and stop at its greatest value.
MOST_PAIRS = 2**31 - 1


def total_pairs(num_left: Array, num_right: Array, how: GroupedHow) -> Array:
    """The number of pairs, given the group sizes of both sides: int64, or saturating int32."""
    if is_x64_enabled():
        num_left, num_right = num_left.astype(jnp.int64), num_right.astype(jnp.int64)
    if how == "outer":
        is_group = jnp.minimum(num_left + num_right, 1)
        left, right = jnp.maximum(num_left, is_group), jnp.maximum(num_right, is_group)
    else:
        left, right = num_left, pairs_of_row(num_right, how)
    if is_x64_enabled():
        return jnp.sum(left * right, dtype=jnp.int64)
    return _saturating_sum(saturating_product(left, right))


def pairs_of_row(num_matches: Array, how: GroupedHow) -> Array:
    """The number of pairs of a left row, given that of its matches; not for outer joins."""
    return {
        "inner": num_matches,
        "left": jnp.maximum(num_matches, 1),
        "semi": jnp.minimum(num_matches, 1),
        "anti": 1 - jnp.minimum(num_matches, 1),
    }[how]


def unmatched_rows(num_rows: Array, num_others: Array) -> Array:
    """Counts the rows of one side in groups without a row of the other side."""
    return jnp.sum(jnp.where(num_others == 0, num_rows, 0), dtype=num_rows.dtype)


def expand(num_copies: Array, capacity: int) -> tuple[Array, Array, Array]:
    """Repeats each item a given number of times.

    Args:
        num_copies: number of copies of each item, int32, not negative.
        capacity: number of copies in the result.

    Returns:
        The item at each position and the number of its copy, arbitrary in padding; and the total
        number of copies, which saturates at `2**31 - 1`.
    """
    if num_copies.shape[0] == 0:
        nothing = like_varying(jnp.zeros((capacity,), jnp.int32), num_copies)
        return nothing, nothing, like_varying(jnp.zeros((), jnp.int32), num_copies)

    def by_scatter(num_copies: Array) -> tuple[Array, Array, Array]:
        return _expand_by_scatter(num_copies, capacity)

    def by_shifts(num_copies: Array) -> tuple[Array, Array, Array]:
        return _expand_by_shifts(num_copies, capacity)

    def by_kernel(num_copies: Array) -> tuple[Array, Array, Array]:
        num_items = jnp.int32(num_copies.shape[0])
        items, copies, count = _expand_on_cuda(num_copies, num_items, capacity)
        return jnp.maximum(items, 0), copies, count

    kernels = on_tpu(by_shifts) | on_cuda(by_kernel) if capacity else {}
    return by_platform(num_copies, default=by_scatter, **kernels)


def repeats_of_valid(repeats: Array, num_valid: Array) -> Array:
    """The numbers of copies, zero for rows that are not valid."""
    return jnp.where(jax.lax.iota(jnp.int32, repeats.shape[0]) < num_valid, repeats, 0)


def expand_valid(num_copies: Array, num_valid: Array, capacity: int) -> tuple[Array, Array, Array]:
    """`expand` of the first `num_valid` items, with the item -1 and the copy 0 in padding.

    A negative number of copies counts as zero.
    """

    def masked(num_copies: Array, num_valid: Array) -> tuple[Array, Array, Array]:
        of_valid = repeats_of_valid(jnp.maximum(num_copies, 0), num_valid)
        items, copies, count = expand(of_valid, capacity)
        is_copy = jax.lax.iota(jnp.int32, capacity) < count
        return jnp.where(is_copy, items, np.int32(-1)), jnp.where(is_copy, copies, 0), count

    def by_kernel(num_copies: Array, num_valid: Array) -> tuple[Array, Array, Array]:
        return _expand_on_cuda(num_copies, num_valid, capacity)

    kernels = on_cuda(by_kernel) if capacity and num_copies.shape[0] else {}
    return by_platform(num_copies, num_valid, default=masked, **kernels)


def _expand_on_cuda(
    num_copies: Array, num_valid: Array, capacity: int
) -> tuple[Array, Array, Array]:
    items, copies, count = call_on_cuda(
        "repeat_rows",
        (num_copies[None], num_valid[None]),
        (((capacity,), jnp.int32), ((capacity,), jnp.int32), ((), jnp.int32)),
        (num_copies.shape[0], capacity),
    )
    return items, copies, count


def _expand_by_scatter(num_copies: Array, capacity: int) -> tuple[Array, Array, Array]:
    """The definition."""
    ends = running_total(num_copies)
    ends = jnp.minimum(ends, ends.dtype.type(MOST_PAIRS)).astype(jnp.int32)
    begins = jnp.concatenate([jnp.zeros_like(ends[:1]), ends[:-1]])
    positions = jnp.where(num_copies > 0, begins, capacity)
    zeros = like_varying(jnp.zeros((capacity,), jnp.int32), positions)
    # Positions past the capacity are dropped, and so are items without copies.
    marks = zeros.at[positions].max(jax.lax.iota(jnp.int32, num_copies.shape[0]), mode="drop")
    items = running("max", marks)
    return (
        items,
        jax.lax.iota(jnp.int32, capacity) - begins.at[items].get(mode="promise_in_bounds"),
        ends[-1],
    )


def _expand_by_shifts(num_copies: Array, capacity: int) -> tuple[Array, Array, Array]:
    begins = jnp.pad(saturating_ends(num_copies, capacity)[:-1], (1, 0))
    rows = jax.lax.iota(jnp.int32, num_copies.shape[0])
    items, firsts = repeat_by_shifts(begins, num_copies > 0, (rows, begins), capacity)
    copies = jax.lax.iota(jnp.int32, capacity) - firsts
    return items, copies, _saturating_sum(num_copies)


def running_total(counts: Array) -> Array:
    """The sum of non-negative counts up to each one: int64, or saturating int32."""
    if is_x64_enabled():
        return running("add", counts.astype(jnp.int64))
    return associative_scan(saturating_add, counts.astype(jnp.uint32)).astype(jnp.int32)


def _saturating_sum(numbers: Array) -> Array:
    """The sum of non-negative int32, saturating at `2**31 - 1`."""
    words = numbers.astype(jnp.uint32)
    return jax.lax.reduce(words, np.uint32(0), saturating_add, (0,)).astype(jnp.int32)


def saturating_product(a: Array, b: Array) -> Array:
    """The product of non-negative int32, saturating at `2**31 - 1`."""
    fits = a <= MOST_PAIRS // jnp.maximum(b, 1)
    return jnp.where(fits, a * b, MOST_PAIRS)


def saturating_add(a: Array, b: Array) -> Array:
    """The sum of uint32 of at most `2**31 - 1`, saturating at that number."""
    # Neither exceeds 2**31 - 1, so the sum does not wrap.
    return jnp.minimum(a + b, np.uint32(MOST_PAIRS))
