# SPDX-License-Identifier: Apache-2.0
"""How many pairs rows of equal groups make, in numbers that saturate where they must."""

from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np

from ....shardings._compat import is_x64_enabled, like_varying
from ...contract._associative_scan import associative_scan
from ...contract._typing import Array

# A right join is a left one of the sides swapped.
GroupedHow = Literal["inner", "left", "outer", "semi", "anti"]

MOST_PAIRS = 2**31 - 1


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


def unmatched_rows(num_rows: Array, num_others: Array) -> Array:
    """Counts the rows of one side in groups without a row of the other side."""
    return jnp.sum(jnp.where(num_others == 0, num_rows, 0), dtype=num_rows.dtype)


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
        ends = associative_scan(saturating_add, num_copies.astype(jnp.uint32))
    ends = ends.astype(jnp.int32)
    begins = jnp.concatenate([jnp.zeros_like(ends[:1]), ends[:-1]])
    places = jnp.where(num_copies > 0, begins, capacity)
    room = like_varying(jnp.zeros((capacity,), jnp.int32), places)
    # What passes the capacity is dropped; so is the place of what has no copies.
    marks = room.at[places].max(jax.lax.iota(jnp.int32, num_copies.shape[0]), mode="drop")
    items = jax.lax.cummax(marks) if capacity else marks
    return (
        items,
        jax.lax.iota(jnp.int32, capacity) - begins.at[items].get(mode="promise_in_bounds"),
        ends[-1],
    )


def saturating_product(a: Array, b: Array) -> Array:
    """`a * b` of int32 that are not negative, or `2**31 - 1` where it is greater."""
    fits = a <= MOST_PAIRS // jnp.maximum(b, 1)
    return jnp.where(fits, a * b, MOST_PAIRS)


def saturating_add(a: Array, b: Array) -> Array:
    """`a + b` of uint32 up to `2**31 - 1`, or that number where it is greater."""
    # Neither is above 2**31 - 1, so that the sum does not wrap.
    return jnp.minimum(a + b, np.uint32(MOST_PAIRS))
