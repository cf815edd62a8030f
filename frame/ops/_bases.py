# SPDX-License-Identifier: Apache-2.0
"""The base classes of JaxFrame and JaxSeries in this room."""

from ._arithmetic import FrameArithmetic, SeriesArithmetic
from ._clip import FrameBounds, SeriesBounds
from ._equals import Equality
from ._flex_methods import FrameFlexMethods, SeriesFlexMethods
from ._unary import FrameUnary, SeriesUnary


class FrameOperatorMethods(FrameArithmetic, FrameFlexMethods, FrameUnary, FrameBounds, Equality):
    """Operators of a frame."""


class SeriesOperatorMethods(
    SeriesArithmetic, SeriesFlexMethods, SeriesUnary, SeriesBounds, Equality
):
    """Operators of a series."""
