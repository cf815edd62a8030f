# SPDX-License-Identifier: Apache-2.0
"""Rows added up by key on CPU, with no group id written to memory.

Sums are in the order of the rows, and so the bits are those of a stable sort and a scatter.
"""

from typing import NamedTuple

import jax.numpy as jnp

from ...contract._key_bits import OrderedWord
from ...contract._typing import Array
from ..base._foreign import call, word_attribute
from ..base._library import is_native, load
from ..reduce._segment_sum import has_number_dtype


class GroupSums(NamedTuple):
    """Groups of equal words, in the order of the words.

    Attributes:
        first_row_ids: the first row of each of the `capacity` first groups, 0 where there is none.
        sums: what the rows of each add up to, likewise.
        count: how many groups there are.
    """

    first_row_ids: Array
    sums: Array
    count: Array


def can_sum_groups(rows: Array) -> bool:
    """Whether the kernel adds such rows."""
    return has_number_dtype(rows) and rows.shape[0] > 0 and is_native()


def native_group_sums(
    column: OrderedWord, rows: Array, num_valid: Array, capacity: int
) -> GroupSums:
    """Adds up the rows of each distinct word."""
    library, _ = load()
    assert library is not None
    num_rows = rows.shape[0]
    scratch_bytes = library.jaxframes_group_sums_scratch_bytes(num_rows, column.word.dtype.itemsize)
    first_row_ids, count, sums, _ = call(
        "jaxframes_group_sums_v1",
        (column.word[None], num_valid[None], rows[None]),
        (
            ((capacity,), jnp.int32),
            ((), jnp.int32),
            ((capacity,), rows.dtype),
            ((scratch_bytes,), jnp.uint8),
        ),
        flip=word_attribute(column.flip),
    )
    return GroupSums(first_row_ids, sums, count)
