# SPDX-License-Identifier: Apache-2.0
"""The base classes of JaxFrame and JaxSeries in this room."""

from ._conversion import FrameConversion, SeriesConversion
from ._csv import FrameCsv
from ._parquet import FrameParquet
from ._repr import FrameDisplay, SeriesDisplay


class FrameIOMethods(FrameDisplay, FrameConversion, FrameCsv, FrameParquet):
    """Input and output of a frame."""


class SeriesIOMethods(SeriesDisplay, SeriesConversion):
    """Input and output of a series."""
