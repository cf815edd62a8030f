# SPDX-License-Identifier: Apache-2.0
"""The base classes of JaxFrame and JaxSeries in this room."""

from ._apply import FrameApply
from ._astype import Cast
from ._case_when import CaseWhen
from ._convert_dtypes import ConvertDtypes
from ._hash import SeriesHash
from ._interpolate import Interpolation
from ._map import FrameMap, SeriesMap
from ._missing import FrameMissing, SeriesMissing
from ._where import Where


class FrameMappingMethods(
    Cast, ConvertDtypes, FrameApply, FrameMap, FrameMissing, Interpolation, Where
):
    """Value transformations of a frame."""


class SeriesMappingMethods(
    Cast, ConvertDtypes, SeriesHash, SeriesMap, SeriesMissing, Interpolation, CaseWhen
):
    """Value transformations of a series."""
