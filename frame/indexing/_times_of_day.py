# SPDX-License-Identifier: Apache-2.0
"""`at_time` and `between_time`: rows by the time of day of their labels."""

import datetime
import functools
from typing import Any, Self

import jax.numpy as jnp
import numpy as np

from ...primitives.staging import tiered
from ..accessors._calendar import SECONDS_PER_DAY
from ..table._arguments import only_rows
from ..table._column import NAT, Array
from ..table._filter import filter_rows
from ..table._ndframe import NDFrame
from ..table._types import Axis
from ..table._units import PER_SECOND
from ..table._wall_times import wall_times

_FORMATS = (
    "%H:%M", "%H%M", "%I:%M%p", "%I%M%p", "%H:%M:%S", "%H%M%S", "%I:%M:%S%p", "%I%M%S%p",
)  # fmt: skip
_MICROSECONDS = PER_SECOND["us"]
_INCLUSIVE = {
    "both": (True, True), "left": (True, False), "right": (False, True), "neither": (False, False)
}  # fmt: skip


class TimesOfDay(NDFrame):
    """Selection of rows by the time of day of their labels."""

    def at_time(self, time: object, asof: bool = False, axis: Axis = None) -> Self:
        """The rows whose labels have a time of day. Works inside `jit`.

        Args:
            time: a `datetime.time`, or a string such as "9:30".
            asof: must be False.
            axis: rows alone.

        Example:
            >>> import pandas as pd
            >>> from jaxframes.frame import JaxSeries
            >>> times = pd.to_datetime(["2024-01-01 09:30", "2024-01-01 16:00", "2024-01-02 09:30"])
            >>> JaxSeries([1, 2, 3], index=times).at_time("9:30").tolist()
            [1, 3]
        """
        if asof:
            raise NotImplementedError(
                "'asof' argument is not supported. Use merge_asof() for the last row before a time."
            )
        only_rows("at_time", axis or 0, self, "Select columns by loc.")
        moment = _microseconds(time)
        return self._in_span(moment, moment, True, True)

    def between_time(
        self, start_time: object, end_time: object, inclusive: str = "both", axis: Axis = None
    ) -> Self:
        """The rows whose labels have a time of day in a span. Works inside `jit`.

        Args:
            start_time: as `time` of `at_time`.
            end_time: likewise. If it is before `start_time`, the span has midnight in it.
            inclusive: the ends that belong to the span: "both", "left", "right" or "neither".
            axis: rows alone.

        Example:
            >>> import pandas as pd
            >>> from jaxframes.frame import JaxSeries
            >>> times = pd.to_datetime(["2024-01-01 09:30", "2024-01-01 16:00", "2024-01-01 23:00"])
            >>> JaxSeries([1, 2, 3], index=times).between_time("16:00", "9:30").tolist()
            [1, 2, 3]
        """
        only_rows("between_time", axis or 0, self, "Select columns by loc.")
        if inclusive not in _INCLUSIVE:
            raise ValueError(
                "Inclusive has to be either 'both', 'neither', 'left' or 'right', got "
                f"{inclusive!r}."
            )
        return self._in_span(
            _microseconds(start_time), _microseconds(end_time), *_INCLUSIVE[inclusive]
        )

    def _in_span(self, start: int, end: int, has_start: bool, has_end: bool) -> Self:
        columns = self._table.index_columns()
        if len(columns) != 1 or columns[0].kind != "datetime":
            raise TypeError(
                "Index must be DatetimeIndex, but the labels are of "
                f"{columns[0].dtype_name if len(columns) == 1 else 'several levels'}. Set a column "
                "of datetimes by set_index()."
            )
        labels = wall_times(columns[0])
        ends = np.int64(start), np.int64(end)
        flags = _are_between(labels.data, ends, labels.type.unit or "ns", (has_start, has_end))
        return self._like(filter_rows(self._table, flags))


def _microseconds(time: object) -> int:
    """The microseconds from midnight to a time of day."""
    if isinstance(time, str):
        time = _parsed(time)
    if not isinstance(time, datetime.time):
        raise ValueError(
            f"Cannot convert arg [{time!r}] to a time. Give a datetime.time, or a string such as "
            "'9:30'."
        )
    if time.tzinfo is not None:
        raise ValueError("Index must be timezone aware. Give a time without tzinfo.")
    seconds = (time.hour * 60 + time.minute) * 60 + time.second
    return seconds * _MICROSECONDS + time.microsecond


def _parsed(text: str) -> Any:
    for form in _FORMATS:
        try:
            return datetime.datetime.strptime(text, form).time()
        except ValueError:
            continue
    return text


@functools.partial(tiered, static_argnums=(2, 3))
def _are_between(
    times: Array, ends: tuple[Any, Any], unit: str, has_ends: tuple[bool, bool]
) -> Array:
    per_second = PER_SECOND[unit]
    time_of_day = times % np.int64(per_second * SECONDS_PER_DAY)
    # Rounded down to microseconds; a missing time comes before midnight.
    if per_second > _MICROSECONDS:
        time_of_day = time_of_day // np.int64(per_second // _MICROSECONDS)
    else:
        time_of_day = time_of_day * np.int64(_MICROSECONDS // per_second)
    time_of_day = jnp.where(times == NAT, np.int64(-1), time_of_day)
    start, end = ends
    is_after = time_of_day >= start if has_ends[0] else time_of_day > start
    is_before = time_of_day <= end if has_ends[1] else time_of_day < end
    return jnp.where(start <= end, is_after & is_before, is_after | is_before)
