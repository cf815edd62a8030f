# SPDX-License-Identifier: Apache-2.0
"""`series.dt` of periods, and the periods of times."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..table._column import NAT, Array, Column, ColumnType
from ..table._distinct_values import through_values
from ..table._ndframe import SeriesBase
from ..table._table import Table
from ..table._units import coarser, starts_of_days
from ._calendar import SECONDS_PER_DAY, part_of
from ._read_only import ReadOnly

# The periods that the device counts from the parts of a date: how many a year has.
_PER_YEAR = {"M": 12, "Q-DEC": 4, "Y-DEC": 1}
_PARTS = {"M": "month", "Q-DEC": "quarter"}


def periods_of_times(walls: Column, table: Table, freq: object, per_second: int) -> Column:
    """The periods in which times lie; pandas' `to_period`.

    The device counts months, quarters, years and days; the host those of each distinct day for
    other frequencies of days, and those of each distinct time for shorter ones.
    """
    name = pd.PeriodDtype(freq).name.removeprefix("period[").removesuffix("]")
    step = np.int64(per_second * SECONDS_PER_DAY)
    if name in _PER_YEAR or name == "D":
        if name == "D":
            counts = coarser(walls.data, step)
        else:
            unit = {1: "s", 10**3: "ms", 10**6: "us", 10**9: "ns"}[per_second]
            year = part_of(walls.data, "year", unit)
            place = part_of(walls.data, _PARTS[name], unit) if name in _PARTS else year * 0 + 1
            counts = _of_years(walls.data, year, place, np.int64(_PER_YEAR[name]))
        return Column(counts, None, ColumnType("period", freq=name))
    if name.split("-")[0] in ("B", "W", "Q", "Y"):
        walls = walls.with_arrays((starts_of_days(walls.data, step), None))
    return through_values(
        walls, table.num_rows, table.layout, lambda times: times.dt.to_period(freq), "dt.to_period"
    )


@tiered
def _of_years(data: Array, year: Array, place: Array, per_year: Array) -> Array:
    count = (year.astype(jnp.int64) - np.int64(1970)) * per_year + place.astype(jnp.int64)
    return jnp.where(data == NAT, np.int64(NAT), count - np.int64(1))


def _part(name: str) -> Any:
    def get(self: "PeriodMethods") -> Any:
        return self._through(f"dt.{name}", lambda periods: getattr(periods.dt, name))

    get.__doc__ = f"pandas' `{name}` of each period."
    return property(get)


class PeriodMethods(ReadOnly):
    """`series.dt` of periods: pandas computes what is asked of each distinct period.

    Differences from pandas:
        Not supported inside `jit`, where the periods are not known.

    Example:
        >>> import pandas as pd
        >>> from jaxframes.frame import JaxSeries
        >>> JaxSeries(pd.to_datetime(["2024-02-29"])).dt.to_period("Q").dt.year.tolist()
        [2024]
    """

    year: Any = _part("year")
    month: Any = _part("month")
    day: Any = _part("day")
    hour: Any = _part("hour")
    minute: Any = _part("minute")
    second: Any = _part("second")
    quarter: Any = _part("quarter")
    qyear: Any = _part("qyear")
    week: Any = _part("week")
    weekofyear: Any = _part("weekofyear")
    weekday: Any = _part("weekday")
    dayofweek: Any = _part("dayofweek")
    day_of_week: Any = _part("day_of_week")
    dayofyear: Any = _part("dayofyear")
    day_of_year: Any = _part("day_of_year")
    days_in_month: Any = _part("days_in_month")
    daysinmonth: Any = _part("daysinmonth")
    is_leap_year: Any = _part("is_leap_year")
    start_time: Any = _part("start_time")
    end_time: Any = _part("end_time")

    def __init__(self, series: SeriesBase):
        self._series = series

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(pd.Series([], dtype="period[D]").dt, name):
            raise NotImplementedError(f"dt: {name} is not supported. Use to_pandas().dt.{name}.")
        raise AttributeError(f"'PeriodMethods' object has no attribute {name!r}")

    @property
    def freq(self) -> Any:
        """The frequency."""
        return pd.PeriodDtype(self._series._only.type.freq).freq

    def to_timestamp(self, freq: object = None, how: str = "start") -> Any:
        """The times at which the periods start or end."""
        return self._through("dt.to_timestamp", lambda p: p.dt.to_timestamp(freq=freq, how=how))

    def asfreq(self, freq: object = None, how: str = "E") -> Any:
        """The period of another frequency at the start or the end of each."""
        return self._through("dt.asfreq", lambda periods: periods.dt.asfreq(freq, how))

    def strftime(self, date_format: str) -> Any:
        """Formats periods as strings."""
        return self._through(
            "dt.strftime", lambda periods: periods.dt.strftime(date_format).astype("str")
        )

    def _through(self, method: str, convert: Callable[[Any], Any]) -> Any:
        table = self._series._table
        column = self._series._only
        results = through_values(column, table.num_rows, table.layout, convert, method)
        return self._series._with_column(results)
