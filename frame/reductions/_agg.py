# SPDX-License-Identifier: Apache-2.0
"""Several reductions at once, by name or by function."""

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import pandas as pd

from ..table._arguments import only_rows
from ..table._column import Column
from ..table._column_labels import Labels
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._tracing import is_traced
from ._results import table_of_frame, table_of_series, traced_table


def name_of(func: Any) -> Hashable:
    """What a reduction is called in the labels of a result."""
    return func if isinstance(func, str) else getattr(func, "__name__", repr(func))


def apply_one(of: NDFrame, func: Any, args: Any, rest: Any) -> Any:
    """A method by its name or one of NumPy's, or a function of the series or frame."""
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
    if getattr(np, getattr(func, "__name__", ""), None) is func and hasattr(of, func.__name__):
        return getattr(of, func.__name__)(*args, **rest)
    return func(of, *args, **rest)


class SeriesAggregation(SeriesBase):
    """Several reductions of a series at once."""

    def agg(self, func: Any = None, axis: Any = 0, *args: Any, **rest: Any) -> Any:
        """Reduces by a name, a function of the series, a list of them, or a dict by label.

        A function is given the series, so it may use its methods, and is traced inside `jit`.

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
        if isinstance(func, (list, tuple)):
            func = {name_of(one): one for one in func}
            if not func:
                raise ValueError("No objects to concatenate")
        if not isinstance(func, dict):
            return apply_one(self, func, args, rest)
        values = [apply_one(self, one, args, rest) for one in func.values()]
        if any(isinstance(value, NDFrame) for value in values):
            raise NotImplementedError(
                "agg: a list must be of reductions. Call what keeps all rows on its own."
            )
        index = pd.Index(list(func))
        if is_traced(values):
            types = [Column(value).type for value in values]
            pairs = [(value, False) for value in values]
            table = traced_table(pairs, types, index, "agg").replace(needed=self._table.needed)
            return self.series_class._of(table, self._name)
        result = pd.Series(values, index=index, name=self._name)
        return self.series_class._of(table_of_series(result), self._name)

    aggregate = agg

    def transform(self, func: Any, axis: Any = 0, *args: Any, **rest: Any) -> Any:
        """Applies what keeps all rows: a name, or a function of the series."""
        only_rows("transform", axis, self, "Use the methods' own axis=1.")
        return transformed(self, func, args, rest)


def transformed(of: Any, func: Any, args: Any, rest: Any) -> Any:
    """What a method or a function makes of all rows.

    Raises:
        ValueError: it does not keep them.
    """
    if isinstance(func, (list, tuple)):
        raise NotImplementedError("transform: func must be one function. Call it for each.")
    if isinstance(func, str) and not hasattr(of, func) and not hasattr(np, func):
        raise ValueError(f"Transform function failed: there is no {func!r}")
    result = apply_one(of, func, args, rest)
    keeps = isinstance(result, NDFrame) and result._table.capacity == of._table.capacity
    if keeps and not is_traced(result._table.num_rows, of._table.num_rows):
        keeps = len(result) == len(of)
    if not keeps:
        raise ValueError("Function did not transform")
    return result


class FrameAggregation(FrameBase):
    """Several reductions of the columns of a frame at once."""

    def agg(self, func: Any = None, axis: Any = 0, *args: Any, **named: Any) -> Any:
        """Reduces by a name, a function, a list of them, a dict by column, or named pairs.

        A function is given each column as a series.

        Differences from pandas:
            Inside `jit` all columns have the same reductions: a name, a function, a list of them.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1, 3]}).agg(["min", "max"]).to_pandas()["x"].tolist()
            [1, 3]
        """
        only_rows("agg", axis, self, "Use the methods' own axis=1.")
        if func is None:
            return self._agg_named(named)
        if isinstance(func, dict):
            absent = [label for label in func if label not in self._labels]
            if absent:
                raise KeyError(f"Label(s) {absent} do not exist")
            if any(isinstance(one, dict) for one in func.values()):
                raise pd.errors.SpecificationError("nested renamer is not supported")
            if any(isinstance(one, (list, tuple)) for one in func.values()):
                # One list makes a frame: the others are lists of one.
                func = {
                    label: one if isinstance(one, (list, tuple)) else [one]
                    for label, one in func.items()
                }
            parts = {
                label: self._series_at(self._labels.position(label)).agg(one, 0, *args, **named)
                for label, one in func.items()
            }
            return self._joined(parts)
        if isinstance(func, (list, tuple)):
            parts = {
                label: self._series_at(place).agg(func, 0, *args, **named)
                for place, label in enumerate(self._labels)
            }
            return self._joined(parts)
        if isinstance(func, str):
            return apply_one(self, func, args, named)
        if getattr(np, getattr(func, "__name__", ""), None) is func:
            return apply_one(self, func, args, named)
        return self._joined(
            {
                label: apply_one(self._series_at(place), func, args, named)
                for place, label in enumerate(self._labels)
            }
        )

    aggregate = agg

    def _agg_named(self, named: dict[str, Any]) -> Any:
        if not named or not all(isinstance(v, tuple) and len(v) == 2 for v in named.values()):
            raise TypeError("Must provide 'func' or tuples of '(column, aggfunc).")
        parts: dict[Any, dict[str, Any]] = {}
        for name, (label, one) in named.items():
            if label not in self._labels:
                raise KeyError(f"Label(s) [{label!r}] do not exist")
            value = self._series_at(self._labels.position(label)).agg(one)
            parts.setdefault(label, {})[name] = value
        columns = {label: pd.Series(values) for label, values in parts.items()}
        frame = pd.concat(columns, axis=1).reindex(list(named))
        return self.frame_class._of(*table_of_frame(frame))

    def _joined(self, parts: dict[Hashable, Any]) -> Any:
        """Scalars as a series by column, series as a frame."""
        values = list(parts.values())
        if not any(isinstance(value, NDFrame) for value in values):
            index = self._labels.index if len(parts) == len(self._labels) else None
            labels = (
                pd.Index(list(parts)) if index is None else index[:0].append(pd.Index(list(parts)))
            )
            if is_traced(values):
                types = [Column(value).type for value in values]
                pairs = [(value, False) for value in values]
                table = traced_table(pairs, types, labels, "agg")
                return self.series_class._of(table.replace(needed=self._table.needed), None)
            result = pd.Series(values, index=labels)
            return self.series_class._of(table_of_series(result), None)
        if not all(isinstance(value, NDFrame) for value in values):
            raise ValueError(
                "cannot perform both aggregation and transformation operations simultaneously"
            )
        if any(is_traced(value._table) for value in values):
            return self._joined_in_jit(parts)
        shown = {label: value.to_pandas() for label, value in parts.items()}
        frame = pd.concat(shown, axis=1)
        return self.frame_class._of(*table_of_frame(frame))

    def _joined_in_jit(self, parts: dict[Hashable, Any]) -> Any:
        """Series of results, all of the same labels, as a frame."""
        tables = [value._table for value in parts.values()]
        rows = [None if is_traced(t.index, t.num_rows) else t.num_rows_on_host for t in tables]
        first = None if None in rows else tables[0].index.to_pandas(rows[0])
        if first is None or not all(
            first.equals(table.index.to_pandas(n)) for table, n in zip(tables, rows, strict=True)
        ):
            raise NotImplementedError(
                "agg: inside jit all columns must have the same reductions. Give one list."
            )
        columns = tuple(table.columns[0] for table in tables)
        table = tables[0].replace(columns=columns, needed=self._table.needed)
        return self.frame_class._of(table, Labels(pd.Index(list(parts))))

    def transform(self, func: Any, axis: Any = 0, *args: Any, **rest: Any) -> Any:
        """Applies what keeps all rows to each column: a name, or a function of a series."""
        only_rows("transform", axis, self, "Use the methods' own axis=1.")
        if isinstance(func, str):
            return transformed(self, func, args, rest)
        of_column: Callable[[Hashable], Any] = (
            func.__getitem__ if isinstance(func, dict) else lambda _: func
        )
        places = [
            place
            for place, label in enumerate(self._labels)
            if not isinstance(func, dict) or label in func
        ]
        made = [
            transformed(self._series_at(place), of_column(self._labels[place]), args, rest)
            for place in places
        ]
        columns = [series._only for series in made]
        return self._make_frame(columns, self._labels.take(places))
