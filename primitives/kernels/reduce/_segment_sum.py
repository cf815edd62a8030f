# SPDX-License-Identifier: Apache-2.0
"""Sums and counts of rows by segment on CPU, from the caller's ids.

XLA would first materialize the indices of its scatter, an int32 for each row; these kernels read
ids of 32 and 64 bits and subtract the first id. Sums follow the order of the rows and keep what
that rounds away, so they have the bits of the portable definition.
"""

from collections.abc import Sequence
from operator import itemgetter

import jax
import jax.numpy as jnp
import numpy as np

from ...contract._typing import Array
from ..base._foreign import call
from ..base._library import is_native

_ID_DTYPES = ("int32", "uint32", "int64", "uint64")
_NUMBER_DTYPES = (*_ID_DTYPES, "float32", "float64")
# Accumulators of several columns, and the columns that they can add up.
_WIDE_DTYPES = {
    "int64": ("bool", *_ID_DTYPES),
    "uint64": ("bool", *_ID_DTYPES),
    "float64": ("bool", *_NUMBER_DTYPES),
}


def can_sum(rows: Array, ids: Array) -> bool:
    """Whether the kernel supports rows and ids of these dtypes and shapes."""
    return has_number_dtype(rows) and can_count(ids)


def has_number_dtype(rows: Array) -> bool:
    """Whether each row is one number of a supported dtype."""
    return rows.ndim == 1 and rows.dtype.name in _NUMBER_DTYPES


def can_count(ids: Array) -> bool:
    """Whether the kernel supports ids of this dtype."""
    return ids.dtype.name in _ID_DTYPES and ids.shape[0] > 0 and is_native()


def native_sums(
    rows: Array, ids: Array, first_id: Array, num_valid: Array, num_segments: int
) -> Array:
    """The sum of each segment; segment ids start at `first_id`."""
    (sums,) = call(
        "jaxframes_segment_sum_v1",
        (ids[None], first_id[None], num_valid[None], rows[None]),
        (((num_segments,), rows.dtype),),
    )
    return sums


def native_counts(ids: Array, first_id: Array, num_valid: Array, num_segments: int) -> Array:
    """The number of rows of each segment, int32."""
    (counts,) = call(
        "jaxframes_segment_count_v1",
        (ids[None], first_id[None], num_valid[None]),
        (((num_segments,), jnp.int32),),
    )
    return counts


def can_sum_wide(summed: Array | tuple[Array, Array], dtype: str) -> bool:
    """Whether `native_wide_sums` supports a column, or two factors, and the dtype of the sums."""
    factors = summed if isinstance(summed, tuple) else (summed,)
    supported = _WIDE_DTYPES.get(dtype, ())
    return is_native() and all(rows.ndim == 1 and rows.dtype.name in supported for rows in factors)


def native_wide_sums(
    columns: Sequence[Array | tuple[Array, Array]],
    dtypes: Sequence[str],
    ids: Array,
    first_id: Array,
    num_valid: Array,
    num_segments: int,
) -> tuple[Array, list[Array]]:
    """The number of rows of each segment, and sums of columns in wider dtypes.

    A pair of columns of one dtype stands for their product. One pass over the ids, without arrays
    for products and for columns in the dtypes of their sums. Segment ids start at `first_id`.
    """
    # The kernel takes products first.
    order = sorted(range(len(columns)), key=lambda at: not isinstance(columns[at], tuple))
    arrays = jax.tree.leaves([columns[at] for at in order])
    counts, *sums = call(
        "jaxframes_segment_sums_v2",
        tuple(array[None] for array in (ids, first_id, num_valid, *arrays)),
        [
            ((num_segments,), dtype)
            for dtype in (jnp.int32, *(jnp.dtype(dtypes[at]) for at in order))
        ],
        num_products=np.int64(len(arrays) - len(columns)),
    )
    return counts, [total for _, total in sorted(zip(order, sums, strict=True), key=itemgetter(0))]
