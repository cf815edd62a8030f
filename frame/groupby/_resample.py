# SPDX-License-Identifier: Apache-2.0
"""`resample` of groups: bins of time of the rows of each group."""

import dataclasses
import functools
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..table._column import Array, Column
from ..table._dtypes import narrowed
from ..table._from_host import index_from
from ..table._layout import padded
from ..table._ndframe import NDFrame
from ..table._sort import sort_rows
from ..table._table import as_count
from ..table._take import take_columns
from ..table._time_bins import (
    bins_of_times,
    check_times_of_bins,
    depends_on_first_time,
    ends_of_times,
    outer_bins_of_times,
    starts_of_bins,
)
from ..table._to_host import host_array
from ..table._unsupported import LACKING, not_supported
from ..table._user_functions import as_frames
from ._base import GroupByBase, Grouped
from ._grouped_column import Groups, Options, Segments
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

        Differences from pandas:
            Bins that depend on the first time of each group are not supported: of several days or
            months, and of hours and less that do not divide a day, unless `origin` is "epoch" or
            a time. Not supported inside `jit`.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> import pandas as pd
            >>> times = pd.to_datetime(["2024-01-01", "2024-01-01", "2024-01-03"])
            >>> frame = JaxFrame({"k": [5, 4, 5], "x": [1, 2, 3]}, index=times)
            >>> frame.groupby("k").resample("D").x.sum().tolist()
            [2, 1, 0, 3]
        """
        self._check_arguments(include_groups)
        if depends_on_first_time(rule, origin):
            raise NotImplementedError(
                f"resample: bins of {rule!r} depend on the first time of each group. Use "
                "origin='epoch', or another rule."
            )
        column, name = self._times(on)
        check_times_of_bins(column, of_groups=True)
        groups = self._groups
        of: Any = self._source
        group_ids, times = groups.group_ids, of._make_series(column, None)
        if not times.is_monotonic_increasing:
            # As in pandas, the first row of a bin is that of the first time.
            of, group_ids, column = _sorted_by(column, of, group_ids)
        ends = ends_of_times(times)
        options = {"closed": closed, "origin": origin, "offset": offset}
        found = bins_of_times(column, ends, rule, label, options)
        labels, codes = found
        outer = outer_bins_of_times(column, found, ends, rule, options)
        bins = _bins_of_groups(groups, group_ids, outer)
        # The rows of the keys may be in another order: reductions read the groups alone.
        own = self._grouped.keys if self._options.adds_keys else []
        keys = [*own, Grouping(column, name)]
        in_bins = Grouped(of._table, keys, Options(observed=False))
        found = _groups_of_bins(groups, group_ids, labels, codes, bins)
        found = dataclasses.replace(found, keys=found.keys[-len(keys) :])
        in_bins.once("groups", lambda: found)
        shown = self._picked([at for at, one in enumerate(self._labels) if on is None or one != on])
        rows = None
        if on is None:
            ids = jnp.where(codes < 0, np.int32(-1), group_ids)
            starts = functools.partial(starts_of_bins, ends, rule, options)
            rows = RowsOfGroups(ids, column, groups.keys, bins.of_bin, bins.positions, starts)
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
    return of._like(whole.with_columns(columns)), ids.data, column


class _Bins(NamedTuple):
    """The bins of all groups, one after another, on the host.

    Attributes:
        of_bin: the group of each bin.
        positions: the position of each bin among those of all times.
        offsets: added to such a position, that of the bin among those of all groups; by group.
    """

    of_bin: np.ndarray
    positions: np.ndarray
    offsets: np.ndarray


def _bins_of_groups(groups: Groups, group_ids: Array, outer: tuple[Array, Array]) -> _Bins:
    """The bins of each group, from that of its first row to that of its last one."""
    num_groups = int(groups.count)
    numbered = Segments(group_ids, None, groups.capacity, groups.layout)
    found = _ends_of_groups(numbered, outer)
    first, last = (host_array(end)[:num_groups].astype(np.int64) for end in found)
    sizes = np.where(last >= first, last - first + 1, 0)
    offsets = np.cumsum(sizes) - sizes - first
    total = int(sizes.sum())
    if total > np.iinfo(np.int32).max:
        raise ValueError(f"resample: {total} bins are too many. Use a longer rule.")
    of_bin = np.repeat(np.arange(num_groups), sizes)
    return _Bins(of_bin, np.arange(total) - offsets[of_bin], offsets)


def _groups_of_bins(
    groups: Groups, group_ids: Array, labels: pd.DatetimeIndex, codes: Array, bins: _Bins
) -> Groups:
    """A group for each bin of each group."""
    layout, total = groups.layout, len(bins.of_bin)
    capacity = layout.capacity_for(total)
    of_bin = padded(bins.of_bin.astype(np.int32), capacity)
    keys = take_columns(groups.keys, layout.place(of_bin), layout)
    index = index_from(narrowed(labels.take(bins.positions)), capacity, layout)
    numbered = Segments(group_ids, None, groups.capacity, layout)
    offsets = padded(bins.offsets.astype(np.int32), groups.capacity)
    ids = _bin_ids(numbered, numbered.by_group.place(offsets), codes)
    keys = (*keys, *index.columns(capacity, layout))
    return Groups(ids, None, keys, as_count(total), capacity, capacity, layout, may_be_empty=True)


@tiered
def _ends_of_groups(groups: Segments, outer: tuple[Array, Array]) -> tuple[Array, Array]:
    """The first and the last bin of each group."""
    first, last = outer
    ids = jnp.where(last < 0, np.int32(-1), groups.ids)
    return groups.reduce("min", first, ids), groups.reduce("max", last, ids)


@tiered
def _bin_ids(groups: Segments, offsets: Array, codes: Array) -> Array:
    """The bin of each row among those of all groups; -1 without a group or without a bin."""
    is_in_bin = (groups.ids >= 0) & (codes >= 0)
    return jnp.where(is_in_bin, groups.for_rows(offsets) + codes, np.int32(-1))
