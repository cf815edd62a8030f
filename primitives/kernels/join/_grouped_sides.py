# SPDX-License-Identifier: Apache-2.0
"""Common group ids for the words of two sides."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from ....shardings._compat import like_varying
from ...contract._key_bits import OrderedWord
from ...contract._typing import Array
from ..groups._factorize import number_groups
from ..move._log_shift import resized


class Side(NamedTuple):
    """The rows of one side: a word or a group id for each, and the number of valid rows."""

    words: Array
    num_valid: Array


def grouped_sides(left: Side, right: Side, column: OrderedWord) -> tuple[Side, Side, Array, Array]:
    """Assigns common group ids to the words of both sides, in their order.

    Returns:
        Both sides with group ids for words; the group ids of the left rows, then of the right rows;
        and the number of groups.
    """
    num_left, num_right = left.words.shape[0], right.words.shape[0]
    words = one_after_the_other(left.words, right.words, left.num_valid)
    column = column._replace(word=words)
    num_valid = left.num_valid + right.num_valid
    groups = number_groups((column,), num_valid, 0, in_key_order=True)
    right_ids = jax.lax.dynamic_slice_in_dim(groups.group_ids, left.num_valid, num_right)
    left_side = Side(groups.group_ids[:num_left], left.num_valid)
    return left_side, Side(right_ids, right.num_valid), groups.group_ids, groups.count


def rows_of_groups(side: Side, num_groups: int) -> Array:
    is_valid = jax.lax.iota(jnp.int32, side.words.shape[0]) < side.num_valid
    zeros = like_varying(jnp.zeros((num_groups,), jnp.int32), side)
    return zeros.at[jnp.where(is_valid, side.words, num_groups)].add(1, mode="drop")


def one_after_the_other(left: Array, right: Array, num_left: Array) -> Array:
    """Concatenates the valid left rows with the right rows, with all padding at the end."""
    both = jnp.concatenate([left, jnp.zeros_like(right)])
    return jax.lax.dynamic_update_slice_in_dim(both, right, num_left, 0)


def selected_one_after_the_other(left: Array, right: Array, num_left: Array) -> Array:
    """`one_after_the_other` in one pass on GPU, where an update would first copy all rows."""
    num_rows = left.shape[0] + right.shape[0]
    moved = jnp.pad(right, (left.shape[0], left.shape[0]))
    moved = jax.lax.dynamic_slice_in_dim(moved, left.shape[0] - num_left, num_rows)
    is_left = jax.lax.iota(jnp.int32, num_rows) < num_left
    return jnp.where(is_left, resized(left, num_rows), moved)
