# SPDX-License-Identifier: Apache-2.0
"""`tz_localize` and `tz_convert` of row labels."""

from collections.abc import Callable
from typing import Any, Self

import pandas as pd

from ..table._arguments import only_rows
from ..table._column import Column
from ..table._ndframe import NDFrame
from ..table._row_index import RowIndex
from ..table._types import Axis, LevelOrLevels
from ..table._wall_times import converted, localized


class LabelTimeZones(NDFrame):
    """Time zones of the times that label rows."""

    def tz_convert(
        self, tz: object, axis: Axis = 0, level: LevelOrLevels = None, copy: object = None
    ) -> Self:
        """The same instants on the clocks of another zone; see `dt.tz_convert`."""
        return self._with_times("tz_convert", axis, level, lambda times: converted(times, tz))

    def tz_localize(
        self,
        tz: object,
        axis: Axis = 0,
        level: LevelOrLevels = None,
        copy: object = None,
        ambiguous: object = "raise",
        nonexistent: object = "raise",
    ) -> Self:
        """The instants at which clocks of a zone show the labels; see `dt.tz_localize`.

        Example:
            >>> import pandas as pd
            >>> from jaxframes.frame import JaxSeries
            >>> times = pd.to_datetime(["2024-07-01 12:00"])
            >>> JaxSeries([1.0], index=times).tz_localize("Europe/Berlin").index.tz
            zoneinfo.ZoneInfo(key='Europe/Berlin')
        """
        table = self._table
        change = lambda times: localized(times, tz, table, ambiguous, nonexistent)  # noqa: E731
        return self._with_times("tz_localize", axis, level, change)

    def _with_times(
        self, method: str, axis: Axis, level: LevelOrLevels, change: Callable[[Column], Column]
    ) -> Self:
        only_rows(method, axis, self, "Select columns, and use dt.")
        me: Any = self
        (position,) = (0,) if level is None else me._levels_at(level)
        levels = list(self._table.index_columns())
        times = levels[position]
        if times.kind != "datetime" or (level is None and len(levels) > 1):
            raise TypeError("index is not a valid DatetimeIndex or PeriodIndex")
        levels[position] = change(times)
        freq = self._table.index.freq
        # Equal distances of instants are none on clocks that change, and days the other way round.
        to_utc = method == "tz_localize" and str(levels[position].type.zone) == "UTC"
        if isinstance(freq, pd.offsets.Tick) != (method == "tz_convert") and not to_utc:
            freq = None
        index = RowIndex(tuple(levels), self._table.index.names, freq=freq)
        return self._like(self._table.replace(index=index))
