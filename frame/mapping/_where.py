# SPDX-License-Identifier: Apache-2.0
"""`where` and `mask`."""

from collections.abc import Sequence
from typing import Any, Self

import jax
import numpy as np
import pandas as pd

from ..align._align import aligned_column
from ..align._as_column import as_column
from ..table._arguments import axis_number
from ..table._column import Array, Column
from ..table._expressions import apply_if_callable
from ..table._from_host import column_from
from ..table._host_column import rows_on_host
from ..table._in_place import with_inplace
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._table import Table
from ..table._tracing import is_traced
from ..table._types import Axis, Function, LevelOrLevels
from ._choices import choose, choose_scalar


class Where(NDFrame):
    """`where` and `mask`, shared by frames and series."""

    @with_inplace
    def where(
        self, cond: object, other: object = np.nan, *, inplace: bool = False, axis: Axis = None,
        level: LevelOrLevels = None,
    ) -> Self:  # fmt: skip
        """Replaces values by those of `other` where a condition is False.

        Differences from pandas:
            Inside `jit` integers get the dtype of a replacement even if no value is replaced, and
            times of two units the finer one.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> x = JaxSeries([1, 5, 3])
            >>> x.where(x > 2, 0).tolist()
            [0, 5, 3]
        """
        return self._select("where", cond, other, axis, level)

    @with_inplace
    def mask(
        self, cond: object, other: object = np.nan, *, inplace: bool = False, axis: Axis = None,
        level: LevelOrLevels = None,
    ) -> Self:  # fmt: skip
        """Replaces values by those of `other` where a condition is True; see `where`."""
        return self._select("mask", cond, other, axis, level)

    def _select(
        self, method: str, cond: object, other: object, axis: Axis, level: LevelOrLevels
    ) -> Self:
        axis_number(axis or 0, self)
        if level is not None:
            raise NotImplementedError(f"{method}: level= is not supported. Use reset_index().")
        cond, other = apply_if_callable(cond, self), apply_if_callable(other, self)
        keep = self._flags(method, cond)
        others = self._others(method, other, axis)
        columns = [
            choose(flags, column, one, self._table, method)
            if isinstance(one, Column)
            else choose_scalar(flags, column, one, self._table, method)
            for flags, column, one in zip(keep, self._table.columns, others, strict=True)
        ]
        return self._with_columns(columns)

    def _flags(self, method: str, cond: object) -> Sequence[Array]:
        """Flags of the rows that keep their values, for each column."""
        table, num_columns = self._table, len(self._names)
        if isinstance(cond, SeriesBase) or not isinstance(self, FrameBase):
            return [_as_flags(method, cond, table)] * num_columns
        if isinstance(cond, pd.DataFrame):
            cond = self.frame_class(cond)
        if isinstance(cond, FrameBase):
            all_false = table.layout.place(np.zeros(table.capacity, np.bool_))
            return self._by_label(cond, lambda one: _as_flags(method, one, table), all_false)
        cond = cond if isinstance(cond, jax.Array) else np.asarray(cond)
        if cond.ndim != 2 or cond.shape[1] != num_columns:
            raise ValueError("Array conditional must be same shape as self")
        return [_as_flags(method, cond[:, position], table) for position in range(num_columns)]

    def _by_label(self, frame: FrameBase, convert: Function, absent: object) -> list[Any]:
        """What a frame has for each column of this one: labels may repeat if all are equal."""
        of: Any = self
        labels = frame._labels
        if labels.index.equals(of._labels.index):
            return [convert(frame._series_at(at)) for at in range(len(labels))]
        return [
            convert(frame._series_at(labels.position(label))) if label in labels else absent
            for label in self._names
        ]

    def _others(self, method: str, other: Any, axis: Axis) -> Sequence[Any]:
        """A column or a scalar for each column."""
        table, num_columns = self._table, len(self._names)
        if isinstance(other, pd.DataFrame):
            other = self.frame_class(other)
        is_series = isinstance(other, (SeriesBase, pd.Series))
        if not isinstance(self, FrameBase):
            if isinstance(other, FrameBase):
                raise NotImplementedError(
                    f"{method}: other must be a series or a scalar, got a frame."
                )
            is_column = is_series or isinstance(other, list) or getattr(other, "ndim", 0)
            return [as_column(other, table, "other") if is_column else other]
        if isinstance(other, FrameBase):
            return self._by_label(other, lambda one: aligned_column(one, table), np.nan)
        if is_series:
            if axis is None:
                raise ValueError("Must specify axis=0 or 1")
            if axis in (0, "index"):
                return [as_column(other, table, "other")] * num_columns
            by_label: Any = other if isinstance(other, pd.Series) else other.to_pandas()
            return [by_label.get(label, np.nan) for label in self._labels]
        if hasattr(other, "ndim") and other.ndim == 2:
            if other.shape[1] != num_columns:
                raise ValueError("other must be the same shape as self when an ndarray")
            return [as_column(other[:, p], table, "other") for p in range(num_columns)]
        return [other] * num_columns


def _as_flags(method: str, cond: object, table: Table) -> Any:
    """Flags of the rows that keep their values: the condition, negated for `mask`.

    Flags of few rows stay on the host.
    """
    if isinstance(cond, pd.Series):
        cond = cond.reindex(table.index.to_pandas(table.num_rows_on_host))
        cond = cond.array if cond.dtype == np.bool_ else (cond == (method == "where")).to_numpy()
    if isinstance(cond, SeriesBase):
        column = aligned_column(cond, table)
        rows = rows_on_host((column,)) if column.is_bool else None
        if rows is not None and rows[0][1] is None:
            ((flags, _),) = rows
            return flags if method == "where" else ~flags
    else:
        flags = cond if isinstance(cond, jax.Array) else np.asarray(cond)
        num_rows = table.capacity if is_traced(table.num_rows) else table.num_rows_on_host
        if flags.ndim != 1 or len(flags) not in (num_rows, table.capacity):
            raise ValueError("Array conditional must be same shape as self")
        column = column_from(flags, table.capacity, table.layout, "cond")
    if not column.is_bool:
        raise TypeError(f"Boolean array expected for the condition, not {column.dtype_name}")
    keep = column.data if method == "where" else ~column.data
    # Rows whose label is absent from the condition are replaced.
    return keep if column.valid is None else keep & column.valid
