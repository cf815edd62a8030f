# SPDX-License-Identifier: Apache-2.0
"""Methods that `series.dt` of datetimes and of timedeltas share: parts, rounding and units."""

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ..table._column import Column, of_family
from ..table._dtypes import wide
from ..table._ndframe import SeriesBase
from ..table._nullable import Family
from ..table._take import any_flagged, any_missing, settled
from ..table._tracing import is_traced
from ..table._units import PER_SECOND, rounded_counts, with_unit
from ..table._unsupported import not_supported
from ..table._wall_times import instants, wall_times
from ._calendar import part_of
from ._read_only import ReadOnly

# The first second whose year is an int32, and the first one after the last such second.
_FIRST, _AFTER_LAST = (
    np.datetime64(f"{year}-01-01", "s").astype(np.int64) for year in (-(2**31), 2**31)
)


def part(name: str, about: str) -> Any:
    """A property that is one part of each time."""

    def get_part(self: "TimeMethods") -> Any:
        return self._series._with_column(self._part_column(name))

    get_part.__doc__ = about
    return property(get_part)


class TimeMethods(ReadOnly):
    """Methods that datetimes and timedeltas share."""

    _pandas: Any

    def __init__(self, series: SeriesBase):
        self._series = series
        self._column: Column = series._only

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and hasattr(self._pandas.dt, name):
            raise not_supported(type(self).__name__, "dt", name)
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
        """Rounds to the nearest multiple of a fixed frequency; see `floor`.

        Half is rounded to even, and up in dtypes of Arrow.
        """
        return self._rounded("round", freq, ambiguous, nonexistent)

    def _rounded(self, how: str, freq: Any, ambiguous: object, nonexistent: object) -> Any:
        nanoseconds = int(pd.tseries.frequencies.to_offset(freq).nanos)
        step, remainder = divmod(nanoseconds, 10**9 // PER_SECOND[self.unit])
        if not step:
            return self._series
        if remainder:
            raise ValueError(f"dt.{how}: {freq!r} is not a multiple of the unit {self.unit!r}")
        walls = self._walls
        is_half_up = how == "round" and self._column.family == "arrow"
        rule = "round half up" if is_half_up else how
        data, overflows = rounded_counts(walls.data, rule, np.int64(step))
        num_rows = self._series._table.num_rows
        if not is_traced(overflows, num_rows) and bool(any_flagged(overflows, num_rows)):
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

    def _part_column(self, part: str, dtype: Any = None, family: Family | None = None) -> Column:
        """A field of each time; with a `family` its dtype is nullable, whatever the times are."""
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
        column = of_family(Column(data, present), self._column.family or family)
        return settled(column, num_rows)
