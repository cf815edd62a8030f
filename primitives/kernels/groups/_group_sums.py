# SPDX-License-Identifier: Apache-2.0
"""Sums of rows by key on CPU, without writing group ids to memory.

Sums follow the order of the rows and keep what that rounds away, so they have the bits of the
portable definition.
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
        first_row_ids: the first row of each of the first `capacity` groups, 0 in padding.
        sums: the sum of the rows of each group, 0 in padding.
        count: the number of groups.
    """

    first_row_ids: Array
    sums: Array
    count: Array


def can_sum_groups(rows: Array) -> bool:
    """Whether the kernel supports rows of this dtype and shape."""
    return has_number_dtype(rows) and rows.shape[0] > 0 and is_native()


def native_group_sums(
    column: OrderedWord, rows: Array, num_valid: Array, capacity: int
) -> GroupSums:
    """Sums the rows of each distinct word."""
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
