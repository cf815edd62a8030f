# SPDX-License-Identifier: Apache-2.0
"""`map`, `replace` and `isin`."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ...primitives.staging import tiered
from ...shardings._compat import explicit_sharding
from ..reductions._agg import apply_one
from ..table._arguments import no_inplace
from ..table._column import NAT, Array, Column
from ..table._distinct_values import column_of_results, looked_up, through_values
from ..table._layout import ONE_DEVICE, Layout
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._recode import unencoded
from ..table._table import Table
from ..table._take import gather
from ._apply import map_traceable
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
        if isinstance(values, (SeriesBase, pd.Series, FrameBase, pd.DataFrame)):
            raise NotImplementedError(
                "isin: values must be a list or a dict of lists, got "
                f"{type(values).__name__}. Compare with ==, or pass values.tolist()."
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
        return self._with_column(Column(flags_in(self._only, values, self._table)))

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
            return looked_up(table_of_results, positions, table.num_rows)
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


def host_values(values: Any) -> Any:
    """Converts a list of values to a type of the host that pandas accepts."""
    if isinstance(values, SeriesBase):
        return values.to_pandas()
    return np.asarray(values) if isinstance(values, jax.Array) else values


def positions_in(column: Column, keys: pd.Index) -> tuple[Array, np.ndarray] | None:
    """Looks up each number of a column among keys.

    Returns:
        The position of each row's value in the sorted keys, -1 if absent, and the argsort of the
        keys; None unless keys and column are real numbers.
    """
    exact = _exact_keys(column, keys)
    if exact is None:
        return None
    padded_keys, order = exact
    return _search(column.data, column.valid, padded_keys, np.int32(len(order))), order


def _flags_among(column: Column, keys: pd.Index, layout: Layout) -> Array | None:
    """Flags the numbers of a column that are among keys; None as for `positions_in`."""
    exact = _exact_keys(column, keys)
    if exact is None:
        return None
    padded_keys, order = exact
    return _is_in(column.data, column.valid, padded_keys, np.int32(len(order)), layout)


def _exact_keys(column: Column, keys: pd.Index) -> tuple[Array, np.ndarray] | None:
    """The sorted keys that the column's dtype represents, padded, and their positions."""
    if keys.dtype == object or not isinstance(keys.dtype, np.dtype) or keys.dtype.kind not in "iuf":
        return None
    if not column.is_numeric or column.dtype.kind not in "iuf":
        return None
    # Drops keys that the column's dtype cannot represent.
    numbers = keys.to_numpy()
    with np.errstate(invalid="ignore", over="ignore"):
        cast_numbers = numbers.astype(column.dtype)
        same = (cast_numbers == numbers) & ((cast_numbers < 0) == (numbers < 0))
    if column.is_float:
        same = same | np.isnan(cast_numbers) & np.isnan(numbers.astype(np.float64))
    elif numbers.dtype.kind == "f":
        # The largest 64-bit integer is not a float: it would match the next float above.
        same = same & (numbers < float(int(np.iinfo(column.dtype).max) + 1))
    exact = np.flatnonzero(same)
    order = exact[np.argsort(cast_numbers[exact], kind="stable")]
    size = max(1 << max(len(order) - 1, 0).bit_length(), 8)
    padded_keys = np.zeros(size, column.dtype)
    padded_keys[: len(order)] = cast_numbers[order]
    if len(order):
        padded_keys[len(order) :] = cast_numbers[order[-1]]
    return jnp.asarray(padded_keys), order


def search_rows(keys: Array, rows: Array, search: Any) -> Array:
    """Inside a compiled function: searches for each row among sorted keys."""
    sharding = explicit_sharding(rows)
    if sharding is not None:
        search = jax.sharding.auto_axes(search, out_sharding=sharding)
    return search(keys, rows).astype(jnp.int32)


@functools.partial(tiered, static_argnums=4)
def _is_in(data: Array, valid: Array | None, keys: Array, count: Array, layout: Layout) -> Array:
    if layout == ONE_DEVICE and explicit_sharding(data) is None:
        flags = primitives.isin(data, keys, num_valid=(None, count))
        return flags if valid is None else flags & valid
    # XLA partitions a search over the mesh without moving rows.
    return _search(data, valid, keys, count) >= 0


@tiered
def _search(data: Array, valid: Array | None, keys: Array, count: Array) -> Array:
    positions = search_rows(keys, data, jnp.searchsorted)
    positions = jnp.minimum(positions, np.int32(keys.shape[0] - 1))
    nearest = gather(keys, positions, ONE_DEVICE)
    same = nearest == data
    if jnp.issubdtype(data.dtype, jnp.floating):
        same = same | (jnp.isnan(nearest) & jnp.isnan(data))
    if valid is not None:
        same = same & valid
    return jnp.where(same & (count > 0), positions, np.int32(-1))


def flags_in(column: Column, values: Any, table: Table, method: str = "isin") -> Array:
    """Flags the rows whose value is in a list, as pandas' `isin` does."""
    values = host_values(values)
    if not pd.api.types.is_list_like(values):
        raise TypeError(
            "only list-like objects are allowed to be passed to isin(), you passed a "
            f"`{type(values).__name__}`"
        )
    listed = list(values) if isinstance(values, (set, frozenset, Mapping)) else values
    if column.is_numeric:
        if column.is_bool:
            has_false, has_true = pd.Series([False, True]).isin(listed)
            flags = jnp.where(column.data, np.bool_(has_true), np.bool_(has_false))
            return flags if column.valid is None else flags & column.valid
        flags = _flags_among(column, _numbers_of(listed), table.layout)
        if flags is not None:
            return flags
    if column.type.is_time:
        among = pd.Series(pd.array([], dtype=column.dtype_name))
        keys = pd.Index(listed)
        if isinstance(keys, (pd.DatetimeIndex, pd.TimedeltaIndex)) and keys.dtype.kind == (
            among.dtype.kind
        ):
            exact = keys.as_unit(column.type.unit)  # pyright: ignore
            exact = exact[exact == keys]
            flags = _flags_among(Column(column.data), pd.Index(exact.asi8), table.layout)
            assert flags is not None
            return flags | (column.data == NAT) if keys.hasnans else flags
        if not any(value is pd.NaT for value in listed):
            return jnp.zeros(column.data.shape, jnp.bool_)
    result = through_values(
        unencoded(column), table.num_rows, table.layout, lambda shown: shown.isin(listed), method
    )
    if result.valid is None:
        return result.data
    # Inside `jit` the dictionary does not contain a missing value.
    among = bool(pd.Series([None], dtype="str").isin(listed)[0])
    return jnp.where(result.valid, result.data, np.bool_(among))


def _numbers_of(listed: Any) -> pd.Index:
    """The numbers in a list of values; bools count as 0 and 1."""
    keys = pd.Index(listed)
    if isinstance(keys.dtype, np.dtype) and keys.dtype.kind in "iuf":
        return keys
    if isinstance(keys.dtype, np.dtype) and keys.dtype.kind in "Mm":
        return pd.Index([], dtype=np.int64)
    numbers = (bool, np.bool_, int, float, complex, np.number)
    keys = pd.Index([key + 0 for key in keys if isinstance(key, numbers)] or np.empty(0))
    if keys.dtype.kind == "c":
        return pd.Index(np.real(keys[np.imag(keys) == 0]))
    return keys
