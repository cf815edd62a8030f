# SPDX-License-Identifier: Apache-2.0
"""Reduction methods of frames and series."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..align._as_column import as_column
from ..table._arguments import axis_number, check_flag
from ..table._column import Column, host_array
from ..table._dtypes import wide
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._recode import without_missing
from ..table._tracing import is_traced
from ._axis1 import reduce_across
from ._reduce_columns import joined, reduce_columns, reduction_for
from ._results import host_series, host_value, result_type, table_of_series, traced_table

ORDERED = ("min", "max")
LOGICAL = ("any", "all")
OPS_OF_KIND = {
    "string": ("sum", "min", "max", "any", "all", "argmin", "argmax"),
    "category": ("argmin", "argmax"),
    "datetime": ("mean", "median", "std", "min", "max", "argmin", "argmax"),
    "timedelta": ("sum", "mean", "median", "std", "min", "max", "any", "all", "argmin",
                  "argmax"),
    "object": (),
}  # fmt: skip
OPS_WITHOUT_COMPLEX = ("min", "max", "argmin", "argmax", "median", "skew", "kurt", "quantile")


def check_reducible(column: Column, op: str, label: Hashable) -> None:
    """Raises unless a column supports a reduction."""
    kind = column.kind
    if op == "count":
        return
    if kind == "number":
        if column.dtype.kind == "c" and op in OPS_WITHOUT_COMPLEX:
            raise NotImplementedError(
                f"{op}: complex numbers have no order, got column {label!r}. "
                "Take the real part first, with map(jnp.real)."
            )
        return
    if kind == "category" and op in ORDERED:
        if column.type.ordered:
            return
        raise TypeError(
            f"column {label!r}: Categorical is not ordered for operation {op}\n"
            "you can use .as_ordered() to change the Categorical to an ordered one\n"
        )
    if op not in OPS_OF_KIND[kind]:
        raise TypeError(
            f"column {label!r} with dtype {column.dtype_name} does not support operation {op!r}"
        )


def check_rest(op: str, rest: dict[str, Any]) -> None:
    """Raises for unknown keyword arguments."""
    if rest:
        raise TypeError(f"{op}() got an unexpected keyword argument {next(iter(rest))!r}")


class Reductions(NDFrame):
    """The reductions, defined by `_reduced`."""

    def _reduced(self, op: str, axis: Any, rest: dict[str, Any], **arguments: Any) -> Any:
        raise NotImplementedError

    def sum(
        self,
        *,
        axis: Any = 0,
        skipna: bool = True,
        numeric_only: bool = False,
        min_count: int = 0,
        **rest: Any,
    ) -> Any:
        """The sum of the values; strings are concatenated.

        Differences from pandas:
            float32 is summed in float64, so the last digit may differ. Inside `jit` a sum of
            integers with fewer than `min_count` values is not missing, and strings raise.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> int(JaxSeries([1, 2, 3]).sum())
            6
        """
        return self._reduced(
            "sum", axis, rest, skipna=skipna, numeric_only=numeric_only, min_count=min_count
        )

    def prod(
        self,
        *,
        axis: Any = 0,
        skipna: bool = True,
        numeric_only: bool = False,
        min_count: int = 0,
        **rest: Any,
    ) -> Any:
        """The product of the values; see `sum`."""
        return self._reduced(
            "prod", axis, rest, skipna=skipna, numeric_only=numeric_only, min_count=min_count
        )

    product = prod

    def mean(
        self, *, axis: Any = 0, skipna: bool = True, numeric_only: bool = False, **rest: Any
    ) -> Any:
        """The mean of the values."""
        return self._reduced("mean", axis, rest, skipna=skipna, numeric_only=numeric_only)

    def min(
        self, *, axis: Any = 0, skipna: bool = True, numeric_only: bool = False, **rest: Any
    ) -> Any:
        """The least value.

        Differences from pandas:
            Inside `jit` the minimum of no integers is the greatest value of their dtype, not NaN.
        """
        return self._reduced("min", axis, rest, skipna=skipna, numeric_only=numeric_only)

    def max(
        self, *, axis: Any = 0, skipna: bool = True, numeric_only: bool = False, **rest: Any
    ) -> Any:
        """The greatest value; see `min`."""
        return self._reduced("max", axis, rest, skipna=skipna, numeric_only=numeric_only)

    def std(
        self,
        *,
        axis: Any = 0,
        skipna: bool = True,
        ddof: int = 1,
        numeric_only: bool = False,
        **rest: Any,
    ) -> Any:
        """The standard deviation of the values.

        Its derivative is zero where all values are equal.
        """
        return self._reduced("std", axis, rest, skipna=skipna, ddof=ddof, numeric_only=numeric_only)

    def var(
        self,
        *,
        axis: Any = 0,
        skipna: bool = True,
        ddof: int = 1,
        numeric_only: bool = False,
        **rest: Any,
    ) -> Any:
        """The variance of the values, from their distances to the mean."""
        return self._reduced("var", axis, rest, skipna=skipna, ddof=ddof, numeric_only=numeric_only)

    def sem(
        self,
        *,
        axis: Any = 0,
        skipna: bool = True,
        ddof: int = 1,
        numeric_only: bool = False,
        **rest: Any,
    ) -> Any:
        """The standard error of the mean."""
        return self._reduced("sem", axis, rest, skipna=skipna, ddof=ddof, numeric_only=numeric_only)

    def skew(
        self, *, axis: Any = 0, skipna: bool = True, numeric_only: bool = False, **rest: Any
    ) -> Any:
        """The skewness of the values, unbiased."""
        return self._reduced("skew", axis, rest, skipna=skipna, numeric_only=numeric_only)

    def kurt(
        self, *, axis: Any = 0, skipna: bool = True, numeric_only: bool = False, **rest: Any
    ) -> Any:
        """The excess kurtosis of the values, unbiased."""
        return self._reduced("kurt", axis, rest, skipna=skipna, numeric_only=numeric_only)

    kurtosis = kurt

    def any(
        self, *, axis: Any = 0, bool_only: bool = False, skipna: bool = True, **rest: Any
    ) -> Any:
        """Whether any value is true."""
        return self._reduced("any", axis, rest, skipna=skipna, numeric_only=bool_only)

    def all(
        self, *, axis: Any = 0, bool_only: bool = False, skipna: bool = True, **rest: Any
    ) -> Any:
        """Whether all values are true."""
        return self._reduced("all", axis, rest, skipna=skipna, numeric_only=bool_only)


class SeriesReductions(Reductions, SeriesBase):
    """Reductions of a series to a scalar."""

    def count(self) -> Any:
        """The number of non-missing values."""
        return self._reduced("count", 0, {})

    def _reduced(self, op: str, axis: Any, rest: dict[str, Any], **arguments: Any) -> Any:
        check_rest(op, rest)
        axis_number(axis or 0, self)
        column = self._only
        # pandas uses it only for objects, whose reductions raise here.
        arguments.pop("numeric_only", None)
        check_flag(arguments.get("skipna", True), "skipna")
        check_reducible(column, op, self._name)
        if op == "sum" and column.kind == "string":
            return string_sum(column, self._table, self._name, **arguments)
        column = without_missing(column) if op == "count" else column
        plan = reduction_for(column, op, **arguments)
        (reduced,) = reduce_columns([[column]], [plan], self._table.all_rows, self._layout)
        if is_traced(reduced):
            if column.kind != "number" and not plan_gives_number(op):
                raise in_jit(op, self._name, column)
            return self._table.unless_lost(reduced.value)
        return host_value(*reduced, result_type(column.type, op))[0]


class FrameReductions(Reductions, FrameBase):
    """Reductions of each column or row of a frame."""

    def count(self, axis: Any = 0, numeric_only: bool = False) -> Any:
        """The number of non-missing values of each column, or row."""
        return self._reduced("count", axis_number(axis, self), {}, numeric_only=numeric_only)

    def _reduced(self, op: str, axis: Any, rest: dict[str, Any], **arguments: Any) -> Any:
        check_rest(op, rest)
        only_numbers = check_flag(arguments.pop("numeric_only", False), "numeric_only")
        check_flag(arguments.get("skipna", True), "skipna")
        positions = range(len(self._labels))
        if only_numbers and op in LOGICAL:
            positions = [i for i in positions if self._table.columns[i].is_bool]
        elif only_numbers:
            positions = [i for i in positions if self._table.columns[i].is_numeric]
        columns = [self._table.columns[i] for i in positions]
        labels = self._labels.index.take(list(positions))
        axis_number(axis or 0, self)
        if not columns:
            return self._of_nothing(op, axis, labels, arguments)
        for column, label in zip(columns, labels, strict=True):
            if not (axis in (1, "columns") and op in LOGICAL and _is_truth(column, columns)):
                check_reducible(column, op, label)
        if op == "count":
            columns = [without_missing(column) for column in columns]
        if axis in (1, "columns"):
            column = reduce_across(columns, op, self._table, **arguments)
            return self._make_series(column, None)
        if axis is None:
            return self._reduced_together(columns, op, arguments)
        return self._reduced_each(columns, labels, op, arguments)

    def _reduced_each(
        self, columns: Sequence[Column], labels: pd.Index, op: str, arguments: dict[str, Any]
    ) -> Any:
        is_sum_of_strings = [op == "sum" and column.kind == "string" for column in columns]
        rest = [c for c, is_string in zip(columns, is_sum_of_strings, strict=True) if not is_string]
        plans = [reduction_for(column, op, **arguments) for column in rest]
        reduced = iter(
            reduce_columns([[c] for c in rest], plans, self._table.all_rows, self._layout)
            if rest
            else ()
        )
        if is_traced([c.arrays for c in columns], self._table.num_rows):
            for column, label, is_string in zip(columns, labels, is_sum_of_strings, strict=True):
                if is_string:
                    raise in_jit(op, label, column)
            types = [result_type(column.type, op) for column in columns]
            table = traced_table(list(reduced), types, labels, op)
            return self.series_class._of(table.replace(needed=self._table.needed), None)
        values = [
            pd.array(np.array([string_sum(column, self._table, label, **arguments)], object), "str")
            if is_string
            else host_value(*next(reduced), result_type(column.type, op))
            for column, label, is_string in zip(columns, labels, is_sum_of_strings, strict=True)
        ]
        return self.series_class._of(table_of_series(host_series(values, labels)), None)

    def _reduced_together(
        self, columns: Sequence[Column], op: str, arguments: dict[str, Any]
    ) -> Any:
        for column, label in zip(columns, self._labels, strict=False):
            if not column.is_numeric:
                raise NotImplementedError(
                    f"{op}: with axis=None all columns must be numbers, got {column.dtype_name} "
                    f"in column {label!r}. Select columns first."
                )
        dtype = wide(np.result_type(*(column.dtype for column in columns)))
        if op in LOGICAL:
            plans = [reduction_for(column, op, **arguments) for column in columns]
            groups: list[Any] = [[column] for column in columns]
        else:
            is_bool = any(c.is_bool for c in columns) and op in ("sum", "prod")
            sum_dtype = wide(np.int64) if is_bool and dtype.kind == "b" else dtype
            groups = [columns]
            plans = [reduction_for(columns[0], op, dtype=sum_dtype, **arguments)]
        reduced = reduce_columns(groups, plans, self._table.all_rows, self._layout)
        if op in LOGICAL:
            flags = [one.value for one in reduced]
            if is_traced(flags):
                return joined(op, flags)
            join = np.logical_or if op == "any" else np.logical_and
            return join.reduce([np.asarray(flag) for flag in flags])
        if is_traced(reduced):
            return self._table.unless_lost(reduced[0].value)
        return host_value(*reduced[0], result_type(columns[0].type, op))[0]

    def _of_nothing(self, op: str, axis: Any, labels: pd.Index, arguments: dict[str, Any]) -> Any:
        # A frame without columns: pandas computes the result.
        empty = pd.DataFrame(columns=labels)
        if axis in (1, "columns"):
            one = getattr(pd.DataFrame(index=range(1)), op)(axis=1, **arguments)
            return self._make_series(as_column(one.iloc[0], self._table, op), None)
        result = getattr(empty, op)(axis=axis, **arguments)
        if isinstance(result, pd.Series):
            return self.series_class._of(table_of_series(result), None)
        return result


def _is_truth(column: Column, columns: Sequence[Column]) -> bool:
    """Whether pandas uses Python's truth value: it converts rows with strings to objects."""
    with_strings = any(one.kind in ("string", "category") for one in columns)
    return column.kind == "category" or (column.kind == "datetime" and with_strings)


def plan_gives_number(op: str) -> bool:
    """Whether the result is a number for values of every type."""
    return op in ("count", "any", "all", "argmin", "argmax", "nunique")


def in_jit(op: str, label: Hashable, column: Column) -> NotImplementedError:
    """The error for a result that no array can hold."""
    return NotImplementedError(
        f"{op}: inside jit a scalar must be a number, got {column.dtype_name} in column "
        f"{label!r}. Return the series frame[[{label!r}]].{op}(), or call {op} outside jit."
    )


def string_sum(
    column: Column, table: Any, label: Hashable, *, skipna: bool = True, min_count: int = 0
) -> Any:
    """Concatenates the strings of a column."""
    if is_traced(column, table.num_rows):
        raise in_jit("sum", label, column)
    codes = host_array(column.data)[: table.num_rows_on_host]
    present = codes[codes >= 0]
    if (not skipna and len(present) < len(codes)) or len(present) < min_count:
        return np.nan
    return "".join(column.dictionary.values.to_numpy(object)[present])
