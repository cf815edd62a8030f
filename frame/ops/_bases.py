# SPDX-License-Identifier: Apache-2.0
"""The base classes of JaxFrame and JaxSeries in this room."""

from ._arithmetic import FrameArithmetic, SeriesArithmetic
from ._clip import Clip, SeriesClip
from ._unary import Unary


class FrameOperatorMethods(FrameArithmetic, Unary, Clip):
    """Operators of a frame."""


class SeriesOperatorMethods(SeriesArithmetic, Unary, SeriesClip):
    """Operators of a series."""
