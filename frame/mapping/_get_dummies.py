# SPDX-License-Identifier: Apache-2.0
"""`get_dummies`: one-hot encodes columns of strings and categories."""

import functools
from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..table._column import Array, Column, of_family
from ..table._column_labels import Labels
from ..table._distinct_values import distinct_values
from ..table._from_host import check_width
from ..table._ndframe import FrameBase, NDFrame, SeriesBase, as_series
from ..table._nullable import Family, default_dtype, family_of
from ..table._objects import hashed
from ..table._recode import renumbered
from ..table._to_host import no_rows
from ..table._tracing import at_once, is_traced
from ..table._types import DtypeLike, Options


def get_dummies(
    data: Any,
    prefix: object = None,
    prefix_sep: object = "_",
    dummy_na: bool = False,
    columns: object = None,
    sparse: bool = False,
    drop_first: bool = False,
    dtype: DtypeLike = None,
) -> Any:
    """One-hot encodes columns: replaces each by a column of flags for each distinct value.

    `data` may also be an object of pandas, an array or a list. The distinct values are copied to
    the host; inside `jit` they are all strings of the dictionary, or all categories.

    Differences from pandas:
        Columns of objects are not supported, nor columns of numbers and times inside `jit`.

    Example:
        >>> from jaxframes.frame import JaxFrame, get_dummies
        >>> get_dummies(JaxFrame({"k": ["b", "a", None], "x": [1, 2, 3]})).to_pandas()
           x    k_a    k_b
        0  1  False   True
        1  2   True  False
        2  3  False  False
    """
    if sparse:
        raise NotImplementedError(
            "get_dummies: sparse must be False, got True: columns are dense. "
            "Leave it out, or keep the codes: series.astype('category').cat.codes."
        )
    options: dict[str, Any] = {"dummy_na": dummy_na, "drop_first": drop_first, "dtype": dtype}
    if isinstance(data, pd.DataFrame):
        data = NDFrame.frame_class(data)
    if not isinstance(data, FrameBase):
        data = as_series(data)
        flags, labels = _flags_of(data, prefix, prefix_sep, options)
        return data._make_frame(flags, Labels(labels))
    positions = _positions_to_encode(data, prefix, prefix_sep, columns, options)
    names = [data._labels[position] for position in positions]
    other_positions = [
        position for position in range(len(data._labels)) if position not in positions
    ]
    flag_columns = [data._table.columns[position] for position in other_positions]
    labels = data._labels.index.take(other_positions)
    prefixes, separators = _for_each(prefix, names, names), _for_each(prefix_sep, names, None)
    for position, one_prefix, one_separator in zip(positions, prefixes, separators, strict=True):
        flags, of_flags = _flags_of(data._series_at(position), one_prefix, one_separator, options)
        flag_columns += flags
        labels = labels.append(of_flags)
    return data._make_frame(flag_columns, Labels(labels))


def _positions_to_encode(
    data: FrameBase, prefix: object, prefix_sep: Any, columns: Any, options: Options
) -> list[int]:
    """Positions of the columns to encode; pandas checks the arguments."""
    nothing = [pd.Series(no_rows(column)) for column in data._table.columns]
    empty = pd.concat(nothing, axis=1) if nothing else pd.DataFrame()
    empty.columns = data._labels.index
    pd.get_dummies(empty, prefix, prefix_sep, columns=columns, **options)
    if columns is None:
        kinds = ("string", "category", "object")
        return [
            position for position, column in enumerate(data._table.columns) if column.kind in kinds
        ]
    return [position for label in columns for position in data._labels.positions(label)]


def _for_each(given: Any, names: list[Hashable], default: Any) -> list[Any]:
    """Expands one string, a list or a dict to one string for each column."""
    if given is None:
        return list(default)
    if isinstance(given, str):
        return [given] * len(names)
    return [given[name] for name in names] if isinstance(given, dict) else list(given)


def _flags_of(
    series: Any, prefix: Any, prefix_sep: Any, options: dict[str, Any]
) -> tuple[list[Column], pd.Index]:
    """A column of flags for each value of a series, and pandas' labels for them."""
    codes, values = _codes_and_values(series)
    shown: Any = pd.get_dummies(values, prefix, prefix_sep, **options)
    numbers = [*range(len(values)), *([-1] if options["dummy_na"] else [])]
    if options["drop_first"]:
        del numbers[:1]
    dtype = _dtype_of_flags(options["dtype"])
    families: list[Family | None] = [family_of(one) for one in shown.dtypes]
    flags = _flags_of_codes(codes, tuple(map(np.int32, numbers)), dtype)
    columns = [of_family(Column(one), family) for one, family in zip(flags, families, strict=True)]
    return columns, shown.columns


def _dtype_of_flags(given: DtypeLike) -> np.dtype:
    """The dtype of the arrays of flags; raises unless it is of numbers or bools."""
    if given is None:
        return np.dtype(np.bool_)
    dtype = default_dtype(pd.api.types.pandas_dtype(given))
    if not isinstance(dtype, np.dtype) or dtype.kind not in "biufc":
        raise NotImplementedError(
            f"get_dummies: dtype must be of numbers or bools, got {given}. Leave it out, and call "
            "astype() on the result."
        )
    check_width(dtype, "get_dummies")
    return dtype


@functools.partial(tiered, static_argnums=2)
def _flags_of_codes(
    codes: Array, numbers: tuple[np.int32, ...], dtype: np.dtype
) -> tuple[Array, ...]:
    return tuple((codes == number).astype(dtype) for number in numbers)


def _codes_and_values(series: SeriesBase) -> tuple[Array, Any]:
    """The code of each row, -1 if missing, and the sorted values."""
    column, table = series._only, series._table
    if column.kind == "category":
        categories = column.dictionary.values
        return column.data, pd.Series(pd.Categorical(categories, categories, column.type.ordered))
    if column.kind == "object":
        keys = hashed(column, table.num_rows)
        assert keys.type.dictionary is not None
        return keys.data, pd.Series(keys.type.dictionary.values, dtype=object)
    if column.dtype.kind == "c":
        raise NotImplementedError(
            f"get_dummies: column {series._name!r} of dtype {column.dtype_name} cannot be sorted. "
            "Use to_pandas() and pandas' get_dummies."
        )
    if column.kind != "string" and is_traced(column.data, table.num_rows):
        raise NotImplementedError(
            f"get_dummies: the values of column {series._name!r} are not known inside jit. Convert "
            "it to a category first."
        )
    found = at_once(distinct_values, column, table.num_rows, table.layout, "get_dummies")
    numbers, values = pd.factorize(found.values, sort=True)
    values = values.astype(bool) if column.is_bool and not column.is_nullable else values
    return renumbered(found.positions, numbers.astype(np.int32)), pd.Series(values)
