# SPDX-License-Identifier: Apache-2.0
"""`resample` and `asfreq`: groups of rows by bins of time, and rows at regular times."""

from collections.abc import Hashable
from typing import Any

import pandas as pd

from ..table._arguments import check_flag
from ..table._column import Column, missing_rows
from ..table._ndframe import NDFrame
from ..table._sort import sort_rows
from ..table._take import any_flagged
from ..table._time_bins import (
    as_times_of,
    bins_of_times,
    check_times_of_bins,
    ends_of_times,
    starts_of_bins,
)
from ..table._tracing import is_traced
from ..table._types import LevelOrLevels
from ._resampler import Resampler


class ResampleMethods(NDFrame):
    """The method `resample` of frames and series."""

    def resample(
        self,
        rule: object,
        closed: object = None,
        label: Hashable = None,
        on: Hashable = None,
        level: LevelOrLevels = None,
        origin: object = "start_day",
        offset: object = None,
        group_keys: bool = False,
    ) -> Resampler:
        """Groups rows by bins of time, for reductions of each bin, with or without rows.

        Args:
            rule: the length of bins: an offset of pandas, or its name, such as "D" or "2h".
            closed: the end that belongs to a bin, "left" or "right"; by default that of the rule.
            label: the end that labels a bin.
            on: the column of times; by default the row labels.
            level: the level of the row labels.
            origin: the time at which bins start; see pandas.
            offset: a timedelta to add to the origin.
            group_keys: taken for pandas' sake: methods of bins label rows by bin.

        Differences from pandas:
            Times must be datetimes or timedeltas. Missing times belong to no bin. Not supported
            inside `jit`.

        Example:
            >>> import pandas as pd
            >>> from jaxframes.frame import JaxSeries
            >>> times = pd.to_datetime(["2024-01-01 06:00", "2024-01-01 18:00", "2024-01-03 01:00"])
            >>> JaxSeries([1, 2, 3], index=times).resample("D").sum().tolist()
            [3, 0, 3]
        """
        column, name = self._times(on, level)
        check_times_of_bins(column)
        if is_traced(column.data, self._table.num_rows):
            raise NotImplementedError("resample: the bins are not known inside jit.")
        source: Any = self
        times = source._make_series(column, None)
        is_in_order = times.is_monotonic_increasing
        if not is_in_order:
            # As in pandas, the first row of a bin is that of the first time.
            source = self._like(sort_rows(self._table, [(column.data, False)]))
            column, _ = source._times(on, level)
        rows = source if on is None and level is None else None
        settings = {"origin": origin, "offset": offset, "on": on, "level": level}
        whole: Any = source

        def on_host() -> Any:
            return whole.to_pandas().resample(rule, closed=closed, label=label, **settings)

        if on is not None:
            source = source.drop(columns=[on])
        ends = ends_of_times(source._make_series(column, None), is_in_order=is_in_order)
        options = {"closed": closed, "origin": origin, "offset": offset}
        labels, codes = bins_of_times(column, ends, rule, label, options)
        are_missing: Any = missing_rows(codes, None, "code")
        # Times in order are not missing.
        if is_in_order or not any_flagged(are_missing, source._table.num_rows):
            are_missing = None
        elif len(labels) and column.kind != "timedelta":
            # As in pandas, labels of times have no frequency if one is missing. A new index,
            # because the bins are kept for the next call.
            no_frequency: Any = None
            labels = type(labels)(labels, freq=no_frequency)
        # Small numbers, whose groups need no search.
        keys = Column(codes, None if are_missing is None else ~are_missing)
        grouped = source.groupby(source._make_series(keys, name))

        def starts() -> Any:
            return as_times_of(column, starts_of_bins(ends.rename(name), rule, options))

        labels = as_times_of(column, labels.rename(name))
        return Resampler(grouped, labels, rows, starts, on_host)

    def asfreq(
        self, freq: object, method: object = None, how: object = None, normalize: bool = False,
        fill_value: object = None,
    ) -> Any:  # fmt: skip
        """The rows at regular times, from the first label on to the last.

        Not supported inside `jit`, because the number of rows depends on the labels.

        Args:
            freq: the distance of the times: an offset of pandas, or its name, such as "D" or "2h".
            method: which row stands for a time without one; see `reindex`.
            how: must be None, as it is for periods.
            normalize: whether the labels of the result lose their time of day.
            fill_value: the value for times without a row.

        Example:
            >>> import pandas as pd
            >>> from jaxframes.frame import JaxSeries
            >>> times = pd.to_datetime(["2024-01-01", "2024-01-03"])
            >>> JaxSeries([1, 3], index=times).asfreq("D", fill_value=0).tolist()
            [1, 0, 3]
        """
        if how is not None:
            raise NotImplementedError(
                "asfreq: how= is for periods, and columns have none. Leave it out."
            )
        rows: Any = self
        if is_traced(self._table.index, self._table.num_rows):
            raise NotImplementedError(
                "asfreq: the labels of rows are not known inside jit. Reindex before it."
            )
        columns = self._table.index_columns()
        if len(columns) != 1 or columns[0].kind != "datetime":
            raise TypeError(
                "asfreq: the labels of rows must be datetimes. Set a column of them by set_index()."
            )
        ends = ends_of_times(self._make_series(columns[0], None))
        labels = ends[:0] if ends.hasnans else pd.date_range(*ends, freq=freq, unit=ends.unit)
        labels = labels.rename(self._table.index.names[0])
        found = rows.reindex(index=labels, method=method, fill_value=fill_value)
        is_normal = check_flag(normalize, "normalize")
        return found.set_axis(labels.normalize(), axis=0) if is_normal else found

    def _times(self, on: Hashable, level: LevelOrLevels) -> tuple[Column, Hashable]:
        """The column of times and its name: a column, or a level of the row labels."""
        of: Any = self
        if on is not None:
            return of._column(on), on
        (at,) = (0,) if level is None else self._levels_at(level)
        return self._table.index_columns()[at], self._table.index.names[at]
