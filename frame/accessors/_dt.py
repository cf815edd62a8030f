# SPDX-License-Identifier: Apache-2.0
"""`series.dt`: calendar fields, rounding and formatting of datetimes and timedeltas."""

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ..table._column import NAT, Column, ColumnType, of_family, plain
from ..table._column_labels import Labels
from ..table._distinct_values import through_values
from ..table._dtypes import wide
from ..table._recode import strings_at
from ..table._take import any_missing, settled
from ..table._tracing import at_once, is_traced
from ..table._units import PER_SECOND, with_unit
from ..table._unsupported import instead_of
from ..table._wall_times import converted, instants, localized, wall_times
from ._calendar import SECONDS_PER_DAY, part_of, rounded, total_seconds
from ._period import periods_of_times

_DAYS = pd.date_range("2001-01-01", periods=7).day_name()
_MONTHS = pd.date_range("2001-01-01", periods=12, freq="MS").month_name()
# The first second whose year is an int32, and the first one after the last such second.
_FIRST, _AFTER_LAST = (
    np.datetime64(f"{year}-01-01", "s").astype(np.int64) for year in (-(2**31), 2**31)
)


def _part(part: str, about: str) -> Any:
    def get_part(self: "TimeMethods") -> Any:
        return self._series._with_column(self._part_column(part))

    get_part.__doc__ = about
    return property(get_part)


class TimeMethods:
    """Methods that datetimes and timedeltas share."""

    _pandas: Any

    def __init__(self, series: Any):
        self._series = series
        self._column: Column = series._only

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(self._pandas.dt, name):
            remedy = instead_of(type(self).__name__, name)
            raise NotImplementedError(f"dt: {name} is not supported. Use {remedy}.")
        raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")

    @property
    def unit(self) -> str:
        """Time unit, one of "s", "ms", "us" and "ns"."""
        return self._column.type.unit or "ns"

    def as_unit(self, unit: str) -> Any:
        """Converts to another unit, rounding down.

        Differences from pandas:
            Inside `jit` a time past the range of the unit becomes NaT, where pandas raises.
        """
        if unit not in PER_SECOND:
            raise ValueError(f"Supported units are 's', 'ms', 'us', 'ns', got {unit!r}")
        column = with_unit(self._column, unit, self._series._table.num_rows)
        return self._series._with_column(column)

    def floor(
        self, freq: object, ambiguous: object = "raise", nonexistent: object = "raise"
    ) -> Any:
        """Rounds down to a multiple of a fixed frequency, such as "h" or "15min".

        Differences from pandas:
            Inside `jit` a result that overflows 64 bits is missing, where pandas raises.
        """
        return self._rounded("floor", freq, ambiguous, nonexistent)

    def ceil(self, freq: object, ambiguous: object = "raise", nonexistent: object = "raise") -> Any:
        """Rounds up to a multiple of a fixed frequency; see `floor`."""
        return self._rounded("ceil", freq, ambiguous, nonexistent)

    def round(
        self, freq: object, ambiguous: object = "raise", nonexistent: object = "raise"
    ) -> Any:
        """Rounds to the nearest multiple of a fixed frequency, half to even; see `floor`."""
        return self._rounded("round", freq, ambiguous, nonexistent)

    def _rounded(self, how: str, freq: Any, ambiguous: Any, nonexistent: Any) -> Any:
        nanoseconds = int(pd.tseries.frequencies.to_offset(freq).nanos)
        step, remainder = divmod(nanoseconds, 10**9 // PER_SECOND[self.unit])
        if not step:
            return self._series
        if remainder:
            raise ValueError(f"dt.{how}: {freq!r} is not a multiple of the unit {self.unit!r}")
        walls = self._walls
        data, overflows = rounded(walls.data, how, np.int64(step))
        num_rows = self._series._table.num_rows
        if not is_traced(overflows, num_rows) and bool(any_missing(~overflows, num_rows)):
            raise OverflowError(f"dt.{how}: a multiple of {freq!r} does not fit {self.unit!r}")
        return self._at_walls(Column(data, None, walls.type), ambiguous, nonexistent)

    @functools.cached_property
    def _walls(self) -> Column:
        """The times as clocks of the zone show them."""
        return wall_times(self._column)

    def _at_walls(
        self, walls: Column, ambiguous: object = "raise", nonexistent: object = "raise"
    ) -> Any:
        """The series of the instants at which clocks of its zone show some times."""
        zone = self._column.type.zone
        if zone is not None:
            walls = instants(walls, zone, self._series._table, ambiguous, nonexistent)
        return self._series._with_column(walls)

    def _part_column(self, part: str, dtype: Any = None) -> Column:
        data = part_of(self._walls.data, part, self.unit)
        if data.dtype == jnp.bool_:
            if not self._column.is_nullable:
                return Column(data)
            flags = Column(data, self._column.present())
            return of_family(flags, self._column.family)
        data = data if dtype is None else data.astype(dtype)
        num_rows, present = self._series._table.num_rows, self._column.present()
        if part.endswith("year") and self.unit == "s":
            # Only seconds reach so far.
            times = self._walls.data
            is_held = ~present | ((times >= _FIRST) & (times < _AFTER_LAST))
            if not is_traced(is_held, num_rows) and bool(any_missing(is_held, num_rows)):
                raise ValueError(
                    f"dt.{part.removeprefix('iso_')}: a year is out of range for the int32 result. "
                    "Compare the times with the ends of a year."
                )
            present = present & is_held
        if self._column.is_nullable:
            # In Arrow, parts of days are of 32 bits.
            is_short = self._column.kind == "timedelta"
            data = data.astype(wide(np.int32 if is_short else np.int64))
        column = of_family(Column(data, present), self._column.family)
        return settled(column, num_rows)


_DATES = ColumnType("date", family="arrow")


class DatetimeMethods(TimeMethods):
    """`series.dt` of datetimes.

    Example:
        >>> import pandas as pd
        >>> from jaxframes.frame import JaxSeries
        >>> JaxSeries(pd.to_datetime(["1969-12-31", "2000-02-29"])).dt.day.tolist()
        [31, 29]
    """

    _pandas = pd.Series([], dtype="datetime64[us]")

    year: Any = _part("year", "The year.")
    month: Any = _part("month", "The month, from 1.")
    day: Any = _part("day", "The day of the month, from 1.")
    hour: Any = _part("hour", "The hour.")
    minute: Any = _part("minute", "The minute.")
    second: Any = _part("second", "The second.")
    microsecond: Any = _part("microsecond", "The microseconds of the second.")
    nanosecond: Any = _part("nanosecond", "The nanoseconds of the microsecond.")
    quarter: Any = _part("quarter", "The quarter, from 1.")
    day_of_week: Any = _part("day_of_week", "The day of the week, Monday 0.")
    day_of_year: Any = _part("day_of_year", "The day of the year, from 1.")
    days_in_month: Any = _part("days_in_month", "How many days the month has.")
    dayofweek: Any = day_of_week
    weekday: Any = day_of_week
    dayofyear: Any = day_of_year
    daysinmonth: Any = days_in_month
    is_month_start: Any = _part("is_month_start", "Whether it is the first day of a month.")
    is_month_end: Any = _part("is_month_end", "Whether it is the last day of a month.")
    is_quarter_start: Any = _part("is_quarter_start", "Whether it is the first day of a quarter.")
    is_quarter_end: Any = _part("is_quarter_end", "Whether it is the last day of a quarter.")
    is_year_start: Any = _part("is_year_start", "Whether it is the first day of a year.")
    is_year_end: Any = _part("is_year_end", "Whether it is the last day of a year.")
    is_leap_year: Any = _part("is_leap_year", "Whether the year has 366 days.")

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

    def to_period(self, freq: Any = None) -> Any:
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
        """The dates: objects, or Arrow's dates of a column of Arrow's dtype."""
        step = np.int64(PER_SECOND[self.unit] * SECONDS_PER_DAY)
        days, _ = at_once(rounded, self._walls.data, "floor", step)
        if self._column.family == "arrow":
            counts = jnp.where(days == NAT, np.int64(NAT), days // step)
            return self._series._with_column(Column(counts, None, _DATES))
        return self._objects("dt.date", self._walls.with_arrays((days, None)))

    @property
    def time(self) -> Any:
        """The times of day: objects, or Arrow's times of a column of Arrow's dtype."""
        step = np.int64(PER_SECOND[self.unit] * SECONDS_PER_DAY)
        times = jnp.where(self._walls.data == NAT, np.int64(NAT), self._walls.data % step)
        if self._column.family == "arrow":
            kind = ColumnType("time", unit=self.unit, family="arrow")
            return self._series._with_column(Column(times, None, kind))
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

        Differences from pandas:
            The numbers are uint32, the year int32, and float64 if a time is missing: columns have
            no nullable dtypes.

        Example:
            >>> import pandas as pd
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries(pd.to_datetime(["2021-01-03"])).dt.isocalendar().week.tolist()
            [53]
        """
        parts = {"year": "iso_year", "week": "iso_week", "day": "iso_day"}
        dtypes = (jnp.int32, jnp.uint32, jnp.uint32)
        columns = [
            self._part_column(part, dtype)
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
        numbers = part_of(self._walls.data, part, self.unit) - np.int32(part == "month")
        numbers = jnp.where(self._column.missing(), np.int32(-1), numbers)
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
            days, _ = at_once(rounded, self._walls.data, "floor", step)
            times = self._walls.with_arrays((days, None))
        strings = through_values(
            times,
            table.num_rows,
            table.layout,
            lambda values: values.dt.strftime(date_format).astype("str"),
            "dt.strftime",
        )
        return self._series._with_column(strings)


class TimedeltaMethods(TimeMethods):
    """`series.dt` of timedeltas."""

    _pandas = pd.Series([], dtype="timedelta64[us]")

    days: Any = _part("days", "Whole days, rounded down.")
    seconds: Any = _part("seconds", "Seconds beyond the days.")
    microseconds: Any = _part("microsecond", "Microseconds beyond the seconds.")
    nanoseconds: Any = _part("nanosecond", "Nanoseconds beyond the microseconds.")

    def total_seconds(self) -> Any:
        """The timedelta in seconds."""
        seconds = Column(total_seconds(self._column.data, self.unit))
        return self._series._with_column(of_family(seconds, self._column.family))

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
