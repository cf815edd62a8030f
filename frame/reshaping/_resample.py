# SPDX-License-Identifier: Apache-2.0
"""`resample` and `asfreq`: groups of rows by bins of time, and rows at regular times."""

import functools
from collections.abc import Callable, Hashable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..indexing._reindex import with_labels
from ..mapping._lookup import search_rows
from ..table._arguments import check_flag
from ..table._column import NAT, Array, Column, no_rows
from ..table._layout import ONE_DEVICE
from ..table._ndframe import NDFrame
from ..table._recode import look_up
from ..table._tracing import is_traced
from ..table._unsupported import LACKING, instead_of

# Their bins end with the last moment of a day.
_ENDS_OF_PERIODS = ("ME", "BME", "W", "QE", "BQE", "YE", "BYE")


def _reduction(name: str) -> Callable[..., Any]:
    def method(self: "Resampler", *args: Any, **kwargs: Any) -> Any:
        return self._reduced(name, *args, **kwargs)

    method.__name__, method.__qualname__ = name, f"Resampler.{name}"
    method.__doc__ = f"The {name} of each bin; see `{name}` of groups."
    return method


class Resampler:
    """The result of `resample`; its methods reduce the rows of each bin of time.

    Differences from pandas:
        Functions of the user and `interpolate` are not supported. `ffill` and `bfill` of selected
        columns are those of the columns, where pandas fills within bins. Not supported inside
        `jit`, because the number of bins depends on the times.
    """

    def __init__(
        self, grouped: Any, labels: pd.DatetimeIndex, rows: Any, starts: Callable[[], Any]
    ):
        self._grouped, self._labels = grouped, labels
        # None if the times are a column or a level.
        self._rows, self._starts = rows, starts

    def __getitem__(self, key: Any) -> "Resampler":
        rows = None if self._rows is None else self._rows[key]
        return Resampler(self._grouped[key], self._labels, rows, self._starts)

    def __getattr__(self, name: str) -> Any:
        if name in LACKING["Resampler"]:
            remedy = instead_of("Resampler", name)
            raise NotImplementedError(f"resample: {name} is not supported. Use {remedy}.")
        return self[name] if not name.startswith("_") else object.__getattribute__(self, name)

    count: Callable[..., Any] = _reduction("count")
    first: Callable[..., Any] = _reduction("first")
    last: Callable[..., Any] = _reduction("last")
    max: Callable[..., Any] = _reduction("max")
    mean: Callable[..., Any] = _reduction("mean")
    median: Callable[..., Any] = _reduction("median")
    min: Callable[..., Any] = _reduction("min")
    nunique: Callable[..., Any] = _reduction("nunique")
    prod: Callable[..., Any] = _reduction("prod")
    quantile: Callable[..., Any] = _reduction("quantile")
    sem: Callable[..., Any] = _reduction("sem")
    size: Callable[..., Any] = _reduction("size")
    std: Callable[..., Any] = _reduction("std")
    sum: Callable[..., Any] = _reduction("sum")
    var: Callable[..., Any] = _reduction("var")

    def agg(self, func: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Reduces each bin by one or several functions; see `agg` of groups."""
        return self._reduced("agg", func, *args, **kwargs)

    aggregate = agg

    def ohlc(self) -> Any:
        """The first, greatest, least and last value of each bin of a series."""
        found = self._reduced("agg", ["first", "max", "min", "last"])
        return found.set_axis(["open", "high", "low", "close"], axis=1)

    def asfreq(self, fill_value: Any = None) -> Any:
        """The row at the time at which each bin starts; other bins have a fill value.

        Example:
            >>> import pandas as pd
            >>> from jaxframes.frame import JaxSeries
            >>> times = pd.to_datetime(["2024-01-01", "2024-01-03"])
            >>> JaxSeries([1, 3], index=times).resample("D").asfreq().tolist()
            [1.0, nan, 3.0]
        """
        return self._at_starts(None, None, fill_value)

    def ffill(self, limit: int | None = None) -> Any:
        """The last row up to the time at which each bin starts; see `reindex`.

        Example:
            >>> import pandas as pd
            >>> from jaxframes.frame import JaxSeries
            >>> times = pd.to_datetime(["2024-01-01", "2024-01-03"])
            >>> JaxSeries([1, 3], index=times).resample("D").ffill().tolist()
            [1, 1, 3]
        """
        return self._at_starts("ffill", limit)

    def bfill(self, limit: int | None = None) -> Any:
        """The next row from the time at which each bin starts; see `reindex`."""
        return self._at_starts("bfill", limit)

    def nearest(self, limit: int | None = None) -> Any:
        """The row nearest to the time at which each bin starts; see `reindex`."""
        return self._at_starts("nearest", limit)

    def _at_starts(self, method: str | None, limit: int | None, fill_value: Any = None) -> Any:
        if self._rows is None:
            raise ValueError(
                "Upsampling from level= or on= selection is not supported, use .set_index(...) to "
                "explicitly set index to datetime-like"
            )
        return self._rows.reindex(
            index=self._starts(), method=method, limit=limit, fill_value=fill_value
        )

    def _reduced(self, name: str, *args: Any, **kwargs: Any) -> Any:
        result = getattr(self._grouped, name)(*args, **kwargs)
        # Let pandas reduce a bin without rows.
        columns = [no_rows(column) for column in self._grouped._columns]
        shell: Any = pd.DataFrame(dict(enumerate(columns)))
        shell.columns = self._grouped._labels.index
        if self._grouped._is_series:
            shell = shell.iloc[:, 0]
        bins: Any = pd.Categorical([], categories=[0])
        empty = getattr(shell.groupby(bins, observed=False), name)(*args, **kwargs)
        is_frame = isinstance(empty, pd.DataFrame)
        fills = [empty.iloc[0, at] for at in range(empty.shape[1])] if is_frame else [empty.iloc[0]]
        return result._like(with_labels(result._table, self._labels, fills, "resample"))


class ResampleMethods(NDFrame):
    """The method `resample` of frames and series."""

    def resample(
        self,
        rule: Any,
        closed: Any = None,
        label: Any = None,
        on: Hashable = None,
        level: Any = None,
        origin: Any = "start_day",
        offset: Any = None,
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

        Differences from pandas:
            Times must be datetimes. Missing times belong to no bin. Not supported inside `jit`.

        Example:
            >>> import pandas as pd
            >>> from jaxframes.frame import JaxSeries
            >>> times = pd.to_datetime(["2024-01-01 06:00", "2024-01-01 18:00", "2024-01-03 01:00"])
            >>> JaxSeries([1, 2, 3], index=times).resample("D").sum().tolist()
            [3, 0, 3]
        """
        source: Any = self
        rows = self if on is None and level is None else None
        if on is not None:
            column, name = source._column(on), on
            source = source.drop(columns=[on])
        else:
            (at,) = (0,) if level is None else self._levels_at(level)
            column, name = self._table.index_columns()[at], self._table.index.names[at]
        if column.kind != "datetime":
            raise TypeError(
                "Only valid with DatetimeIndex, TimedeltaIndex or PeriodIndex, but got times of "
                f"{column.dtype_name}. Convert them with to_datetime()."
            )
        if is_traced(column.data, self._table.num_rows):
            raise NotImplementedError("resample: the bins are not known inside jit.")
        ends = self._ends(column)
        options = {"closed": closed, "origin": origin, "offset": offset}
        if ends.hasnans:
            ends = edges = ends[:0]
            labels: Any = pd.Series([], ends, dtype=int).resample(rule, **options).size().index
        else:
            labels, edges = _bins(ends, rule, label, options)
        side = "left" if _closed(rule, closed, origin) == "right" else "right"
        # Padded, so that similar numbers of bins share a program.
        padded = np.full(ONE_DEVICE.capacity_for(len(edges)), np.iinfo(np.int64).max)
        padded[: len(edges)] = edges.asi8
        codes = _codes(column.data, jnp.asarray(padded), side)
        keys = Column(look_up(codes, labels.asi8, np.int64(NAT)), None, column.type)
        grouped = source.groupby(self._make_series(keys, name))
        starts = functools.partial(_starts, ends.unique().rename(name), rule, options)
        return Resampler(grouped, labels.rename(name), rows, starts)

    def asfreq(
        self, freq: Any, method: Any = None, how: Any = None, normalize: bool = False,
        fill_value: Any = None,
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
        ends = self._ends(columns[0])
        labels = ends[:0] if ends.hasnans else pd.date_range(*ends, freq=freq, unit=ends.unit)
        labels = labels.rename(self._table.index.names[0])
        found = rows.reindex(index=labels, method=method, fill_value=fill_value)
        is_normal = check_flag(normalize, "normalize")
        return found.set_axis(labels.normalize(), axis=0) if is_normal else found

    def _ends(self, column: Column) -> pd.DatetimeIndex:
        """The first time of a column and the last one; missing if there is none."""
        times = self._make_series(column, None)
        unit: Any = column.type.unit
        return pd.DatetimeIndex([times.min(), times.max()]).as_unit(unit)


def _is_end(rule: Any) -> bool:
    return pd.tseries.frequencies.to_offset(rule).rule_code.split("-")[0] in _ENDS_OF_PERIODS  # pyright: ignore


def _closed(rule: Any, closed: Any, origin: Any) -> str:
    """The end that belongs to a bin, by pandas' default for the rule."""
    if closed is not None:
        return closed
    return "right" if _is_end(rule) or origin in ("end", "end_day") else "left"


def _bins(
    ends: pd.DatetimeIndex, rule: Any, label: Any, options: dict[str, Any]
) -> tuple[pd.DatetimeIndex, pd.DatetimeIndex]:
    """The labels of pandas' bins, and their edges, one more."""
    times = pd.Series(0, index=ends)
    unit: Any = ends.unit

    def labels(which: Any) -> Any:
        return times.resample(rule, label=which, **options).size().index.as_unit(unit)  # pyright: ignore

    edges = labels("left").append(labels("right")[-1:])
    if _is_end(rule) and _closed(rule, options["closed"], options["origin"]) == "right":
        edges = edges + pd.Timedelta(1, "D").as_unit(unit) - pd.Timedelta(1, unit).as_unit(unit)
    return labels(label), edges


def _starts(ends: pd.DatetimeIndex, rule: Any, options: dict[str, Any]) -> Any:
    """The times at which pandas' bins start, or end if those ends belong to them."""
    unit: Any = ends.unit
    times = pd.Series(0, index=ends)
    return times.resample(rule, **options).asfreq().index.as_unit(unit)  # pyright: ignore


@functools.partial(tiered, static_argnums=2)
def _codes(times: Array, edges: Array, side: str) -> Array:
    """The bin of each time; -1 if missing."""
    search = functools.partial(jnp.searchsorted, side=side, method="scan_unrolled")
    position = search_rows(edges, times, search).astype(jnp.int32) - np.int32(1)
    return jnp.where(times == NAT, np.int32(-1), position)
