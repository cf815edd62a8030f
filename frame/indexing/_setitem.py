# SPDX-License-Identifier: Apache-2.0
"""`frame[label] = values` and `assign`. Assignment binds a label to new arrays."""

import sys
from collections.abc import Hashable
from typing import Self

import numpy as np
import pandas as pd

from ..align._as_column import as_column, is_mask, one_column, parts_of
from ..table._expressions import apply_if_callable, evaluated, is_expression
from ..table._ndframe import FrameBase, SeriesBase
from ..table._table import either_needed
from ._chained import OF_OBJECT, warn_of_chained
from ._set_rows import set_rows, set_where, update_rows, with_first_rows


class FrameAssignment(FrameBase):
    """Assignment of columns."""

    def __setitem__(self, label: Hashable, value: object) -> None:
        warn_of_chained(sys.getrefcount(self), self, OF_OBJECT)
        if isinstance(label, (list, np.ndarray, pd.Index)) and not is_mask(label):
            for one, part in zip(label, parts_of(value, len(label)), strict=True):
                self[one] = part
            return
        if isinstance(label, FrameBase):
            set_where(self, label, value)
            return
        # From Python 3.12 on a slice is hashable.
        if isinstance(label, slice) or is_expression(label) or is_mask(label):
            is_by_position = isinstance(label, slice) and not isinstance(label.start, str)
            # As in pandas, only a table aligns its labels.
            aligns = isinstance(value, (FrameBase, pd.DataFrame))
            indexer = "iloc" if is_by_position else "loc"
            set_rows(self, indexer, label, value, aligns=aligns)
            return
        if not isinstance(label, Hashable):
            raise TypeError(f"unhashable type: {type(label).__name__!r}. Name one column.")
        value = one_column(evaluated(value, self))
        table = with_first_rows(self, value)
        column = as_column(value, table, label)
        columns = list(table.columns)
        if label in self._labels:
            columns[self._labels.position(label)] = column
        else:
            columns.append(column)
            self._labels = self._labels.with_label(label)
        self._table = table.with_columns(columns)
        if isinstance(value, SeriesBase):
            needed = either_needed(self._table.needed, value._table.needed)
            self._table = self._table.replace(needed=needed)

    def update(
        self,
        other: object,
        join: str = "left",
        overwrite: bool = True,
        filter_func: object = None,
        errors: str = "ignore",
    ) -> None:
        """Sets the values that another frame has and does not miss, by label, on the host.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"x": [1.0, 2.0]})
            >>> frame.update(JaxFrame({"x": [None, 5.0]}))
            >>> frame.x.tolist()
            [1.0, 5.0]
        """
        how = {"join": join, "overwrite": overwrite, "filter_func": filter_func, "errors": errors}
        update_rows(self, other, **how)

    def assign(self, **values: object) -> Self:
        """Returns a new frame with columns set or added.

        A function or an expression sees the frame built so far, as in pandas.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1, 2]}).assign(y=lambda f: f.x + 1).to_pandas().to_numpy().tolist()
            [[1, 2], [2, 3]]
        """
        result = self._made(self._table, self._labels)
        for name, value in values.items():
            result[name] = apply_if_callable(value, result)
        return result
