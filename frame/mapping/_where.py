# SPDX-License-Identifier: Apache-2.0
"""`where` and `mask`: conditional replacement."""

from collections.abc import Sequence
from typing import Any, Self

import jax
import numpy as np
import pandas as pd

from ..align._align import aligned_column
from ..align._as_column import as_column
from ..table._arguments import axis_number, no_inplace
from ..table._column import Array, Column
from ..table._from_host import column_from
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._table import Table
from ..table._tracing import is_traced
from ._where_columns import choose, choose_scalar


class Where(NDFrame):
    """`where` and `mask`, shared by frames and series."""

    def where(
        self, cond: Any, other: Any = np.nan, *, inplace: bool = False, axis: Any = None,
        level: Any = None,
    ) -> Self:  # fmt: skip
        """Replaces values by those of `other` where a condition is False.

        Differences from pandas:
            A value that does not fit the column's dtype raises, where pandas returns objects.
            Inside `jit` integers get the dtype of a replacement even if no value is replaced.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> x = JaxSeries([1, 5, 3])
            >>> x.where(x > 2, 0).tolist()
            [0, 5, 3]
        """
        return self._select("where", cond, other, inplace, axis, level)

    def mask(
        self, cond: Any, other: Any = np.nan, *, inplace: bool = False, axis: Any = None,
        level: Any = None,
    ) -> Self:  # fmt: skip
        """Replaces values by those of `other` where a condition is True; see `where`."""
        return self._select("mask", cond, other, inplace, axis, level)

    def _select(
        self: Any, method: str, cond: Any, other: Any, inplace: bool, axis: Any, level: Any
    ) -> Any:
        no_inplace(method, inplace)
        axis_number(axis or 0, self)
        if level is not None:
            raise NotImplementedError(f"{method}: level= is not supported. Use reset_index().")
        cond = cond(self) if callable(cond) else cond
        other = other(self) if callable(other) else other
        keep = self._flags(method, cond)
        others = self._others(method, other, axis)
        columns = [
            choose(flags, column, one, self._table, method)
            if isinstance(one, Column)
            else choose_scalar(flags, column, one, self._table, method)
            for flags, column, one in zip(keep, self._table.columns, others, strict=True)
        ]
        return self._with_columns(columns)


class FrameWhere(FrameBase, Where):
    """`where` and `mask` of a frame."""

    def _flags(self, method: str, cond: Any) -> Sequence[Array]:
        table = self._table
        if isinstance(cond, SeriesBase):
            return [_as_flags(method, cond, table)] * len(self._labels)
        if isinstance(cond, pd.DataFrame):
            cond = self.frame_class(cond)
        if isinstance(cond, FrameBase):
            all_false = _as_flags(method, np.zeros(table.capacity, np.bool_), table, aligned=True)
            return [
                _as_flags(method, cond[label], table) if label in cond._labels else all_false
                for label in self._labels
            ]
        cond = cond if isinstance(cond, jax.Array) else np.asarray(cond)
        if cond.ndim != 2 or cond.shape[1] != len(self._labels):
            raise ValueError("Array conditional must be same shape as self")
        return [_as_flags(method, cond[:, position], table) for position in range(cond.shape[1])]

    def _others(self, method: str, other: Any, axis: Any) -> Sequence[Any]:
        table, num_columns = self._table, len(self._labels)
        if isinstance(other, FrameBase):
            return [
                aligned_column(other[label], table) if label in other._labels else np.nan
                for label in self._labels
            ]
        if isinstance(other, (SeriesBase, pd.Series)):
            if axis is None:
                raise ValueError("Must specify axis=0 or 1")
            if axis in (0, "index"):
                return [as_column(other, table, "other")] * num_columns
            by_label: Any = other if isinstance(other, pd.Series) else other.to_pandas()
            return [by_label.get(label, np.nan) for label in self._labels]
        if isinstance(other, pd.DataFrame):
            return self._others(method, self.frame_class(other), axis)
        if hasattr(other, "ndim") and other.ndim == 2:
            if other.shape[1] != num_columns:
                raise ValueError("other must be the same shape as self when an ndarray")
            return [
                as_column(other[:, position], table, "other") for position in range(num_columns)
            ]
        return [other] * num_columns


class SeriesWhere(SeriesBase, Where):
    """`where` and `mask` of a series."""

    def _flags(self, method: str, cond: Any) -> Sequence[Array]:
        return [_as_flags(method, cond, self._table)]

    def _others(self, method: str, other: Any, axis: Any) -> Sequence[Any]:
        if isinstance(other, FrameBase):
            raise NotImplementedError(f"{method}: other must be a series or a scalar, got a frame.")
        is_column = isinstance(other, (SeriesBase, pd.Series, list)) or getattr(other, "ndim", 0)
        return [as_column(other, self._table, "other") if is_column else other]


def _as_flags(method: str, cond: Any, table: Table, *, aligned: bool = False) -> Array:
    """Flags of the rows that keep their values: the condition, negated for `mask`."""
    if isinstance(cond, pd.Series):
        cond = cond.reindex(table.index.to_pandas(table.num_rows_on_host))
        cond = cond.array if cond.dtype == np.bool_ else (cond == (method == "where")).to_numpy()
    if isinstance(cond, SeriesBase):
        column = aligned_column(cond, table)
    else:
        flags = cond if isinstance(cond, jax.Array) else np.asarray(cond)
        num_rows = table.capacity if is_traced(table.num_rows) else table.num_rows_on_host
        if flags.ndim != 1 or len(flags) not in (num_rows, table.capacity):
            raise ValueError("Array conditional must be same shape as self")
        column = column_from(flags, table.capacity, table.layout, "cond")
    if not column.is_bool:
        raise TypeError(f"Boolean array expected for the condition, not {column.dtype_name}")
    if aligned:
        return column.data
    keep = column.data if method == "where" else ~column.data
    # Rows whose label is absent from the condition are replaced.
    return keep if column.valid is None else keep & column.valid
