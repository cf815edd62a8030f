# SPDX-License-Identifier: Apache-2.0
"""Sums of several columns by segment, in one pass over the segment ids where possible."""

import functools
from collections.abc import Sequence

from .contract._platform import by_platform
from .contract._typing import Array
from .kernels.reduce._segment_sum import can_count, can_sum_wide, native_wide_sums
from .local import segment_count, segment_sum
from .tiers._tiered import tiered


@functools.partial(tiered, static_argnums=(1, 3))
def sums_of_segments(
    columns: Sequence[Array], dtypes: tuple[str, ...], segment_ids: Array, num_segments: int
) -> tuple[Array, list[Array]]:
    """Counts the rows of each segment, and adds up columns in dtypes that hold their sums.

    Rows are added in their order. Without derivatives.

    Args:
        columns: arrays of one number for each row.
        dtypes: the dtype of each sum.
        segment_ids: segment of each row; rows with another id belong to no segment.
        num_segments: number of segments.

    Returns:
        The counts, int32, and the sums.
    """

    def portable(columns: list[Array], ids: Array) -> tuple[Array, list[Array]]:
        sums = [
            segment_sum(column.astype(dtype), ids, num_segments)
            for column, dtype in zip(columns, dtypes, strict=True)
        ]
        return segment_count(ids, num_segments), sums

    def native(columns: list[Array], ids: Array) -> tuple[Array, list[Array]]:
        return native_wide_sums(columns, dtypes, ids, num_segments)

    are_wide = all(map(can_sum_wide, columns, dtypes))
    if not are_wide or not can_count(segment_ids):
        return portable(list(columns), segment_ids)
    return by_platform(list(columns), segment_ids, cpu=native, default=portable)
