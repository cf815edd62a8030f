# SPDX-License-Identifier: Apache-2.0
"""Functions of Python objects, which run on the host: pandas calls the objects' own methods."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pyarrow as pa
from jax.sharding import NamedSharding

from ._column import Array, Column, ColumnType
from ._dictionary import ArrowObjects, Dictionary, HostObjects
from ._distinct_values import column_of_results, through_values
from ._dtypes import narrowed
from ._from_host import column_from
from ._holes import assumes_holes
from ._layout import ONE_DEVICE, Layout, layout_of
from ._recode import shifted
from ._table import Count, Table
from ._to_host import to_host
from ._tracing import at_once, is_traced


def evaluate_each(
    column: Column, num_rows: Count, function: Callable[[pd.Series], Any], method: str
) -> Column:
    """Applies an element-wise function of a pandas series to the objects of a column.

    The function sees each object of the rows once. Inside `jit` it also sees the objects of rows
    that were dropped before.
    """
    return through_values(column, num_rows, layout_like(column.data), function, method)


def host_series(column: Column, num_rows: Count) -> pd.Series:
    """The first rows of a column as a series of pandas, in pandas' dtype."""
    values = to_host(column, int(num_rows))
    return pd.Series(values, dtype=values.dtype)


def floats_of_objects(column: Column, num_rows: Count) -> Column:
    """A column of objects as float64, as NumPy converts them: None is NaN.

    Other columns, and objects that are not all numbers, are returned as they are.
    """
    if column.kind != "object" or is_traced(column, num_rows):
        return column
    rows = host_series(column, num_rows)
    try:
        floats = rows.to_numpy().astype(np.float64)
    except (TypeError, ValueError):
        return column
    return column_like(pd.Series(floats), column)


def with_floats_of_objects(of: Any) -> Any:
    """A frame or series with `floats_of_objects` of its columns."""
    table = of._table
    if all(column.kind != "object" for column in table.columns):
        return of
    return of._with_columns([floats_of_objects(one, table.num_rows) for one in table.columns])


def column_like(results: pd.Series, like: Column) -> Column:
    """Converts a series of results, one for each row, to a column on the devices of another."""
    return column_of_results(results, "objects", like.capacity, layout_like(like.data))


def layout_like(data: Array) -> Layout:
    """The layout of an array outside `jit`; inside, JAX places results by itself."""
    sharding = data.sharding if isinstance(data, jax.Array) and not is_traced(data) else None
    is_on_mesh = isinstance(sharding, NamedSharding) and sharding.mesh.size > 1
    return layout_of(sharding, "objects") if is_on_mesh else ONE_DEVICE


def as_objects(column: Column, num_rows: Count, method: str) -> Column:
    """Converts a column to Python objects, as `astype(object)` of pandas does.

    Strings, categories and bools keep their codes, so they are converted inside `jit`, too.

    Raises:
        NotImplementedError: the values of other columns are not known inside `jit`.
    """
    if column.kind == "object":
        return column
    stored = column.stored
    if column.is_bool:
        values, codes = np.array([False, True], object), column.data.astype(jnp.int32)
    elif isinstance(stored.type.dictionary, Dictionary):
        values, codes = stored.type.dictionary.values.to_numpy(object), stored.data
    elif is_traced(column, num_rows):
        raise NotImplementedError(
            f"{method}: inside jit the values of a column of {column.dtype_name} cannot become "
            "objects. Convert it with astype(object) before jit."
        )
    else:
        values = host_series(column, num_rows).astype(object)
        return column_from(values, column.capacity, layout_like(column.data), method)
    absent = -1
    if column.is_nullable:
        absent, values = len(values), np.concatenate([values, np.array([pd.NA], object)])
    if column.is_nullable or column.valid is not None:
        codes = jnp.where(column.present(), codes, np.int32(absent))
    return Column(codes, None, ColumnType("object", HostObjects(values)))


def _joined(dictionaries: Sequence[Any], values: Sequence[np.ndarray]) -> HostObjects:
    """The objects of all dictionaries; those of Arrow keep their type if it is the same."""
    if all(isinstance(one, ArrowObjects) for one in dictionaries):
        first = dictionaries[0]
        if len({(one.arrow.type, one.shows_arrow) for one in dictionaries}) == 1:
            return ArrowObjects(
                pa.concat_arrays([one.arrow for one in dictionaries]), first.shows_arrow
            )
    types = {one.arrow_type for one in dictionaries}
    return HostObjects(np.concatenate(values), types.pop() if len(types) == 1 else None)


def joined_objects(columns: Sequence[Column]) -> tuple[Column, ...]:
    """Gives columns of objects one array of objects on the host, which joins all of theirs."""
    dictionaries = [column.type.dictionary for column in columns]
    if all(dictionary is dictionaries[0] for dictionary in dictionaries):
        return tuple(columns)
    values = [np.asarray(one.values, object) for one in dictionaries if one is not None]
    common = ColumnType("object", _joined(dictionaries, values))
    starts = np.cumsum([0, *map(len, values[:-1])])
    return tuple(
        Column(shifted(column.data, start), None, common)
        for column, start in zip(columns, starts, strict=True)
    )


def with_object(column: Column, value: object) -> tuple[Column, np.int32]:
    """A column of objects that may have another value, and the position of the value."""
    objects = column.type.dictionary
    assert isinstance(objects, HostObjects)
    values = np.empty(len(objects) + 1, object)
    values[:-1], values[-1] = objects.values, value
    type = ColumnType("object", HostObjects(values))
    return Column(column.data, None, type), np.int32(len(objects))


def inferred(
    column: Column,
    num_rows: Count,
    *,
    keeps_none: bool = False,
    of_rows: tuple[Column, Count] | None = None,
) -> Column:
    """A column of objects in the dtype that pandas infers from its values.

    Other columns stay as they are, and so do all inside `jit`. With `keeps_none` strings beside
    None stay objects. A column without rows has the dtype of `of_rows`, from which it was taken.
    """
    if column.kind != "object" or is_traced(column, num_rows):
        return column
    objects: pd.Series = at_once(host_series, column, num_rows)
    decisive = objects
    if objects.empty and of_rows is not None:
        decisive = at_once(host_series, *of_rows).dropna()
    values = decisive.infer_objects().iloc[: len(objects)]
    are_strings = isinstance(values.dtype, pd.StringDtype)
    if values.dtype == object or (keeps_none and are_strings and any(v is None for v in objects)):
        return column
    return column_from(narrowed(values), column.capacity, layout_like(column.data), "objects")


def holds_bools(column: Column) -> bool:
    """Whether the objects of a column that are not missing are bools."""
    objects = column.type.dictionary
    assert objects is not None
    return pd.api.types.infer_dtype(objects.values, skipna=True) == "boolean"


def as_texts(column: Column, num_rows: Count, layout: Layout, method: str) -> Column:
    """The texts of objects, by `str`; missing ones stay missing."""

    def convert(values: pd.Series) -> pd.Series:
        return values.map(str, na_action="ignore").astype("str")

    return through_values(column, num_rows, layout, convert, method)


def inferred_labels(
    columns: Sequence[Column],
    num_rows: Count,
    *,
    keeps_none: bool = True,
    of_rows: tuple[Sequence[Column], Count] | None = None,
) -> tuple[Column, ...]:
    """Columns of objects that become labels, in the dtypes that pandas infers for an index.

    Without rows these are the dtypes of `of_rows`: columns from which they were taken.

    The schema of a plan knows no values: its labels stay objects.
    """
    if not any(column.kind == "object" for column in columns) or assumes_holes():
        return tuple(columns)
    wider = [None] * len(columns) if of_rows is None else [(one, of_rows[1]) for one in of_rows[0]]
    return tuple(
        inferred(column, num_rows, keeps_none=keeps_none, of_rows=rows)
        for column, rows in zip(columns, wider, strict=True)
    )


def of_rows(
    column: Column, num_rows: Count, function: Callable[[pd.Series], pd.Series], method: str
) -> Column:
    """Applies a function of a pandas series of all rows to a column of objects.

    Raises:
        NotImplementedError: the objects of the rows are not known inside `jit`.
    """
    return column_like(function(_known_series(column, num_rows, method)), column)


def _known_series(column: Column, num_rows: Count, method: str) -> pd.Series:
    if is_traced(column, num_rows):
        raise NotImplementedError(
            f"{method}: inside jit the objects of the rows are not known. Call {method} before jit."
        )
    return at_once(host_series, column, num_rows)


def objects_apart(
    columns: Sequence[Column],
    on_device: Callable[[Sequence[Column], Sequence[Any]], Sequence[Column]],
    on_host: Callable[[Column], Column],
    labels: Sequence[object],
) -> list[Column]:
    """Results of columns, with their labels: those of objects one by one, of others together."""
    others = [at for at, column in enumerate(columns) if column.kind != "object"]
    if len(others) == len(columns):
        return list(on_device(columns, labels))
    found = iter(on_device([columns[at] for at in others], [labels[at] for at in others]))
    return [on_host(column) if column.kind == "object" else next(found) for column in columns]


def rows_of_objects(
    columns: Sequence[Column],
    table: Table,
    method: str,
    function: Callable[[pd.DataFrame], pd.Series],
) -> Column:
    """Applies a function of the rows of a pandas frame to columns, some of objects.

    Raises:
        NotImplementedError: the objects of the rows are not known inside `jit`.
    """
    values = [_known_series(column, table.num_rows, method) for column in columns]
    return column_of_results(
        function(pd.DataFrame(dict(enumerate(values)))), method, table.capacity, table.layout
    )
