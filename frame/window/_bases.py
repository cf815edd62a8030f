# SPDX-License-Identifier: Apache-2.0
"""The methods that JaxFrame and JaxSeries inherit from this room."""

from ._cumulative import Cumulative
from ._diff import Changes
from ._rolling import Windowing
from ._shift import Shifting


class WindowMethods(Changes, Cumulative, Shifting, Windowing):
    """Window, cumulative, shift and difference methods of a frame or a series."""
