# SPDX-License-Identifier: Apache-2.0
"""`series.str` of lists: pandas' string methods that take lists too."""

from typing import Any

import numpy as np
import pyarrow as pa

from ..table._column import Column
from ..table._from_host import column_from
from ..table._list_slices import elements_at, sliced_lists
from ..table._lists import ListColumn
from ..table._ndframe import SeriesBase
from ..table._to_arrow import arrow_of
from ..table._tracing import is_traced
from ..table._untyped import untyped_compute
from ._list import lengths
from ._read_only import ReadOnly


class ListStringMethods(ReadOnly):
    """`series.str` of lists: `len`, `get`, `slice`, `[]` and `join`.

    All but `join` work inside `jit`.

    Example:
        >>> from jaxframes.frame import JaxSeries
        >>> names = JaxSeries(["a-b", "c", None]).str.split("-")
        >>> names.str[1].tolist(), names.str.join("+").tolist()
        (['b', nan, nan], ['a+b', 'c', nan])
    """

    def __init__(self, series: SeriesBase):
        self._series = series
        column = series._only
        assert isinstance(column, ListColumn)
        self._column = column

    def __getattr__(self, name: str) -> Any:
        raise NotImplementedError(
            f"str: {name} of lists is not supported. Use explode() for a row for each element."
        )

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return self.slice(key.start, key.stop, key.step)
        return self.get(key)

    def len(self) -> Any:
        """The number of values of each list."""
        return self._made(lengths(self._column, self._series._table, np.int64))

    def get(self, i: int) -> Any:
        """The value at a position; missing if out of range."""
        if not isinstance(i, (int, np.integer)):
            raise TypeError(f"str.get: i must be an integer, got {i!r}.")
        return self._made(elements_at(self._column, int(i), self._series._table))

    def slice(self, start: Any = None, stop: Any = None, step: Any = None) -> Any:
        """The values in a range of positions."""
        rows = slice(start, stop, step)
        return self._made(sliced_lists(self._column, rows, self._series._table.layout))

    def join(self, sep: str) -> Any:
        """Joins the strings of each list; missing if one is. Not supported inside `jit`."""
        table = self._series._table
        if is_traced(self._column, table.num_rows):
            raise NotImplementedError(
                "str.join: the strings of lists are not known inside jit. Call it outside jit."
            )
        if self._column.lists.values.kind not in ("string", "category"):
            raise NotImplementedError(
                "str.join: the lists must hold strings, got "
                f"{self._column.lists.values.dtype_name}. Use explode() and astype first."
            )
        lists = arrow_of(self._column, slice(0, table.num_rows_on_host), self._series._name)
        # Arrow joins strings of no other type.
        joined = untyped_compute.binary_join(
            lists.cast(pa.list_(pa.large_string())), pa.scalar(sep, pa.large_string())
        )
        return self._made(column_from(joined, table.capacity, table.layout))

    def _made(self, column: Column) -> Any:
        return self._series._with_column(column)
