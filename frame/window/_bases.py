# SPDX-License-Identifier: Apache-2.0
"""The methods that JaxFrame and JaxSeries inherit from this room."""

from ._cumulative import Cumulative
from ._diff import Changes
from ._rolling import Windowing
from ._shift import Shifting


class WindowMethods(Changes, Cumulative, Shifting, Windowing):
    """Methods of a frame or a series: windows, cumulative values and shifts."""
