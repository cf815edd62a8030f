# SPDX-License-Identifier: Apache-2.0
"""Row numbers: a column that remembers the order of rows that are written to disk by key."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ...shardings._compat import is_x64_enabled
from ..table._column import Column
from ..table._column_labels import Labels
from ..table._from_host import column_from
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._take import resized

# The label of the column. Columns beside it are named c0, c1, ...
ROW = "row number"


def with_numbers(frame: FrameBase, label: str, start: int) -> Any:
    """Appends a column of row numbers from `start` on.

    Raises:
        NotImplementedError: a number does not fit the widest integer.
    """
    stop = start + len(frame)
    if stop > 2**31 and not is_x64_enabled():
        raise NotImplementedError(
            f"stream: {stop} rows cannot be numbered with 32 bits. Enable jax_enable_x64."
        )
    dtype = np.int64 if is_x64_enabled() else np.int32
    return with_column(frame, label, np.arange(start, stop, dtype=dtype))


def with_column(frame: FrameBase, label: str, values: object) -> Any:
    """Appends a column of as many rows: an array on the host, or a column of any capacity."""
    table = frame._table
    if isinstance(values, Column):
        (values,) = resized([values], table.capacity, table.layout)
    else:
        values = column_from(values, table.capacity, table.layout)
    return frame._make_frame((*table.columns, values), Labels.of([*frame._labels, label]))


def plain(rows: NDFrame) -> Any:
    """A frame with the columns c0, c1, ... of a frame or a series."""
    columns = rows._table.columns
    return rows._make_frame(columns, Labels.of(names(len(columns))))


def names(count: int) -> list[str]:
    """The names of the columns of a plain frame."""
    return [f"c{position}" for position in range(count)]


def like(rows: NDFrame, template: Any) -> Any:
    """The first columns of a plain frame as a frame or a series with the labels of another."""
    columns = rows._table.columns[: len(template._table.columns)]
    if isinstance(template, SeriesBase):
        return rows._make_series(columns[0], template._name)
    return rows._make_frame(columns, template._labels)


def can_spill(columns: Sequence[Column]) -> bool:
    """Whether columns keep their values and types on disk."""
    return all(
        column.kind not in ("category", "object") and column.dtype.kind not in "Vc"
        for column in columns
    )


def positions_of(labels: Sequence[Hashable] | None, rows: FrameBase) -> list[int]:
    """The positions of columns by label; all if `labels` is None."""
    if labels is None or isinstance(rows, SeriesBase):
        return list(range(len(rows._table.columns)))
    return [rows._labels.position(label) for label in labels]
