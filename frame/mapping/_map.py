# SPDX-License-Identifier: Apache-2.0
"""`map` and `isin`."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple, NoReturn, Self

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ..reductions._agg import apply_one
from ..table._by_pandas import by_pandas
from ..table._column import Column, of_family
from ..table._distinct_values import column_of_results, looked_up, through_values
from ..table._dtypes import narrowed, wide
from ..table._exact_numbers import index_of
from ..table._from_host import column_from
from ..table._holes import assumes_holes
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._table import Table, either_needed
from ..table._to_host import to_host
from ..table._tracing import is_traced
from ..table._user_functions import as_frames, as_pandas, by_engine, has_host
from ._apply import map_traceable
from ._isin import flags_in, flags_like
from ._lookup import host_values, positions_in
from ._nullable_values import plain_cast
from ._replace import Replace


class FrameMap(FrameBase, Replace):
    """`map`, `replace` and `isin` of a frame."""

    def isin(self, values: object) -> Self:
        """Whether each value is in a list, or in a dict's list for its column.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [1, 2]}).isin([2, 3]).x.tolist()
            [False, True]
        """
        table, columns = self._table, self._table.columns
        given = (values, *(values.values() if isinstance(values, Mapping) else ()))
        if any(isinstance(one, (NDFrame, pd.Series, pd.DataFrame)) for one in given):
            # pandas compares these with the rows of the same labels.
            theirs = as_pandas(values)
            return by_pandas(
                self, "isin: values of a frame or a series", "Compare with ==.",
                lambda data: data.isin(theirs),
            )  # fmt: skip
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
        return self._with_columns(
            [flags_like(column, flag) for column, flag in zip(columns, flags, strict=True)]
        )

    def map(
        self,
        func: Callable[..., Any],
        na_action: object = None,
        engine: str | None = None,
        **kwargs: object,
    ) -> Self:
        """Applies a function to each value; see `JaxSeries.map`."""
        if na_action not in (None, "ignore"):
            raise ValueError(f"na_action must be 'ignore' or None. Got {na_action!r}")
        table = self._table
        how = ValueMap(func, na_action, kwargs, engine)
        return self._with_columns([_mapped(column, how, table) for column in table.columns])


class SeriesMap(SeriesBase, Replace):
    """`map`, `apply`, `replace` and `isin` of a series."""

    def isin(self, values: object) -> Self:
        """Whether each value is in a list; missing values match missing values."""
        table = self._table
        if isinstance(values, SeriesBase):
            # Among rows that were lost, a value could have been found.
            table = table.replace(needed=either_needed(table.needed, values._table.needed))
        flags = flags_like(self._only, flags_in(self._only, values, table))
        return self._like(table.with_columns([flags]))

    def map(
        self,
        func: object = None,
        na_action: object = None,
        engine: str | None = None,
        **kwargs: object,
    ) -> Self:
        """Looks each value up in a dict or a series, or applies a function to it.

        A function of numbers is traced and runs on all values together, if its code and its
        equations show that it gives what it gives for Python's numbers. Another one runs on the
        host, outside `jit` and in one process, once for each value.

        Args:
            func: a dict, a series or a function.
            na_action: "ignore" keeps missing values.
            engine: for functions: "jax" for traced functions only, "python" for calls on the host
                only; by default the first that works.
            **kwargs: keyword arguments of the function.

        Differences from pandas:
            A function of strings or categories is called once for each distinct value.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries(["a", "b", "a"]).map({"a": 1, "b": 2}).tolist()
            [1, 2, 1]
            >>> JaxSeries([1, 2]).map(lambda x: x * x).tolist()
            [1, 4]
        """
        if na_action not in (None, "ignore"):
            raise ValueError(f"na_action must either be 'ignore' or None, {na_action} was passed")
        if engine is not None and not callable(func):
            raise ValueError(
                "The engine argument can only be specified when func is a function, got "
                f"{type(func).__name__}. Leave it out."
            )
        how = ValueMap(func, na_action, kwargs, engine)
        return self._with_column(_mapped(self._only, how, self._table))

    def apply(
        self,
        func: object,
        args: tuple[object, ...] = (),
        engine: str | None = None,
        by_row: object = "compat",
        **kwargs: object,
    ) -> Any:
        """Applies a function to each value, or a method or NumPy function by name; see `map`.

        With `by_row=False` a function gets the series. If a function that runs on the host returns
        series, the result is a frame.
        """
        if isinstance(func, str):
            return apply_one(self, func, args, kwargs)
        if not callable(func):
            return self.agg(func)
        if by_row is False:
            return func(self, *args, **kwargs)
        if isinstance(func, np.ufunc):
            return apply_one(self, func, args, kwargs)

        def each(value: object) -> Any:
            return func(value, *args, **kwargs)

        def on_host() -> Any:
            found = self.to_pandas().apply(lambda value: as_pandas(each(value)))
            return as_frames(found, self.sharding)._with_attrs_of(self)

        if isinstance(func, type) and issubclass(func, SeriesBase) and engine is None:
            # A value for each row, of a dict or a list, is a row of a frame.
            found = self.to_pandas().apply(pd.Series, args=args, **kwargs)
            return as_frames(found, self.sharding)
        each.__wrapped__ = func  # pyright: ignore[reportFunctionMemberAccess]
        each = each if args or kwargs else func
        if self._only.is_numeric:
            is_exact = engine is None and has_host(self._is_traced)
            how = ValueMap(each, None, {}, "jax", is_exact)
            return by_engine(
                "apply",
                engine,
                lambda: self._with_column(_mapped(self._only, how, self._table)),
                on_host,
                is_traced=self._is_traced,
            )

        def one_value(value: object) -> Any:
            found = each(value)
            if isinstance(found, (SeriesBase, pd.Series)):
                raise _ReturnedSeriesError
            return found

        try:
            return self.map(one_value, engine=engine)
        except _ReturnedSeriesError:
            return on_host()


class _ReturnedSeriesError(Exception):
    """A function of a value returned a series: the results are the rows of a frame."""


class ValueMap(NamedTuple):
    """What `map` looks values up in or calls with them, and how."""

    func: Any
    na_action: Any
    kwargs: Mapping[str, Any]
    engine: str | None
    is_exact: bool = False


def _called(column: Column, how: ValueMap, table: Table) -> Column:
    """The results of calls of a function on the host, once for each row."""
    values = pd.Series(to_host(column, table.num_rows_on_host))
    results = values.map(how.func, how.na_action, **how.kwargs)
    return column_from(narrowed(results), column.capacity, table.layout)


def _untraced(column: Column) -> NoReturn:
    raise NotImplementedError(
        f"map: a traced function needs numbers, got {column.dtype_name}. Use the methods of "
        f"{'dt' if column.type.is_time else 'str'}, or a dict."
    )


def _mapped(column: Column, how: ValueMap, table: Table) -> Column:
    func, na_action, kwargs, engine, is_exact = how
    if callable(func) and not isinstance(func, (Mapping, SeriesBase, pd.Series)):
        if not column.is_numeric and not column.type.is_time and engine != "jax":
            return through_values(
                column, table.num_rows, table.layout,
                lambda values: values.map(func, na_action, **kwargs), "map",
            )  # fmt: skip

        is_in_trace = is_traced(column, table.num_rows)
        is_exact = is_exact or (engine is None and has_host(is_in_trace))

        def traced() -> Column:
            if not column.is_numeric:
                _untraced(column)
            return map_traceable(column, func, na_action, kwargs, table, is_exact)

        return by_engine(
            "map",
            engine,
            traced,
            lambda: _called(column, how, table),
            is_traced=is_in_trace,
        )
    mapper = host_values(func)
    if not isinstance(mapper, (Mapping, pd.Series)):
        raise TypeError(f"{type(func).__name__!r} object is not callable")
    has_default = isinstance(mapper, Mapping) and hasattr(mapper, "__missing__")
    if column.is_nullable and isinstance(mapper, Mapping) and not has_default:
        mapper = _series_of(mapper, column)
    if column.is_nullable or has_default:
        return _through_mapper(column, mapper, na_action, table)
    keys = list(mapper) if isinstance(mapper, Mapping) else None
    if isinstance(mapper, Mapping):
        mapper = _series_of(mapper, column)
    if na_action == "ignore":
        mapper = mapper.loc[mapper.index.notna()]
    if pd.api.types.infer_dtype(mapper) == "string":
        # Only objects that are all strings or missing: what pandas' series infers of the results.
        mapper = mapper.infer_objects()
    if not mapper.index.is_unique:
        raise pd.errors.InvalidIndexError(
            "Reindexing only valid with uniquely valued Index objects"
        )
    if keys and column.kind == "category" and na_action is None:
        # As in pandas, only NumPy's NaN is the key of missing categories.
        keys = [key if key is np.nan or not _is_null(key) else object() for key in keys]
        mapper.index = pd.Index(keys, dtype=object, tupleize_cols=False)
    looked_up_rows = positions_in(column, mapper.index, _missing_key(column, mapper.index))
    if looked_up_rows is None:
        return _through_mapper(column, mapper, na_action, table)
    positions, order = looked_up_rows
    table_of_results = column_of_results(mapper.iloc[order], "map")
    return looked_up(table_of_results, positions, table.num_rows, table.layout)


def _through_mapper(column: Column, mapper: Any, na_action: Any, table: Table) -> Column:
    if assumes_holes() and isinstance(mapper, pd.Series):
        # Without rows pandas does not look at the mapper, whose dtype counts otherwise.
        nowhere = jnp.full(column.data.shape, -1, jnp.int32)
        results = column_of_results(mapper, "map")
        if column.is_nullable and results.is_numeric and not results.is_bool:
            results = of_family(plain_cast(results, wide(np.float64)), "masked")
        return looked_up(results, nowhere, table.num_rows, table.layout)
    return through_values(
        column, table.num_rows, table.layout, lambda values: values.map(mapper, na_action), "map"
    )


def _series_of(mapper: Mapping[Hashable, object], column: Column) -> pd.Series:
    """A dict as pandas' series, but no key of a column of numbers is rounded."""
    keys = pd.Index(list(mapper), tupleize_cols=False)
    exact = index_of(list(mapper))
    is_rounded = exact.dtype != keys.dtype and exact.notna().any()
    if is_rounded and column.kind in ("number", "category") and not column.is_bool:
        # pandas has floats, for which all missing keys are NaN. Among objects NA is another one.
        keys = exact.where(exact.notna(), pd.NA if column.is_nullable else np.nan)
    values = list(mapper.values())
    return pd.Series(values, index=keys, dtype=None if values else np.float64)


def _missing_key(column: Column, keys: pd.Index) -> int:
    """The position of the key that pandas looks up for the missing numbers of a column, or -1."""
    if not column.is_float or not keys.hasnans:
        return -1
    return int(keys.get_indexer(pd.Index([np.nan], dtype=column.dtype))[0])


def _is_null(key: object) -> bool:
    return pd.api.types.is_scalar(key) and bool(pd.isna(key))
