# SPDX-License-Identifier: Apache-2.0
"""Products and statistics of the floats of few segments on CUDA.

Sums have the order of `sums_on_cuda`, so they have the same bits in every run and on every card.
"""

from typing import Any, Literal, get_args

import numpy as np

from ...contract._typing import Array
from ..base._cuda import call_on_cuda
from ._segment_sum_cuda import can_sum_on_cuda

Statistic = Literal["prod", "mean", "var", "std", "exponentials", "logsumexp"]

_MOST_SEGMENTS = 2048  # kMostTableSegments in cuda_segment_sum.h
# The position of a statistic is its number in the kernel.
_STATISTICS: tuple[Statistic, ...] = get_args(Statistic)
_WITHOUT_CENTERS = ("prod", "mean")


def has_statistics_on_cuda(rows: Array, ids: Array, num_segments: int) -> bool:
    """Whether the kernel supports rows and ids of these dtypes and shapes."""
    return can_sum_on_cuda(rows, ids) and 0 < num_segments <= _MOST_SEGMENTS


def statistic_on_cuda(
    statistic: Statistic, rows: Array, ids: Array, num_segments: int, ddof: int = 0
) -> Any:
    """A statistic of each segment, and the centers of statistics about one.

    Centers are means, or for "exponentials" and "logsumexp" maxima, with zeros in place of
    infinities and NaN. "exponentials" is the sum of the exponentials of the distances from it. Ids
    out of range are left out.
    """
    num_rows, has_centers = rows.shape[0], statistic not in _WITHOUT_CENTERS
    results, centers = call_on_cuda(
        "segment_statistic",
        (ids[None], rows[None]),
        (((num_segments,), rows.dtype), ((num_segments if has_centers else 0,), rows.dtype)),
        (num_rows, num_segments, rows.dtype.itemsize),
        statistic=np.int32(_STATISTICS.index(statistic)),
        ddof=np.int64(ddof),
    )
    return (results, centers) if has_centers else results
