# SPDX-License-Identifier: Apache-2.0
"""Sums of columns and of products by segment, in one pass over the segment ids where possible."""

import functools
from collections.abc import Sequence

import jax
import jax.numpy as jnp

from .contract._arguments import as_num_valid
from .contract._platform import by_platform
from .contract._typing import Array, Integer, NumValid
from .kernels.reduce._segment_sum import can_count, can_sum_wide, native_wide_sums
from .local import segment_count, segment_sum
from .tiers._tiered import tiered

# A column, or two of one dtype: their product, in that dtype.
Summed = Array | tuple[Array, Array]


@functools.partial(tiered, static_argnums=(1, 3))
def sums_of_segments(
    columns: Sequence[Summed],
    dtypes: tuple[str, ...],
    segment_ids: Array,
    num_segments: int,
    first_id: Integer[Array, ""] | None = None,
    num_valid: NumValid = None,
) -> tuple[Array, list[Array]]:
    """Counts the rows of each segment, and adds up columns in dtypes that hold their sums.

    Floats are added as by `segment_sum`. Without derivatives.

    Args:
        columns: arrays of one number for each row. In place of an array, a pair of arrays of one
            dtype stands for their product, which has that dtype: floats are rounded to it and
            integers wrap around, before they are added. No product is written to memory on CPU.
        dtypes: the dtype of each sum.
        segment_ids: segment of each row; rows with another id belong to no segment.
        num_segments: number of segments.
        first_id: the id of the first segment, in the dtype of the ids; zero by default.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        The counts, int32, and the sums.

    Raises:
        ValueError: the arrays of a pair have different dtypes.

    Example:
        segment_ids    [0 1 0]
        x, y           [1 2 3], [4 5 6]
        [x, (x, y)]    → counts [2 1], sums [4 2] and [22 10]
    """
    for pair in columns:
        if isinstance(pair, tuple) and pair[0].dtype != pair[1].dtype:
            raise ValueError(
                "sums_of_segments: the factors of a product must have one dtype, got "
                f"{pair[0].dtype} and {pair[1].dtype}. Cast one of them first."
            )
    first_id = jnp.asarray(0 if first_id is None else first_id, segment_ids.dtype)
    num_valid = as_num_valid(num_valid, segment_ids.shape[0], "sums_of_segments")

    def portable(columns: list[Summed], *rows: Array) -> tuple[Array, list[Array]]:
        ids, first_id, num_valid = rows
        if ids.dtype.itemsize < 4:
            # The difference may overflow the dtype.
            ids, first_id = ids.astype(jnp.int32), first_id.astype(jnp.int32)
        ids = ids - first_id
        sums = [
            segment_sum(rows.astype(dtype), ids, num_segments, num_valid=num_valid)
            for rows, dtype in zip(map(rows_of_summed, columns), dtypes, strict=True)
        ]
        return segment_count(ids, num_segments, num_valid=num_valid), sums

    def native(columns: list[Summed], *rows: Array) -> tuple[Array, list[Array]]:
        ids, first_id, num_valid = rows
        return native_wide_sums(columns, dtypes, ids, first_id, num_valid, num_segments)

    rows = segment_ids, first_id, num_valid
    are_wide = all(map(can_sum_wide, columns, dtypes))
    if not are_wide or not can_count(segment_ids):
        return portable(list(columns), *rows)
    return by_platform(list(columns), *rows, cpu=native, default=portable)


def rows_of_summed(column: Summed) -> Array:
    """The numbers to add up: a column, or a product."""
    if not isinstance(column, tuple):
        return column
    # Without the barrier, compilers may add the product before it is rounded.
    return jax.lax.optimization_barrier(column[0] * column[1])
