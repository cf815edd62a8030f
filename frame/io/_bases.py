# SPDX-License-Identifier: Apache-2.0
"""The methods that JaxFrame and JaxSeries inherit from this room."""

from ._csv import FrameCsv
from ._parquet import FrameParquet
from ._protocols import FrameProtocols, SeriesProtocols
from ._repr import FrameDisplay, SeriesDisplay
from ._to_pandas import FrameConversion, SeriesConversion


class FrameIOMethods(FrameDisplay, FrameConversion, FrameCsv, FrameParquet, FrameProtocols):
    """Methods of a frame: input and output."""


class SeriesIOMethods(SeriesDisplay, SeriesConversion, SeriesProtocols):
    """Methods of a series: input and output."""
