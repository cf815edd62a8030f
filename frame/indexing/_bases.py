# SPDX-License-Identifier: Apache-2.0
"""The methods that JaxFrame and JaxSeries inherit from this room."""

from ._getitem import FrameSelection, SeriesSelection
from ._loc import FrameLabelSelection, SeriesLabelSelection
from ._rename import FrameRenaming, SeriesRenaming
from ._set_index import FrameIndexMoves, SeriesIndexMoves
from ._setitem import FrameAssignment
from ._shape import FrameShape, SeriesShape


class FrameIndexingMethods(
    FrameAssignment, FrameLabelSelection, FrameIndexMoves, FrameRenaming, FrameSelection, FrameShape
):
    """Methods of a frame: selection, assignment and labels."""


class SeriesIndexingMethods(
    SeriesLabelSelection, SeriesSelection, SeriesIndexMoves, SeriesRenaming, SeriesShape
):
    """Methods of a series: selection, assignment and labels."""
