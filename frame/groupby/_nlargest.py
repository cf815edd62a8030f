# SPDX-License-Identifier: Apache-2.0
"""`nlargest` and `nsmallest` of grouped series."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...primitives.staging import tiered
from ..table._arguments import as_scalar
from ..table._column import Array, Column
from ..table._sort_keys import ordered_keys
from ..table._table import Count, Table, as_count
from ..table._take import settled, take_columns
from ..table._tracing import is_traced
from ._base import GroupByBase
from ._grouped_column import Segments


def check_keep(keep: str) -> None:
    """Validates which of equal rows are among the first."""
    if keep not in ("first", "last", "all"):
        raise ValueError('keep must be either "first", "last" or "all"')


def is_ranked(column: Column) -> bool:
    """Whether the values of a column have a greatest."""
    return (column.is_numeric or column.type.is_time) and column.dtype.kind != "c"


class SeriesGroupByRankedRows(GroupByBase):
    """Largest and smallest values of each group of a series."""

    def nlargest(self, n: int = 5, keep: str = "first") -> Any:
        """The `n` largest values of each group, in descending order, without sorting the rows.

        Labels are the keys of the group and the label of the row; with `as_index=False` or
        `group_keys=False` the label of the row.

        Differences from pandas:
            Without rows the index has all of its levels. `keep="all"` and rows on a mesh are not
            supported. With `keep="last"` pandas takes missing values, and orders ties of small
            groups, first to last.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"k": ["b", "a", "b", "b"], "x": [3, 1, 2, 4]})
            >>> frame.groupby("k").x.nlargest(2).to_pandas().to_dict()
            {('a', 1): 1, ('b', 3): 4, ('b', 0): 3}
        """
        return self._first_of(n, keep, largest=True)

    def nsmallest(self, n: int = 5, keep: str = "first") -> Any:
        """The `n` smallest values of each group, in ascending order; see `nlargest`."""
        return self._first_of(n, keep, largest=False)

    def _first_of(self, n: int, keep: str, *, largest: bool) -> Any:
        caller = "nlargest" if largest else "nsmallest"
        table, groups = self._table, self._groups
        (column,), (label,) = self._columns, self._labels
        check_keep(keep)
        if not is_ranked(column):
            raise TypeError(f"Cannot use method '{caller}' with dtype {column.dtype_name}")
        if keep == "all" or table.layout.mesh is not None:
            raise NotImplementedError(
                f"groupby: {caller} needs rows on one device, and keep='first' or 'last'. Call "
                "sort_values, then groupby().head()."
            )
        column = settled(column, table.num_rows)
        keys = list(ordered_keys(column, descending=largest))
        if len(keys) > 1:
            raise NotImplementedError(
                f"groupby: {caller} inside jit, or of a nullable dtype, needs integers without "
                "missing values. Call fillna first."
            )
        key, descending = keys[0]
        k = min(max(int(as_scalar(n, "n")), 0), table.capacity)
        segments, is_last = groups.segments, keep == "last"
        rows, has_row, count = _candidates(key, segments, groups.count, k, descending, is_last)
        capacity = has_row.shape[0]
        if not is_traced(has_row):
            count = as_count(int(count))
            capacity = table.layout.capacity_for(int(count))
        kept = primitives.local.compact(has_row, rows, capacity=capacity)
        row_ids, group_ids = kept.rows
        (values,) = take_columns([column], row_ids, table.layout)
        index = self._index_of_rows(row_ids, group_ids)
        result = Table((), index, count, table.needed, table.layout)
        return self._source._make_series(values, label, result)


@functools.partial(tiered, static_argnums=(3, 4, 5))
def _candidates(
    key: Array, segments: Segments, num_groups: Count, k: int, largest: bool, is_last: bool
) -> tuple[tuple[Array, Array], Array, Array]:
    """`k` row ids of each group with the group's number, which of them exist, and how many do."""
    ids, num_rows = segments.ids, key.shape[0]
    if is_last:
        key, ids = jnp.flip(key), jnp.flip(ids)
    best = primitives.local.segment_top_k(key, ids, segments.num_segments, k, largest=largest)
    row_ids = segments.select_groups(best.row_ids)
    group_ids = jax.lax.broadcasted_iota(jnp.int32, row_ids.shape, 0)
    has_row = (row_ids >= 0) & (group_ids < num_groups)
    if is_last:
        row_ids = np.int32(num_rows - 1) - row_ids
    rows = row_ids.reshape(-1), group_ids.reshape(-1)
    return rows, has_row.reshape(-1), jnp.sum(has_row, dtype=jnp.int32)
