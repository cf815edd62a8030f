# SPDX-License-Identifier: Apache-2.0
"""`series.dt` of datetimes and timedeltas: calendar fields, zones and formatting."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..table._column import NAT, Array, Column, ColumnType, of_family, plain
from ..table._column_labels import Labels
from ..table._distinct_values import through_values
from ..table._ndframe import SeriesBase
from ..table._recode import strings_at
from ..table._tracing import at_once, is_traced
from ..table._units import PER_SECOND, starts_of_days
from ..table._wall_times import converted, localized
from ._calendar import SECONDS_PER_DAY, part_of, total_seconds
from ._period import periods_of_times
from ._time_methods import TimeMethods, part

_DAYS = pd.date_range("2001-01-01", periods=7).day_name()
_MONTHS = pd.date_range("2001-01-01", periods=12, freq="MS").month_name()
_DATES = ColumnType("date", family="arrow")


@tiered
def _codes_of(numbers: Array, missing: Array, first: Array) -> Array:
    """The positions of the names of parts of times, which count from `first`; -1 if missing."""
    return jnp.where(missing, np.int32(-1), numbers - first)


class DatetimeMethods(TimeMethods):
    """`series.dt` of datetimes.

    Example:
        >>> import pandas as pd
        >>> from jaxframes.frame import JaxSeries
        >>> JaxSeries(pd.to_datetime(["1969-12-31", "2000-02-29"])).dt.day.tolist()
        [31, 29]
    """

    _pandas = pd.Series([], dtype="datetime64[us]")

    def __init__(self, series: SeriesBase, *, are_dates: bool = False):
        super().__init__(series)
        # Whether the times are the midnights of a column of dates.
        self._are_dates = are_dates

    def _rounded(self, how: str, freq: Any, ambiguous: object, nonexistent: object) -> Any:
        rounded = super()._rounded(how, freq, ambiguous, nonexistent)
        return DatetimeMethods(rounded).date if self._are_dates else rounded

    year: Any = part("year", "The year.")
    month: Any = part("month", "The month, from 1.")
    day: Any = part("day", "The day of the month, from 1.")
    hour: Any = part("hour", "The hour.")
    minute: Any = part("minute", "The minute.")
    second: Any = part("second", "The second.")
    microsecond: Any = part("microsecond", "The microseconds of the second.")
    nanosecond: Any = part("nanosecond", "The nanoseconds of the microsecond.")
    quarter: Any = part("quarter", "The quarter, from 1.")
    day_of_week: Any = part("day_of_week", "The day of the week, Monday 0.")
    day_of_year: Any = part("day_of_year", "The day of the year, from 1.")
    days_in_month: Any = part("days_in_month", "How many days the month has.")
    dayofweek: Any = day_of_week
    weekday: Any = day_of_week
    dayofyear: Any = day_of_year
    daysinmonth: Any = days_in_month
    is_month_start: Any = part("is_month_start", "Whether it is the first day of a month.")
    is_month_end: Any = part("is_month_end", "Whether it is the last day of a month.")
    is_quarter_start: Any = part("is_quarter_start", "Whether it is the first day of a quarter.")
    is_quarter_end: Any = part("is_quarter_end", "Whether it is the last day of a quarter.")
    is_year_start: Any = part("is_year_start", "Whether it is the first day of a year.")
    is_year_end: Any = part("is_year_end", "Whether it is the last day of a year.")
    is_leap_year: Any = part("is_leap_year", "Whether the year has 366 days.")

    @property
    def tz(self) -> Any:
        """The time zone, or None."""
        zone = self._column.type.zone
        return None if zone is None else pd.DatetimeTZDtype("ns", zone).tz

    def tz_localize(
        self, tz: object, ambiguous: object = "raise", nonexistent: object = "raise"
    ) -> Any:
        """The instants at which clocks of a zone show the times; the times shown for `tz=None`.

        Args:
            tz: a time zone, or its name in the IANA data base.
            ambiguous: for a time that clocks show twice: "raise", "NaT", "infer" from the order of
                rows, or bools, one or one per row, that say whether summer time is in force.
            nonexistent: for a time that clocks skip: "raise", "NaT", "shift_forward" or
                "shift_backward" to the nearest time that exists, or a timedelta to move it by.

        Differences from pandas:
            Inside `jit` a time for which pandas raises becomes NaT, and "infer" is not supported.
            Both shifts take the nearest whole hour, in the offset that holds there.

        Example:
            >>> import pandas as pd
            >>> from jaxframes.frame import JaxSeries
            >>> times = JaxSeries(pd.to_datetime(["2024-07-01 12:00"]))
            >>> times.dt.tz_localize("Europe/Berlin").dt.tz_convert("UTC").dt.hour.tolist()
            [10]
        """
        column = localized(self._column, tz, self._series._table, ambiguous, nonexistent)
        return self._series._with_column(column)

    def tz_convert(self, tz: object) -> Any:
        """The same instants on the clocks of another zone; `None` gives UTC without a zone."""
        return self._series._with_column(converted(self._column, tz))

    def to_period(self, freq: object = None) -> Any:
        """The periods in which the times lie, by clocks of their zone.

        Works inside `jit` for days, months, quarters and years.

        Example:
            >>> import pandas as pd
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries(pd.to_datetime(["2024-02-29"])).dt.to_period("M").astype("str").tolist()
            ['2024-02']
        """
        if freq is None:
            raise ValueError("You must pass a freq argument as current index has none.")
        table = self._series._table
        column = periods_of_times(self._walls, table, freq, PER_SECOND[self.unit])
        return self._series._with_column(column)

    @property
    def date(self) -> Any:
        """The dates, as objects, or as Arrow's dates of a column of Arrow's dtype."""
        step = np.int64(PER_SECOND[self.unit] * SECONDS_PER_DAY)
        days = at_once(starts_of_days, self._walls.data, step)
        if self._column.family == "arrow":
            counts = jnp.where(days == NAT, np.int64(NAT), days // step)
            return self._series._with_column(Column(counts, None, _DATES))
        return self._objects("dt.date", self._walls.with_arrays((days, None)))

    @property
    def time(self) -> Any:
        """The times of day, as objects, or as Arrow's times of a column of Arrow's dtype."""
        step = np.int64(PER_SECOND[self.unit] * SECONDS_PER_DAY)
        times = jnp.where(self._walls.data == NAT, np.int64(NAT), self._walls.data % step)
        if self._column.family == "arrow":
            # pandas gives the units of 64 bits in Arrow.
            unit = "us" if self.unit == "us" else "ns"
            factor = np.int64(PER_SECOND[unit] // PER_SECOND[self.unit])
            counts = jnp.where(times == NAT, np.int64(NAT), times * factor)
            kind = ColumnType("time", unit=unit, family="arrow")
            return self._series._with_column(Column(counts, None, kind))
        return self._objects("dt.time", self._walls.with_arrays((times, None)))

    @property
    def timetz(self) -> Any:
        """The times of day with their zone, as objects."""
        return self._objects("dt.timetz", self._column)

    def to_pydatetime(self) -> Any:
        """The times as objects of Python."""
        return self._objects("dt.to_pydatetime", self._column)

    def _objects(self, method: str, times: Column) -> Any:
        """What pandas' method gives for each distinct time, as objects."""
        name, table = method.removeprefix("dt."), self._series._table

        def convert(values: Any) -> pd.Series:
            found = getattr(values.dt, name)
            return pd.Series(found() if callable(found) else found, dtype=object)

        column = through_values(plain(times), table.num_rows, table.layout, convert, method)
        return self._series._with_column(column)

    def normalize(self) -> Any:
        """The start of the day."""
        return self.floor("D")

    def isocalendar(self) -> Any:
        """A frame of the ISO year, week and day of the week, which starts on Monday, from 1.

        Example:
            >>> import pandas as pd
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries(pd.to_datetime(["2021-01-03"])).dt.isocalendar().week.tolist()
            [53]
        """
        parts = {"year": "iso_year", "week": "iso_week", "day": "iso_day"}
        dtypes = (jnp.int32, jnp.uint32, jnp.uint32)
        columns = [
            self._part_column(part, dtype, "masked")
            for part, dtype in zip(parts.values(), dtypes, strict=True)
        ]
        return self._series._make_frame(columns, Labels.of(parts))

    def day_name(self, locale: object = None) -> Any:
        """The English name of the day of the week."""
        return self._named("day_of_week", _DAYS, locale)

    def month_name(self, locale: object = None) -> Any:
        """The English name of the month."""
        return self._named("month", _MONTHS, locale)

    def _named(self, part: str, names: pd.Index, locale: Any) -> Any:
        if locale is not None:
            raise NotImplementedError(f"dt: locale must be left out, got {locale!r}.")
        numbers = part_of(self._walls.data, part, self.unit)
        numbers = _codes_of(numbers, self._column.missing(), np.int32(part == "month"))
        return self._series._with_column(of_family(strings_at(numbers, names), self._column.family))

    def strftime(self, date_format: str) -> Any:
        """Formats times as strings.

        The host formats each distinct time, or each distinct day if the format has fields of the
        date alone.

        Differences from pandas:
            Not supported inside `jit`.
        """
        letters = {date_format[at + 1 : at + 2] for at, c in enumerate(date_format) if c == "%"}
        table, times = self._series._table, self._column
        if is_traced(times.data, table.num_rows):
            raise NotImplementedError(
                "dt.strftime: the times are not known inside jit. Format them afterwards."
            )
        if letters <= set("YmdjaAbByuwUWGVFDCegh%"):
            step = np.int64(PER_SECOND[self.unit] * SECONDS_PER_DAY)
            days = at_once(starts_of_days, self._walls.data, step)
            times = self._walls.with_arrays((days, None))
        strings = through_values(
            times,
            table.num_rows,
            table.layout,
            lambda values: values.dt.strftime(date_format).astype("str"),
            "dt.strftime",
        )
        return self._series._with_column(of_family(strings, times.family))


class TimedeltaMethods(TimeMethods):
    """`series.dt` of timedeltas."""

    _pandas = pd.Series([], dtype="timedelta64[us]")

    days: Any = part("days", "Whole days, rounded down.")
    seconds: Any = part("seconds", "Seconds beyond the days.")
    microseconds: Any = part("microsecond", "Microseconds beyond the seconds.")
    nanoseconds: Any = part("nanosecond", "Nanoseconds beyond the microseconds.")

    def total_seconds(self) -> Any:
        """The timedelta in seconds."""
        seconds = Column(total_seconds(self._column.data, self.unit))
        return self._series._with_column(of_family(seconds, self._column.family))

    def to_pytimedelta(self) -> Any:
        """The timedeltas as objects of Python, in an array of NumPy as in pandas."""
        # pandas' accessor warns of a later version that returns a series.
        return pd.TimedeltaIndex(self._series.to_pandas()).to_pytimedelta()

    @property
    def components(self) -> Any:
        """A frame with the fields from days to nanoseconds."""
        parts = {
            "days": "days", "hours": "hour", "minutes": "minute", "seconds": "second",
            "milliseconds": "milliseconds", "microseconds": "microseconds_of_millisecond",
            "nanoseconds": "nanosecond",
        }  # fmt: skip
        columns = [self._part_column(part, jnp.int64) for part in parts.values()]
        return self._series._make_frame(columns, Labels.of(parts))
