# SPDX-License-Identifier: Apache-2.0
"""Methods for medians, quantiles and the positions and labels of extremes."""

from typing import Any

import jax
import numpy as np
import pandas as pd

from ..table._arguments import axis_number, check_flag, only_rows
from ..table._column import Column, ColumnType
from ..table._dtypes import narrowed
from ..table._from_host import index_from
from ..table._layout import ONE_DEVICE
from ..table._ndframe import FrameBase, SeriesBase
from ..table._table import Table, as_count
from ..table._tracing import answered_at_once, is_traced
from ._axis1 import labels_across, median_across
from ._methods import check_reducible, check_rest
from ._quantiles import INTERPOLATIONS, Quantiles, quantiles_of_columns
from ._reduce_columns import reduce_columns, reduction_for
from ._results import host_series, host_value, table_of_frame, table_of_series, traced_table


def check_quantile(column: Column, label: Any) -> Column:
    """Returns the column; raises unless it has quantiles."""
    check_reducible(column, "median", label)
    if column.is_bool:
        raise TypeError(
            f"quantile: bools cannot be subtracted, got column {label!r}. Cast it first."
        )
    return column


def check_q(q: Any, interpolation: str) -> np.ndarray | jax.Array:
    """Validates the quantiles and returns them as a one-dimensional array."""
    if interpolation not in INTERPOLATIONS:
        raise ValueError(f"{interpolation!r} is not a valid method. Use one of: {INTERPOLATIONS}")
    if isinstance(q, jax.Array) and is_traced(q):
        return q.reshape(-1)
    if np.asarray(q).dtype.kind not in "biuf":
        raise TypeError(f"quantile: q must be a number in [0, 1] or a list of them, got {q!r}.")
    if np.ndim(q) > 1:
        raise ValueError(f"quantile: q must be a number or a list, got {np.ndim(q)} dimensions.")
    array = np.asarray(q, np.float64).reshape(-1)
    if not ((array >= 0) & (array <= 1)).all():
        raise ValueError("percentiles should all be in the interval [0, 1]")
    return array


class SeriesQuantiles(SeriesBase):
    """Quantiles of a series, and positions and labels of its extremes."""

    def median(
        self, *, axis: Any = 0, skipna: bool = True, numeric_only: bool = False, **rest: Any
    ) -> Any:
        """The median: the middle value, or the mean of the two in the middle."""
        check_rest("median", rest)
        axis_number(axis or 0, self)
        check_flag(skipna, "skipna")
        del numeric_only  # pandas uses it only for objects, whose median raises here.
        check_reducible(self._only, "median", self._name)
        return self._scalar(self._quantiles([0.5], "median", skipna=skipna))

    def quantile(self, q: Any = 0.5, interpolation: str = "linear") -> Any:
        """The quantile: a fraction `q` of the values is less; a series if `q` is a list.

        Differences from pandas:
            Next to an infinity the result is computed as for the median; pandas gives NaN.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1, 2, 3, 4]).quantile(0.25).item()
            1.75
        """
        check_quantile(self._only, self._name)
        q_array = check_q(q, interpolation)
        quantiles = self._quantiles(q_array, interpolation)
        if np.ndim(q) == 0:
            return self._scalar(quantiles)
        table = _table_of([quantiles], [self._only.type], q_array)
        return self.series_class._of(table.replace(needed=self._table.needed), self._name)

    def _quantiles(self, q: Any, how: str, skipna: bool = True) -> Quantiles:
        return _quantiles_of(self._table, q, how, skipna)[0]

    def _scalar(self, quantiles: Quantiles) -> Any:
        if is_traced(quantiles):
            return self._table.unless_lost(quantiles.values[0])
        return host_value(*quantiles, self._only.type)[0]

    def argmin(self, axis: Any = None, skipna: bool = True) -> Any:
        """The position of the first least value; -1 inside `jit` if there is no value.

        Raises:
            ValueError: there is no value.
        """
        return self._position("argmin", axis, skipna)

    def argmax(self, axis: Any = None, skipna: bool = True) -> Any:
        """The position of the first greatest value; see `argmin`."""
        return self._position("argmax", axis, skipna)

    def idxmin(self, axis: Any = 0, skipna: bool = True) -> Any:
        """The label of the first least value."""
        return self._label("argmin", axis, skipna)

    def idxmax(self, axis: Any = 0, skipna: bool = True) -> Any:
        """The label of the first greatest value."""
        return self._label("argmax", axis, skipna)

    def _position(self, op: str, axis: Any, skipna: bool) -> Any:
        axis_number(axis or 0, self)
        column, table = self._only, self._table
        check_reducible(column, op, self._name)
        plan = reduction_for(column, op, skipna=check_flag(skipna, "skipna"))
        (reduced,) = reduce_columns([[column]], [plan], table.all_rows, table.layout)
        if is_traced(reduced):
            return reduced.value
        if bool(reduced.is_missing):
            raise ValueError(_no_extreme(op, len(self), skipna))
        return np.int64(np.asarray(reduced.value))

    @answered_at_once
    def _label(self, op: str, axis: Any, skipna: bool) -> Any:
        position = self._position(op, axis, skipna)
        if is_traced(position):
            raise NotImplementedError(
                f"{op.replace('arg', 'idx')}: labels are not known inside jit. Use {op}()."
            )
        return self._sliced(slice(int(position), int(position) + 1)).index[0]


def _no_extreme(op: str, num_rows: int, skipna: bool) -> str:
    if not num_rows:
        return f"attempt to get {op} of an empty sequence"
    return "Encountered all NA values" if skipna else "Encountered an NA value with skipna=False"


class FrameQuantiles(FrameBase):
    """Quantiles of the columns of a frame, and labels of their extremes."""

    def median(
        self, *, axis: Any = 0, skipna: bool = True, numeric_only: bool = False, **rest: Any
    ) -> Any:
        """The median of each column, or row."""
        check_rest("median", rest)
        check_flag(skipna, "skipna")
        frame = self._numbers(numeric_only)
        columns, labels = frame._table.columns, frame._labels
        if axis is None:
            raise NotImplementedError("median: axis must be 0 or 1. Use stack() for all values.")
        if axis_number(axis or 0, self):
            if not columns:
                return self._of_nothing("median", axis, labels.index, {})
            return self._make_series(median_across(columns, skipna), None)
        if not columns:
            empty = pd.DataFrame(columns=labels.index).median()
            return self.series_class._of(table_of_series(empty), None)
        for column, label in zip(columns, labels, strict=True):
            check_reducible(column, "median", label)
        medians = _quantiles_of(frame._table, np.array([0.5]), "median", skipna)
        return self._value_of_each(medians, frame, "median", None)

    def quantile(
        self,
        q: Any = 0.5,
        axis: Any = 0,
        numeric_only: bool = False,
        interpolation: str = "linear",
        method: str = "single",
    ) -> Any:
        """The quantile of each column, as a series; for a list of `q`, a frame with a row for each.

        Differences from pandas:
            Next to an infinity the result is computed as for the median; pandas gives NaN. The
            series has no name if `q` is traced.
        """
        only_rows("quantile", axis, self, "Use apply(axis=1) for rows.")
        if method not in ("single", "table"):
            raise ValueError(f"Invalid method: {method}. Method must be in {{'single', 'table'}}.")
        if method == "table":
            raise NotImplementedError(
                "quantile: method must be 'single', got 'table'. Sort the rows instead."
            )
        frame = self._numbers(numeric_only)
        columns, labels = frame._table.columns, frame._labels
        for column, label in zip(columns, labels, strict=True):
            check_quantile(column, label)
        q_array = check_q(q, interpolation)
        if not columns:
            empty = pd.DataFrame(columns=labels.index, dtype=np.float64).quantile(q)
            if isinstance(empty, pd.Series):
                return self.series_class._of(table_of_series(empty), q)
            return self.frame_class._of(*table_of_frame(empty))
        quantiles = _quantiles_of(frame._table, q_array, interpolation, True)
        if np.ndim(q) == 0:
            name = None if is_traced(q) else float(q_array[0])
            return self._value_of_each(quantiles, frame, "quantile", name)
        table = _table_of(quantiles, [column.type for column in columns], q_array)
        return self.frame_class._of(table.replace(needed=self._table.needed), labels)

    def _numbers(self, numeric_only: bool) -> Any:
        if not check_flag(numeric_only, "numeric_only"):
            return self
        return self._columns_at(self._pick(lambda column: column.is_numeric))

    def _value_of_each(self, quantiles: Any, frame: Any, caller: str, name: Any) -> Any:
        types = [column.type for column in frame._table.columns]
        labels = frame._labels.index
        if is_traced(quantiles):
            values = [(one.values[0], one.is_missing) for one in quantiles]
            table = traced_table(values, types, labels, caller).replace(needed=frame._table.needed)
            return self.series_class._of(table, name)
        shown = [
            host_value(one.values, one.is_missing, kind)
            for one, kind in zip(quantiles, types, strict=True)
        ]
        return self.series_class._of(table_of_series(host_series(shown, labels)), name)

    def idxmin(self, axis: Any = 0, skipna: bool = True, numeric_only: bool = False) -> Any:
        """The label of the first least value of each column or row; see `idxmax`."""
        return self._labels_of("argmin", axis, skipna, numeric_only)

    def idxmax(self, axis: Any = 0, skipna: bool = True, numeric_only: bool = False) -> Any:
        """The row label of each column's greatest value; with `axis=1` each row's column label.

        Differences from pandas:
            Inside `jit` only `axis=1` is supported, and a row without values has a missing label.
        """
        return self._labels_of("argmax", axis, skipna, numeric_only)

    @answered_at_once
    def _labels_of(self, op: str, axis: Any, skipna: bool, numeric_only: bool) -> Any:
        caller = op.replace("arg", "idx")
        frame = self._numbers(numeric_only)
        table, labels = frame._table, frame._labels
        if axis_number(axis, self):
            skipna = check_flag(skipna, "skipna")
            column = labels_across(op, table.columns, labels.index, skipna, table)
            return self._make_series(column, None)
        for column, label in zip(table.columns, labels, strict=True):
            check_reducible(column, op, label)
        plans = [reduction_for(column, op, skipna=skipna) for column in table.columns]
        groups = [[column] for column in table.columns]
        reduced = reduce_columns(groups, plans, table.all_rows, table.layout)
        if is_traced(reduced):
            raise NotImplementedError(
                f"{caller}: labels are not known inside jit. Use {op}() of single columns."
            )
        if any(bool(one.is_missing) for one in reduced):
            raise ValueError(_no_extreme(op, len(frame), skipna))
        row_ids = np.array([int(one.value) for one in reduced], np.int64)
        index = self._taken(row_ids).index
        result = index.to_series(index=labels.index).rename(None)
        return self.series_class._of(table_of_series(result), None)


def _quantiles_of(table: Table, q: Any, how: str, skipna: bool) -> tuple[Quantiles, ...]:
    return quantiles_of_columns(table.columns, q, how, table.all_rows, table.layout, skipna=skipna)


def _table_of(quantiles: Any, types: list[ColumnType], q: Any) -> Table:
    """A table with a row for each `q`."""
    num_rows = len(q)
    capacity = ONE_DEVICE.capacity_for(num_rows)
    columns = []
    for one, kind in zip(quantiles, types, strict=True):
        values = jax.numpy.pad(one.values, (0, capacity - num_rows))
        if not is_traced(one):
            values = np.asarray(one.values)
            if values.dtype.kind == "i" and kind.kind == "number" and bool(one.is_missing):
                values = np.full(num_rows, np.nan)
            values = jax.numpy.asarray(np.pad(values, (0, capacity - num_rows)))
        columns.append(Column(values, None, kind))
    labels = narrowed(pd.Index(np.asarray(q, np.float64)))
    return Table(tuple(columns), index_from(labels, capacity, ONE_DEVICE), as_count(num_rows))
