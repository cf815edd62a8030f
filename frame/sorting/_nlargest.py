# SPDX-License-Identifier: Apache-2.0
"""The first rows in some order, places in sorted values, and whether values are sorted."""

import functools
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ..table._column import Array, Column, host_array, ordered_keys
from ..table._dtypes import wide
from ..table._from_host import column_from
from ..table._layout import ONE_DEVICE, Layout
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._sort import argsort_rows, sort_rows
from ..table._table import Count, Table, is_row
from ..table._take import before, gather, position, take_rows
from ..table._tracing import answered_at_once, at_once, is_traced


def turned(table: Table) -> Table:
    """The same rows, the last first."""
    row_ids = _turned_places(table.num_rows, table.capacity, table.layout)
    return take_rows(table, row_ids, table.num_rows)


@functools.partial(jax.jit, static_argnums=(1, 2))
def _turned_places(num_rows: Count, capacity: int, layout: Layout) -> Array:
    return jnp.asarray(num_rows, jnp.int32) - 1 - position(capacity, layout)


class RankedRows(NDFrame):
    """The first rows of frames and series in the order of some of their columns."""

    def _first_of(self, labels: list[Any], n: int, keep: str, *, largest: bool) -> Self:
        caller = "nlargest" if largest else "nsmallest"
        if keep not in ("first", "last", "all"):
            raise ValueError('keep must be either "first", "last" or "all"')
        table = turned(self._table) if keep == "last" else self._table
        rows: Any = self._like(table)
        keys = []
        for label in labels:
            column = rows._only if label is ... else rows._column(label)
            if not (column.is_numeric or column.type.is_time) or column.dtype.kind == "c":
                shown = "" if label is ... else f"Column {label!r} has dtype {column.dtype_name}, "
                raise TypeError(f"{shown}cannot use method {caller!r} with this dtype")
            keys += ordered_keys(column, descending=largest)
        count = max(int(n), 0)
        if keep != "all" or not count:
            return self._like(sort_rows(table, keys)).head(count)
        order = argsort_rows(keys, table.num_rows, table.layout)
        words = tuple(key for key, _ in keys)
        found = _with_ties(words, order, table.num_rows, min(count, table.capacity), table.layout)
        ordered: Any = self._like(take_rows(table, order, table.num_rows))
        if is_traced(found):
            return self._like(ordered._table.replace(num_rows=found))
        return ordered.head(int(found))


@functools.partial(jax.jit, static_argnums=(3, 4))
def _with_ties(
    keys: tuple[Array, ...], order: Array, num_rows: Count, n: int, layout: Layout
) -> Array:
    """How many rows in order are among the first `n`, or equal to the last of these."""
    is_last = jnp.ones(order.shape, jnp.bool_)
    for key in gather(keys, order, layout):
        is_last &= (key == key[n - 1]) | ((key != key) & (key[n - 1] != key[n - 1]))
    is_kept = (position(order.shape[0], layout) < np.int32(n)) | is_last
    rows = is_row(order.shape[0], num_rows, layout)
    return jnp.sum(is_kept & rows, dtype=jnp.int32)


class SeriesRankedRows(RankedRows, SeriesBase):
    """The first values of a series in order."""

    def nlargest(self, n: int = 5, keep: str = "first") -> Self:
        """The `n` largest values, the largest first; `keep="all"` keeps ties of the last."""
        return self._first_of([...], n, keep, largest=True)

    def nsmallest(self, n: int = 5, keep: str = "first") -> Self:
        """The `n` smallest values, the smallest first."""
        return self._first_of([...], n, keep, largest=False)

    @property
    def is_monotonic_increasing(self) -> Any:
        """Whether no value is less than the one before it, and none is missing."""
        return self._is_monotonic(False)

    @property
    def is_monotonic_decreasing(self) -> Any:
        """Whether no value is greater than the one before it, and none is missing."""
        return self._is_monotonic(True)

    @answered_at_once
    def _is_monotonic(self, is_decreasing: bool) -> Any:
        column, table = self._only, self._table
        result = _in_order(
            column.data, column.missing(), table.all_rows, is_decreasing, table.layout
        )
        return result if is_traced(result) else bool(result)

    def searchsorted(self, value: Any, side: Any = "left", sorter: Any = None) -> Any:
        """Where values would go in the series, which is in order already."""
        if sorter is not None:
            raise NotImplementedError("searchsorted: sorter must be None. Sort the values first.")
        column, table = self._only, self._table
        if column.dtype.kind == "c":
            raise NotImplementedError(
                f"searchsorted: column {self._name!r} must not be complex. "
                "Search in its real part, map(jnp.real)."
            )
        if isinstance(value, jax.Array) and is_traced(value):
            queries, keys = value.reshape(-1), column.data
        else:
            queries, keys = at_once(_queries, column, value)
        if side not in ("left", "right"):
            raise ValueError(f"search side must be 'left' or 'right' (got '{side}')")
        places = at_once(_search, keys, queries, table.num_rows, side, table.layout)
        is_one = np.ndim(value) == 0
        if is_traced(places):
            found = places.astype(jax.dtypes.canonicalize_dtype(np.int64))
        else:
            found = host_array(places).astype(np.int64)
        return found[0] if is_one else found[: len(value)]


def _queries(column: Column, value: Any) -> tuple[Array, Array]:
    if column.kind == "category":
        places = column.dictionary.values.get_indexer(
            pd.Index([value] if np.ndim(value) == 0 else value)
        )
        if (places < 0).any():
            raise TypeError(f"searchsorted: values must be categories, got {value!r}.")
        return _placed(places.astype(np.int32)), column.data
    if column.kind == "string":
        wanted = [value] if np.ndim(value) == 0 else list(value)
        if not all(isinstance(one, str) for one in wanted):
            raise TypeError(
                f"searchsorted: a series of str is searched for strings, got {value!r}."
            )
        wanted = pd.Index(wanted, dtype="str")
        dictionary = column.dictionary.values
        # Between two codes where a string is not one of the dictionary.
        low = dictionary.searchsorted(wanted, side="left")
        high = dictionary.searchsorted(wanted, side="right")
        codes = low.astype(np.float64) - np.where(low == high, 0.5, 0.0)
        return _placed(codes), column.data.astype(wide(np.float64))
    values = pd.Series([value] if np.ndim(value) == 0 else value)
    if column.type.is_time:
        if values.dtype.kind in "biufc":
            raise TypeError(
                f"searchsorted: a series of {column.dtype_name} holds times, got {value!r}."
            )
        letter = "M" if column.kind == "datetime" else "m"
        values = values.astype(f"{letter}8[{column.type.unit}]")
        return _placed(values.to_numpy().view(np.int64)), column.data
    wanted = values.to_numpy()
    if wanted.dtype.kind not in "biufc":
        raise TypeError(
            f"searchsorted: a series of {column.dtype_name} is searched for numbers, got {value!r}."
        )
    dtype = np.result_type(column.dtype, wanted.dtype)
    return _placed(wanted.astype(dtype)), column.data.astype(dtype)


def _placed(values: np.ndarray) -> Array:
    return column_from(values, ONE_DEVICE.capacity_for(len(values)), ONE_DEVICE).data


@functools.partial(jax.jit, static_argnums=(3, 4))
def _search(keys: Array, queries: Array, num_rows: Count, side: Any, layout: Layout) -> Array:
    return primitives.searchsorted(keys, queries, side=side, num_valid=num_rows, **layout.on_mesh)


@functools.partial(jax.jit, static_argnums=(3, 4))
def _in_order(
    data: Array, missing: Array, num_rows: Count, is_decreasing: bool, layout: Layout
) -> Array:
    rows = is_row(data.shape[0], num_rows, layout)
    last = before(data)
    is_right = (last >= data) if is_decreasing else (last <= data)
    is_first = position(data.shape[0], layout) == 0
    return jnp.all(is_right | is_first | ~rows) & ~jnp.any(missing & rows)


class FrameRankedRows(RankedRows, FrameBase):
    """The first rows of a frame in the order of columns."""

    def nlargest(self, n: int, columns: Any, keep: str = "first") -> Self:
        """The `n` rows with the largest values, the largest first; `keep` as for a series."""
        return self._first_of(self._listed(columns), n, keep, largest=True)

    def nsmallest(self, n: int, columns: Any, keep: str = "first") -> Self:
        """The `n` rows with the smallest values, the smallest first."""
        return self._first_of(self._listed(columns), n, keep, largest=False)

    def _listed(self, columns: Any) -> list[Any]:
        return list(columns) if isinstance(columns, list) else [columns]
