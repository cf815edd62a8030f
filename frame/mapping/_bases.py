# SPDX-License-Identifier: Apache-2.0
"""The methods that JaxFrame and JaxSeries inherit from this room."""

from ._apply import FrameApply
from ._astype import FrameCast, SeriesCast
from ._map import FrameMap, SeriesMap
from ._missing import FrameMissing, SeriesMissing
from ._where import FrameWhere, SeriesWhere


class FrameMappingMethods(FrameCast, FrameApply, FrameMap, FrameMissing, FrameWhere):
    """Methods of a frame: transformations of values."""


class SeriesMappingMethods(SeriesCast, SeriesMap, SeriesMissing, SeriesWhere):
    """Methods of a series: transformations of values."""
