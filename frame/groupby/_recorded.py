# SPDX-License-Identifier: Apache-2.0
"""Functions of one group traced over all groups: each of their calls is a call for all groups.

A traced group has columns, whose methods give columns or one value for each group. They are
methods of `groupby` and operators of series, so that results have gradients, work inside `jit` and
over a mesh, and cost what these methods cost. Whatever else a function does with its group raises
`UntraceableError`.
"""

import operator
import sys
from collections.abc import Callable, Hashable
from typing import Any, NoReturn

import numpy as np

from ..ops._array_ops import COMPARISONS, LOGIC
from ..table._column import Column, fill_missing
from ..table._dtypes import wide
from ..table._ndframe import SeriesBase
from ..table._row_index import RANGE
from ..table._table import Table
from ..table._take import look_up_rows, missing_elsewhere, settled, take_columns
from ..table._types import Function, Options
from ..table._user_functions import UntraceableError
from ._base import GroupByBase
from ._grouped_column import Reduction

# Reductions of a series that reduce a group alike, and their dtypes.
_REDUCTIONS = {
    "sum": Reduction("sum", min_count=0), "mean": Reduction("mean"), "min": Reduction("min"),
    "max": Reduction("max"), "median": Reduction("median"), "count": Reduction("count"),
    "nunique": Reduction("nunique"), "std": Reduction("std"), "var": Reduction("var"),
    "sem": Reduction("sem"), "prod": Reduction("prod", min_count=0), "any": Reduction("any"),
    "all": Reduction("all"),
}  # fmt: skip
_OF_TIMES = ("min", "max", "count", "nunique")
_OF_BOOLS = ("sum", "mean", "min", "max", "count", "nunique", "any", "all")
_OF_NUMBERS = tuple(name for name in _REDUCTIONS if name not in ("any", "all"))
# Row-wise methods of a series that are methods of its groups.
_ROW_METHODS = ("cumsum", "cumprod", "cummin", "cummax", "shift", "diff", "ffill", "bfill", "rank")
# Methods of a series for each value by itself.
_VALUE_METHODS = ("abs", "isna", "isnull", "notna", "notnull", "fillna", "clip", "between")
_ARITHMETIC = ("add", "sub", "mul", "truediv")


class Trace:
    """The groups that a function is traced over, and whether its trace is valid."""

    def __init__(self, grouped: GroupByBase):
        self.grouped = grouped
        self.asked = False
        labels = getattr(grouped._source, "_labels", None)
        if grouped._groups.may_be_empty or (labels is not None and not labels.index.is_unique):
            self.refuse("groups without rows or labels that occur twice")

    def refuse(self, what: str) -> NoReturn:
        """Raises, and remembers it for functions that catch the error."""
        self.asked = True
        raise UntraceableError(
            f"groupby: a function of groups that uses {what} cannot be traced. Name a reduction, "
            "or wrap a JAX function with jaxframes.frame.segment_function."
        )

    def rows(self, column: Column) -> "GroupColumn":
        """The values of the rows of each group."""
        if not (_is_wide_number(column) or column.is_bool or column.type.is_time):
            self.refuse(f"a column of {column.dtype_name}")
        if column.is_bool and column.valid is not None:
            self.refuse("bools with missing values")
        # Integers that may have missing values are floats, as in pandas.
        column = fill_missing(column)
        of = self.grouped
        return GroupColumn(self, of._source._make_series(column, None, of._table))

    def values(self, column: Column) -> "GroupValue":
        """One value for each group."""
        groups = self.grouped._groups
        table = Table((column,), RANGE, groups.count, layout=groups.layout)
        return GroupValue(self, self.grouped._source.series_class._of(table, None))

    def spread(self, value: "GroupValue") -> Any:
        """The value of its group for each row, as a series."""
        of, segments = self.grouped, self.grouped._groups.segments
        take = take_columns if segments.is_sharded else look_up_rows
        (column,) = take(
            [value._series._only], of._groups.group_ids, segments.layout,
            holes=of._grouped.may_drop,
        )  # fmt: skip
        column = settled(column, of._table.num_rows)
        return of._source._make_series(column, None, of._table)


class _Traced:
    """A part of a traced group. Questions that only a concrete group answers raise."""

    def __init__(self, trace: Trace, series: object):
        self.__dict__.update(_trace=trace, _series=series)

    __array_ufunc__ = None
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __getattr__(self, name: str) -> Any:
        return self._trace.refuse(name)

    @property
    def __class__(self) -> type:  # pyright: ignore[reportIncompatibleMethodOverride]
        # A function that asks for the type of its group would take another branch on the host.
        asker = sys._getframe(1).f_globals.get("__name__", "")
        if not asker.startswith(__name__.partition(".")[0]):
            self._trace.refuse("isinstance")
        return type(self)

    def __setattr__(self, name: str, value: object) -> None:
        self._trace.refuse(f"assignment to {name}")

    @property
    def _column(self) -> Column:
        return self._series._only


def _question(name: str) -> Callable[..., Any]:
    def ask(self: _Traced, *_: object, **__: object) -> Any:
        self._trace.refuse(name)

    return ask


_QUESTIONS = (
    *("str", "repr", "format", "bool", "int", "float", "index", "complex", "array", "round"),
    *("len", "iter", "contains", "getitem", "setitem", "array_function", "jax_array", "neg"),
    *("floordiv", "rfloordiv", "mod", "rmod", "pow", "rpow", "matmul", "call", "dataframe"),
    *("divmod", "rdivmod", "trunc", "floor", "ceil", "arrow_c_stream", "arrow_c_array"),
)
for _name in _QUESTIONS:
    setattr(_Traced, f"__{_name}__", _question(f"__{_name}__"))


class GroupColumn(_Traced):
    """The values of one column, or computed from columns, of the rows of each group."""

    def _like(self, series: SeriesBase) -> "GroupColumn":
        return self._trace.rows(series._only)

    def __getattr__(self, name: str) -> Any:
        column = self._column
        if name in _REDUCTIONS:
            names = _OF_BOOLS if column.is_bool else _OF_NUMBERS
            if name not in (_OF_TIMES if column.type.is_time else names):
                self._trace.refuse(f"{name} of {column.dtype_name}")
            return lambda *args, **kwargs: self._reduced(name, args, kwargs)
        if name in _ROW_METHODS and not column.is_bool:
            return lambda *args, **kwargs: self._of_rows(name, args, kwargs)
        if name in _VALUE_METHODS:
            return lambda *args, **kwargs: self._of_values(name, args, kwargs)
        return self._trace.refuse(name)

    def __neg__(self) -> "GroupColumn":
        if self._column.is_bool:
            self._trace.refuse("- of bools")
        return self._like(-self._series)

    def __invert__(self) -> "GroupColumn":
        if not self._column.is_bool:
            self._trace.refuse("~ of numbers")
        return self._like(~self._series)

    def __abs__(self) -> "GroupColumn":
        return self._of_values("abs", (), {})

    def _plain(self, args: Any, kwargs: Options) -> None:
        for one in (*args, *kwargs.values()):
            if one is not None and not isinstance(one, (bool, int, float, str, np.number)):
                self._trace.refuse(f"arguments of {type(one).__name__}")

    def _reduced(self, name: str, args: object, kwargs: Options) -> "GroupValue":
        settings = dict(kwargs)
        how = _REDUCTIONS[name]
        if name in ("std", "var", "sem") and isinstance(settings.get("ddof"), int):
            how = how._replace(ddof=settings.pop("ddof"))
        if args or settings:
            self._trace.refuse(f"arguments of {name}")
        (column,) = self._trace.grouped._of_series(self._series)._reduced([(0, how)])
        return self._trace.values(column)

    def _of_rows(self, name: str, args: Any, kwargs: Options) -> "GroupColumn":
        self._plain(args, kwargs)
        groups = self._trace.grouped._of_series(self._series)
        return self._like(getattr(groups, name)(*args, **kwargs))

    def _of_values(self, name: str, args: Any, kwargs: Options) -> "GroupColumn":
        self._plain(args, kwargs)
        if name == "clip" and self._column.dtype.kind != "f":
            # Whether integers become floats depends on the values of a group.
            self._trace.refuse("clip of integers")
        return self._like(getattr(self._series, name)(*args, **kwargs))


class GroupValue(_Traced):
    """One value for each group: what a reduction of a group returns."""

    def _like(self, series: SeriesBase) -> "GroupValue":
        return self._trace.values(series._only)

    def __neg__(self) -> "GroupValue":
        if self._column.is_bool:
            self._trace.refuse("- of bools")
        return self._like(-self._series)

    def __abs__(self) -> "GroupValue":
        if self._column.is_bool:
            self._trace.refuse("abs of bools")
        return self._like(abs(self._series))


def _is_wide_number(column: Column) -> bool:
    """Whether values are as wide as Python's, so that scalars have the dtype of series."""
    return column.is_numeric and column.dtype in (wide(np.int64), wide(np.float64))


def _operate(name: str, *, is_reflected: bool = False) -> Callable[..., Any]:
    function = getattr(operator, f"__{name}__")

    def operate(self: _Traced, other: object) -> Any:
        trace = self._trace
        if isinstance(other, _Traced) and other._trace is not trace:
            trace.refuse("values of other groups")
        if not isinstance(other, (_Traced, bool, int, float)):
            trace.refuse(f"{name} of {type(other).__name__}")
        kinds = {_kind(self), _kind(other)}
        if name in LOGIC and kinds != {"bool"}:
            trace.refuse(f"{name} of numbers")
        if name in _ARITHMETIC and "bool" in kinds:
            trace.refuse(f"{name} of bools")
        is_of_times = kinds & {"datetime", "timedelta"}
        if is_of_times and (len(kinds) > 1 or name not in (*COMPARISONS, "sub")):
            trace.refuse(f"{name} of times")
        of_rows = isinstance(self, GroupColumn) or isinstance(other, GroupColumn)
        pair = [_operand(trace, self, of_rows), _operand(trace, other, of_rows)]
        result = function(*(reversed(pair) if is_reflected else pair))
        return trace.rows(result._only) if of_rows else trace.values(result._only)

    return operate


def _kind(value: object) -> str:
    if isinstance(value, _Traced):
        return "bool" if value._column.is_bool else value._column.kind
    return "bool" if isinstance(value, bool) else "number"


def _operand(trace: Trace, value: object, of_rows: bool) -> Any:
    if isinstance(value, GroupValue):
        return trace.spread(value) if of_rows else value._series
    return value._series if isinstance(value, _Traced) else value


for _name in (*_ARITHMETIC, *COMPARISONS, *LOGIC):
    setattr(_Traced, f"__{_name}__", _operate(_name))
    if _name not in COMPARISONS:
        setattr(_Traced, f"__r{_name}__", _operate(_name, is_reflected=True))


class GroupFrame(_Traced):
    """A traced group of a frame: its columns by label."""

    def __init__(self, trace: Trace):
        super().__init__(trace, None)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or hasattr(type(self._trace.grouped._source), name):
            self._trace.refuse(name)
        return self[name]

    def __getitem__(self, label: Hashable) -> GroupColumn:
        grouped = self._trace.grouped
        source: Any = grouped._source
        labels = source._labels
        if not isinstance(label, (str, int)) or label not in labels:
            self._trace.refuse(f"[{label!r}]")
        position = labels.position(label)
        if position not in grouped._positions:
            self._trace.refuse(f"[{label!r}]")
        return self._trace.rows(grouped._table.columns[position])


def traced_over_groups(grouped: GroupByBase, function: Function) -> GroupColumn | GroupValue:
    """The results of a function of a group, of all groups at once.

    Raises:
        UntraceableError: the function needs the groups one by one.
    """
    trace = Trace(grouped)
    if grouped._is_series:
        group: Any = trace.rows(grouped._columns[0])
    else:
        group = GroupFrame(trace)
    result = function(group)
    if trace.asked or not isinstance(result, (GroupColumn, GroupValue)):
        trace.refuse(f"groups one by one and returns {type(result).__name__}")
    return result


def rows_of(traced: GroupColumn | GroupValue) -> Column:
    """The result of each row: its own, or that of its group; missing without a group."""
    trace = traced._trace
    if isinstance(traced, GroupValue):
        return trace.spread(traced)._only
    of, column = trace.grouped, traced._column
    if not of._grouped.may_drop:
        return column
    has_value = of._groups.segments.ids >= 0
    if column.is_nullable:
        # Without a mask a missing float is a NaN.
        has_value = has_value & column.present()
    (column,) = missing_elsewhere([column], has_value)
    return settled(column, of._table.num_rows)


def value_of(traced: GroupColumn | GroupValue) -> Column:
    """The result of each group; raises for results of rows."""
    if isinstance(traced, GroupColumn):
        traced._trace.refuse("all rows of its result")
    return traced._column
