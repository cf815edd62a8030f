# SPDX-License-Identifier: Apache-2.0
"""The base classes of JaxFrame and JaxSeries in this room."""

from ._arithmetic import FrameArithmetic, SeriesArithmetic
from ._clip import Clip, SeriesClip
from ._equals import Equality
from ._unary import FrameUnary, SeriesUnary


class FrameOperatorMethods(FrameArithmetic, FrameUnary, Clip, Equality):
    """Operators of a frame."""


class SeriesOperatorMethods(SeriesArithmetic, SeriesUnary, SeriesClip, Equality):
    """Operators of a series."""
