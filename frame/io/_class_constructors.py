# SPDX-License-Identifier: Apache-2.0
"""`JaxFrame.from_dict`, `from_records` and `from_arrow`: pandas' constructors by name."""

from typing import Any, Self

import pandas as pd

from ..table._layout import layout_of
from ..table._ndframe import FrameBase
from ._construction import as_arrow_table, table_of_arrow


class FrameConstructors(FrameBase):
    """Constructors from data of the host."""

    @classmethod
    def from_dict(
        cls, data: Any, orient: str = "columns", dtype: Any = None, columns: Any = None,
        *, sharding: Any = None,
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
        frame = pd.DataFrame.from_dict(data, orient, dtype, columns)  # pyright: ignore
        return make(frame, sharding=sharding)

    @classmethod
    def from_records(
        cls, data: Any, index: Any = None, exclude: Any = None, columns: Any = None,
        coerce_float: bool = False, nrows: int | None = None, *, sharding: Any = None,
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
    def from_arrow(cls, data: Any, *, sharding: Any = None) -> Self:
        """Converts an Arrow table; see `jaxframes.frame.from_arrow`."""
        if not hasattr(data, "__arrow_c_stream__") and not hasattr(data, "__arrow_c_array__"):
            raise TypeError(
                "Expected an Arrow-compatible tabular object (i.e. having an '_arrow_c_array__' or "
                f"'__arrow_c_stream__' method), got '{type(data).__name__}' instead."
            )
        return cls._of(
            *table_of_arrow(as_arrow_table(data, "from_arrow"), layout_of(sharding, "from_arrow"))
        )
