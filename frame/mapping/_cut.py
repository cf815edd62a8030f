# SPDX-License-Identifier: Apache-2.0
"""`cut` and `qcut`: bins numbers by given edges or by quantiles."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ...shardings._compat import is_x64_enabled
from ..ops._array_ops import common_dtype
from ..table._column import Array, Column, ColumnType, no_rows, plain
from ..table._dictionary import Dictionary
from ..table._dtypes import wide
from ..table._ndframe import SeriesBase, as_series
from ..table._recode import renumbered
from ..table._search import search_rows
from ..table._take import settled
from ..table._tracing import answered_at_once, is_traced

# Untyped: the overloads of pandas' stubs are too narrow for our arguments.
_pandas: Any = pd


@answered_at_once
def cut(
    x: Any,
    bins: Any,
    right: bool = True,
    labels: Any = None,
    retbins: bool = False,
    precision: int = 3,
    include_lowest: bool = False,
    duplicates: str = "raise",
    ordered: bool = True,
) -> Any:
    """Bins the numbers of a series, an array or a list by edges; the result is a series.

    Inside `jit` the edges must be given as concrete values. Only a number of bins needs
    communication, for the range of the values.

    Differences from pandas:
        An IntervalIndex as `bins` and times as `x` are not supported.

    Example:
        >>> from jaxframes.frame import JaxSeries, cut
        >>> ages = JaxSeries([3, 18, 70])
        >>> cut(ages, [0, 18, 65, 120], labels=["child", "adult", "old"]).tolist()
        ['child', 'child', 'old']
    """
    x = as_series(x)
    column = _numbers(x, "cut")
    if isinstance(bins, pd.IntervalIndex):
        raise NotImplementedError("cut: bins must be edges, got an IntervalIndex. Pass its edges.")
    if is_traced(bins):
        raise NotImplementedError(
            "cut: the edges must be concrete inside jit. Pass them as a static argument, or use "
            "primitives.local.searchsorted."
        )
    sample = _sample(column, [])
    if np.ndim(bins) == 0:
        if is_traced(x):
            raise NotImplementedError(
                "cut: the range of the values is not known inside jit. Pass the edges."
            )
        if len(x):
            values = x._with_column(column)
            sample = _sample(column, [values.min(), values.max()])
    elif isinstance(bins, SeriesBase):
        bins = bins.to_pandas()
    else:
        bins = np.asarray(bins) if isinstance(bins, jax.Array) else bins
    pandas_bins, edges = _pandas.cut(
        sample, bins, right, labels, True, precision, include_lowest, duplicates, ordered
    )
    result = _in_bins(x, column, np.asarray(edges), pandas_bins, labels, right, include_lowest)
    return (result, np.asarray(edges)) if retbins else result


@answered_at_once
def qcut(
    x: Any,
    q: Any,
    labels: Any = None,
    retbins: bool = False,
    precision: int = 3,
    duplicates: str = "raise",
) -> Any:
    """Bins the numbers of a series, an array or a list by quantiles; see `cut`.

    Differences from pandas:
        Next to an infinity the quantiles are those of `JaxSeries.quantile`. Without x64 mode they
        are float32. Not supported inside `jit`, where the quantiles are not known.

    Example:
        >>> from jaxframes.frame import JaxSeries, qcut
        >>> qcut(JaxSeries([0.5, 9.0, 2.0, 4.0]), 2, labels=False).tolist()
        [0, 1, 0, 1]
    """
    x = as_series(x)
    column = _numbers(x, "qcut")
    if is_traced(x):
        raise NotImplementedError(
            "qcut: the quantiles are not known inside jit. Compute them with quantile() first, "
            "and use cut()."
        )
    values = x._with_column(column)
    sample = _sample(column, [])
    if not int(values.count()):
        pandas_bins, edges = _pandas.qcut(sample, q, labels, True, precision, duplicates)
    else:
        if isinstance(q, (int, np.integer)) and q >= 1:
            q = np.linspace(0, 1, int(q) + 1)
        elif not pd.api.types.is_list_like(q):
            raise ValueError(
                f"`q` should be a positive integer or list-like of quantiles, got {q!r}."
            )
        bins = values.quantile(q).to_numpy()
        pandas_bins, edges = _pandas.cut(
            sample, bins, True, labels, True, precision, True, duplicates
        )
    result = _in_bins(x, column, np.asarray(edges), pandas_bins, labels, True, True)
    return (result, np.asarray(edges)) if retbins else result


def _numbers(x: Any, caller: str) -> Column:
    """The column of a series of real numbers, with bools as integers."""
    column = x._only
    if column.type.is_time:
        raise NotImplementedError(
            f"{caller}: column {x._name!r} has times. Cast it with astype('int64')."
        )
    if not column.is_numeric or column.dtype.kind == "c":
        raise TypeError(
            f"{caller}: column {x._name!r} must be of real numbers, got {column.dtype_name}."
        )
    # pandas bins bools as integers, and has no bfloat16.
    column = plain(column)
    if column.is_bool:
        return Column(column.data.astype(wide(np.int64)), column.valid)
    return Column(column.data.astype(jnp.float32)) if column.dtype == jnp.bfloat16 else column


def _sample(column: Column, values: list[Any]) -> Any:
    """Values as a pandas series of the column's dtype, for pandas' edges and categories."""
    return pd.Series(np.asarray(values, no_rows(column).dtype))


def _in_bins(
    x: Any,
    column: Column,
    edges: np.ndarray,
    pandas_bins: Any,
    labels: Any,
    right: bool,
    include_lowest: bool,
) -> Any:
    """The bin of each row, as a series with the type of `pandas_bins`."""
    if not edges.size:
        # pandas' empty edges are objects.
        edges = edges.astype(np.float64)
    data = column.data
    if is_x64_enabled():
        cast_edges, num_passed = edges.astype(common_dtype(edges.dtype, column.dtype)), 0
    else:
        data = data.astype(jnp.float32) if column.dtype == np.float16 else data
        cast_edges, num_passed = _as_narrow(edges, np.dtype(data.dtype), bool(right))
    with np.errstate(invalid="ignore", over="ignore"):
        lowest = edges[:1].astype(cast_edges.dtype)
    has_lowest = bool(include_lowest) and np.array_equal(lowest, edges[:1]) and edges.size > 0
    bins = _bins(
        data, column.valid, cast_edges, np.int32(num_passed), np.int32(edges.size), lowest,
        bool(right), has_lowest,
    )  # fmt: skip
    if labels is False:
        numbers = Column(bins.astype(wide(np.int64)), bins >= 0)
        return x._with_column(settled(numbers, x._table.num_rows))
    categories = pandas_bins.cat.categories
    if labels is not None:
        bins = renumbered(bins, categories.get_indexer(list(labels)))
    kind = ColumnType("category", Dictionary(categories), ordered=bool(pandas_bins.cat.ordered))
    return x._with_column(Column(bins, None, kind))


def _as_narrow(edges: np.ndarray, dtype: np.dtype, right: bool) -> tuple[np.ndarray, int]:
    """Casts 64-bit edges to a narrow dtype without moving a value to another bin.

    An edge that the dtype cannot represent is rounded down if bins include the right edge, else up.

    Returns:
        The edges within the dtype's range, and the number of edges below it.
    """
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            cast_edges = edges.astype(dtype)
        is_past = cast_edges > edges if right else cast_edges < edges
        limit = dtype.type(-np.inf if right else np.inf)
        return np.where(is_past, np.nextafter(cast_edges, limit), cast_edges), 0
    ends = np.iinfo(dtype)
    whole = edges if edges.dtype.kind in "iu" else np.floor(edges) if right else np.ceil(edges)
    is_passed = whole < ends.min
    return whole[~is_passed & (whole <= ends.max)].astype(dtype), int(is_passed.sum())


@functools.partial(tiered, static_argnums=(6, 7))
def _bins(
    data: Array,
    valid: Array | None,
    edges: Array,
    num_passed: Array,
    num_edges: Array,
    lowest: Array,
    right: bool,
    has_lowest: bool,
) -> Array:
    """The bin of each row, or -1; `num_passed` further edges are below all values."""
    values = data.astype(edges.dtype)
    # For few edges the unrolled search is one fusion, ten times as fast as a loop.
    search = functools.partial(
        jnp.searchsorted, side="left" if right else "right", method="scan_unrolled"
    )
    # NaN is after all edges.
    position = search_rows(edges, values, search) + num_passed
    if has_lowest:
        position = jnp.where(values == lowest[0], np.int32(1), position)
    is_in_bin = position < num_edges
    if jnp.issubdtype(values.dtype, jnp.floating):
        is_in_bin = is_in_bin & ~jnp.isnan(values)
    if valid is not None:
        is_in_bin = is_in_bin & valid
    return jnp.where(is_in_bin, position - np.int32(1), np.int32(-1))
