# SPDX-License-Identifier: Apache-2.0
"""The base classes of JaxFrame and JaxSeries in this room."""

from ._checkpoint import FrameCheckpoint, SeriesCheckpoint
from ._class_constructors import FrameConstructors, SeriesConstructors
from ._conversion import FrameConversion
from ._csv import FrameCsv, SeriesCsv
from ._formats_of_pandas import FrameHostFormats, HostFormats
from ._other_formats import FrameFormats, Texts
from ._own_rows import FrameOwnRows
from ._ragged import SeriesRagged
from ._repr import FrameDisplay, SeriesDisplay


class FrameIOMethods(
    FrameDisplay,
    FrameConversion,
    FrameConstructors,
    FrameCsv,
    FrameFormats,
    FrameHostFormats,
    FrameOwnRows,
    FrameCheckpoint,
):
    """Input and output of a frame."""


class SeriesIOMethods(
    SeriesDisplay,
    SeriesConstructors,
    SeriesCsv,
    SeriesRagged,
    Texts,
    HostFormats,
    SeriesCheckpoint,
):
    """Input and output of a series."""
