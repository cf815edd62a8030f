# SPDX-License-Identifier: Apache-2.0
"""Methods for quantiles and the positions and labels of extremes."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ..table._arguments import axis_number, check_flag, check_rest
from ..table._by_pandas import by_pandas
from ..table._column import Column
from ..table._column_labels import frame_of_labels
from ..table._dtypes import narrowed
from ..table._from_host import index_from
from ..table._layout import ONE_DEVICE
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._table import Count, Table, as_count
from ..table._take import any_missing
from ..table._to_host import host_array
from ..table._tracing import answered_at_once, is_traced
from ..table._types import Axis
from ._axis1 import labels_across
from ._methods import check_reducible, of_objects, one_each, shown
from ._quantiles import INTERPOLATIONS, quantiles_of_columns
from ._reduce_columns import Reduced, reduce_columns, reduction_for
from ._results import table_of_frame, table_of_series


def _checked_q(q: Any, interpolation: str) -> np.ndarray | jax.Array:
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


def _quantiles_of(of: NDFrame, q: object, interpolation: str) -> tuple[tuple[Reduced, ...], Any]:
    """The quantiles of each column, and `q` as an array."""
    table = of._table
    for column, label in zip(table.columns, of._names, strict=True):
        check_reducible(column, "median", label)
        if column.kind == "object":
            raise NotImplementedError(
                f"quantile: frames must hold no objects, got column {label!r}. Pass "
                "numeric_only=True, or call quantile() of the series."
            )
        if column.is_bool:
            raise TypeError(
                "numpy boolean subtract, the `-` operator, is not supported: quantile of bools in "
                f"column {label!r}. Cast it first."
            )
    q, rows = _checked_q(q, interpolation), (table.all_rows, table.layout)
    found = quantiles_of_columns(table.columns, q, interpolation, *rows)
    sides = zip(found, table.columns, strict=True)
    return tuple(_in_integers(one, column, table.num_rows) for one, column in sides), q


def _in_integers(quantiles: Reduced, column: Column, num_rows: Count) -> Reduced:
    """Quantiles in a nullable dtype of integers, if a value is missing and all quantiles are whole.

    Others are floats, as in pandas. So are those inside `jit`.
    """
    are_integers = column.family == "masked" and column.dtype.kind in "iu"
    if not are_integers or is_traced(quantiles, column, num_rows) or column.valid is None:
        return quantiles
    if not any_missing(column.valid, num_rows):
        return quantiles
    values = host_array(quantiles.value)
    if values.dtype.kind == "f" and bool(quantiles.is_missing):
        values = np.zeros_like(values)
    if values.dtype.kind == "f" and not (values == np.trunc(values)).all():
        return quantiles
    whole: Any = values.astype(column.dtype)
    return Reduced(whole, quantiles.is_missing)


class SeriesQuantiles(SeriesBase):
    """Quantiles of a series, and positions and labels of its extremes."""

    def quantile(self, q: Any = 0.5, interpolation: str = "linear") -> Any:
        """The quantile: a fraction `q` of the values is less; a series if `q` is a list.

        Differences from pandas:
            Next to an infinity the result is computed as for the median; pandas gives NaN.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1, 2, 3, 4]).quantile(0.25).item()
            1.75
        """
        if self._only.kind == "object":
            how: Any = {"q": q, "interpolation": interpolation}
            found = of_objects(self._only, self._table, self._name, op="quantile", **how)
            return found if np.ndim(q) == 0 else self._like(table_of_series(found))
        quantiles, q_array = _quantiles_of(self, q, interpolation)
        if np.ndim(q) == 0:
            return shown(self, quantiles[0], "quantile")
        return self._like(_table_of(quantiles, self._table, q_array))

    def argmin(self, axis: Axis = None, skipna: bool = True, **rest: object) -> Any:
        """The position of the first least value; -1 inside `jit` if there is no value.

        Raises:
            ValueError: there is no value.
        """
        check_rest("argmin", rest)
        return self._position("argmin", axis, skipna)

    def argmax(self, axis: Axis = None, skipna: bool = True, **rest: object) -> Any:
        """The position of the first greatest value; see `argmin`."""
        check_rest("argmax", rest)
        return self._position("argmax", axis, skipna)

    def idxmin(self, axis: Axis = 0, skipna: bool = True) -> Any:
        """The label of the first least value."""
        return self._label("argmin", axis, skipna)

    def idxmax(self, axis: Axis = 0, skipna: bool = True) -> Any:
        """The label of the first greatest value."""
        return self._label("argmax", axis, skipna)

    def _position(self, op: str, axis: Axis, skipna: bool) -> Any:
        axis_number(axis or 0, self)
        (reduced,) = _positions(self, op, check_flag(skipna, "skipna"))
        if is_traced(reduced):
            return reduced.value
        return np.int64(_known_position(reduced, op, len(self), skipna))

    @answered_at_once
    def _label(self, op: str, axis: Axis, skipna: bool) -> Any:
        position = self._position(op, axis, skipna)
        if is_traced(position):
            raise NotImplementedError(
                f"{op.replace('arg', 'idx')}: labels are not known inside jit. Use {op}()."
            )
        return self._sliced(slice(int(position), int(position) + 1)).index[0]


def _positions(of: NDFrame, op: str, skipna: bool) -> tuple[Reduced, ...]:
    """The position of the extreme of each column."""
    table = of._table
    on_device = [column for column in table.columns if column.kind != "object"]
    for column, label in zip(table.columns, of._names, strict=True):
        check_reducible(column, op, label)
    plans = [reduction_for(column, op, skipna=skipna) for column in on_device]
    rows = table.all_rows, table.layout
    reduced = iter(reduce_columns([[c] for c in on_device], plans, *rows) if on_device else ())
    is_missing: Any = np.bool_(False)
    return tuple(
        Reduced(of_objects(column, table, label, op=op, skipna=skipna), is_missing)
        if column.kind == "object"
        else next(reduced)
        for column, label in zip(table.columns, of._names, strict=True)
    )


def _known_position(reduced: Reduced, op: str, num_rows: int, skipna: bool) -> int:
    """The position of an extreme on the host; raises pandas' error if there is none."""
    if not bool(reduced.is_missing):
        return int(reduced.value)
    if not num_rows:
        raise ValueError(f"attempt to get {op} of an empty sequence")
    what = "all NA values" if skipna else "an NA value with skipna=False"
    raise ValueError(f"Encountered {what}")


class FrameQuantiles(FrameBase):
    """Quantiles of the columns of a frame, and labels of their extremes."""

    def quantile(
        self,
        q: Any = 0.5,
        axis: Axis = 0,
        numeric_only: bool = False,
        interpolation: str = "linear",
        method: str = "single",
    ) -> Any:
        """The quantile of each column, as a series; for a list of `q`, a frame with a row for each.

        Differences from pandas:
            Next to an infinity the result is computed as for the median; pandas gives NaN. The
            series has no name if `q` is traced. `axis=1` and `method="table"` run on the host.
        """
        if method not in ("single", "table"):
            raise ValueError(f"Invalid method: {method}. Method must be in {{'single', 'table'}}.")
        if axis_number(axis, self) or method == "table":
            return by_pandas(
                self, "quantile: axis=1 or method='table'", "Use apply(axis=1), or sort the rows.",
                lambda data: data.quantile(q, axis, numeric_only, interpolation, method),
            )  # fmt: skip
        frame = self._numbers(numeric_only)
        table, labels = frame._table, frame._labels
        quantiles, q_array = _quantiles_of(frame, q, interpolation)
        if not table.columns:
            empty = frame_of_labels(labels.index).quantile(q)
            if isinstance(empty, pd.Series):
                return self._series_of(table_of_series(empty), q)
            return self._frame_of(*table_of_frame(empty))
        if np.ndim(q) == 0:
            name = None if is_traced(q) else float(q_array[0])
            return one_each(frame, quantiles, "quantile", name)
        return frame._like(_table_of(quantiles, table, q_array))

    def _numbers(self, numeric_only: bool) -> Any:
        return self._of_numbers() if check_flag(numeric_only, "numeric_only") else self

    def idxmin(self, axis: Axis = 0, skipna: bool = True, numeric_only: bool = False) -> Any:
        """The label of the first least value of each column or row; see `idxmax`."""
        return self._labels_of("argmin", axis, skipna, numeric_only)

    def idxmax(self, axis: Axis = 0, skipna: bool = True, numeric_only: bool = False) -> Any:
        """The row label of each column's greatest value; with `axis=1` each row's column label.

        Differences from pandas:
            Inside `jit` only `axis=1` is supported, and a row without values has a missing label.
        """
        return self._labels_of("argmax", axis, skipna, numeric_only)

    @answered_at_once
    def _labels_of(self, op: str, axis: Axis, skipna: bool, numeric_only: bool) -> Any:
        frame = self._numbers(numeric_only)
        table, labels = frame._table, frame._labels
        if axis_number(axis, self):
            skipna = check_flag(skipna, "skipna")
            column = labels_across(op, table.columns, labels.index, skipna, table)
            return self._make_series(column, None)
        reduced = _positions(frame, op, skipna)
        if is_traced(reduced):
            raise NotImplementedError(
                f"{op.replace('arg', 'idx')}: labels are not known inside jit. "
                f"Use {op}() of single columns."
            )
        row_ids = [_known_position(one, op, len(frame), skipna) for one in reduced]
        index = self._taken(np.array(row_ids, np.int64)).index
        result = index.to_series(index=labels.index).rename(None)
        return self._series_of(table_of_series(result), None)


def _table_of(quantiles: Sequence[Reduced], source: Table, q: Any) -> Table:
    """A table with a row for each `q`, and the columns of a source."""
    num_rows = len(q)
    capacity = ONE_DEVICE.capacity_for(num_rows)
    columns = []
    for one, column in zip(quantiles, source.columns, strict=True):
        padding, valid = (0, capacity - num_rows), None
        if is_traced(one):
            values = jnp.pad(one.value, padding)
        else:
            values = np.asarray(one.value)
            if values.dtype.kind in "iu" and column.is_numeric and bool(one.is_missing):
                if column.is_nullable and values.dtype == column.dtype:
                    valid = ONE_DEVICE.place(np.zeros(capacity, np.bool_))
                else:
                    values = np.full(num_rows, np.nan)
            values = ONE_DEVICE.place(np.pad(values, padding))
        columns.append(Column(values, valid, column.type))
    labels = narrowed(pd.Index(np.asarray(q, np.float64)))
    index = index_from(labels, capacity, ONE_DEVICE)
    return Table(tuple(columns), index, as_count(num_rows), source.needed)
