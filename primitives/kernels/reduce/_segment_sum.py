# SPDX-License-Identifier: Apache-2.0
"""Rows added and counted by segment on CPU, from ids as they are given.

XLA would first write out what it scatters by, an int32 for each row; these kernels read ids of 32
and 64 bits, less the first. Sums are in the order of the rows, and so the bits are XLA's.
"""

import jax.numpy as jnp

from ...contract._typing import Array
from ..base._foreign import call
from ..base._library import is_native

_ID_DTYPES = ("int32", "uint32", "int64", "uint64")
_NUMBER_DTYPES = (*_ID_DTYPES, "float32", "float64")


def can_sum(rows: Array, ids: Array) -> bool:
    """Whether the kernel adds such rows."""
    return has_number_dtype(rows) and can_count(ids)


def has_number_dtype(rows: Array) -> bool:
    """Whether each row is one number of a dtype that kernels add."""
    return rows.ndim == 1 and rows.dtype.name in _NUMBER_DTYPES


def can_count(ids: Array) -> bool:
    """Whether the kernel counts rows of such ids."""
    return ids.dtype.name in _ID_DTYPES and ids.shape[0] > 0 and is_native()


def native_sums(
    rows: Array, ids: Array, first_id: Array, num_valid: Array, num_segments: int
) -> Array:
    """The sum of each segment, whose ids are those from `first_id` on."""
    (sums,) = call(
        "jaxframes_segment_sum_v1",
        (ids[None], first_id[None], num_valid[None], rows[None]),
        (((num_segments,), rows.dtype),),
    )
    return sums


def native_counts(ids: Array, first_id: Array, num_valid: Array, num_segments: int) -> Array:
    """The rows of each segment, int32."""
    (counts,) = call(
        "jaxframes_segment_count_v1",
        (ids[None], first_id[None], num_valid[None]),
        (((num_segments,), jnp.int32),),
    )
    return counts
