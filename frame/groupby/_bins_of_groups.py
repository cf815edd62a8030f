# SPDX-License-Identifier: Apache-2.0
"""The bins of time of each group, from that of its first row to that of its last one."""

import functools
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives.staging import tiered
from ..table._column import NAT, Array, Column, ColumnType
from ..table._layout import Layout, padded
from ..table._table import Count
from ..table._time_bins import (
    bins_of_times,
    depends_on_first_time,
    edges_of_bins,
    ends_of_times,
    even_bins,
    is_closed_right,
    outer_bins_of_times,
    starts_of_bins,
    times_of_counts,
)
from ..table._to_host import host_array
from ..table._types import Options
from ._grouped_column import Groups, Segments


class BinsOfGroups(NamedTuple):
    """The bins of all groups, one group after another.

    Attributes:
        ids: the bin of each row; -1 without a group or without a time.
        group_ids: the group of each row that has a bin.
        of_bin: the group of each bin, on the host.
        labels: the label of each bin.
        starts: gives the times at which bins start, and the group of each, on the host.
    """

    ids: Array
    group_ids: Array
    of_bin: np.ndarray
    labels: Any
    starts: Callable[[], tuple[np.ndarray, Any]]


def bins_of_groups(
    groups: Groups,
    group_ids: Array,
    column: Column,
    times: Any,
    rule: object,
    label: Hashable,
    options: Options,
) -> BinsOfGroups:
    """The bins of each group.

    Args:
        groups: the groups.
        group_ids: the group of each row.
        column: the time of each row.
        times: the same times, as a series.
        rule: the length of bins.
        label: the end that labels a bin.
        options: further arguments of `resample`.
    """
    numbered = Segments(group_ids, None, groups.capacity, groups.layout)
    num_groups = int(groups.count)
    if column.kind == "timedelta" or depends_on_first_time(rule, options, column.type.zone):
        num_rows = times._table.num_rows
        return _own_bins(numbered, num_groups, column, num_rows, rule, label, options)
    ends = ends_of_times(times)
    found = bins_of_times(column, ends, rule, label, options)
    outer = outer_bins_of_times(column, found, ends, rule, options)
    first, last = (
        host_array(end)[:num_groups].astype(np.int64) for end in _ends_of_groups(numbered, outer)
    )
    sizes = np.where(last >= first, last - first + 1, 0)
    offsets = np.cumsum(sizes) - sizes - first
    of_bin = _groups_of_sizes(sizes)
    positions = np.arange(len(of_bin)) - offsets[of_bin]
    starts = padded(offsets.astype(np.int32), groups.capacity)
    return BinsOfGroups(
        _bin_ids(numbered, numbered.by_group.place(starts), found.codes),
        jnp.where(found.codes < 0, np.int32(-1), group_ids),
        of_bin,
        found.labels.take(positions),
        lambda: (of_bin, starts_of_bins(ends, rule, options).take(positions)),
    )


def _groups_of_sizes(sizes: Any) -> np.ndarray:
    """The group of each bin, from the number of bins of each group."""
    total = int(np.sum(sizes))
    if total > np.iinfo(np.int32).max:
        raise ValueError(f"resample: {total} bins are too many. Use a longer rule.")
    return np.repeat(np.arange(len(sizes)), sizes)


def _own_bins(
    groups: Segments,
    num_groups: int,
    column: Column,
    num_rows: Count,
    rule: object,
    label: Hashable,
    options: Options,
) -> BinsOfGroups:
    """Bins that depend on the first time of each group: pandas makes those of distinct ends."""
    *reduced, present_ids = _times_of_groups(groups, column.data)
    first, last = (host_array(end)[:num_groups] for end in reduced)
    of_bin, edges, labels, starts = _bins_of_ends((first, last), column.type, rule, label, options)
    capacity, layout = groups.layout.capacity_for(max(len(of_bin), 1)), groups.layout
    side = "left" if is_closed_right(rule, options) else "right"
    ids = _own_bin_ids(
        (column.data, present_ids),
        (
            layout.place(padded(edges.asi8, capacity)),
            layout.place(padded(of_bin.astype(np.int32), capacity)),
        ),
        (num_rows, np.int32(len(of_bin))),
        side == "right",
        layout,
    )
    return BinsOfGroups(ids, present_ids, of_bin, labels, starts)


def _bins_of_ends(
    ends: tuple[np.ndarray, np.ndarray],
    kind: ColumnType,
    rule: object,
    label: Hashable,
    options: Options,
) -> tuple[np.ndarray, Any, Any, Callable[[], tuple[np.ndarray, Any]]]:
    """The group, the left edge and the label of each bin, and what gives the starts of bins."""
    even = even_bins(ends, kind, rule, label, options)
    if even is not None:
        of_bin = _groups_of_sizes(even[0])
        edges, labels = (times_of_counts(counts, kind) for counts in even[1:])
        return of_bin, edges, labels, lambda: (of_bin, edges)
    distinct, which = np.unique(np.stack(ends, axis=1), axis=0, return_inverse=True)
    which = which.reshape(-1)
    pairs = [times_of_counts(pair, kind) for pair in distinct]
    no_bin = times_of_counts(distinct.reshape(-1)[:0], kind)
    found = [
        (no_bin, no_bin) if one[0] > one[1] else edges_of_bins(one, rule, label, options)
        for one in pairs
    ]

    def starts() -> tuple[np.ndarray, Any]:
        of_pairs = [
            no_bin if one[0] > one[1] else starts_of_bins(one, rule, options) for one in pairs
        ]
        of_start = _groups_of_sizes([len(of_pairs[at]) for at in which])
        return of_start, _appended([of_pairs[at] for at in which], no_bin)

    return (
        _groups_of_sizes([len(found[at][0]) for at in which]),
        _appended([found[at][1][:-1] for at in which], no_bin),
        _appended([found[at][0] for at in which], no_bin),
        starts,
    )


def _appended(pieces: list[Any], none: Any) -> Any:
    """The times of several indexes, one after another."""
    return none.append(pieces) if pieces else none


@tiered
def _times_of_groups(groups: Segments, times: Array) -> tuple[Array, Array, Array]:
    """The first and the last time of each group, and the group of each row with a time."""
    ids = jnp.where(times == NAT, np.int32(-1), groups.ids)
    return groups.reduce("min", times, ids), groups.reduce("max", times, ids), ids


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


@functools.partial(tiered, static_argnums=(3, 4))
def _own_bin_ids(
    rows: tuple[Array, Array],
    edges: tuple[Array, Array],
    num_valid: tuple[Count, Count],
    allow_exact: bool,
    layout: Layout,
) -> Array:
    """The last bin of the group of each row that starts before its time, or at it."""
    (times, group_ids), (starts, of_bin) = rows, edges
    return primitives.join_asof(
        times, starts, by=(group_ids, of_bin), allow_exact=allow_exact, num_valid=num_valid,
        **layout.on_mesh,
    )  # fmt: skip
