# SPDX-License-Identifier: Apache-2.0
"""The base classes of JaxFrame and JaxSeries in this room."""

from ._compare import Comparison
from ._explode import FrameExplode, SeriesExplode
from ._pivot_table import FramePivotTable
from ._resample import ResampleMethods
from ._stack import FrameStack
from ._transpose import FrameTranspose, SeriesTranspose
from ._unstack import FrameUnstack, SeriesUnstack


class FrameReshapingMethods(
    Comparison,
    FrameExplode,
    FramePivotTable,
    FrameStack,
    FrameTranspose,
    FrameUnstack,
    ResampleMethods,
):
    """Reshaping of a frame."""


class SeriesReshapingMethods(
    Comparison, SeriesExplode, SeriesTranspose, SeriesUnstack, ResampleMethods
):
    """Reshaping of a series."""
