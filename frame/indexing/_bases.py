# SPDX-License-Identifier: Apache-2.0
"""The base classes of JaxFrame and JaxSeries in this room."""

from ._asof import FrameLastRows, SeriesLastRows
from ._combine import FrameCombination, SeriesCombination
from ._getitem import FrameSelection, SeriesSelection
from ._label_periods import LabelTimes
from ._loc import FrameLabelSelection, SeriesLabelSelection
from ._reindex import FrameReindexing, SeriesReindexing
from ._rename import FrameRenaming, SeriesRenaming
from ._sample import Sampling
from ._select import FrameSelect
from ._set_index import FrameIndexMoves, SeriesIndexMoves
from ._setitem import FrameAssignment
from ._shape import FrameShape, SeriesShape


class FrameIndexingMethods(
    FrameAssignment,
    FrameCombination,
    FrameLabelSelection,
    FrameIndexMoves,
    FrameLastRows,
    FrameReindexing,
    FrameRenaming,
    FrameSelect,
    FrameSelection,
    FrameShape,
    LabelTimes,
    Sampling,
):
    """Selection, assignment and labels of a frame."""


class SeriesIndexingMethods(
    SeriesCombination,
    SeriesLabelSelection,
    SeriesSelection,
    SeriesIndexMoves,
    SeriesLastRows,
    SeriesReindexing,
    SeriesRenaming,
    SeriesShape,
    LabelTimes,
    Sampling,
):
    """Selection and labels of a series."""
