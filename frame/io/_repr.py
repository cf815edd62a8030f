# SPDX-License-Identifier: Apache-2.0
"""`repr`, `info` and `memory_usage`; only the visible rows are copied to the host."""

import io
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ..indexing._shape import pandas_dtype
from ..mapping._missing import missing_flags
from ..table._column import Column
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._table import as_count, is_row
from ..table._take import settled, take_rows
from ..table._tracing import answered_at_once, is_traced

# As `display.max_rows` of pandas.
MOST_ROWS = 60
# Numbers of rows. Those of `jax.eval_shape` are others.
COUNTS = (jax.Array, np.ndarray, np.generic, int)


class Display(NDFrame):
    """Display methods that frames and series share."""

    @answered_at_once
    def __repr__(self) -> str:
        if not isinstance(self._stored.num_rows, COUNTS):
            return self._of_no_values("of shapes")
        if not is_traced(self._table):
            return self._text("__repr__")
        return self._of_no_values("inside jit")

    def _of_no_values(self, where: str) -> str:
        """The repr of a frame whose arrays have no values: tracers, or shapes alone."""
        table = self._stored
        dtypes = [column.dtype_name for column in table.columns]
        if isinstance(self, FrameBase):
            dtypes = [f"{name}: {dtype}" for name, dtype in zip(self._names, dtypes, strict=True)]
        kind = type(self).__name__
        return f"<{kind} {where}, capacity {table.capacity}, {', '.join(dtypes)}>"

    def _text(self, method: str) -> str:
        """pandas' repr of the visible rows, with the full row count."""
        table, num_rows = self._table, len(self)
        capacity = MOST_ROWS - MOST_ROWS % table.layout.num_shards
        size = min(num_rows, capacity)
        # The first and the last rows: pandas shows fewer of them, with "..." between.
        row_ids = np.arange(capacity, dtype=np.int32)
        row_ids += (row_ids >= capacity // 2) * np.int32(num_rows - size)
        columns = [settled(column, table.num_rows) for column in table.columns]
        visible = take_rows(table.with_columns(columns), jnp.asarray(row_ids), as_count(size))
        shown = self._like(visible).to_pandas()
        if size == num_rows:
            return getattr(shown, method)()
        most = min(pd.get_option("display.max_rows") or size, size - 1)
        with pd.option_context("display.max_rows", most):
            text = getattr(shown, method)() or ""
        for prefix, suffix in (("[", " rows x"), ("Length: ", ", "), ("<p>", " rows ")):
            text = text.replace(f"{prefix}{size}{suffix}", f"{prefix}{num_rows}{suffix}")
        return text

    @answered_at_once
    def info(self, verbose: object = None, buf: Any = None, **ignored: object) -> None:
        """Prints the columns, their dtypes and valid counts, the sharding and the memory."""
        if self.ndim == 1 and ignored.get("max_cols") is not None:
            raise ValueError(
                "Argument `max_cols` can only be passed in DataFrame.info, not Series.info. Leave "
                "it out."
            )
        of: Any = self
        table, num_rows = self._table, len(self)
        valid = is_row(table.capacity, table.num_rows, table.layout)
        counts = [
            int(jnp.sum(~flag & valid, dtype=jnp.int32)) for flag in missing_flags(table.columns)
        ]
        kind, labels = type(self).__name__, [str(name) for name in self._names]
        dtypes = [str(pandas_dtype(column, table.num_rows)) for column in table.columns]
        out = io.StringIO()
        out.write(f"<class 'jaxframes.frame.{kind}'>\nRows: {num_rows} entries, capacity ")
        out.write(f"{table.capacity}\nData columns (total {len(counts)} columns):\n")
        lines = pd.DataFrame(
            {
                "Column": labels,
                "Non-Null Count": [f"{count} non-null" for count in counts],
                "Dtype": dtypes,
            }
        )
        with pd.option_context("display.max_rows", None, "display.width", None):
            out.write(f"{lines.to_string()}\n" if counts else "")
        placement = "one device"
        if self.sharding is not None:
            placement = f"{self._layout.num_shards} shards, {self.sharding}"
        out.write(f"sharding: {placement}\n")
        out.write(f"memory usage: {np.sum(of.memory_usage())} bytes on each device\n")
        (buf or sys.stdout).write(out.getvalue())

    def _bytes_of(self, column: Column, deep: bool) -> int:
        column = column.stored
        arrays = [array for array in column.arrays if array is not None]
        on_devices = sum(array.nbytes for array in arrays) // self._layout.num_shards
        if not deep or column.type.dictionary is None:
            return on_devices
        values = column.type.dictionary.values
        return on_devices + int(pd.Series(values).memory_usage(index=False, deep=True))


class FrameDisplay(FrameBase, Display):
    """Display methods of a frame."""

    def _repr_html_(self) -> str:
        if not isinstance(self._stored.num_rows, COUNTS) or is_traced(self._table):
            return f"<pre>{self!r}</pre>".replace("<Jax", "&lt;Jax")
        return self._text("_repr_html_")

    def memory_usage(self, index: bool = True, deep: bool = False) -> pd.Series:
        """The bytes of each column on each device, including padding.

        Differences from pandas:
            `deep=True` includes the dictionaries of strings and categories on the host.
        """
        table = self._table
        sizes = [self._bytes_of(column, deep) for column in table.columns]
        labels = self._labels.index
        if index:
            sizes = [sum(self._bytes_of(level, deep) for level in table.index.levels), *sizes]
            labels = labels.insert(0, "Index")
        return pd.Series(sizes, index=labels, dtype=np.int64)


class SeriesDisplay(SeriesBase, Display):
    """Display methods of a series."""

    def memory_usage(self, index: bool = True, deep: bool = False) -> int:
        """The bytes of the series on each device, including padding."""
        levels = self._table.index.levels if index else ()
        return sum(self._bytes_of(column, deep) for column in (self._only, *levels))

    @property
    def nbytes(self) -> int:
        """The bytes of the values on each device, including padding; see `memory_usage`."""
        return self.memory_usage(index=False)
