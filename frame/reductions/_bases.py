# SPDX-License-Identifier: Apache-2.0
"""The methods that JaxFrame and JaxSeries inherit from this room."""

from ._agg import FrameAggregation, SeriesAggregation
from ._corr import FrameCorrelation, SeriesCorrelation
from ._corrwith import FrameCorrelationWith
from ._describe import FrameDescription, SeriesDescription
from ._dot import FrameDot, SeriesDot
from ._methods import FrameReductions, SeriesReductions
from ._quantile_methods import FrameQuantiles, SeriesQuantiles
from ._transform import Transformation


class FrameReductionMethods(
    FrameAggregation,
    FrameCorrelation,
    FrameCorrelationWith,
    FrameDescription,
    FrameDot,
    FrameQuantiles,
    FrameReductions,
    Transformation,
):
    """Reduction methods of a frame."""


class SeriesReductionMethods(
    SeriesAggregation,
    SeriesCorrelation,
    SeriesDescription,
    SeriesDot,
    SeriesQuantiles,
    SeriesReductions,
    Transformation,
):
    """Reduction methods of a series."""
