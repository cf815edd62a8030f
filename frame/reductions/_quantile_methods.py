# SPDX-License-Identifier: Apache-2.0
"""Medians, quantiles and the places of extremes, as methods."""

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
    """Raises where a column has no quantiles."""
    check_reducible(column, "median", label)
    if column.is_bool:
        raise TypeError(f"quantile: column {label!r} of bools cannot be subtracted. Cast it first.")
    return column


def check_q(q: Any, interpolation: str) -> np.ndarray | jax.Array:
    """The quantiles that are asked for, as an array of one dimension."""
    if interpolation not in INTERPOLATIONS:
        raise ValueError(f"{interpolation!r} is not a valid method. Use one of: {INTERPOLATIONS}")
    if isinstance(q, jax.Array) and is_traced(q):
        return q.reshape(-1)
    if np.asarray(q).dtype.kind not in "biuf":
        raise TypeError(f"quantile: q must be a number of [0, 1] or a list of those, not {q!r}.")
    if np.ndim(q) > 1:
        raise ValueError(f"quantile: q must be a number or a list, not {np.ndim(q)}-dimensional.")
    array = np.asarray(q, np.float64).reshape(-1)
    if not ((array >= 0) & (array <= 1)).all():
        raise ValueError("percentiles should all be in the interval [0, 1]")
    return array


class SeriesQuantiles(SeriesBase):
    """Quantiles of a series, and where its extremes stand."""

    def median(
        self, *, axis: Any = 0, skipna: bool = True, numeric_only: bool = False, **rest: Any
    ) -> Any:
        """The median: the middle value, or the mean of the two in the middle."""
        check_rest("median", rest)
        axis_number(axis or 0, self)
        check_flag(skipna, "skipna")
        del numeric_only  # pandas heeds it for objects only, and those have no median here.
        check_reducible(self._only, "median", self._name)
        return self._scalar(self._quantiles([0.5], "median", skipna=skipna))

    def quantile(self, q: Any = 0.5, interpolation: str = "linear") -> Any:
        """The value that a part `q` of the values lie below; a series if `q` is a list.

        Differences from pandas:
            Beside an infinity it is what the median would be there, where pandas has NaN.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1, 2, 3, 4]).quantile(0.25).item()
            1.75
        """
        check_quantile(self._only, self._name)
        places = check_q(q, interpolation)
        found = self._quantiles(places, interpolation)
        if np.ndim(q) == 0:
            return self._scalar(found)
        table = _table_of([found], [self._only.type], places)
        return self.series_class._of(table.replace(needed=self._table.needed), self._name)

    def _quantiles(self, q: Any, how: str, skipna: bool = True) -> Quantiles:
        table = self._table
        (found,) = quantiles_of_columns(
            [self._only], q, how, table.all_rows, table.layout, skipna=skipna
        )
        return found

    def _scalar(self, found: Quantiles) -> Any:
        if is_traced(found):
            return self._table.unless_lost(found.values[0])
        return host_value(*found, self._only.type)[0]

    def argmin(self, axis: Any = None, skipna: bool = True) -> Any:
        """The place of the least value, the first of equal ones; -1 inside `jit` if there is none.

        Raises:
            ValueError: there is no value.
        """
        return self._place("argmin", axis, skipna)

    def argmax(self, axis: Any = None, skipna: bool = True) -> Any:
        """The place of the greatest value; see `argmin`."""
        return self._place("argmax", axis, skipna)

    def idxmin(self, axis: Any = 0, skipna: bool = True) -> Any:
        """The label of the least value, the first of equal ones."""
        return self._label("argmin", axis, skipna)

    def idxmax(self, axis: Any = 0, skipna: bool = True) -> Any:
        """The label of the greatest value, the first of equal ones."""
        return self._label("argmax", axis, skipna)

    def _place(self, op: str, axis: Any, skipna: bool) -> Any:
        axis_number(axis or 0, self)
        column, table = self._only, self._table
        check_reducible(column, op, self._name)
        plan = reduction_for(column, op, skipna=check_flag(skipna, "skipna"))
        (reduced,) = reduce_columns([[column]], [plan], table.all_rows, table.layout)
        if is_traced(reduced):
            return reduced.value
        if bool(reduced.is_missing):
            raise ValueError(_want_of_values(op, len(self), skipna))
        return np.int64(np.asarray(reduced.value))

    @answered_at_once
    def _label(self, op: str, axis: Any, skipna: bool) -> Any:
        place = self._place(op, axis, skipna)
        if is_traced(place):
            raise NotImplementedError(
                f"{op.replace('arg', 'idx')}: labels are not known inside jit. Use {op}()."
            )
        return self._sliced(slice(int(place), int(place) + 1)).index[0]


def _want_of_values(op: str, num_rows: int, skipna: bool) -> str:
    if not num_rows:
        return f"attempt to get {op} of an empty sequence"
    return "Encountered all NA values" if skipna else "Encountered an NA value with skipna=False"


class FrameQuantiles(FrameBase):
    """Quantiles of the columns of a frame, and where their extremes stand."""

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
        found = self._found(frame, np.array([0.5]), "median", skipna)
        return self._value_of_each(found, frame, "median", None)

    def quantile(
        self,
        q: Any = 0.5,
        axis: Any = 0,
        numeric_only: bool = False,
        interpolation: str = "linear",
        method: str = "single",
    ) -> Any:
        """The quantile of each column: a series; of several `q` a frame with a row for each.

        Differences from pandas:
            Beside an infinity it is what the median would be there, where pandas has NaN. The
            series is named by `q`, but where a trace does not know it.
        """
        only_rows("quantile", axis, self, "Use apply(axis=1) for rows.")
        if method not in ("single", "table"):
            raise ValueError(f"Invalid method: {method}. Method must be in {{'single', 'table'}}.")
        if method == "table":
            raise NotImplementedError("quantile: method must be 'single'. Sort the rows instead.")
        frame = self._numbers(numeric_only)
        columns, labels = frame._table.columns, frame._labels
        for column, label in zip(columns, labels, strict=True):
            check_quantile(column, label)
        places = check_q(q, interpolation)
        if not columns:
            empty = pd.DataFrame(columns=labels.index, dtype=np.float64).quantile(q)
            if isinstance(empty, pd.Series):
                return self.series_class._of(table_of_series(empty), q)
            return self.frame_class._of(*table_of_frame(empty))
        found = self._found(frame, places, interpolation, True)
        if np.ndim(q) == 0:
            name = None if is_traced(q) else float(places[0])
            return self._value_of_each(found, frame, "quantile", name)
        types = [column.type for column in columns]
        of_places = _table_of(found, types, places).replace(needed=self._table.needed)
        return self.frame_class._of(of_places, labels)

    def _numbers(self, numeric_only: bool) -> Any:
        if not check_flag(numeric_only, "numeric_only"):
            return self
        return self._columns_at(self._pick(lambda column: column.is_numeric))

    def _found(self, frame: Any, q: Any, how: str, skipna: bool) -> tuple[Quantiles, ...]:
        table = frame._table
        return quantiles_of_columns(
            table.columns, q, how, table.all_rows, table.layout, skipna=skipna
        )

    def _value_of_each(self, found: Any, frame: Any, caller: str, name: Any) -> Any:
        types = [column.type for column in frame._table.columns]
        labels = frame._labels.index
        if is_traced(found):
            values = [(one.values[0], one.is_missing) for one in found]
            table = traced_table(values, types, labels, caller).replace(needed=frame._table.needed)
            return self.series_class._of(table, name)
        shown = [
            host_value(one.values, one.is_missing, kind)
            for one, kind in zip(found, types, strict=True)
        ]
        return self.series_class._of(table_of_series(host_series(shown, labels)), name)

    def idxmin(self, axis: Any = 0, skipna: bool = True, numeric_only: bool = False) -> Any:
        """The label of the least value of each column."""
        return self._labels_of("argmin", axis, skipna, numeric_only)

    def idxmax(self, axis: Any = 0, skipna: bool = True, numeric_only: bool = False) -> Any:
        """The label of the greatest value of each column, or that of the column for each row.

        Differences from pandas:
            Inside `jit` there are labels of columns only, and a row without a value has none.
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
            raise ValueError(_want_of_values(op, len(frame), skipna))
        places = np.array([int(one.value) for one in reduced], np.int64)
        index = self._taken(places).index
        result = index.to_series(index=labels.index).rename(None)
        return self.series_class._of(table_of_series(result), None)


def _table_of(found: Any, types: list[ColumnType], q: Any) -> Table:
    num_rows = len(q)
    capacity = ONE_DEVICE.capacity_for(num_rows)
    columns = []
    for one, kind in zip(found, types, strict=True):
        values = jax.numpy.pad(one.values, (0, capacity - num_rows))
        if not is_traced(one):
            values = np.asarray(one.values)
            if values.dtype.kind == "i" and kind.kind == "number" and bool(one.is_missing):
                values = np.full(num_rows, np.nan)
            values = jax.numpy.asarray(np.pad(values, (0, capacity - num_rows)))
        columns.append(Column(values, None, kind))
    labels = narrowed(pd.Index(np.asarray(q, np.float64)))
    return Table(tuple(columns), index_from(labels, capacity, ONE_DEVICE), as_count(num_rows))
