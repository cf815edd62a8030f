# SPDX-License-Identifier: Apache-2.0
"""The order of the values of each group of a series, and the distinct ones."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..table._column import Array, Column
from ..table._from_host import column_from
from ..table._objects import sortable
from ..table._take import gather, settled
from ..table._to_host import to_host
from ..table._tracing import at_once
from ._grouped_column import Options, Segments
from ._groups import make_groups
from ._nlargest import SeriesGroupByRankedRows
from ._segmented_scans import shifted_rows


class SeriesGroupByValues(SeriesGroupByRankedRows):
    """The order of the values of each group, and the distinct ones."""

    @property
    def is_monotonic_increasing(self) -> Any:
        """Whether the values of each group ascend, with ties allowed, and none is missing.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([3, 1, 2]).groupby(["a", "b", "a"]).is_monotonic_increasing.tolist()
            [False, True]
        """
        return self._monotonic(False)

    @property
    def is_monotonic_decreasing(self) -> Any:
        """Whether the values of each group descend; see `is_monotonic_increasing`."""
        return self._monotonic(True)

    def _monotonic(self, is_decreasing: bool) -> Any:
        (column,), segments = self._columns, self._groups.segments
        column = sortable(column, self._table.num_rows)
        if column.dtype.kind == "c":
            raise TypeError(
                f"groupby: values of {column.dtype_name} have no order. Select another column."
            )
        column = settled(column, self._table.num_rows)
        # pandas compares the codes of categories, of which a missing value has -1.
        missing = None if column.kind == "category" else column.missing()
        flags = _in_order(column.data, missing, segments, np.bool_(is_decreasing))
        return self._result([Column(flags)])

    def unique(self) -> Any:
        """The distinct values of each group, in order of appearance, as a column of arrays.

        Not supported inside `jit`: the host holds the arrays. Only distinct values are copied to
        it. `drop_duplicates()` of the keys and the column keeps them on the device.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> uniques = JaxSeries([3, 1, 3]).groupby(["a", "b", "a"]).unique()
            >>> [values.tolist() for values in uniques.tolist()]
            [[3], [1]]
        """
        groups, table = self._groups, self._table
        if groups.is_traced or self._source._is_traced:
            raise NotImplementedError(
                "groupby: unique is not supported inside jit, where arrays have one length. Use "
                "nunique(), or drop_duplicates() of the keys and the column."
            )
        (column,), count = self._columns, int(groups.count)
        keys = [Column(groups.group_ids), settled(column, table.num_rows)]
        pairs = at_once(make_groups, keys, table, Options(sort=False, dropna=False))
        group_ids, values = (to_host(key, int(pairs.count)) for key in pairs.keys)
        values = values if isinstance(values, np.ndarray) else pd.array(values, values.dtype)
        if values.dtype.kind in "mM":
            values = pd.Series(values).array
        order = np.argsort(group_ids, kind="stable")
        bounds = np.searchsorted(group_ids[order], np.arange(count + 1))
        arrays = np.empty(count, object)
        for number in range(count):
            arrays[number] = values[order[bounds[number] : bounds[number + 1]]]
        return self._result([column_from(arrays, groups.capacity, groups.layout, "unique")])


@tiered
def _in_order(
    data: Array, missing: Array | None, segments: Segments, is_decreasing: Array
) -> Array:
    rows = shifted_rows(segments, np.int32(1))
    previous = gather(data, rows, segments.layout)
    is_ordered = jnp.where(is_decreasing, previous >= data, previous <= data) | (rows < 0)
    is_ordered = is_ordered if missing is None else is_ordered & ~missing
    return segments.select_groups(segments.reduce("all", is_ordered))
