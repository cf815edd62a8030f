# SPDX-License-Identifier: Apache-2.0
"""`from_dict`, `from_records` and `from_arrow` of the classes: pandas' constructors by name."""

from typing import Any, Self

import pandas as pd
import pyarrow as pa

from ..table._layout import layout_of
from ..table._ndframe import FrameBase, SeriesBase
from ..table._types import DtypeLike, Sharding
from ..table._untyped import untyped_pandas
from ._construction import as_arrow_table, table_of_arrow


class FrameConstructors(FrameBase):
    """Constructors from data of the host."""

    @classmethod
    def from_dict(
        cls, data: object, orient: str = "columns", dtype: DtypeLike = None, columns: object = None,
        *, sharding: Sharding = None,
    ) -> Self:  # fmt: skip
        """Converts a dict of columns, or with `orient="index"` of rows; see `JaxFrame`.

        Args:
            data: the dict.
            orient: "columns", "index", or "tight" for the result of `to_dict(orient="tight")`.
            dtype: one dtype for all columns.
            columns: the column labels, for rows.
            sharding: the placement of the rows.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame.from_dict({"r": [1, 2]}, orient="index", columns=["x", "y"]).y.tolist()
            [2]
        """
        make: Any = cls
        if orient == "columns" and columns is None:
            # Arrays of JAX stay on their device.
            return make(data, dtype=dtype, sharding=sharding)
        frame = untyped_pandas.DataFrame.from_dict(data, orient, dtype, columns)
        return make(frame, sharding=sharding)

    @classmethod
    def from_records(
        cls, data: object, index: object = None, exclude: object = None, columns: object = None,
        coerce_float: bool = False, nrows: int | None = None, *, sharding: Sharding = None,
    ) -> Self:  # fmt: skip
        """Converts records: dicts, tuples or a structured array; pandas reads them on the host.

        Args:
            data: the records.
            index: the field of the row labels, or the labels.
            exclude: fields to leave out.
            columns: the fields, in order.
            coerce_float: convert decimal numbers to floats.
            nrows: the number of records to read of an iterator.
            sharding: the placement of the rows; see `JaxFrame`.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame.from_records([(1, "a"), (2, "b")], columns=["x", "s"]).s.tolist()
            ['a', 'b']
        """
        make: Any = cls
        frame = pd.DataFrame.from_records(data, index, exclude, columns, coerce_float, nrows)
        return make(frame, sharding=sharding)

    @classmethod
    def from_arrow(cls, data: object, *, sharding: Sharding = None) -> Self:
        """Converts an Arrow table; see `jaxframes.frame.from_arrow`."""
        _check_exports(data, "tabular")
        return cls._of(
            *table_of_arrow(as_arrow_table(data, "from_arrow"), layout_of(sharding, "from_arrow"))
        )


class SeriesConstructors(SeriesBase):
    """Constructors from data of the host."""

    @classmethod
    def from_arrow(cls, data: object, *, sharding: Sharding = None) -> Self:
        """Converts an array of Arrow, in chunks or not, or an object that exports one.

        Example:
            >>> import pyarrow as pa
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries.from_arrow(pa.array(["a", None])).tolist()
            ['a', nan]
        """
        is_array = isinstance(data, (pa.Array, pa.ChunkedArray))
        if not is_array:
            _check_exports(data, "array-like")
        array: Any = data if is_array else pa.chunked_array(data)
        whole = as_arrow_table(pa.table([array], names=["values"]), "from_arrow")
        table, _ = table_of_arrow(whole, layout_of(sharding, "from_arrow"))
        return cls._of(table, None)


def _check_exports(data: object, kind: str) -> None:
    """Raises unless an object exports data of Arrow."""
    if not hasattr(data, "__arrow_c_stream__") and not hasattr(data, "__arrow_c_array__"):
        raise TypeError(
            f"Expected an Arrow-compatible {kind} object (i.e. having an '_arrow_c_array__' or "
            f"'__arrow_c_stream__' method), got '{type(data).__name__}' instead."
        )
