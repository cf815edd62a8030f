# SPDX-License-Identifier: Apache-2.0
"""Group ids of equal words: the portable definition, and the C++ kernel on CPU."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...contract._key_bits import OrderedWord
from ...contract._platform import by_platform
from ...contract._typing import Array
from ..base._foreign import call, word_attribute
from ..base._library import is_native, load
from ..sort._radix_sort import argsort_words


class WordGroups(NamedTuple):
    """Groups of equal words.

    Attributes:
        group_ids: the group of each row, -1 for padding.
        first_row_ids: the first row of each of the first `capacity` groups, 0 in padding.
        count: the number of groups.
    """

    group_ids: Array
    first_row_ids: Array
    count: Array


def factorize_words(
    column: OrderedWord, num_valid: Array, capacity: int, *, in_key_order: bool
) -> WordGroups:
    """Assigns group ids to words, in the order of the words or of their first rows."""

    def xla(word: Array, num_valid: Array) -> WordGroups:
        own = column._replace(word=word)
        row_ids = argsort_words(own, num_valid)
        return number_groups((own,), row_ids, num_valid, capacity, in_key_order=in_key_order)

    def native(word: Array, num_valid: Array) -> WordGroups:
        library, _ = load()
        assert library is not None
        num_rows = word.shape[0]
        scratch_bytes = library.jaxframes_factorize_scratch_bytes(num_rows, word.dtype.itemsize)
        group_ids, first_row_ids, count, _ = call(
            "jaxframes_factorize_v1",
            (word[None], num_valid[None]),
            (
                ((num_rows,), jnp.int32),
                ((capacity,), jnp.int32),
                ((), jnp.int32),
                ((scratch_bytes,), jnp.uint8),
            ),
            flip=word_attribute(column.flip),
            in_key_order=np.bool_(in_key_order),
        )
        return WordGroups(group_ids, first_row_ids, count)

    if column.word.shape[0] == 0 or not is_native():
        return xla(column.word, num_valid)
    return by_platform(column.word, num_valid, cpu=native, default=xla)


def number_groups(
    columns: tuple[OrderedWord, ...],
    row_ids: Array,
    num_valid: Array,
    capacity: int,
    *,
    in_key_order: bool,
) -> WordGroups:
    """Assigns group ids to words of columns, given their stable sort permutation `row_ids`."""
    num_rows = row_ids.shape[0]
    heads = first_of_equals(tuple(_take(column.ordered(), row_ids) for column in columns))
    heads &= jax.lax.iota(jnp.int32, num_rows) < num_valid
    numbers = _running_count(heads) - 1
    count = jnp.sum(heads, dtype=jnp.int32)
    # A stable sort puts the first row of a group before the others.
    group_positions = jnp.where(heads, numbers, num_rows)
    first_rows = jnp.zeros_like(row_ids).at[group_positions].set(row_ids, mode="drop")
    if not in_key_order:
        is_group = jax.lax.iota(jnp.int32, num_rows) < count
        firsts = (
            jnp.zeros_like(heads)
            .at[jnp.where(is_group, first_rows, num_rows)]
            .set(True, mode="drop")
        )
        seen_numbers = _take(_running_count(firsts) - 1, first_rows)
        numbers = _take(seen_numbers, jnp.maximum(numbers, 0))
        seen_positions = jnp.where(is_group, seen_numbers, num_rows)
        first_rows = jnp.zeros_like(row_ids).at[seen_positions].set(first_rows, mode="drop")
    is_valid = jax.lax.iota(jnp.int32, num_rows) < num_valid
    group_ids = (
        jnp.zeros_like(row_ids)
        .at[row_ids]
        .set(jnp.where(is_valid, numbers, -1), unique_indices=True, mode="promise_in_bounds")
    )
    padding = max(capacity - num_rows, 0)
    return WordGroups(group_ids, jnp.pad(first_rows[:capacity], (0, padding)), count)


def first_of_equals(sorted_words: tuple[Array, ...]) -> Array:
    """Flags rows that differ from the previous row in any of the columns."""
    num_rows = sorted_words[0].shape[0]
    is_first = jax.lax.iota(jnp.int32, num_rows) == 0
    for word in sorted_words:
        is_first |= word != jnp.roll(word, 1)
    return is_first


def _running_count(flags: Array) -> Array:
    return jnp.cumsum(flags, dtype=jnp.int32)


def _take(rows: Array, row_ids: Array) -> Array:
    return rows.at[row_ids].get(mode="promise_in_bounds")
