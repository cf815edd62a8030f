# SPDX-License-Identifier: Apache-2.0
"""Numbers put into bins, by edges that are given or by quantiles."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...shardings._compat import explicit_sharding, is_x64_enabled
from ..ops._array_ops import common_dtype
from ..table._column import Array, Column, ColumnType, no_rows
from ..table._dictionary import Dictionary
from ..table._dtypes import wide
from ..table._ndframe import SeriesBase, as_series
from ..table._recode import renumbered
from ..table._take import settled
from ..table._tracing import answered_at_once, is_traced

# Its types have an overload for each kind of labels.
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
    """Puts the numbers of a series into bins.

    Inside `jit` the edges must be given, on the host.

    Args:
        x: real numbers: a series of ours or of pandas, an array, an index or a list.
        bins: the edges, which ascend; or how many bins of equal width span the values.
        right: whether a bin holds its right edge, and not its left one; else the other way round.
        labels: names of the bins, a category each; intervals if left out. False for their numbers.
        retbins: whether to return the edges too.
        precision: digits of the edges in the names of intervals.
        include_lowest: whether the first bin holds its left edge too.
        duplicates: "raise", or "drop" for edges that occur twice.
        ordered: whether the order of the categories means anything; labels must differ then.

    Returns:
        A JaxSeries of categories, or of integers with `labels=False`; missing where a value is
        missing, or in no bin. With `retbins` also the edges, an array of NumPy.

    Raises:
        TypeError: `x` does not hold real numbers.
        ValueError: the edges do not ascend, or the labels are not one for each bin.

    Cost:
        Work O(rows x log bins). No communication, but for the extremes where `bins` is a number.

    Differences from pandas:
        `bins` must be no IntervalIndex, and `x` no times.

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
            "cut: inside jit the edges must be known. Pass them as a static argument, or use "
            "primitives.local.searchsorted."
        )
    sample = _sample(column, [])
    if np.ndim(bins) == 0:
        if is_traced(x):
            raise NotImplementedError("cut: inside jit nobody knows the extremes. Pass the edges.")
        if len(x):
            values = x._with_column(column)
            sample = _sample(column, [values.min(), values.max()])
    elif isinstance(bins, SeriesBase):
        bins = bins.to_pandas()
    else:
        bins = np.asarray(bins) if isinstance(bins, jax.Array) else bins
    made, edges = _pandas.cut(
        sample, bins, right, labels, True, precision, include_lowest, duplicates, ordered
    )
    edges = np.asarray(edges)
    found = _in_bins(x, column, edges, made, labels, right, include_lowest)
    return (found, edges) if retbins else found


@answered_at_once
def qcut(
    x: Any,
    q: Any,
    labels: Any = None,
    retbins: bool = False,
    precision: int = 3,
    duplicates: str = "raise",
) -> Any:
    """Puts the numbers of a series into bins that hold equally many.

    Args:
        x: real numbers: a series of ours or of pandas, an array, an index or a list.
        q: how many bins, or the quantiles between them, such as [0, 0.25, 0.5, 0.75, 1].
        labels: names of the bins, a category each; intervals if left out. False for their numbers.
        retbins: whether to return the edges too.
        precision: digits of the edges in the names of intervals.
        duplicates: "raise", or "drop" for edges that occur twice.

    Returns:
        As `cut`.

    Raises:
        TypeError: `x` does not hold real numbers.
        ValueError: edges occur twice, or the labels are not one for each bin.
        NotImplementedError: inside `jit`, where nobody knows the quantiles: find them before, and
            use `cut`.

    Cost:
        That of `quantile`, and of `cut`.

    Differences from pandas:
        Beside an infinity the quantiles are those of `JaxSeries.quantile`, and without JAX's x64
        mode they are float32.

    Example:
        >>> from jaxframes.frame import JaxSeries, qcut
        >>> qcut(JaxSeries([0.5, 9.0, 2.0, 4.0]), 2, labels=False).tolist()
        [0, 1, 0, 1]
    """
    x = as_series(x)
    column = _numbers(x, "qcut")
    if is_traced(x):
        raise NotImplementedError(
            "qcut: inside jit nobody knows the quantiles. Find them before with quantile(), and "
            "use cut()."
        )
    values = x._with_column(column)
    sample = _sample(column, [])
    if not int(values.count()):
        made, edges = _pandas.qcut(sample, q, labels, True, precision, duplicates)
    else:
        bins = values.quantile(_quantiles(q)).to_numpy()
        made, edges = _pandas.cut(sample, bins, True, labels, True, precision, True, duplicates)
    edges = np.asarray(edges)
    found = _in_bins(x, column, edges, made, labels, True, True)
    return (found, edges) if retbins else found


def _quantiles(q: Any) -> Any:
    """The quantiles between as many bins, or those that are given."""
    if isinstance(q, (int, np.integer)) and q >= 1:
        return np.linspace(0, 1, int(q) + 1)
    if not pd.api.types.is_list_like(q):
        raise ValueError(
            f"qcut: `q` should be a positive integer or list-like of quantiles, got {q!r}."
        )
    return q


def _numbers(x: Any, caller: str) -> Column:
    """The column of a series, bools as integers."""
    column = x._only
    if column.type.is_time:
        raise NotImplementedError(
            f"{caller}: column {x._name!r} must not hold times. Cast it with astype('int64')."
        )
    if not column.is_numeric or column.dtype.kind == "c":
        raise TypeError(
            f"{caller}: column {x._name!r} must hold real numbers, got {column.dtype_name}."
        )
    # As pandas shows them, which has no numbers of bfloat16, and takes bools for integers.
    if column.is_bool:
        return Column(column.data.astype(wide(np.int64)), column.valid)
    return Column(column.data.astype(jnp.float32)) if column.dtype == jnp.bfloat16 else column


def _sample(column: Column, values: list[Any]) -> Any:
    """A series of pandas of the column's dtype, from which pandas makes edges and categories."""
    return pd.Series(np.asarray(values, no_rows(column).dtype))


def _in_bins(
    x: Any,
    column: Column,
    edges: np.ndarray,
    made: Any,
    labels: Any,
    right: bool,
    include_lowest: bool,
) -> Any:
    """The series of bins, of the type of `made`, which pandas makes of such a series."""
    if not edges.size:
        # pandas makes objects of no edges.
        edges = edges.astype(np.float64)
    data = column.data
    if is_x64_enabled():
        held, least = edges.astype(common_dtype(edges.dtype, column.dtype)), 0
    else:
        data = data.astype(jnp.float32) if column.dtype == np.float16 else data
        held, least = _as_narrow(edges, np.dtype(data.dtype), bool(right))
    with np.errstate(invalid="ignore", over="ignore"):
        lowest = edges[:1].astype(held.dtype)
    has_lowest = bool(include_lowest) and np.array_equal(lowest, edges[:1]) and edges.size > 0
    bins = _bins(
        data,
        column.valid,
        held,
        np.int32(least),
        np.int32(edges.size),
        lowest,
        bool(right),
        has_lowest,
    )
    if labels is False:
        numbers = Column(bins.astype(wide(np.int64)), bins >= 0)
        return x._with_column(settled(numbers, x._table.num_rows))
    categories = made.cat.categories
    if labels is not None:
        bins = renumbered(bins, categories.get_indexer(list(labels)))
    kind = ColumnType("category", Dictionary(categories), ordered=bool(made.cat.ordered))
    return x._with_column(Column(bins, None, kind))


def _as_narrow(edges: np.ndarray, dtype: np.dtype, right: bool) -> tuple[np.ndarray, int]:
    """Edges of 64 bits as ones of a narrow dtype between which the same values lie.

    An edge that is no such value gives way to the next one below, if values are to be greater than
    it, or above, if they may be equal.

    Returns:
        The edges that some values pass and others do not, and how many all values pass.
    """
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            held = edges.astype(dtype)
        is_past = held > edges if right else held < edges
        limit = dtype.type(-np.inf if right else np.inf)
        return np.where(is_past, np.nextafter(held, limit), held), 0
    ends = np.iinfo(dtype)
    whole = edges if edges.dtype.kind in "iu" else np.floor(edges) if right else np.ceil(edges)
    is_passed = whole < ends.min
    return whole[~is_passed & (whole <= ends.max)].astype(dtype), int(is_passed.sum())


@functools.partial(jax.jit, static_argnums=(6, 7))
def _bins(
    data: Array,
    valid: Array | None,
    edges: Array,
    least: Array,
    num_edges: Array,
    lowest: Array,
    right: bool,
    has_lowest: bool,
) -> Array:
    """The bin of each row, -1 for none; `least` edges lie below all values."""
    values = data.astype(edges.dtype)
    # Few edges: unrolled, the search is one fusion, which takes a tenth of a loop's time.
    search: Any = functools.partial(
        jnp.searchsorted, side="left" if right else "right", method="scan_unrolled"
    )
    sharding = explicit_sharding(data)
    if sharding is not None:
        search = jax.sharding.auto_axes(search, out_sharding=sharding)
    # NaN stands behind all edges.
    place = search(edges, values).astype(jnp.int32) + least
    if has_lowest:
        place = jnp.where(values == lowest[0], np.int32(1), place)
    is_in_one = place < num_edges
    if jnp.issubdtype(values.dtype, jnp.floating):
        is_in_one = is_in_one & ~jnp.isnan(values)
    if valid is not None:
        is_in_one = is_in_one & valid
    return jnp.where(is_in_one, place - np.int32(1), np.int32(-1))
