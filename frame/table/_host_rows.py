# SPDX-License-Identifier: Apache-2.0
"""Rows of pandas in place of a table, which is made of them when a method needs arrays.

A function of the user that is called for each of many groups looks at few of their columns, and
often only for an extreme, a length or the values.
"""

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import pandas as pd

from ...shardings._compat import is_x64_enabled
from ._table import Table
from ._types import Options


class HostRows:
    """A frame or a series of pandas that stands for the table of the same rows.

    What it does not answer itself, the table does.
    """

    __slots__ = ("_columns", "_made", "_make", "rows")

    def __init__(self, rows: pd.DataFrame | pd.Series, make: Callable[[Any], Any]):
        """Of rows, with the function that makes a frame or a series of ours of them."""
        self.rows: Any = rows
        self._make = make
        self._columns: dict[int, HostRows] = {}
        self._made: Table | None = None

    @property
    def table(self) -> Table:
        """The table of the rows."""
        made = self._made
        if made is None:
            made = self._made = self._make(self.rows)._table
        return made

    def with_known_counts(self) -> Table:
        """The table, whose counts are those of the host."""
        return self.table

    def __getattr__(self, name: str) -> Any:
        return getattr(self.table, name)

    def __reduce__(self) -> Any:
        """A copy and what `pickle` writes are the table."""
        return _itself, (self.table,)

    def shown(self) -> Any:
        """What the table is in pandas; None if it exists, or has the dtypes of a narrow device."""
        is_same = self._made is None and is_x64_enabled()
        return self.rows.copy(deep=False) if is_same else None

    def column(self, position: int, label: Hashable) -> "HostRows | None":
        """The rows of one column, once for all who ask; None if the table exists already."""
        if self._made is not None:
            return None
        if position not in self._columns:
            rows = self.rows
            named = rows[label] if rows.columns.is_unique else rows.iloc[:, position]
            self._columns[position] = HostRows(named, self._make)
        return self._columns[position]

    def extreme(self, op: str) -> Any:
        """The least or greatest number of a series; None if the device has to look for it."""
        values = self.rows.array
        if self._made is not None or type(values) is not pd.arrays.NumpyExtensionArray:
            return None
        values = values.to_numpy()
        if values.dtype.kind not in "iuf" or not values.size:
            return None
        result = getattr(values, op)()
        # NaNs are skipped.
        return None if np.isnan(result) else result

    def reduced(self, op: str, arguments: Options) -> Any:
        """pandas' reduction of plain numbers; None if the device has to reduce them.

        pandas calls NumPy once, where the device would get a copy of the rows first.
        """
        rows = self.rows
        if self._made is not None or not is_x64_enabled() or not rows.size:
            return None
        if not all(map(_is_of_numbers, [rows.dtype] if rows.ndim == 1 else rows.dtypes)):
            return None
        found = getattr(rows, op)(**arguments)
        return HostRows(found, self._make) if isinstance(found, pd.Series) else found


def _is_of_numbers(dtype: object) -> bool:
    """Whether pandas adds numbers of a dtype in 64 bits, as the device does."""
    return isinstance(dtype, np.dtype) and (dtype.kind in "iub" or dtype == np.float64)


def _itself(table: Table) -> Table:
    return table
