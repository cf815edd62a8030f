# SPDX-License-Identifier: Apache-2.0
"""`to_period` and `to_timestamp` of row labels."""

from collections.abc import Callable
from typing import Any, Self

import pandas as pd

from ..accessors._period import periods_of_times
from ..table._arguments import axis_number
from ..table._from_host import index_from
from ..table._row_index import RowIndex
from ..table._tracing import is_traced
from ..table._types import Axis
from ..table._units import PER_SECOND
from ..table._wall_times import wall_times
from ._time_zones import LabelTimeZones
from ._times_of_day import TimesOfDay


class LabelTimes(LabelTimeZones, TimesOfDay):
    """The zones, periods and times of day of the times that label rows, and those of periods."""

    def to_period(self, freq: object = None, axis: Axis = 0, copy: object = None) -> Self:
        """The same rows, labelled by the periods in which their times lie; see `dt.to_period`.

        Without `freq` it is that of the labels.

        Example:
            >>> import pandas as pd
            >>> from jaxframes.frame import JaxSeries
            >>> months = pd.to_datetime(["2024-01-31", "2024-02-29"])
            >>> JaxSeries([1.0, 2.0], index=months).to_period("M").index.tolist()
            [Period('2024-01', 'M'), Period('2024-02', 'M')]
        """
        index, table = self._table.index, self._table
        is_known = not is_traced(index, table.num_rows)
        if is_known or freq is None or axis_number(axis, self) or index.num_levels > 1:
            return self._with_labels(
                axis, pd.DatetimeIndex, lambda labels: labels.to_period(freq),
                lambda frame: frame.to_period(freq, axis=1),
            )  # fmt: skip
        (times,) = table.index_columns()
        if times.kind != "datetime":
            raise TypeError(f"unsupported Type {times.dtype_name}")
        per_second = PER_SECOND[times.type.unit or "ns"]
        periods = periods_of_times(wall_times(times), table, freq, per_second)
        return self._like(table.replace(index=RowIndex((periods,), index.names)))

    def to_timestamp(
        self, freq: object = None, how: str = "start", axis: Axis = 0, copy: object = None
    ) -> Self:
        """The same rows, labelled by the times at which their periods start or end.

        Differences from pandas:
            Raises inside `jit`, where the periods are not known.
        """
        return self._with_labels(
            axis, pd.PeriodIndex, lambda labels: labels.to_timestamp(freq=freq, how=how),
            lambda frame: frame.to_timestamp(freq, how, axis=1),
        )  # fmt: skip

    def _with_labels(
        self,
        axis: Axis,
        kind: type[pd.Index],
        change: Callable[[Any], pd.Index],
        of_columns: Callable[[Any], Any],
    ) -> Any:
        me: Any = self
        if axis_number(axis, self):
            return me._relabelled(of_columns)
        labels = self.index
        if not isinstance(labels, kind):
            raise TypeError(f"unsupported Type {type(labels).__name__}")
        return me._with_index(index_from(change(labels), self._table.capacity, self._layout))
