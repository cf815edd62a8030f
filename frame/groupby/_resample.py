# SPDX-License-Identifier: Apache-2.0
"""`resample` of groups: bins of time of the rows of each group."""

import dataclasses
from collections.abc import Callable, Hashable
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...primitives.staging import tiered
from ..table._arguments import piped
from ..table._column import Array, Column
from ..table._dtypes import narrowed
from ..table._from_host import index_from
from ..table._layout import padded
from ..table._ndframe import NDFrame
from ..table._sort import sort_rows
from ..table._table import Table, as_count
from ..table._take import take_columns
from ..table._time_bins import check_times_of_bins
from ..table._unsupported import LACKING, not_supported
from ..table._user_functions import as_frames
from ._base import GroupByBase, Grouped
from ._bins_of_groups import BinsOfGroups, bins_of_groups
from ._grouped_column import Groups, Options
from ._grouper import Grouping
from ._resample_rows import Method, RowsOfGroups


def _reduction(name: str) -> Callable[..., Any]:
    def method(self: "BinReductions", *args: object, **kwargs: object) -> Any:
        return self._reduced(name, *args, **kwargs)

    method.__name__, method.__qualname__ = name, f"BinReductions.{name}"
    method.__doc__ = f"The {name} of each bin; see `{name}` of groups."
    return method


def no_upsampling() -> ValueError:
    """The error for rows at the starts of bins whose times are not the labels of rows."""
    return ValueError(
        "Upsampling from level= or on= selection is not supported, use .set_index(...) to "
        "explicitly set index to datetime-like"
    )


class BinReductions:
    """Reductions of bins of time.

    Args:
        grouped: the rows, grouped by bin.
    """

    def __init__(self, grouped: Any):
        self._grouped = grouped

    def __getattr__(self, name: str) -> Any:
        kind = type(self).__name__
        if name in LACKING[kind]:
            raise not_supported(kind, "resample", name)
        # Bins that `copy` has just made have no groups yet.
        grouped = self.__dict__.get("_grouped")
        if grouped is None or grouped._is_series or name not in grouped._labels:
            raise AttributeError(f"'{kind}' object has no attribute '{name}'")
        return self[name]

    def __getitem__(self, key: object) -> Any:
        raise NotImplementedError

    count: Callable[..., Any] = _reduction("count")
    first: Callable[..., Any] = _reduction("first")
    last: Callable[..., Any] = _reduction("last")
    max: Callable[..., Any] = _reduction("max")
    mean: Callable[..., Any] = _reduction("mean")
    median: Callable[..., Any] = _reduction("median")
    min: Callable[..., Any] = _reduction("min")
    nunique: Callable[..., Any] = _reduction("nunique")
    prod: Callable[..., Any] = _reduction("prod")
    sem: Callable[..., Any] = _reduction("sem")
    size: Callable[..., Any] = _reduction("size")
    std: Callable[..., Any] = _reduction("std")
    sum: Callable[..., Any] = _reduction("sum")
    var: Callable[..., Any] = _reduction("var")

    def agg(self, func: object = None, *args: object, **kwargs: object) -> Any:
        """Reduces each bin by one or several functions; see `agg` of groups."""
        return self._reduced("agg", func, *args, **kwargs)

    aggregate = agg

    def pipe(self, func: Any, *args: Any, **kwargs: Any) -> Any:
        """Calls a function with these bins; see `JaxFrame.pipe`."""
        return piped(self, func, args, kwargs)

    def quantile(self, q: Any = 0.5, *args: Any, **kwargs: Any) -> Any:
        """A quantile of each bin; for a list of `q`, on the host, a row for each."""
        on_host = self.__dict__.get("_on_host")
        if np.ndim(q) and on_host is not None:
            found = on_host().quantile(q, *args, **kwargs)
            return as_frames(found, self._grouped._source.sharding)
        return self._reduced("quantile", q, *args, **kwargs)

    def ohlc(self) -> Any:
        """The first, greatest, least and last value of each bin, for each column of a frame."""
        names = {"first": "open", "max": "high", "min": "low", "last": "close"}
        found = self._reduced("agg", list(names))
        labels: Any = found._labels.index
        if labels.nlevels == 1:
            return found.set_axis(list(names.values()), axis=1)
        renamed = [names[name] for name in labels.levels[-1]]
        return found.set_axis(labels.set_levels(renamed, level=-1), axis=1)

    def nearest(self, limit: int | None = None) -> Any:
        """The row nearest to the time at which each bin starts; see `ffill`."""
        return self._at_starts("nearest", limit)

    def _at_starts(self, method: Any, limit: int | None, fill_value: Any = None) -> Any:
        """The rows at the starts of the bins."""
        raise NotImplementedError

    def _reduced(self, name: str, *args: object, **kwargs: object) -> Any:
        return getattr(self._grouped, name)(*args, **kwargs)


class GroupResampler(BinReductions):
    """The result of `groups.resample`; its methods reduce the rows of each group in each bin.

    A group has the bins from its first time to its last one, with or without rows.

    Args:
        grouped: the rows, grouped by group and bin.
        rows: the rows of each group by time; None if the times are a column.
    """

    def __init__(self, grouped: Any, rows: RowsOfGroups | None):
        super().__init__(grouped)
        self._rows = rows

    def __getitem__(self, key: Any) -> "GroupResampler":
        return GroupResampler(self._grouped[key], self._rows)

    def asfreq(self, fill_value: object = None) -> Any:
        """The row of the group at the time at which each bin starts; else a fill value.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> import pandas as pd
            >>> times = pd.to_datetime(["2024-01-01", "2024-01-01", "2024-01-03"])
            >>> frame = JaxFrame({"k": [5, 4, 5], "x": [1, 2, 3]}, index=times)
            >>> frame.groupby("k").resample("D").x.asfreq(fill_value=0).tolist()
            [2, 1, 0, 3]
        """
        return self._at_starts("asfreq", None, fill_value)

    def ffill(self, limit: int | None = None) -> Any:
        """The last row of the group up to the time at which each bin starts.

        A row stands for at most `limit` bins after its own.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> import pandas as pd
            >>> times = pd.to_datetime(["2024-01-01", "2024-01-01", "2024-01-03"])
            >>> frame = JaxFrame({"k": [5, 4, 5], "x": [1, 2, 3]}, index=times)
            >>> frame.groupby("k").resample("D").x.ffill().tolist()
            [2, 1, 1, 3]
        """
        return self._at_starts("ffill", limit)

    def bfill(self, limit: int | None = None) -> Any:
        """The next row of the group from the time at which each bin starts; see `ffill`."""
        return self._at_starts("bfill", limit)

    def _at_starts(self, method: Method, limit: int | None, fill_value: object = None) -> Any:
        if self._rows is None:
            raise no_upsampling()
        return self._rows.at_starts(self._grouped, method, limit, fill_value)


class GroupByResample(GroupByBase):
    """Bins of time of each group."""

    def resample(
        self,
        rule: object,
        closed: object = None,
        label: Hashable = None,
        on: Hashable = None,
        origin: object = "start_day",
        offset: object = None,
        include_groups: bool = False,
    ) -> GroupResampler:
        """Groups the rows of each group by bins of time; see `JaxFrame.resample`.

        The keys of the groups, then the bins, label the rows of the result; with `as_index=False`
        or `group_keys=False` the bins.

        Args:
            rule: the length of bins: an offset of pandas, or its name, such as "D" or "2h".
            closed: the end that belongs to a bin, "left" or "right"; by default that of the rule.
            label: the end that labels a bin.
            on: the column of times; by default the row labels.
            origin: the time at which bins start; see pandas.
            offset: a timedelta to add to the origin.
            include_groups: must be False.

        Not supported inside `jit`. Bins of several days or months, which start with the first time
        of each group as in pandas, cost the host some time for each group; with `origin="epoch"`
        all groups share bins.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> import pandas as pd
            >>> times = pd.to_datetime(["2024-01-01", "2024-01-01", "2024-01-03"])
            >>> frame = JaxFrame({"k": [5, 4, 5], "x": [1, 2, 3]}, index=times)
            >>> frame.groupby("k").resample("D").x.sum().tolist()
            [2, 1, 0, 3]
        """
        self._check_arguments(include_groups)
        column, name = self._times(on)
        check_times_of_bins(column)
        groups = self._groups
        of: Any = self._source
        group_ids = groups.group_ids
        if not of._make_series(column, None).is_monotonic_increasing:
            # As in pandas, the first row of a bin is that of the first time.
            of, group_ids, column = _sorted_by(column, of, group_ids)
        options = {"closed": closed, "origin": origin, "offset": offset}
        times = of._make_series(column, None)
        bins = bins_of_groups(groups, group_ids, column, times, rule, label, options)
        # The rows of the keys may be in another order: reductions read the groups alone.
        own = self._grouped.keys if self._options.adds_keys else []
        keys = [*own, Grouping(column, name)]
        in_bins = Grouped(of._table, keys, Options(observed=False))
        found = _groups_of_bins(groups, bins)
        found = dataclasses.replace(found, keys=found.keys[-len(keys) :])
        in_bins.once("groups", lambda: found)
        shown = self._picked([at for at, one in enumerate(self._labels) if on is None or one != on])
        rows = None
        if on is None:
            rows = RowsOfGroups(bins.group_ids, column, groups.keys, bins.starts)
        return GroupResampler(type(self)(of, shown._labels, shown._positions, in_bins), rows)

    def _times(self, on: Hashable) -> tuple[Column, Hashable]:
        """The column of times and its name: a column, or the row labels."""
        table = self._table
        if on is None:
            return table.index_columns()[0], table.index.names[0]
        labels: Any = getattr(self._source, "_labels", ())
        if on not in labels:
            raise KeyError(f"The grouper name {on} is not found")
        return table.columns[labels.position(on)], on

    def _check_arguments(self, include_groups: object) -> None:
        if include_groups:
            raise ValueError("include_groups=True is no longer allowed. Leave it out.")
        if self._groups.is_traced or self._source._is_traced:
            raise NotImplementedError("resample: the bins are not known inside jit.")


def _sorted_by(column: Column, of: NDFrame, group_ids: Array) -> tuple[Any, Array, Column]:
    """The rows in the order of a column, the group of each, and that column."""
    table = of._table
    whole = table.with_columns([*table.columns, Column(group_ids), column])
    whole = sort_rows(whole, [(column.data, False)])
    *columns, ids, column = whole.columns
    return of._like(whole.with_columns(columns)), _ids_of_rows(ids.data, whole), column


@tiered
def _ids_of_rows(ids: Array, rows: Table) -> Array:
    """Group ids, -1 behind the valid rows."""
    return jnp.where(rows.is_row(), ids, np.int32(-1))


def _groups_of_bins(groups: Groups, bins: BinsOfGroups) -> Groups:
    """A group for each bin of each group."""
    layout, total = groups.layout, len(bins.of_bin)
    capacity = layout.capacity_for(total)
    of_bin = padded(bins.of_bin.astype(np.int32), capacity)
    keys = take_columns(groups.keys, layout.place(of_bin), layout)
    index = index_from(narrowed(bins.labels), capacity, layout)
    keys = (*keys, *index.columns(capacity, layout))
    return Groups(
        bins.ids, None, keys, as_count(total), capacity, capacity, layout, may_be_empty=True
    )
