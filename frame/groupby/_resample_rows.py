# SPDX-License-Identifier: Apache-2.0
"""Rows of groups at regular times: what `asfreq`, `ffill`, `bfill` and `nearest` take."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives.staging import tiered
from ..table._column import Array, Column
from ..table._column_labels import Labels
from ..table._dtypes import narrowed
from ..table._from_host import index_from
from ..table._layout import Layout, padded
from ..table._row_index import RowIndex
from ..table._table import Count, as_count, is_row
from ..table._take import before, gather, position, settled, take_columns

Method = Literal["asfreq", "ffill", "bfill", "nearest"]


@dataclasses.dataclass(frozen=True)
class RowsOfGroups:
    """The rows of groups, and the times at which the bins of each group start.

    Attributes:
        group_ids: the group of each row; -1 without a group or a time.
        times: the time of each row.
        keys: the keys of the groups.
        starts: gives the group of each bin, in order, and the time at which it starts, on the host.
    """

    group_ids: Array
    times: Column
    keys: tuple[Column, ...]
    starts: Callable[[], tuple[np.ndarray, Any]]

    def at_starts(
        self, grouped: Any, method: Method, limit: int | None, fill_value: object = None
    ) -> Any:
        """A row of the group for each bin: that at the start, or one near it."""
        source, table = grouped._source, grouped._table
        self._check_distinct(source)
        groups, starts = self.starts()
        layout, num_rows = table.layout, as_count(len(starts))
        capacity = layout.capacity_for(len(starts))
        of_bin = layout.place(padded(groups.astype(np.int32), capacity))
        times = layout.place(padded(starts.asi8, capacity))
        numbers = num_rows, table.num_rows
        most = np.int32(capacity if limit is None else min(limit, capacity))
        rows = self.group_ids, self.times.data
        row_ids = _nearest_rows((of_bin, times), rows, numbers, most, method, layout)
        names = grouped._grouped.key_names
        levels = take_columns(self.keys, of_bin, layout)
        levels += index_from(narrowed(starts), capacity, layout).columns(capacity, layout)
        index = RowIndex(levels[-len(names) :], names)
        taken = take_columns(grouped._columns, row_ids, layout, holes=True)
        if fill_value is None:
            columns = [settled(column, num_rows) for column in taken]
        else:
            columns = take_columns(grouped._columns, row_ids, layout)
        table = table.replace(columns=(), index=index, num_rows=num_rows)
        found = grouped._made(columns, table)
        if fill_value is None:
            return found
        is_found = source._make_series(Column(row_ids >= 0), None, table)
        return found.where(is_found, fill_value)

    def _check_distinct(self, source: Any) -> None:
        """Raises if two rows of a group have one time."""
        table = source._table
        keys = source._make_frame([Column(self.group_ids), self.times], Labels.of([0, 1], [None]))
        flags = keys.duplicated()._only.data
        if bool(_is_any(flags, self.group_ids, table.num_rows)):
            raise ValueError("cannot reindex on an axis with duplicate labels")


@tiered
def _is_any(flags: Array, group_ids: Array, num_rows: Count) -> Array:
    return jnp.any(flags & (group_ids >= 0) & is_row(flags.shape[0], num_rows))


@functools.partial(tiered, static_argnums=(4, 5))
def _nearest_rows(
    bins: tuple[Array, Array],
    rows: tuple[Array, Array],
    num_valid: tuple[Count, Count],
    limit: Array,
    method: Method,
    layout: Layout,
) -> Array:
    """The row of the group of each bin at or near the time of the bin; -1 for none."""
    of_bin, times = bins
    group_ids, times_of_rows = rows
    row_ids = position(times.shape[0], layout)

    def search(direction: Literal["backward", "forward"]) -> tuple[Array, Array]:
        """The last or the next row for at most `limit` bins in a row, and its distance."""
        found = primitives.join_asof(
            times, times_of_rows, by=(of_bin, group_ids), direction=direction,
            num_valid=num_valid, **layout.on_mesh,
        )  # fmt: skip
        distance = jnp.abs(times - gather(times_of_rows, found, layout))
        is_exact = (found >= 0) & (distance == 0)
        if method == "asfreq":
            return jnp.where(is_exact, found, np.int32(-1)), distance
        # The number of bins from the one at the row itself, which `limit` does not count.
        is_backward = direction == "backward"
        if is_backward:
            neighbours, edge, step, outside, op = before(found), 0, 1, -2, "max"
        else:
            neighbours, edge, step, op = _after(found), times.shape[0] - 1, -1, "min"
            outside = np.iinfo(np.int32).max
        is_end = (found != neighbours) | (row_ids == edge)
        end = jnp.where(is_exact, row_ids, row_ids - np.int32(step))
        end = jnp.where(is_end, end, np.int32(outside))
        end = primitives.inclusive_scan(end, op, reverse=not is_backward, **layout.on_mesh)
        is_near = is_exact | (jnp.abs(row_ids - end) <= limit)
        return jnp.where(is_near, found, np.int32(-1)), distance

    if method == "bfill":
        return search("forward")[0]
    last, distance = search("backward")
    if method != "nearest":
        return last
    following, distance_of_next = search("forward")
    # As in pandas, the next row at equal distance.
    is_last = (last >= 0) & ((following < 0) | (distance < distance_of_next))
    return jnp.where(is_last, last, following)


def _after(rows: Array) -> Array:
    """The next row of each; zero for the last."""
    return jax.lax.pad(rows, jnp.zeros((), rows.dtype), [(-1, 1, 0)])
