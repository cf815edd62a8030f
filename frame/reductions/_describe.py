# SPDX-License-Identifier: Apache-2.0
"""`describe`: summary statistics of columns in one table."""

from typing import Any

import numpy as np
import pandas as pd

from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._tracing import answered_at_once
from ._quantiles import quantiles_of_columns
from ._reduce_columns import reduce_columns, reduction_for
from ._results import host_value, result_type, table_of_frame, table_of_series

MOMENTS = ("count", "mean", "std", "min", "max")


def named_percentiles(percentiles: Any) -> tuple[list[str], np.ndarray]:
    """pandas' names of percentiles, and the quantiles; raises if they are invalid."""
    shell = pd.Series([0.0]).describe(percentiles=percentiles)
    names = list(shell.index[4:-1])
    if percentiles is None:
        return names, np.array([0.25, 0.5, 0.75])
    return names, np.unique(np.asarray(list(percentiles), np.float64))


class SeriesDescription(SeriesBase):
    """`describe` of a series."""

    @answered_at_once
    def describe(
        self, percentiles: object = None, include: object = None, exclude: object = None
    ) -> Any:
        """Count, mean, deviation, extremes and percentiles; for strings and categories the mode."""
        del include, exclude
        described = self._described(percentiles)
        return self._series_of(table_of_series(described), self._name)

    def _described(self, percentiles: object) -> pd.Series:
        column = self._only
        _check_known(self)
        if column.kind in ("object", "date", "decimal"):
            return self.to_pandas().describe()
        if column.kind in ("string", "category", "time", "period") or column.is_bool:
            return self._most_frequent()
        return _numbers_described(self, percentiles)[0]

    def _most_frequent(self) -> pd.Series:
        counts = self.value_counts()
        num_present = int(self.count())
        top: Any = (np.nan, np.nan)
        if num_present:
            first = counts.head(1).to_pandas()
            top = (first.index[0], first.iloc[0])
        names = ["count", "unique", "top", "freq"]
        dtype = None if num_present else object
        values = [num_present, self.nunique(), *top]
        return pd.Series(values, index=names, name=self._name, dtype=dtype)


def _numbers_described(of: NDFrame, percentiles: object) -> list[pd.Series]:
    """The statistics of columns of numbers and times, in two compiled calls."""
    table, columns = of._table, of._table.columns
    for column, label in zip(columns, of._names, strict=True):
        if column.dtype.kind == "c":
            raise TypeError(f"describe: complex numbers have no order, got column {label!r}.")
    if not columns:
        return []
    names, q = named_percentiles(percentiles)
    ops = [[op for op in MOMENTS if (c.kind, op) != ("datetime", "std")] for c in columns]
    plans = [(column, op) for column, own in zip(columns, ops, strict=True) for op in own]
    groups, rows = [[column] for column, _ in plans], (table.num_rows, table.layout)
    reduced = iter(reduce_columns(groups, [reduction_for(*plan) for plan in plans], *rows))
    quantiles = quantiles_of_columns(columns, q, "linear", *rows)
    described = []
    for column, label, own, (values, is_missing) in zip(
        columns, of._names, ops, quantiles, strict=True
    ):
        row = {op: host_value(*next(reduced), result_type(column.type, op))[0] for op in own}
        middle = [host_value(value, is_missing, column.type)[0] for value in np.asarray(values)]
        *first, greatest = row.values()
        index = [*list(row)[:-1], *names, "max"]
        dtype: Any = np.float64 if column.is_numeric else None
        if column.is_nullable and column.is_numeric:
            dtype = column.type.nullable(np.float64)
        described.append(pd.Series([*first, *middle, greatest], index, dtype, label))
    return described


def _check_known(of: NDFrame) -> None:
    if of._is_traced:
        raise NotImplementedError(
            "describe: inside jit use the single statistics: count(), mean(), quantile(), ..."
        )


class FrameDescription(FrameBase):
    """`describe` of a frame."""

    @answered_at_once
    def describe(
        self, percentiles: object = None, include: object = None, exclude: object = None
    ) -> Any:
        """Count, mean, deviation, extremes and percentiles of each column.

        Differences from pandas:
            Raises inside `jit`.
        """
        if not len(self._labels):
            raise ValueError("Cannot describe a DataFrame without columns")
        _check_known(self)
        positions, columns = self._described_positions(include, exclude), self._table.columns
        numbers = [
            position
            for position in positions
            if columns[position].type.is_time
            or (columns[position].is_numeric and not columns[position].is_bool)
        ]
        described = _numbers_described(self._columns_at(numbers), percentiles)
        parts = dict(zip(numbers, described, strict=True))
        for position in positions:
            if position not in parts:
                parts[position] = self._series_at(position)._described(percentiles)
        ordered = [parts[position] for position in positions]
        names: list[Any] = []
        for part in sorted((part.index for part in ordered), key=len):
            names += [name for name in part if name not in names]
        result = pd.concat([part.reindex(names) for part in ordered], axis=1, sort=False)
        result.columns = self._labels.index.take(positions)
        return self._frame_of(*table_of_frame(result))

    def _described_positions(self, include: object, exclude: object) -> list[int]:
        everything = list(range(len(self._labels)))
        if isinstance(include, str) and include == "all":
            if exclude is not None:
                raise ValueError("exclude must be None when include is 'all'")
            return everything
        shell = self.head(0).to_pandas()
        shell.columns = pd.RangeIndex(len(everything))
        if include is None and exclude is None:
            picked = shell.select_dtypes(include=[np.number, "datetime"])
            return list(picked.columns) or everything
        return list(shell.select_dtypes(include=include, exclude=exclude).columns)
