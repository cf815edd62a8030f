# SPDX-License-Identifier: Apache-2.0
"""Frames and series shown: few rows, whatever their number, come to the host."""

import io
import sys
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ..indexing._shape import shown_dtype
from ..mapping._missing import missing_flags
from ..table._column import Column, to_host
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._row_index import as_pandas_index
from ..table._table import Table, is_row
from ..table._take import settled, take_columns
from ..table._tracing import answered_at_once, is_traced

MOST_ROWS = 60


class Shown:
    """The rows that are shown, on the host, of a table of more."""

    def __init__(self, table: Table):
        self.num_rows = table.num_rows_on_host
        room = MOST_ROWS - MOST_ROWS % table.layout.num_shards
        self.size = min(self.num_rows, room)
        # The first half and the last: pandas shows fewer of them, and "..." between.
        places = np.arange(room, dtype=np.int32)
        skipped = max(self.num_rows - room, 0)
        row_ids = jnp.asarray(np.where(places < room // 2, places, places + skipped), jnp.int32)
        columns = [settled(column, table.num_rows) for column in table.columns]
        self.arrays = self._on_host(columns, row_ids, table)
        index = table.index
        if index.is_range and not skipped:
            self.index: pd.Index = index.to_pandas(self.num_rows)
        elif index.is_range:
            labels = index.start + index.step * np.asarray(row_ids, np.int64)
            self.index = pd.Index(labels, name=index.names[0])
        else:
            levels = [as_pandas_index(x, None) for x in self._on_host(index.levels, row_ids, table)]
            self.index = (
                levels[0].rename(index.names[0])
                if len(levels) == 1
                else pd.MultiIndex.from_arrays(levels, names=list(index.names))
            )

    def _on_host(self, columns: Any, row_ids: Any, table: Table) -> list[Any]:
        taken = take_columns(columns, row_ids, table.layout)
        return [to_host(column, self.size) for column in taken]

    def text(self, shown: Any, method: str) -> str:
        """What pandas prints of the rows, with the number of all rows in place of theirs."""
        if self.size == self.num_rows:
            return getattr(shown, method)()
        most = min(pd.get_option("display.max_rows") or self.size, self.size - 1)
        with pd.option_context("display.max_rows", most):
            text = getattr(shown, method)() or ""
        for before, after in (("[", " rows x"), ("Length: ", ", "), ("<p>", " rows ")):
            text = text.replace(f"{before}{self.size}{after}", f"{before}{self.num_rows}{after}")
        return text


class Display(NDFrame):
    """What is printed of frames and series alike."""

    @answered_at_once
    def __repr__(self) -> str:
        if is_traced(self._table):
            return self._repr_in_jit()
        shown = Shown(self._table)
        return shown.text(self._as_pandas(shown), "__repr__")

    def _repr_in_jit(self) -> str:
        raise NotImplementedError

    def _as_pandas(self, shown: Shown) -> Any:
        raise NotImplementedError

    def _bytes_of(self, column: Column, deep: bool) -> int:
        arrays = [array for array in column.arrays if array is not None]
        on_devices = sum(array.nbytes for array in arrays) // self._layout.num_shards
        if not deep or column.type.dictionary is None:
            return on_devices
        values = column.type.dictionary.values
        return on_devices + int(pd.Series(values).memory_usage(index=False, deep=True))


class FrameDisplay(FrameBase, Display):
    """What is printed of a frame."""

    def _as_pandas(self, shown: Shown) -> pd.DataFrame:
        parts = {
            place: pd.Series(array, index=shown.index, dtype=array.dtype)
            for place, array in enumerate(shown.arrays)
        }
        frame = pd.DataFrame(parts, index=shown.index)
        frame.columns = self._labels.index
        return frame

    def _repr_html_(self) -> str:
        if is_traced(self._table):
            return f"<pre>{self!r}</pre>".replace("<Jax", "&lt;Jax")
        shown = Shown(self._table)
        return shown.text(self._as_pandas(shown), "_repr_html_")

    def _repr_in_jit(self) -> str:
        columns = ", ".join(
            f"{label}: {column.dtype_name}"
            for label, column in zip(self._labels, self._table.columns, strict=True)
        )
        return f"<JaxFrame inside jit, capacity {self._table.capacity}, {columns}>"

    def memory_usage(self, index: bool = True, deep: bool = False) -> pd.Series:
        """Bytes that each column takes on each device, padding included.

        Differences from pandas:
            With `deep=True` the dictionaries of strings and categories, on the host, count too.
        """
        table = self._table
        sizes = [self._bytes_of(column, deep) for column in table.columns]
        labels = self._labels.index
        if index:
            sizes = [sum(self._bytes_of(level, deep) for level in table.index.levels), *sizes]
            labels = labels.insert(0, "Index")
        return pd.Series(sizes, index=labels, dtype=np.int64)

    @answered_at_once
    def info(self, verbose: Any = None, buf: Any = None, **ignored: Any) -> None:
        """Prints the columns, their dtypes, values and bytes, and where the rows lie."""
        table, num_rows = self._table, len(self)
        valid = is_row(table.capacity, table.num_rows, table.layout)
        counts = [
            int(jnp.sum(~flag & valid, dtype=jnp.int32)) for flag in missing_flags(table.columns)
        ]
        dtypes = [str(shown_dtype(column, table.num_rows)) for column in table.columns]
        out = io.StringIO()
        out.write(f"<class 'jaxframes.frame.JaxFrame'>\nRows: {num_rows} entries, room for ")
        out.write(f"{table.capacity}\nData columns (total {len(counts)} columns):\n")
        lines = pd.DataFrame(
            {
                "Column": [str(label) for label in self._labels],
                "Non-Null Count": [f"{count} non-null" for count in counts],
                "Dtype": dtypes,
            }
        )
        with pd.option_context("display.max_rows", None, "display.width", None):
            out.write(f"{lines.to_string()}\n" if counts else "")
        sharding = self.sharding
        where = (
            "one device" if sharding is None else f"{self._layout.num_shards} shards, {sharding}"
        )
        out.write(f"sharding: {where}\n")
        out.write(f"memory usage: {self.memory_usage().sum()} bytes on each device\n")
        (buf or sys.stdout).write(out.getvalue())


class SeriesDisplay(SeriesBase, Display):
    """What is printed of a series."""

    def _as_pandas(self, shown: Shown) -> pd.Series:
        (array,) = shown.arrays
        return pd.Series(array, index=shown.index, name=self._name, dtype=array.dtype)

    def _repr_in_jit(self) -> str:
        column = self._only
        return f"<JaxSeries inside jit, capacity {self._table.capacity}, {column.dtype_name}>"

    def memory_usage(self, index: bool = True, deep: bool = False) -> int:
        """Bytes that the series takes on each device, padding included."""
        levels = self._table.index.levels if index else ()
        return sum(self._bytes_of(column, deep) for column in (self._only, *levels))
