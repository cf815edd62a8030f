# SPDX-License-Identifier: Apache-2.0
"""The methods that JaxFrame and JaxSeries inherit from this room."""

from ._cat import SeriesCategories
from ._dt import SeriesTimes
from ._str import SeriesStrings


class SeriesAccessorMethods(SeriesCategories, SeriesStrings, SeriesTimes):
    """Methods of a series: `.str`, `.dt` and `.cat`."""
