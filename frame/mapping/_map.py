# SPDX-License-Identifier: Apache-2.0
"""`map`, `replace` and `isin`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ..reductions._agg import apply_one
from ..table._arguments import no_inplace
from ..table._column import Column
from ..table._distinct_values import column_of_results, looked_up, through_values
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._table import Table, either_needed
from ._apply import map_traceable
from ._isin import flags_in
from ._lookup import host_values, positions_in
from ._missing import missing_flags
from ._where import choose_scalar


class Replace(NDFrame):
    """`replace` of a frame or a series."""

    def replace(
        self,
        to_replace: Any = None,
        value: Any = ...,
        *,
        inplace: bool = False,
        regex: Any = False,
    ) -> Self:
        """Replaces values, given as scalars, lists or a dict.

        Differences from pandas:
            Values must be numbers or strings. Regular expressions are not supported; use
            `str.replace`.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries(["a", "b"]).replace({"a": "c"}).tolist()
            ['c', 'b']
        """
        per_column = (
            isinstance(self, FrameBase)
            and isinstance(to_replace, Mapping)
            and (value is not ... or all(isinstance(one, Mapping) for one in to_replace.values()))
        )
        columns = []
        for label, column in zip(self._names, self._table.columns, strict=True):
            old, new = to_replace, value
            if per_column and label in to_replace:
                old = to_replace[label]
                new = value[label] if isinstance(value, Mapping) else value
            if not per_column or label in to_replace:
                column = _replaced(column, old, new, inplace, regex, self._table)
            columns.append(column)
        return self._with_columns(columns)


class FrameMap(FrameBase, Replace):
    """`map`, `replace` and `isin` of a frame."""

    def isin(self, values: Any) -> Self:
        """Whether each value is in a list, or in a dict's list for its column.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1, 2]}).isin([2, 3]).x.tolist()
            [False, True]
        """
        table, columns = self._table, self._table.columns
        # pandas compares these with the rows of the same labels.
        for given in (values, *(values.values() if isinstance(values, Mapping) else ())):
            if isinstance(given, (SeriesBase, pd.Series, FrameBase, pd.DataFrame)):
                raise NotImplementedError(
                    "isin: values must be a list or a dict of lists, got "
                    f"{type(given).__name__}. Compare with ==, or pass values.tolist()."
                )
        if isinstance(values, Mapping):
            none = jnp.zeros(table.capacity, jnp.bool_)
            flags = [
                flags_in(column, values[label], table) if label in values else none
                for label, column in zip(self._labels, columns, strict=True)
            ]
        else:
            if not pd.api.types.is_list_like(values):
                raise TypeError(
                    "only list-like or dict-like objects are allowed to be passed to "
                    f"DataFrame.isin(), you passed a '{type(values).__name__}'"
                )
            flags = [flags_in(column, values, table) for column in columns]
        return self._with_columns([Column(flag) for flag in flags])

    def map(self, func: Callable[..., Any], na_action: Any = None, **kwargs: Any) -> Self:
        """Applies a JAX-traceable function to each value; see `JaxSeries.map`."""
        if na_action not in (None, "ignore"):
            raise ValueError(f"na_action must be 'ignore' or None. Got {na_action!r}")
        table = self._table
        columns = [_mapped(column, func, na_action, kwargs, table) for column in table.columns]
        return self._with_columns(columns)


class SeriesMap(SeriesBase, Replace):
    """`map`, `apply`, `replace` and `isin` of a series."""

    def isin(self, values: Any) -> Self:
        """Whether each value is in a list; missing values match missing values."""
        table = self._table
        if isinstance(values, SeriesBase):
            # Among rows that were lost, a value could have been found.
            table = table.replace(needed=either_needed(table.needed, values._table.needed))
        return self._like(table.with_columns([Column(flags_in(self._only, values, table))]))

    def map(self, func: Any = None, na_action: Any = None, **kwargs: Any) -> Self:
        """Looks each value up in a dict or a series, or applies a function to it.

        Differences from pandas:
            A function of numbers must be JAX-traceable. A function of strings or categories is
            called once for each distinct value.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries(["a", "b", "a"]).map({"a": 1, "b": 2}).tolist()
            [1, 2, 1]
            >>> JaxSeries([1, 2]).map(lambda x: x * x).tolist()
            [1, 4]
        """
        if na_action not in (None, "ignore"):
            raise ValueError(f"na_action must either be 'ignore' or None, {na_action} was passed")
        return self._with_column(_mapped(self._only, func, na_action, kwargs, self._table))

    def apply(self, func: Any, args: tuple[Any, ...] = (), **kwargs: Any) -> Any:
        """Applies a JAX-traceable function to each value, or a method or NumPy function by name."""
        if isinstance(func, str):
            return apply_one(self, func, args, kwargs)
        if not callable(func):
            return self.agg(func)
        if args:
            return self.map(lambda value: func(value, *args, **kwargs))
        return self.map(func, **kwargs)


def _mapped(column: Column, func: Any, na_action: Any, kwargs: Any, table: Table) -> Column:
    if callable(func) and not isinstance(func, (Mapping, SeriesBase, pd.Series)):
        if column.is_numeric:
            return map_traceable(column, func, na_action, kwargs, table)
        if column.type.is_time:
            raise NotImplementedError(
                f"map: a function needs numbers or strings, got {column.dtype_name}. "
                "Use the methods of dt."
            )
        return through_values(
            column, table.num_rows, table.layout,
            lambda values: values.map(func, na_action, **kwargs), "map",
        )  # fmt: skip
    mapper = host_values(func)
    if not isinstance(mapper, (Mapping, pd.Series)):
        raise TypeError(f"{type(func).__name__!r} object is not callable")
    if isinstance(mapper, Mapping) and not hasattr(mapper, "__missing__"):
        mapper = pd.Series(mapper) if len(mapper) else pd.Series(mapper, dtype=np.float64)
    if isinstance(mapper, pd.Series) and na_action is None:
        if not mapper.index.is_unique:
            raise pd.errors.InvalidIndexError(
                "Reindexing only valid with uniquely valued Index objects"
            )
        looked_up_rows = positions_in(column, mapper.index)
        if looked_up_rows is not None:
            positions, order = looked_up_rows
            table_of_results = column_of_results(mapper.iloc[order], "map")
            return looked_up(table_of_results, positions, table.num_rows, table.layout)
    return through_values(
        column, table.num_rows, table.layout, lambda values: values.map(mapper, na_action), "map"
    )


def _replaced(
    column: Column, old: Any, new: Any, inplace: bool, regex: Any, table: Table
) -> Column:
    no_inplace("replace", inplace)
    if regex is not False:
        raise NotImplementedError("replace: regex= is not supported. Use str.replace(regex=True).")
    old, new = host_values(old), host_values(new)
    keys, values = _as_pairs(old, new)
    is_string = column.kind == "string"
    if is_string or (column.is_numeric and not column.is_bool):
        accepted = str if is_string else (int, float, complex, np.number)
        # A key of another type matches nothing.
        pairs = [
            (key, value)
            for key, value in zip(keys, values, strict=True)
            if (isinstance(key, accepted) and not isinstance(key, (bool, np.bool_))) or pd.isna(key)
        ]
        if not is_string or all(isinstance(value, str) or pd.isna(value) for _, value in pairs):
            return _replace_each(column, pairs, table) if pairs else column
    words = {} if new is ... else {"value": new}
    return through_values(
        column, table.num_rows, table.layout, lambda shown: shown.replace(old, **words), "replace"
    )


def _as_pairs(old: Any, new: Any) -> tuple[Sequence[Any], Sequence[Any]]:
    if isinstance(old, (Mapping, pd.Series)):
        return list(old.keys()), list(old.values() if isinstance(old, Mapping) else old)
    if new is ...:
        raise ValueError(
            "Series.replace must specify either 'value', a dict-like 'to_replace', or dict-like "
            "'regex'"
        )
    keys = list(old) if pd.api.types.is_list_like(old) else [old]
    if not pd.api.types.is_list_like(new):
        return keys, [new] * len(keys)
    if len(new) != len(keys):
        raise ValueError(
            f"Replacement lists must match in length. Expecting {len(keys)} got {len(new)} "
        )
    return keys, list(new)


def _replace_each(column: Column, pairs: Sequence[tuple[Any, Any]], table: Table) -> Column:
    (missing,) = missing_flags([column])
    is_key = [
        missing if pd.isna(key) else flags_in(column, [key], table, "replace") for key, _ in pairs
    ]
    for flags, (_, value) in zip(is_key, pairs, strict=True):
        column = choose_scalar(~flags, column, value, table, "replace")
    return column
