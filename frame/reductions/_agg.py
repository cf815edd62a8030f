# SPDX-License-Identifier: Apache-2.0
"""Several reductions at once, by name or by function."""

import functools
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..combining._concat import concat
from ..table._arguments import axis_number, listed, only_rows
from ..table._by_pandas import by_pandas
from ..table._column import NUMBER, Column, of_family
from ..table._column_labels import Labels
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._to_host import no_rows
from ..table._tracing import is_traced
from ..table._types import Axis, Options
from ..table._user_functions import has_host, is_of_numpy, known_reduction
from ._results import result_type, table_of_frame, table_of_series, traced_table


def name_of(func: object) -> Hashable:
    """Returns the label of a reduction in a result."""
    if isinstance(func, functools.partial):
        return name_of(func.func)
    return func if isinstance(func, str) else getattr(func, "__name__", repr(func))


def check_labels(wanted: Iterable[Hashable], labels: Labels) -> None:
    """Raises for labels of no column."""
    if absent := [label for label in wanted if label not in labels]:
        raise KeyError(f"Label(s) {absent} do not exist")


def named_pairs(named: Options) -> dict[str, tuple[Any, Any]]:
    """The label and the function of each keyword of `agg`."""
    pairs: dict[str, tuple[Any, Any]] = {}
    for name, pair in named.items():
        pair = (pair.column, pair.aggfunc) if isinstance(pair, pd.NamedAgg) else pair
        if not isinstance(pair, tuple) or len(pair) != 2:
            break
        pairs[name] = pair[0], pair[1]
    if not pairs or len(pairs) < len(named):
        raise TypeError("Must provide 'func' or tuples of '(column, aggfunc).")
    return pairs


def apply_one(of: NDFrame, func: object, args: Any, rest: Any) -> Any:
    """Calls a method or a NumPy ufunc by name, or a function of the series or frame."""
    if isinstance(func, str):
        method = getattr(of, func, None) if not func.startswith("_") else None
        ufunc = getattr(np, func, None)
        if method is None and isinstance(ufunc, np.ufunc):
            return ufunc(of, *args, **rest)
        if method is None:
            kind = "Series" if isinstance(of, SeriesBase) else "DataFrame"
            raise AttributeError(f"'{func}' is not a valid function for '{kind}' object")
        return method(*args, **rest) if callable(method) else method
    if not callable(func):
        raise TypeError(f"agg: func must be a name, a function, a list or a dict, got {func!r}")
    found = method_of(func, of)
    if found is None:
        return func(of, *args, **rest)
    name, how = found
    return getattr(of, name)(*args, **how, **rest)


def method_of(func: Any, of: NDFrame) -> tuple[str, Options] | None:
    """The method that computes what a function of NumPy does, with its arguments; None without."""
    if not is_of_numpy(func):
        return None
    name, how = known_reduction(func) or (func.__name__, {})
    return (name, how) if callable(getattr(type(of), name, None)) else None


def _series_of_scalars(of: NDFrame, values: Sequence[Any], labels: pd.Index, name: object) -> Any:
    """A series of scalar results with labels; traced scalars get their common dtype."""
    if is_traced(values):
        pairs = [(value, False) for value in values]
        table = traced_table(pairs, [NUMBER] * len(values), labels, "agg")
        return of._series_of(table.replace(needed=of._table.needed), name)
    if any(value is pd.NA for value in values):
        # pandas has objects then: the dtype would depend on the values.
        values = [np.nan if value is pd.NA else value for value in values]
    return of._series_of(table_of_series(pd.Series(values, index=labels, name=name)), name)


_COUNTS = ("count", "nunique", "size")


def _in_family(result: object, column: Column, func: object) -> Any:
    """Several reductions of a column of a frame: of a nullable one they are nullable, if not all
    are counts, and of times and strings they have the type that is common to them."""
    if not isinstance(result, SeriesBase):
        return result
    if column.type.is_time or column.kind in ("date", "time", "period", "string"):
        return result if result._is_traced else _in_common_type(result, column, func)
    if not column.is_nullable or not column.is_numeric:
        return result
    if all(isinstance(one, str) and one in _COUNTS for one in listed(func)):
        return result
    return result._with_column(of_family(result._only, column.family))


def _in_common_type(result: Any, column: Column, func: object) -> Any:
    """Reductions by name in their type, which a missing value alone does not have."""
    names = listed(func)
    types = {result_type(column.type, one) if isinstance(one, str) else NUMBER for one in names}
    if len(types) > 1 or NUMBER in types:
        return result
    dtype = no_rows(Column(column.data, None, types.pop())).dtype
    shown = result.to_pandas().astype(object)
    typed = shown.where(shown.notna(), None).astype(dtype)
    return result._made(table_of_series(typed), result._name)


class SeriesAggregation(SeriesBase):
    """Several reductions of a series at once."""

    def agg(self, func: object = None, axis: Axis = 0, *args: object, **rest: object) -> Any:
        """Reduces by a name, a function of the series, a list of them, or a dict by label.

        A function receives the series and may call its methods; inside `jit` it is traced.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1, 3]).agg(["min", "max"]).tolist()
            [1, 3]
        """
        only_rows("agg", axis, self, "Use the methods' own axis=1.")
        if func is None:
            func, rest = dict(rest), {}
            if not func:
                raise TypeError("Must provide 'func' or named aggregation **kwargs.")
        is_list = isinstance(func, (list, tuple))
        if isinstance(func, (list, tuple)):
            func = {name_of(one): one for one in func}
            if not func:
                raise ValueError("No objects to concatenate")
        if not isinstance(func, dict):
            return apply_one(self, func, args, rest)
        values = [apply_one(self, one, args, rest) for one in func.values()]
        if is_list and all(isinstance(value, NDFrame) for value in values):
            return concat(dict(zip(func, values, strict=True)), axis=1)
        if any(isinstance(value, NDFrame) for value in values):
            raise NotImplementedError(
                "agg: a list must hold reductions. Call transform() for functions that keep rows."
            )
        return _series_of_scalars(self, values, pd.Index(list(func)), self._name)

    aggregate = agg


class FrameAggregation(FrameBase):
    """Several reductions of the columns of a frame at once."""

    def agg(self, func: object = None, axis: Axis = 0, *args: object, **named: object) -> Any:
        """Reduces by a name, a function, a list of them, a dict by column, or named pairs.

        A function receives each column as a series, or each row with `axis=1`; see `apply`.

        Differences from pandas:
            Inside `jit` all columns need the same reductions: a name, a function, a list of them.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1, 3]}).agg(["min", "max"]).to_pandas()["x"].tolist()
            [1, 3]
        """
        if axis_number(axis, self):
            return self._agg_rows(func, args, named)
        if func is None:
            return self._agg_named(named)
        if isinstance(func, dict):
            check_labels(func, self._labels)
            if any(isinstance(one, dict) for one in func.values()):
                raise pd.errors.SpecificationError("nested renamer is not supported")
            if any(isinstance(one, (list, tuple)) for one in func.values()):
                # A single list makes the result a frame, so every entry becomes a list.
                func = {label: listed(one) for label, one in func.items()}
            parts = {
                label: self._series_at(self._labels.position(label)).agg(one, 0, *args, **named)
                for label, one in func.items()
            }
            labels = pd.Index(list(parts))
            if len(parts) == len(self._labels):
                labels = self._labels.index[:0].append(labels)
            return self._joined(list(parts.values()), labels)
        if isinstance(func, str) or method_of(func, self) is not None:
            return apply_one(self, func, args, named)
        results = [
            _in_family(self._series_at(position).agg(func, 0, *args, **named), column, func)
            for position, column in enumerate(self._table.columns)
        ]
        if (
            callable(func)
            and has_host(self._is_traced)
            and any(map(pd.api.types.is_list_like, results))
        ):
            frame: Any = self
            return frame._of_columns(results, None)
        return self._joined(results, self._labels.index)

    aggregate = agg

    def _agg_rows(self, func: Any, args: tuple[object, ...], named: Options) -> Any:
        """A reduction of each row."""
        frame: Any = self
        if isinstance(func, str) or callable(func):
            return frame.apply(func, axis=1, args=args, **named)
        return by_pandas(
            self, "agg: several functions with axis=1", "Call each method with axis=1.",
            lambda data: data.agg(func, 1, *args, **named),
        )  # fmt: skip

    def _agg_named(self, named: Options) -> Any:
        parts: dict[Any, dict[str, Any]] = {}
        for name, (label, one) in named_pairs(named).items():
            check_labels([label], self._labels)
            value = self._series_at(self._labels.position(label)).agg(one)
            if isinstance(value, NDFrame):
                raise NotImplementedError(
                    f"agg: the function of {name!r} must reduce the column to a scalar. Use assign "
                    "for columns of rows."
                )
            parts.setdefault(label, {})[name] = value
        columns = {label: pd.Series(values) for label, values in parts.items()}
        frame = pd.concat(columns, axis=1).reindex(list(named))
        return self._frame_of(*table_of_frame(frame))

    def _joined(self, values: Sequence[Any], labels: pd.Index) -> Any:
        """Combines scalars into a series by column, and series into a frame."""
        if not any(isinstance(value, NDFrame) for value in values):
            return _series_of_scalars(self, values, labels, None)
        if not all(isinstance(value, NDFrame) for value in values):
            raise ValueError(
                "cannot perform both aggregation and transformation operations simultaneously"
            )
        if all(isinstance(value, FrameBase) for value in values):
            names = [*self._labels.index.names, None]
            return concat(dict(zip(labels, values, strict=True)), axis=1, names=names)
        labels = labels.set_names(self._labels.index.names)
        if any(is_traced(value._table) for value in values):
            return self._joined_in_jit(values, labels)
        frame = pd.concat([value.to_pandas() for value in values], axis=1)
        frame.columns = labels
        return self._frame_of(*table_of_frame(frame))

    def _joined_in_jit(self, values: Sequence[Any], labels: pd.Index) -> Any:
        """Combines series of results with equal labels into a frame."""
        tables = [value._table for value in values]
        rows = [None if is_traced(t.index, t.num_rows) else t.num_rows_on_host for t in tables]
        first = None if None in rows else tables[0].index.to_pandas(rows[0])
        if first is None or not all(
            first.equals(table.index.to_pandas(n)) for table, n in zip(tables, rows, strict=True)
        ):
            raise NotImplementedError(
                "agg: inside jit all columns must have the same reductions. Pass one list."
            )
        columns = tuple(table.columns[0] for table in tables)
        table = tables[0].replace(columns=columns, needed=self._table.needed)
        return self._frame_of(table, Labels(labels))
