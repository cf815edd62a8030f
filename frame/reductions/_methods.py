# SPDX-License-Identifier: Apache-2.0
"""Reduction methods of frames and series."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..align._as_column import as_column
from ..ops._operators import Method
from ..table._alive import named
from ..table._arguments import axis_number, check_flag, check_rest
from ..table._column import Column, ColumnType, show_holes
from ..table._dtypes import wide
from ..table._host_rows import HostRows
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._object_functions import host_series as host_objects
from ..table._object_functions import rows_of_objects
from ..table._recode import without_missing
from ..table._table import Table
from ..table._to_host import host_array
from ..table._tracing import is_traced
from ..table._types import Axis, Function, Options
from ._axis1 import median_across, reduce_across
from ._few_rows import reduce_few_rows
from ._quantiles import quantiles_of_columns
from ._reduce_columns import ENDS, Reduced, is_kleene, reduce_columns, reduction_for
from ._result_rows import reduce_to_rows
from ._results import host_series, host_value, result_type, table_of_series, traced_table

LOGICAL = ("any", "all")
OPS_OF_KIND = {
    "string": ("sum", "min", "max", "any", "all", "argmin", "argmax"),
    "category": ("argmin", "argmax"),
    "list": (),
    "datetime": ("mean", "median", "std", "min", "max", "argmin", "argmax"),
    "timedelta": ("sum", "mean", "median", "std", "min", "max", "any", "all", "argmin",
                  "argmax"),
    **dict.fromkeys(("date", "time"), ("min", "max", "argmin", "argmax")),
    "period": ("median", "min", "max", "argmin", "argmax"),
    "decimal": ("sum", "min", "max", "argmin", "argmax"),
}  # fmt: skip
_OF_OBJECTS = ("sum", "prod", *ENDS)
OPS_WITHOUT_COMPLEX = ("min", "max", "argmin", "argmax", "median", "skew", "kurt", "quantile")


def check_has_operation(column: Column, op: str, label: Hashable) -> None:
    """Raises, with the remedy, for reductions that another dtype of the same values has."""
    if column.kind in ("decimal", "date") and op in ("mean", "median", "std", "var", "prod"):
        other = "float64" if column.kind == "decimal" else "datetime64[us]"
        raise NotImplementedError(
            f"{op}: column {label!r} of {column.dtype_name} is held as whole counts. Cast it with "
            f"astype({other!r})."
        )
    if column.kind == "period" and op == "mean":
        raise TypeError(
            "mean is not implemented for PeriodArray since the meaning is ambiguous: column "
            f"{label!r} of {column.dtype_name}. Convert the periods to their first times by "
            "dt.to_timestamp() first."
        )


def check_reducible(column: Column, op: str, label: Hashable) -> None:
    """Raises unless a column supports a reduction."""
    kind = column.kind
    if kind == "number" and column.dtype.kind == "c" and op in OPS_WITHOUT_COMPLEX:
        raise NotImplementedError(
            f"{op}: complex numbers have no order, got column {label!r}. "
            "Take the real part first, with map(jnp.real)."
        )
    if kind in ("number", "object") or op == "count":
        return
    if kind == "category" and op in ENDS:
        if not column.type.ordered:
            raise TypeError(
                f"column {label!r}: Categorical is not ordered for operation {op}\n"
                "you can use .as_ordered() to change the Categorical to an ordered one\n"
            )
    elif op not in OPS_OF_KIND[kind]:
        check_has_operation(column, op, label)
        raise TypeError(
            f"column {label!r} with dtype {column.dtype_name} does not support operation {op!r}"
        )


def _named(op: str, method: Function, docstring: str) -> Method:
    method.__qualname__, method.__doc__ = f"Reductions.{op}", docstring
    return named(method, op)


def _plain(op: str, docstring: str) -> Method:
    def method(
        self: Any,
        *,
        axis: Axis = 0,
        skipna: bool = True,
        numeric_only: bool = False,
        **rest: object,
    ) -> Any:
        return self._reduced(op, axis, rest, skipna=skipna, numeric_only=numeric_only)

    return _named(op, method, docstring)


def _total(op: str, docstring: str) -> Method:
    def method(
        self: Any,
        *,
        axis: Axis = 0,
        skipna: bool = True,
        numeric_only: bool = False,
        min_count: int = 0,
        **rest: object,
    ) -> Any:
        arguments = {"skipna": skipna, "numeric_only": numeric_only, "min_count": min_count}
        return self._reduced(op, axis, rest, **arguments)

    return _named(op, method, docstring)


def _spread(op: str, docstring: str) -> Method:
    def method(
        self: Any,
        *,
        axis: Axis = 0,
        skipna: bool = True,
        ddof: int = 1,
        numeric_only: bool = False,
        **rest: object,
    ) -> Any:
        return self._reduced(op, axis, rest, skipna=skipna, ddof=ddof, numeric_only=numeric_only)

    return _named(op, method, docstring)


def _logical(op: str, docstring: str) -> Method:
    def method(
        self: Any, *, axis: Axis = 0, bool_only: bool = False, skipna: bool = True, **rest: object
    ) -> Any:
        return self._reduced(op, axis, rest, skipna=skipna, numeric_only=bool_only)

    return _named(op, method, docstring)


class Reductions(NDFrame):
    """The reductions, in terms of `_reduced`."""

    sum: Method = _total(
        "sum",
        """The sum of the values; strings are concatenated.

        Differences from pandas:
            float32 is summed in float64, so the last digit may differ. Inside `jit` a sum of
            integers with fewer than `min_count` values is not missing, and strings raise.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> int(JaxSeries([1, 2, 3]).sum())
            6
        """,
    )
    prod: Method = _total("prod", "The product of the values; see `sum`.")
    product: Method = prod
    mean: Method = _plain("mean", "The mean of the values.")
    median: Method = _plain("median", "The middle value, or the mean of the two in the middle.")
    min: Method = _plain(
        "min",
        """The least value.

        Differences from pandas:
            Inside `jit` the minimum of no integers is the greatest value of their dtype, not NaN.
        """,
    )
    max: Method = _plain("max", "The greatest value; see `min`.")
    std: Method = _spread(
        "std", "The standard deviation. Its derivative is zero where all values are equal."
    )
    var: Method = _spread("var", "The variance of the values, from their distances to the mean.")
    sem: Method = _spread("sem", "The standard error of the mean.")
    skew: Method = _plain("skew", "The skewness of the values, unbiased.")
    kurt: Method = _plain("kurt", "The excess kurtosis of the values, unbiased.")
    kurtosis: Method = kurt
    any: Method = _logical("any", "Whether any value is true.")
    all: Method = _logical("all", "Whether all values are true.")

    def _reduced(self, op: str, axis: Axis, rest: Options, **arguments: object) -> Any:
        raise NotImplementedError


class SeriesReductions(Reductions, SeriesBase):
    """Reductions of a series to a scalar."""

    def count(self) -> Any:
        """The number of non-missing values."""
        return self._reduced("count", 0, {})

    def _reduced(self, op: str, axis: Axis, rest: Options, **arguments: object) -> Any:
        check_rest(op, rest)
        axis_number(axis or 0, self)
        # pandas uses it only for objects, whose reductions raise here.
        arguments.pop("numeric_only", None)
        skipna = check_flag(arguments.get("skipna", True), "skipna")
        stored: Any = self._stored
        if type(stored) is HostRows and skipna and op in ENDS:
            extreme = stored.extreme(op)
            if extreme is not None:
                return extreme
        if type(stored) is HostRows:
            found = stored.reduced(op, arguments)
            if found is not None:
                return found
        if skipna and not arguments.get("min_count"):
            found = reduce_few_rows(self._only, op, self._table.all_rows)
            if found is not None:
                return found
        check_reducible(self._only, op, self._name)
        (result,) = _results(self, op, arguments)
        if is_traced(result) and is_kleene(self._only, op, skipna):
            raise NotImplementedError(
                f"{op}: inside jit a scalar cannot be NA, as it may be with skipna=False. Return "
                f"the series frame[[{self._name!r}]].{op}(skipna=False), or call {op} outside jit."
            )
        return shown(self, result, op) if isinstance(result, Reduced) else result


class FrameReductions(Reductions, FrameBase):
    """Reductions of each column or row of a frame."""

    def count(self, axis: Axis = 0, numeric_only: bool = False) -> Any:
        """The number of non-missing values of each column, or row."""
        return self._reduced("count", axis_number(axis, self), {}, numeric_only=numeric_only)

    def _reduced(self, op: str, axis: Axis, rest: Options, **arguments: object) -> Any:
        check_rest(op, rest)
        only_numbers = check_flag(arguments.pop("numeric_only", False), "numeric_only")
        skipna = check_flag(arguments.get("skipna", True), "skipna")
        stored: Any = self._stored
        if type(stored) is HostRows and not only_numbers and axis in (0, "index"):
            found = stored.reduced(op, arguments)
            if found is not None:
                return self._series_of(found, None)
        frame: Any = self
        if only_numbers:
            frame = self._columns_at(
                self._pick(lambda c: c.counts_as_number and (c.is_bool or op not in LOGICAL))
            )
        columns, labels = frame._table.columns, frame._labels.index
        if op == "median" and axis is None:
            raise NotImplementedError("median: axis must be 0 or 1. Use stack() for all values.")
        is_across = axis_number(0 if axis is None else axis, self) == 1
        if not columns:
            return self._of_nothing(op, axis, labels, arguments)
        if op == "median" and is_across:
            return self._make_series(median_across(columns, skipna), None)
        for column, label in zip(columns, frame._labels, strict=True):
            if not (is_across and op in LOGICAL and _is_truth(column, columns)):
                check_reducible(column, op, label)
        by_host = ("object", "string") if op in ("sum", "min", "max") else ("object",)
        if is_across and op != "count" and any(column.kind in by_host for column in columns):
            across = rows_of_objects(
                columns, self._table, op, lambda rows: getattr(rows, op)(axis=1, **arguments)
            )
            return self._make_series(across, None)
        if is_across:
            if op == "count":
                columns = [without_missing(column) for column in columns]
            return self._make_series(reduce_across(columns, op, self._table, **arguments), None)
        if axis is None:
            return frame._reduced_together(op, arguments)
        are_masks = op == "sum" and all(column.is_bool for column in columns)
        if skipna and not arguments.get("min_count") and (are_masks or op == "count"):
            found = [reduce_few_rows(column, op, self._table.all_rows) for column in columns]
            if all(count is not None for count in found):
                counts = [np.array([count]) for count in found]
                return self._series_of(table_of_series(host_series(counts, labels)), None)
        table = _rows_of_results(frame, op, arguments)
        if table is not None:
            return self._series_of(table, None)
        return one_each(frame, _results(frame, op, arguments), op)

    def _reduced_together(self, op: str, arguments: Options) -> Any:
        columns = tuple(map(show_holes, self._table.columns))
        for column, label in zip(columns, self._labels, strict=True):
            if not column.is_numeric:
                raise NotImplementedError(
                    f"{op}: with axis=None all columns must be numbers, got {column.dtype_name} "
                    f"in column {label!r}. Select columns first."
                )
        dtype = wide(np.result_type(*(column.dtype for column in columns)))
        if op in ("sum", "prod") and dtype.kind == "b":
            dtype = wide(np.int64)
        # The missing values of floats need a rule of their own; others have masks.
        column = next((column for column in columns if column.is_float), columns[0])
        plan = reduction_for(column, op, dtype=dtype, **arguments)
        (reduced,) = reduce_columns([columns], [plan], self._table.all_rows, self._layout)
        if is_traced(reduced):
            return self._table.unless_lost(reduced.value)
        return host_value(*reduced, result_type(column.type, op), op in LOGICAL)[0]

    def _of_nothing(self, op: str, axis: Axis, labels: pd.Index, arguments: Options) -> Any:
        # A frame without columns: pandas computes the result.
        empty = pd.DataFrame(columns=labels)
        if axis in (1, "columns"):
            one = getattr(pd.DataFrame(index=range(1)), op)(axis=1, **arguments)
            return self._make_series(as_column(one.iloc[0], self._table, op), None)
        result = getattr(empty, op)(axis=axis, **arguments)
        if isinstance(result, pd.Series):
            return self._series_of(table_of_series(result), None)
        return result


def _is_truth(column: Column, columns: Sequence[Column]) -> bool:
    """Whether pandas uses Python's truth value: it converts rows with strings to objects."""
    with_strings = any(one.kind in ("string", "category") for one in columns)
    return column.kind == "category" or (column.kind == "datetime" and with_strings)


def _are_objects(columns: Sequence[Column], op: str) -> bool:
    """Whether results of columns are objects: for pandas bools with missing values are."""
    if any(column.kind == "object" for column in columns):
        return op not in (*LOGICAL, "count", "argmin", "argmax")
    return op in _OF_OBJECTS and any(column.is_of_objects for column in columns)


def _operand(column: Column, op: str) -> Column:
    """The column that a reduction reads.

    Counts need no null objects, and no codes of strings. Integers that may have missing values are
    floats, as they are in pandas.
    """
    return without_missing(column).stored if op == "count" else show_holes(column)


def _rows_of_results(of: FrameBase, op: str, arguments: Options) -> Table | None:
    """The results of all columns as the rows of a table; None if the host must look at them."""
    columns = of._table.columns
    if op == "median" or _are_objects(columns, op):
        return None
    if any(column.is_nullable for column in columns):
        return None
    if not all(_on_device(column, op) for column in columns):
        return None
    columns = [_operand(column, op) for column in columns]
    plans = [reduction_for(column, op, **arguments) for column in columns]
    return reduce_to_rows(columns, plans, of._table, of._labels)


def _results(of: NDFrame, op: str, arguments: Options) -> list[Any]:
    """A `Reduced` for each column; for objects and sums of strings a scalar of the host."""
    table, rows = of._table, (of._table.all_rows, of._layout)
    rest = [column for column in table.columns if _on_device(column, op)]
    if op == "median":
        reduced = iter(quantiles_of_columns(rest, [0.5], op, *rows, **arguments) if rest else ())
    else:
        rest = [_operand(column, op) for column in rest]
        plans = [reduction_for(column, op, **arguments) for column in rest]
        reduced = iter(reduce_columns([[column] for column in rest], plans, *rows) if rest else ())
    return [
        next(reduced)
        if _on_device(column, op)
        else (of_objects if column.kind == "object" else string_sum)(
            column, table, label, op=op, **arguments
        )
        for column, label in zip(table.columns, of._names, strict=True)
    ]


def _on_device(column: Column, op: str) -> bool:
    """Whether the device reduces a column. Objects and long strings are on the host."""
    is_joined = op == "sum" and column.kind == "string"
    return op == "count" or not (is_joined or column.kind == "object")


def shown(series: SeriesBase, result: Reduced, op: str) -> Any:
    """The result for a series: a scalar of the host, or of the device inside `jit`."""
    column = _operand(series._only, op)
    if not is_traced(result):
        return host_value(*result, result_type(column.type, op), op in LOGICAL)[0]
    if column.kind != "number" and op not in ("count", "any", "all"):
        raise in_jit(op, series._name, column)
    return series._table.unless_lost(result.value.reshape(()))


def one_each(frame: FrameBase, results: Sequence[Any], op: str, name: Hashable = None) -> Any:
    """A series of the results of columns."""
    columns, labels = frame._table.columns, frame._labels.index
    types = [result_type(_operand(column, op).type, op) for column in columns]
    if is_traced(results):
        for column, label, result in zip(columns, labels, results, strict=True):
            if not isinstance(result, Reduced):
                raise in_jit(op, label, column)
        table = traced_table(results, types, labels, op).replace(needed=frame._table.needed)
        return frame._series_of(table, name)
    values = [
        host_value(*result, type, op in LOGICAL)
        if isinstance(result, Reduced)
        else host_result(result, type, op)
        for result, type in zip(results, types, strict=True)
    ]
    if _are_objects(columns, op):
        series = pd.Series([value[0] for value in values], labels, dtype=object)
    else:
        series = host_series(values, labels)
    return frame._series_of(table_of_series(series), name)


def host_result(result: object, type: ColumnType, op: str) -> Any:
    """A result of the host as an array of one element."""
    if op in LOGICAL:
        return np.array([bool(result)])
    array = np.empty(1, object)
    array[0] = result
    if type.kind != "string":
        return array
    return pd.array(array, "str" if type.family is None else type.nullable(np.int32))


def in_jit(op: str, label: Hashable, column: Column) -> NotImplementedError:
    """The error for a result that no array can hold."""
    return NotImplementedError(
        f"{op}: inside jit a scalar must be a number, got {column.dtype_name} in column "
        f"{label!r}. Return the series frame[[{label!r}]].{op}(), or call {op} outside jit."
    )


def of_objects(
    column: Column, table: Table, label: Hashable, *, op: str, **arguments: object
) -> Any:
    """Reduces a column of objects on the host, as pandas does."""
    if is_traced(column, table.num_rows):
        raise in_jit(op, label, column)
    try:
        return getattr(host_objects(column, table.num_rows_on_host), op)(**arguments)
    except TypeError as error:
        error.add_note(f"{op}: of column {label!r}, which holds objects")
        raise


def string_sum(
    column: Column,
    table: Any,
    label: Hashable,
    *,
    op: str,
    skipna: bool = True,
    min_count: int = 0,
) -> Any:
    """Concatenates the strings of a column."""
    del op
    if is_traced(column, table.num_rows):
        raise in_jit("sum", label, column)
    codes = host_array(column.data)[: table.num_rows_on_host]
    present = codes[codes >= 0]
    if (not skipna and len(present) < len(codes)) or len(present) < min_count:
        return np.nan if column.family is None else pd.NA
    return "".join(column.dictionary.values.to_numpy(object)[present])
