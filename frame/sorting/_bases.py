# SPDX-License-Identifier: Apache-2.0
"""The methods that JaxFrame and JaxSeries inherit from this room."""

from ._duplicates import FrameDuplicates, SeriesDuplicates
from ._nlargest import FrameRankedRows, SeriesRankedRows
from ._rank import Ranking
from ._sort_values import FrameSorting, SeriesSorting
from ._value_counts import FrameValueCounts, SeriesValueCounts


class FrameSortingMethods(
    Ranking, FrameDuplicates, FrameRankedRows, FrameValueCounts, FrameSorting
):
    """Methods of a frame: order, rank and distinct values."""


class SeriesSortingMethods(
    Ranking, SeriesSorting, SeriesDuplicates, SeriesRankedRows, SeriesValueCounts
):
    """Methods of a series: order, rank and distinct values."""
