# SPDX-License-Identifier: Apache-2.0
"""A column of flags for each value that another column takes."""

import functools
from collections.abc import Hashable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ..accessors._str import used_codes
from ..table._column import Array, Column, no_rows
from ..table._column_labels import Labels
from ..table._from_host import check_width
from ..table._ndframe import FrameBase, NDFrame, as_series
from ..table._recode import renumbered
from ..table._tracing import is_traced
from ._isin import places_in


def get_dummies(
    data: Any,
    prefix: Any = None,
    prefix_sep: Any = "_",
    dummy_na: bool = False,
    columns: Any = None,
    sparse: bool = False,
    drop_first: bool = False,
    dtype: Any = None,
) -> Any:
    """Puts a column of flags in place of each column of strings or categories.

    The values are those that rows have, in their order, and of a category all. Inside `jit`, where
    nobody knows which those are, they are all the strings of the dictionary.

    Args:
        data: a frame or a series, of ours or of pandas; an array, an index or a list.
        prefix: what stands before the values in the labels: a string, a list of them with one for
            each column, or a dict; the label of the column if left out, nothing for a series.
        prefix_sep: what stands between the two; as `prefix`.
        dummy_na: whether a missing value has a column too.
        columns: the labels of the columns to replace; those of strings, objects and categories if
            left out.
        sparse: must be False.
        drop_first: whether to leave out the first value, which the others imply.
        dtype: of the flags; bool if left out.

    Returns:
        A frame: the columns that stay, and behind them those of flags.

    Raises:
        TypeError: `columns` is not a list.
        ValueError: prefixes are not one for each column, or `dtype` is object.

    Cost:
        Work O(rows x values), and the distinct values go to the host. No communication, but for
        which values there are.

    Differences from pandas:
        Inside `jit`, columns of numbers and times are not taken. Nowhere are columns of objects.

    Example:
        >>> from jaxframes.frame import JaxFrame, get_dummies
        >>> get_dummies(JaxFrame({"k": ["b", "a", None], "x": [1, 2, 3]})).to_pandas()
           x    k_a    k_b
        0  1  False   True
        1  2   True  False
        2  3  False  False
    """
    if sparse:
        raise NotImplementedError("get_dummies: sparse must be False: no column is sparse.")
    options: dict[str, Any] = {"dummy_na": dummy_na, "drop_first": drop_first, "dtype": dtype}
    if isinstance(data, pd.DataFrame):
        data = NDFrame.frame_class(data)
    if not isinstance(data, FrameBase):
        data = as_series(data)
        flags, labels = _flags_of(data, prefix, prefix_sep, options)
        return data._make_frame(flags, Labels(labels))
    places = _chosen(data, prefix, prefix_sep, columns, options)
    names = [data._labels[place] for place in places]
    kept = [place for place in range(len(data._labels)) if place not in places]
    made = [data._table.columns[place] for place in kept]
    labels = data._labels.index.take(kept)
    texts = _for_each(prefix, names, names), _for_each(prefix_sep, names, None)
    for place, before, between in zip(places, *texts, strict=True):
        flags, of_flags = _flags_of(data._series_at(place), before, between, options)
        made += flags
        labels = labels.append(of_flags)
    return data._make_frame(made, Labels(labels))


def _chosen(
    data: FrameBase, prefix: Any, prefix_sep: Any, columns: Any, options: dict[str, Any]
) -> list[int]:
    """Where the columns stand that are to be replaced; pandas checks the arguments."""
    nothing = [pd.Series(no_rows(column)) for column in data._table.columns]
    empty = pd.concat(nothing, axis=1) if nothing else pd.DataFrame()
    empty.columns = data._labels.index
    pd.get_dummies(empty, prefix, prefix_sep, columns=columns, **options)
    if columns is None:
        kinds = ("string", "category", "object")
        return [at for at, column in enumerate(data._table.columns) if column.kind in kinds]
    return [place for label in columns for place in data._labels.places(label)]


def _for_each(texts: Any, names: list[Hashable], default: Any) -> list[Any]:
    """A text for each column, of one for all, a list or a dict."""
    if texts is None:
        return list(default)
    if isinstance(texts, str):
        return [texts] * len(names)
    return [texts[name] for name in names] if isinstance(texts, dict) else list(texts)


def _flags_of(
    series: Any, prefix: Any, prefix_sep: Any, options: dict[str, Any]
) -> tuple[list[Column], pd.Index]:
    """A column of flags for each value of a series, and the labels that pandas gives those."""
    codes, values = _numbered(series)
    shown: Any = pd.get_dummies(values, prefix, prefix_sep, **options)
    numbers = [*range(len(values)), *([-1] if options["dummy_na"] else [])]
    if options["drop_first"]:
        del numbers[:1]
    dtype = np.dtype(np.bool_ if options["dtype"] is None else options["dtype"])
    check_width(dtype, "get_dummies")
    flags = [Column(_flag(codes, np.int32(number), dtype)) for number in numbers]
    return flags, shown.columns


@functools.partial(jax.jit, static_argnums=2)
def _flag(codes: Array, number: Array, dtype: np.dtype) -> Array:
    return (codes == number).astype(dtype)


def _numbered(series: Any) -> tuple[Array, Any]:
    """The number of each row's value, -1 where it is missing, and the values in their order."""
    column, table = series._only, series._table
    if column.kind == "category":
        categories = column.dictionary.values
        return column.data, pd.Series(pd.Categorical(categories, categories, column.type.ordered))
    if column.kind == "string":
        strings = column.dictionary.values
        if is_traced(column.data, table.num_rows):
            return column.data, pd.Series(strings)
        used = used_codes(column, table, "get_dummies")
        return renumbered(column.data, np.where(used, np.cumsum(used) - 1, -1)), pd.Series(
            strings[used]
        )
    if column.kind == "object" or column.dtype.kind == "c":
        raise NotImplementedError(
            f"get_dummies: column {series._name!r} of {column.dtype_name} has no order. "
            "Use to_pandas() and pandas' get_dummies."
        )
    if is_traced(column.data, table.num_rows):
        raise NotImplementedError(
            f"get_dummies: inside jit nobody knows the values of column {series._name!r}. Make it "
            "a category before."
        )
    values = pd.Index(series.unique()).dropna().sort_values()
    if column.type.is_time:
        found = places_in(Column(column.data), pd.Index(values.to_numpy().view(np.int64)))
    elif column.is_bool:
        values = values.astype(bool)
        found = places_in(
            Column(column.data.astype(jnp.int8), column.valid), values.astype(np.int8)
        )
    else:
        found = places_in(column, values)
    assert found is not None
    return found[0], pd.Series(values)
