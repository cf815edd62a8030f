# SPDX-License-Identifier: Apache-2.0
"""nlargest, nsmallest, searchsorted and is_monotonic."""

import functools
from collections.abc import Sequence
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ...primitives.staging import tiered
from ..groupby._nlargest import check_keep, is_ranked
from ..table._arguments import as_scalar
from ..table._column import NAT, Array, Column
from ..table._dtypes import wide
from ..table._from_host import column_from
from ..table._layout import ONE_DEVICE, Layout
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._object_functions import host_series
from ..table._recode import recoded
from ..table._sort import argsort_rows, sort_rows
from ..table._sort_keys import ordered_keys
from ..table._table import Count, is_row
from ..table._take import before, gather, position, take_rows
from ..table._to_host import host_array
from ..table._tracing import answered_at_once, at_once, is_traced
from ..table._units import counts_on_host
from ..table._user_functions import as_pandas
from ..table._zones import in_utc
from ._number_queries import number_queries, placed


class RankedRows(NDFrame):
    """Largest and smallest rows of frames and series."""

    def _first_of(self, positions: Sequence[int], n: int, keep: str, *, largest: bool) -> Self:
        caller = "nlargest" if largest else "nsmallest"
        check_keep(keep)
        table, keys = self._table, []
        for at in positions:
            column = table.columns[at]
            if not is_ranked(column):
                label = f"Column {self._names[at]!r} has dtype {column.dtype_name}, "
                shown = "" if isinstance(self, SeriesBase) else label
                raise TypeError(f"{shown}cannot use method {caller!r} with this dtype")
            keys += ordered_keys(column, descending=largest)
        count = max(int(as_scalar(n, "n")), 0)
        if keep == "last":
            missing = tuple(one.missing() for one in map(table.columns.__getitem__, positions))
            most = np.int32(min(count, 2**31 - 1))
            keys.append((_last_first(missing, table.num_rows, most, table.layout), False))
        if keep != "all" or not count:
            return self._like(sort_rows(table, keys)).head(count)
        order = argsort_rows(keys, table.num_rows, table.layout)
        bare_keys = tuple(key for key, _ in keys)
        count = min(count, table.capacity)
        num_kept = _with_ties(bare_keys, order, table.num_rows, count, table.layout)
        ordered = self._like(take_rows(table, order, table.num_rows))
        if is_traced(num_kept):
            return self._like(ordered._table.replace(num_rows=num_kept))
        return ordered.head(int(num_kept))


@functools.partial(tiered, static_argnums=3)
def _last_first(missing: tuple[Array, ...], num_rows: Count, n: Array, layout: Layout) -> Array:
    """A key that puts the last of equal rows first, as `keep="last"` of pandas does.

    Rows with a missing value, and all rows if none is left out, stay in their order.
    """
    own = position(missing[0].shape[0], layout)
    is_kept = functools.reduce(jnp.logical_or, missing) | (n >= num_rows)
    return jnp.where(is_kept, own, -own)


@functools.partial(tiered, static_argnums=(3, 4))
def _with_ties(
    keys: tuple[Array, ...], order: Array, num_rows: Count, n: int, layout: Layout
) -> Array:
    """Counts the sorted rows among the first `n`, including ties with the `n`-th."""
    is_last = jnp.ones(order.shape, jnp.bool_)
    for key in gather(keys, order, layout):
        is_last &= (key == key[n - 1]) | ((key != key) & (key[n - 1] != key[n - 1]))
    is_kept = (position(order.shape[0], layout) < np.int32(n)) | is_last
    rows = is_row(order.shape[0], num_rows, layout)
    return jnp.sum(is_kept & rows, dtype=jnp.int32)


class SeriesRankedRows(RankedRows, SeriesBase):
    """Largest and smallest values of a series, and sorted searches."""

    def nlargest(self, n: int = 5, keep: str = "first") -> Self:
        """The `n` largest values, in descending order; `keep="all"` includes ties with the last."""
        return self._first_of([0], n, keep, largest=True)

    def nsmallest(self, n: int = 5, keep: str = "first") -> Self:
        """The `n` smallest values, in ascending order."""
        return self._first_of([0], n, keep, largest=False)

    @property
    def is_monotonic_increasing(self) -> Any:
        """Whether the values ascend, with ties allowed, and none is missing."""
        return self._is_monotonic(False)

    @property
    def is_monotonic_decreasing(self) -> Any:
        """Whether the values descend, with ties allowed, and none is missing."""
        return self._is_monotonic(True)

    @answered_at_once
    def _is_monotonic(self, is_decreasing: bool) -> Any:
        column, table = self._only, self._table
        if column.kind == "object" and not is_traced(column, table.num_rows):
            name = "is_monotonic_decreasing" if is_decreasing else "is_monotonic_increasing"
            return bool(getattr(host_series(column, table.num_rows), name))
        missing = column.missing()
        if column.kind == "category":
            # pandas compares their codes, of which a missing value has -1.
            missing = jnp.zeros_like(missing)
        result = _in_order(column.data, missing, table.all_rows, is_decreasing, table.layout)
        return result if is_traced(result) else bool(result)

    def searchsorted(self, value: Any, side: object = "left", sorter: object = None) -> Any:
        """Finds insertion positions for values in a sorted series."""
        if sorter is not None:
            raise NotImplementedError("searchsorted: sorter must be None. Sort the values first.")
        column, table = self._only, self._table
        if column.dtype.kind == "c":
            raise NotImplementedError(
                f"searchsorted: column {self._name!r} must not be complex. "
                "Search in its real part, map(jnp.real)."
            )
        if column.kind == "string" or column.is_nullable:
            has_missing: Any = self.isna().any()
            if not is_traced(has_missing) and has_missing:
                raise ValueError(
                    "searchsorted requires array to be sorted, which is impossible with NAs "
                    f"present. Drop the missing values of column {self._name!r} first: dropna()."
                )
        if isinstance(value, jax.Array) and is_traced(value):
            queries, keys = value.reshape(-1), column.data
        else:
            queries, keys = at_once(_queries, column, value)
        if column.type.is_time or column.type.has_codes or column.kind == "period":
            ends = at_once(_has_missing, keys, queries, table.num_rows, table.layout)
            if is_traced(ends) or bool(ends):
                queries, keys = _missing_last(queries), _missing_last(keys)
        if side not in ("left", "right"):
            raise ValueError(f"search side must be 'left' or 'right' (got '{side}')")
        positions = at_once(_search, keys, queries, table.num_rows, side, table.layout)
        if not is_traced(positions):
            positions = host_array(positions)
        positions = positions.astype(wide(np.int64) if is_traced(positions) else np.int64)
        return positions[0] if np.ndim(value) == 0 else positions[: len(value)]


@functools.partial(tiered, static_argnums=3)
def _has_missing(keys: Array, queries: Array, num_rows: Count, layout: Layout) -> Array:
    """Whether a query or the last of the sorted keys is missing."""
    missing = -1 if keys.dtype == np.int32 else NAT
    last = gather(keys, jnp.asarray(num_rows).reshape(1) - 1, layout) == missing
    return jnp.any(queries == missing) | (last[0] & (num_rows > 0))


@tiered
def _missing_last(keys: Array) -> Array:
    """Codes or counts in the same order, except that missing ones become the greatest."""
    if keys.dtype == np.int32:
        return keys.astype(np.uint32)
    # NAT is the least count: the subtraction wraps around.
    return keys - keys.dtype.type(1)


def _queries(column: Column, value: Any) -> tuple[Any, Any]:
    if column.kind == "category":
        codes = column.dictionary.values.get_indexer(
            pd.Index([value] if np.ndim(value) == 0 else value)
        )
        if (codes < 0).any():
            raise TypeError(f"searchsorted: values must be categories, got {value!r}.")
        return placed(codes.astype(np.int32)), column.data
    if column.kind == "string":
        strings = [value] if np.ndim(value) == 0 else list(value)
        if not all(isinstance(string, str) for string in strings):
            raise TypeError(
                f"searchsorted: values for a series of str must be strings, got {value!r}."
            )
        queries = column_from(pd.array(strings, dtype="str"), len(strings), ONE_DEVICE)
        # Codes into one dictionary sort as the strings do.
        queries, keys = recoded([queries, column])
        return placed(host_array(queries.data)), keys.data
    if column.kind == "period":
        values = as_pandas(value)
        # pandas reads texts, and raises for other frequencies and values.
        pd.Series([], dtype=column.dtype_name).searchsorted(values)
        periods = pd.PeriodIndex(
            [values] if np.ndim(values) == 0 else values, freq=column.type.freq
        )
        return placed(periods.asi8), column.data
    values = pd.Series([value] if np.ndim(value) == 0 else value)
    if column.type.is_time:
        if values.dtype.kind in "biufc":
            raise TypeError(
                f"searchsorted: values for a series of {column.dtype_name} must be times, "
                f"got {value!r}."
            )
        letter = "M" if column.kind == "datetime" else "m"
        dtype = column.dtype_name
        if values.isna().all():
            values = pd.Series([pd.NaT] * len(values), dtype=dtype)
        if values.dtype.kind != letter:
            values = values.astype(dtype)
        if isinstance(values.dtype, pd.DatetimeTZDtype) != (column.type.zone is not None):
            raise TypeError(
                f"searchsorted: values for a series of {column.dtype_name} must have a time zone "
                f"as it does, got {value!r}. Use tz_localize()."
            )
        times = counts_on_host(in_utc(values), column.type.unit or "ns")
        if times.side.any():
            values.astype(dtype)  # Raises OutOfBoundsDatetime or OutOfBoundsTimedelta.
        if not times.is_exact.all():
            raise ValueError(
                f"Cannot losslessly convert units: searchsorted: values for a series of "
                f"{column.dtype_name} must be multiples of its unit, got {value!r}. Convert the "
                "series to a finer unit first, with astype."
            )
        return placed(times.counts), column.data
    return number_queries(column, value)


@functools.partial(tiered, static_argnums=(3, 4))
def _search(keys: Any, queries: Any, num_rows: Count, side: Any, layout: Layout) -> Array:
    return primitives.searchsorted(keys, queries, side=side, num_valid=num_rows, **layout.on_mesh)


@functools.partial(tiered, static_argnums=(3, 4))
def _in_order(
    data: Array, missing: Array, num_rows: Count, is_decreasing: bool, layout: Layout
) -> Array:
    rows = is_row(data.shape[0], num_rows, layout)
    previous = before(data)
    is_ordered = (previous >= data) if is_decreasing else (previous <= data)
    is_first = position(data.shape[0], layout) == 0
    return jnp.all(is_ordered | is_first | ~rows) & ~jnp.any(missing & rows)


class FrameRankedRows(RankedRows, FrameBase):
    """Largest and smallest rows of a frame."""

    def nlargest(self, n: int, columns: object, keep: str = "first") -> Self:
        """The `n` rows with the largest values, in descending order; `keep` as for a series."""
        return self._first_of(self._positions_of(columns), n, keep, largest=True)

    def nsmallest(self, n: int, columns: object, keep: str = "first") -> Self:
        """The `n` rows with the smallest values, in ascending order."""
        return self._first_of(self._positions_of(columns), n, keep, largest=False)

    def _positions_of(self, columns: object) -> list[int]:
        labels = columns if isinstance(columns, list) else [columns]
        return [self._labels.position(label) for label in labels]
