# SPDX-License-Identifier: Apache-2.0
"""The methods of frames and series that run at once: one mixin for each room."""

from .accessors._bases import SeriesAccessorMethods
from .combining._merge import FrameMerge
from .groupby._groupby import FrameGrouping, SeriesGrouping
from .indexing._bases import FrameIndexingMethods, SeriesIndexingMethods
from .io._bases import FrameIOMethods, SeriesIOMethods
from .mapping._bases import FrameMappingMethods, SeriesMappingMethods
from .ops._arithmetic import FrameOperatorMethods, SeriesOperatorMethods
from .reductions._bases import FrameReductionMethods, SeriesReductionMethods
from .reshaping._bases import FrameReshapingMethods, SeriesReshapingMethods
from .sorting._bases import FrameSortingMethods, SeriesSortingMethods
from .window._rolling import WindowMethods


class EagerFrame(
    FrameIOMethods,
    FrameReshapingMethods,
    FrameIndexingMethods,
    FrameSortingMethods,
    WindowMethods,
    FrameMappingMethods,
    FrameGrouping,
    FrameReductionMethods,
    FrameMerge,
    FrameOperatorMethods,
):
    """The eager methods of frames."""


class EagerSeries(
    SeriesIOMethods,
    SeriesReshapingMethods,
    SeriesIndexingMethods,
    SeriesSortingMethods,
    WindowMethods,
    SeriesMappingMethods,
    SeriesGrouping,
    SeriesAccessorMethods,
    SeriesReductionMethods,
    SeriesOperatorMethods,
):
    """The eager methods of series."""
