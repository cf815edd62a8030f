# SPDX-License-Identifier: Apache-2.0
"""The base classes of JaxFrame and JaxSeries in this room."""

from ._csv import FrameCsv
from ._parquet import FrameParquet
from ._protocols import FrameProtocols, SeriesProtocols
from ._repr import FrameDisplay, SeriesDisplay
from ._to_pandas import FrameConversion, SeriesConversion


class FrameIOMethods(FrameDisplay, FrameConversion, FrameCsv, FrameParquet, FrameProtocols):
    """Input and output of a frame."""


class SeriesIOMethods(SeriesDisplay, SeriesConversion, SeriesProtocols):
    """Input and output of a series."""
