# SPDX-License-Identifier: Apache-2.0
"""Boolean masks."""

from typing import Any

import jax
import numpy as np
import pandas as pd

from ..table._column import Array
from ..table._from_host import column_from
from ..table._ndframe import SeriesBase
from ..table._table import Table
from ..table._tracing import is_traced
from ._align import aligned_column


def is_mask(key: Any) -> bool:
    """Whether a key is a boolean mask."""
    if isinstance(key, SeriesBase):
        return True
    if isinstance(key, (np.ndarray, jax.Array, pd.Series)) and key.ndim == 1:
        return key.dtype == np.bool_ or key.dtype == object
    return (
        isinstance(key, list)
        and bool(key)
        and all(isinstance(flag, (bool, np.bool_)) for flag in key)
    )


def as_mask(key: Any, table: Table, of_length: type[Exception] = IndexError) -> Array:
    """Aligns a mask with the rows of a table.

    Raises:
        ValueError: the values are not booleans, or some are missing.
        IndexingError: a row label is absent from the mask.
        of_length: the length differs. pandas raises ValueError for `frame[mask]` only.
    """
    if isinstance(key, SeriesBase):
        column = key._only
        if not column.is_bool:
            raise KeyError(
                f"a mask must be boolean, got a series of {column.dtype_name}. "
                "Compare it with a value, or pass a list of column labels."
            )
        had_missing = column.valid is not None
        column = aligned_column(key, table)
        if column.valid is not None and not had_missing and not is_traced(column.valid):
            raise pd.errors.IndexingError(
                "Unalignable boolean Series provided as indexer: a mask must have the label of "
                "each row."
            )
    else:
        flags = key.array if isinstance(key, pd.Series) else key
        flags = flags if isinstance(flags, jax.Array) else np.asarray(flags)
        if flags.dtype != np.bool_:
            raise ValueError("Cannot mask with non-boolean array containing NA / NaN values")
        num_rows = table.capacity if is_traced(table.num_rows) else table.num_rows_on_host
        if len(flags) not in (num_rows, table.capacity):
            raise of_length(f"a mask has the wrong length: {len(flags)} instead of {num_rows}.")
        column = column_from(flags, table.capacity, table.layout, "mask")
    if column.valid is not None:
        if not is_traced(column.valid):
            raise ValueError("Cannot mask with non-boolean array containing NA / NaN values")
        return column.data & column.valid
    return column.data
