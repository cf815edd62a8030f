# SPDX-License-Identifier: Apache-2.0
"""Functions of the user called on the host, once for each group; pandas combines the results.

pandas sorts the rows of all groups once, so that a group is a slice, and knows how results become
one: scalars, series, frames and None, with the keys where they belong. The functions get frames
and series of ours.
"""

from collections.abc import Callable
from typing import Any

import pandas as pd

from ..table._column import Column
from ..table._column_labels import Labels
from ..table._dtypes import narrowed
from ..table._from_host import column_from
from ..table._host_rows import HostRows
from ..table._ndframe import NDFrame
from ..table._to_host import host_array
from ..table._types import Function
from ..table._user_functions import as_frames, as_pandas
from ._base import GroupByBase


def groups_on_host(grouped: GroupByBase) -> Any:
    """The same groups of the same columns in pandas."""
    source: Any = grouped._source.to_pandas()
    own = [_key(grouped, key, source) for key in grouped._grouped.keys]
    options = grouped._options
    by = own if grouped._grouped.has_tuple_keys or len(own) > 1 else own[0]
    settings = {name: getattr(options, name) for name in ("sort", "dropna", "observed")}
    groups: Any = source.groupby(
        by, as_index=options.as_index, group_keys=options.group_keys, **settings
    )
    if isinstance(source, pd.Series):
        return groups
    if grouped._is_series:
        return groups[grouped._labels[0]]
    is_selection = len(grouped._shown_positions) != source.shape[1]
    return groups[list(grouped._labels)] if is_selection else groups


def _key(grouped: GroupByBase, key: Any, source: Any) -> Any:
    """A key as pandas takes it: the label of a column, or the values of the rows."""
    labels = getattr(grouped._source, "_labels", None)
    if key.position is not None and labels is not None:
        label = labels[key.position]
        if len(labels.positions(label)) == 1 and label == key.name:
            return label
    values = grouped._source._make_series(key.column, key.name, grouped._table)
    return values.to_pandas().set_axis(source.index)


def reduced_on_host(grouped: GroupByBase, position: int, function: Function) -> Column:
    """The value of each group that a function of a column's groups returns."""
    groups, table, name = grouped._groups, grouped._table, grouped._source._names[position]
    rows: Any = grouped._source._make_series(table.columns[position], name, table).to_pandas()
    # By number, because groups may have no rows, and bins of time have no column of keys.
    numbers = pd.Categorical.from_codes(
        host_array(groups.group_ids)[: len(rows)], categories=range(int(groups.count))
    )
    by_number = rows.reset_index(drop=True).groupby(numbers, observed=False)
    results = by_number.agg(called_with_frames(function))
    return column_from(narrowed(results), groups.capacity, groups.layout)


def called_with_frames(function: Function) -> Callable[..., Any]:
    """The function as pandas calls it: with frames of ours, and results of pandas."""

    labels: list[Labels] = []

    def call(group: object, *args: object, **kwargs: object) -> Any:
        return as_pandas(function(_of_host(group, labels), *args, **kwargs))

    call.__name__ = getattr(function, "__name__", type(function).__name__)
    return call


def _of_host(group: object, labels: list[Labels]) -> Any:
    """A group as a frame or a series of ours, whose arrays are made when they are needed.

    Args:
        group: what pandas passes: a frame, with its key as the attribute `name`, or a series.
        labels: those of the group before, which most groups share.
    """
    if isinstance(group, pd.Series):
        return NDFrame.series_class._of(HostRows(group, as_frames), group.name)
    if not isinstance(group, pd.DataFrame):
        return group
    if not labels or not labels[0].index.is_(group.columns):
        labels[:] = [Labels(group.columns)]
    ours: Any = NDFrame.frame_class._of(HostRows(group, as_frames), labels[0])
    if "name" in group.__dict__:
        ours.__dict__["name"] = group.__dict__["name"]
    return ours
