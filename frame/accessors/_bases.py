# SPDX-License-Identifier: Apache-2.0
"""The base class of JaxSeries in this room."""

from ._cat import SeriesCategories
from ._dt import SeriesTimes
from ._str import SeriesStrings


class SeriesAccessorMethods(SeriesCategories, SeriesStrings, SeriesTimes):
    """The accessors `.str`, `.dt` and `.cat` of a series."""
