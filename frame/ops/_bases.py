# SPDX-License-Identifier: Apache-2.0
"""The methods that JaxFrame and JaxSeries inherit from this room."""

from ._arithmetic import FrameArithmetic, SeriesArithmetic
from ._clip import FrameBounds, SeriesBounds
from ._equals import Equality
from ._flex_methods import FrameFlexMethods, SeriesFlexMethods
from ._unary import FrameUnary, SeriesUnary


class FrameOperatorMethods(FrameArithmetic, FrameFlexMethods, FrameUnary, FrameBounds, Equality):
    """Methods of a frame: operators."""


class SeriesOperatorMethods(
    SeriesArithmetic, SeriesFlexMethods, SeriesUnary, SeriesBounds, Equality
):
    """Methods of a series: operators."""
