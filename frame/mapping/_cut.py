# SPDX-License-Identifier: Apache-2.0
"""`cut` and `qcut`: bins numbers by given edges or by quantiles."""

from collections.abc import Hashable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...shardings._compat import is_x64_enabled
from ..ops._array_ops import common_dtype
from ..table._column import UNITS, Column, ColumnType, plain
from ..table._dictionary import Dictionary
from ..table._dtypes import cast_exactly, wide
from ..table._ndframe import SeriesBase, as_series
from ..table._object_functions import floats_of_objects, host_series
from ..table._recode import renumbered
from ..table._take import settled
from ..table._to_host import no_rows
from ..table._tracing import answered_at_once, is_traced
from ..table._units import with_unit
from ..table._zones import in_utc
from ._bins import as_narrow, bins_of_values, interval_of_values

# Untyped: the overloads of pandas' stubs are too narrow for our arguments.
_pandas: Any = pd

# pandas' names of objects that are real numbers, or none at all.
_NUMBERS = ("integer", "floating", "mixed-integer-float", "boolean", "empty")


@answered_at_once
def cut(
    x: Any,
    bins: Any,
    right: bool = True,
    labels: object = None,
    retbins: bool = False,
    precision: int = 3,
    include_lowest: bool = False,
    duplicates: str = "raise",
    ordered: bool = True,
) -> Any:
    """Bins the numbers or times of a series, an array or a list by edges.

    The result is a series, or what pandas has for an array or a list: a Categorical, or numbers.
    Inside `jit` the edges must be given as concrete values. Only a number of bins needs
    communication, for the range of the values.

    Example:
        >>> from jaxframes.frame import JaxSeries, cut
        >>> ages = JaxSeries([3, 18, 70])
        >>> cut(ages, [0, 18, 65, 120], labels=["child", "adult", "old"]).tolist()
        ['child', 'child', 'old']
    """
    is_of_host, x = _is_of_host(x), as_series(x)
    column = _values(x, "cut")
    if is_traced(bins):
        raise NotImplementedError(
            "cut: the edges must be concrete inside jit. Pass them as a static argument, or use "
            "primitives.local.searchsorted."
        )
    sample = _sample(column, [])
    if isinstance(bins, SeriesBase):
        bins = bins.to_pandas()
    if column.type.is_time and np.ndim(bins):
        _check_times_of_bins(column, x._name, bins)
    if isinstance(bins, pd.IntervalIndex):
        result = _in_intervals(x, column, bins)
        return _answer(result, bins, retbins, is_of_host)
    if np.ndim(bins) == 0:
        if is_traced(x):
            raise NotImplementedError(
                "cut: the range of the values is not known inside jit. Pass the edges."
            )
        if len(x):
            values = x._with_column(column)
            sample = _sample(column, [values.min(), values.max()])
    else:
        bins = np.asarray(bins) if isinstance(bins, jax.Array) else bins
    pandas_bins, edges = _pandas.cut(
        sample, bins, right, labels, True, precision, include_lowest, duplicates, ordered
    )
    result = _in_bins(x, column, edges, pandas_bins, labels, right, include_lowest)
    return _answer(result, edges, retbins, is_of_host)


@answered_at_once
def qcut(
    x: Any,
    q: object,
    labels: object = None,
    retbins: bool = False,
    precision: int = 3,
    duplicates: str = "raise",
) -> Any:
    """Bins the numbers or times of a series, an array or a list by quantiles; see `cut`.

    Differences from pandas:
        Next to an infinity the quantiles are those of `JaxSeries.quantile`. Without x64 mode they
        are float32. Not supported inside `jit`, where the quantiles are not known.

    Example:
        >>> from jaxframes.frame import JaxSeries, qcut
        >>> qcut(JaxSeries([0.5, 9.0, 2.0, 4.0]), 2, labels=False).tolist()
        [0, 1, 0, 1]
    """
    is_of_host, x = _is_of_host(x), as_series(x)
    column = _values(x, "qcut")
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
        if isinstance(q, (int, np.integer)) and q is not True and q >= 1:
            q = np.linspace(0, 1, int(q) + 1)
        elif not pd.api.types.is_list_like(q):
            raise ValueError(
                f"`q` should be a positive integer or list-like of quantiles, got {q!r}."
            )
        bins = values.quantile(q).to_pandas().array
        bins = pd.Index(bins, name=x._name) if column.type.is_time else np.asarray(bins)
        pandas_bins, edges = _pandas.cut(
            sample, bins, True, labels, True, precision, True, duplicates
        )
    result = _in_bins(x, column, edges, pandas_bins, labels, True, True)
    return _answer(result, edges, retbins, is_of_host)


def _check_times_of_bins(column: Column, name: Hashable, bins: Any) -> None:
    """Raises unless the bins of times are times."""
    are_intervals = isinstance(bins, pd.IntervalIndex)
    dtype = pd.Index(bins.left if are_intervals else bins).dtype
    if dtype.kind in "mM":
        return
    # pandas bins durations by their counts, and finds no time in intervals of numbers.
    bins_by_counts = are_intervals or (column.kind == "timedelta" and dtype.kind in "iu")
    raised = NotImplementedError if bins_by_counts else ValueError
    raise raised(
        f"bins must be of {column.kind}64 dtype. cut: column {name!r} holds times, got bins of "
        f"{dtype}. Convert them with pd.to_{column.kind}()."
    )


def _is_of_host(x: object) -> bool:
    """Whether pandas gives an array for the values: they are one, or a list."""
    return not isinstance(x, (SeriesBase, pd.Series, jax.Array))


def _answer(result: Any, edges: object, retbins: bool, is_of_host: bool) -> Any:
    """The bins of rows, with the edges if they are asked for."""
    if is_of_host:
        shown = result.to_pandas()
        result = shown.array if isinstance(shown.dtype, pd.CategoricalDtype) else shown.to_numpy()
    if not retbins:
        return result
    return result, edges if isinstance(edges, pd.Index) else np.asarray(edges)


def _values(x: Any, caller: str) -> Column:
    """The column of a series of times or real numbers, with bools as integers."""
    column = x._only
    if column.kind == "object" and not is_traced(x):
        kinds = pd.api.types.infer_dtype(host_series(column, x._table.num_rows), skipna=True)
        if kinds in _NUMBERS:
            column = floats_of_objects(column, x._table.num_rows)
    if column.type.is_time:
        return column
    if not column.is_numeric or column.dtype.kind == "c":
        raise TypeError(
            f"{caller}: column {x._name!r} must be of real numbers, got {column.dtype_name}."
        )
    # pandas bins bools as integers, and has no bfloat16.
    column = plain(column)
    if column.is_bool:
        return Column(cast_exactly(column.data, wide(np.int64)), column.valid)
    return Column(column.data.astype(jnp.float32)) if column.dtype == jnp.bfloat16 else column


def _sample(column: Column, values: list[object]) -> Any:
    """Values as a pandas series of the column's dtype, for pandas' edges and categories."""
    return pd.Series(values, dtype=no_rows(column).dtype)


def _comparable(x: Any, column: Column, edges: object) -> tuple[Column, np.ndarray]:
    """A column and edges as numbers: times are counts of one unit."""
    if not column.type.is_time:
        # pandas' empty edges are objects.
        edges = np.asarray(edges)
        return column, edges if edges.size else edges.astype(np.float64)
    times = in_utc(edges)
    unit = max(np.datetime_data(times.dtype)[0], column.type.unit or "s", key=UNITS.index)
    counts = with_unit(column, unit, x._table.num_rows)
    times = times.astype(f"{times.dtype.kind}8[{unit}]")
    return Column(counts.data, ~counts.missing()), times.view(np.int64)


def _in_intervals(x: Any, column: Column, bins: pd.IntervalIndex) -> Any:
    """The interval of each row, as a series of categories."""
    if bins.is_overlapping:
        raise ValueError("Overlapping IntervalIndex is not accepted.")
    order = np.argsort(bins.left)
    numbers, lefts = _comparable(x, column, bins.left[order])
    _, rights = _comparable(x, column, bins.right[order])
    dtype = common_dtype(lefts.dtype, numbers.dtype)
    codes = interval_of_values(
        numbers.data, numbers.valid, lefts.astype(dtype), rights.astype(dtype),
        order.astype(np.int32), bins.closed_left, bins.closed_right,
    )  # fmt: skip
    kind = ColumnType("category", Dictionary(bins), ordered=True)
    return x._with_column(Column(codes, None, kind))


def _in_bins(
    x: Any,
    column: Column,
    edges: object,
    pandas_bins: Any,
    labels: Any,
    right: bool,
    include_lowest: bool,
) -> Any:
    """The bin of each row, as a series with the type of `pandas_bins`."""
    column, edges = _comparable(x, column, edges)
    data = column.data
    if is_x64_enabled():
        cast_edges, num_passed = edges.astype(common_dtype(edges.dtype, column.dtype)), 0
    else:
        data = data.astype(jnp.float32) if column.dtype == np.float16 else data
        cast_edges, num_passed = as_narrow(edges, np.dtype(data.dtype), bool(right))
    with np.errstate(invalid="ignore", over="ignore"):
        lowest = edges[:1].astype(cast_edges.dtype)
    has_lowest = bool(include_lowest) and np.array_equal(lowest, edges[:1]) and edges.size > 0
    bins = bins_of_values(
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
