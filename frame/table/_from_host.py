# SPDX-License-Identifier: Apache-2.0
"""Columns and row labels from pandas, NumPy, Arrow and lists."""

import dataclasses
from collections.abc import Hashable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pyarrow as pa
from jax.core import Tracer

from ...primitives.tiers._kernel_calls import ALIGNMENT, aligned_empty
from ...shardings._compat import is_x64_enabled
from ._array_owners import share_with_caller
from ._column import NUMBER, UNITS, Column, ColumnType, ListType, of_family, show_holes
from ._counted import counts_of_arrow, label_of
from ._dictionary import (
    ArrowObjects,
    Dictionary,
    HostObjects,
    encode_each,
    encode_unless_near_unique,
)
from ._layout import Layout
from ._level_orders import orders_of
from ._lists_on_host import is_list, is_record, lists_from_arrow, shown_type
from ._nullable import default_dtype, family_of, is_nullable
from ._row_index import RowIndex, frequency_of
from ._types import DtypeLike
from ._unencoded import as_unencoded
from ._zones import in_utc, zone_label


def column_from(
    values: Any,
    capacity: int,
    layout: Layout,
    name: Hashable = None,
    dictionary: Dictionary | None = None,
    *,
    in_place: bool = False,
    keeps_masks: bool = False,
) -> Column:
    """Converts a one-dimensional array of JAX, pandas, NumPy or Arrow to a column.

    `name` is for errors; `dictionary` has the strings that `values` index, if they are codes. The
    column may keep the memory of Arrow data if they are given `in_place`: nothing writes it.
    Integers of Arrow with nulls are float64, or keep a mask if they are one of several pieces.
    """
    if isinstance(values, jax.Array):
        return Column(_placed_on_device(values, capacity, layout, name))
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        column = _from_arrow(values, capacity, layout, name, in_place)
        return column if keeps_masks else show_holes(column)
    if isinstance(values, (pd.Series, pd.Index)):
        values = values.array
    dtype = values.dtype
    if isinstance(dtype, pd.ArrowDtype) and is_record(dtype.pyarrow_dtype):
        return _from_records(pa.array(values), True, capacity, layout, name)
    if isinstance(dtype, pd.ArrowDtype) and is_list(dtype.pyarrow_dtype):
        form = ListType("arrow", shown_type(dtype.pyarrow_dtype))
        return lists_from_arrow(pa.array(values), form, capacity, layout, name, column_from)
    if isinstance(dtype, pd.ArrowDtype) and getattr(dtype.pyarrow_dtype, "tz", None) is not None:
        times = _from_fixed_width(pa.array(values), capacity, layout, name, in_place)
        return of_family(times, "arrow")
    label = label_of(dtype)
    if label is not None:
        family = None if label.kind == "period" else "arrow"
        counts = values.asi8 if family is None else counts_of_arrow(pa.array(values), name)
        kind = ColumnType(**label._asdict(), family=family)
        return _placed(np.asarray(counts), kind, capacity, layout, name)
    if is_nullable(dtype):
        return _from_nullable(values, capacity, layout, name)
    if isinstance(values, pd.arrays.NumpyExtensionArray) and not isinstance(dtype, pd.StringDtype):
        values = values.to_numpy()
        dtype = values.dtype
    if dictionary is not None:
        return _string_column(np.asarray(values), dictionary, capacity, layout, name)
    if isinstance(dtype, pd.CategoricalDtype):
        categories: Any = values
        kind = ColumnType("category", Dictionary(dtype.categories), ordered=bool(dtype.ordered))
        return _placed(categories.codes.astype(np.int32), kind, capacity, layout, name)
    if isinstance(dtype, pd.StringDtype):
        return strings_from(values, capacity, layout, name)
    if isinstance(dtype, pd.DatetimeTZDtype):
        times = _from_times(in_utc(values), capacity, layout, name)
        kind = dataclasses.replace(times.type, zone=zone_label(dtype.tz))
        return dataclasses.replace(times, type=kind)
    if dtype.kind in "Mm":
        return _from_times(np.asarray(values), capacity, layout, name)
    if not isinstance(dtype, np.dtype):
        raise _unsupported(dtype, name, "astype of a NumPy dtype")
    if dtype.kind == "O":
        objects = HostObjects(np.array(values))
        codes = np.arange(len(objects), dtype=np.int32)
        return _placed(codes, ColumnType("object", objects), capacity, layout, name)
    return _placed(np.asarray(values), NUMBER, capacity, layout, name)


def index_from(index: pd.Index, capacity: int, layout: Layout) -> RowIndex:
    """Converts a pandas index to row labels."""
    if isinstance(index, pd.RangeIndex):
        return RowIndex((), tuple(index.names), index.start, index.step)
    # A level that has a number for its name is not the level of that number.
    unnamed = index.set_names([None] * index.nlevels)
    levels = [unnamed.get_level_values(level) for level in range(index.nlevels)]
    columns = (
        _level_from(level, capacity, layout, "index" if name is None else name)
        for level, name in zip(levels, index.names, strict=True)
    )
    names, freq = tuple(index.names), frequency_of(index)
    return RowIndex(tuple(columns), names, freq=freq, orders=orders_of(index))


def labels_at_positions(
    index: RowIndex, row_ids: np.ndarray, capacity: int, layout: Layout
) -> RowIndex:
    """Selects labels of a range by ascending positions, which may be those of a longer source."""
    if not len(row_ids) or row_ids[-1] <= np.iinfo(np.int32).max:
        return index.at(column_from(row_ids.astype(np.int32), capacity, layout).data)
    labels = index.first + index.step * row_ids.astype(np.int64)
    return RowIndex((column_from(labels, capacity, layout, "index"),), index.names)


# The labels of columns become those of rows in each reduction of a frame.
MOST_REMEMBERED = 64


def _from_nullable(values: Any, capacity: int, layout: Layout, name: Hashable) -> Column:
    """Converts an array of a nullable dtype: the arrays of the default dtype, and its label."""
    family, dtype = family_of(values.dtype), default_dtype(values.dtype)
    if isinstance(dtype, pd.StringDtype):
        column = strings_from(values.astype(dtype), capacity, layout, name)
    elif dtype.kind in "fmM":
        missing: Any = np.nan if dtype.kind == "f" else np.array("NaT", dtype)[()]
        column = column_from(values.to_numpy(dtype, na_value=missing), capacity, layout, name)
    else:
        numbers = values.to_numpy(dtype, na_value=dtype.type(0))
        column = column_from(numbers, capacity, layout, name)
        present = ~np.asarray(values.isna())
        if not present.all():
            valid = layout.place(_padded(present, capacity))
            column = column.with_arrays((column.data, valid))
    return of_family(column, family)


def _level_from(level: pd.Index, capacity: int, layout: Layout, name: Hashable) -> Column:
    dtype: Any = level.dtype
    is_arrow = isinstance(dtype, pd.StringDtype) and dtype.storage == "pyarrow"
    if is_arrow and dtype.na_value is np.nan and len(level) <= MOST_REMEMBERED:
        labels = tuple(level)
        if all(type(label) is str for label in labels):
            return _string_column(*encode_each(labels), capacity, layout, name)
    return column_from(level, capacity, layout, name)


def _from_times(values: np.ndarray, capacity: int, layout: Layout, name: Hashable) -> Column:
    unit, multiple = np.datetime_data(values.dtype)
    if unit not in UNITS or multiple != 1:
        # pandas converts days to seconds, picoseconds to nanoseconds, and checks the range.
        values = pd.Series(values).to_numpy()
        unit = np.datetime_data(values.dtype)[0]
    kind = "datetime" if values.dtype.kind == "M" else "timedelta"
    return _placed(values.view(np.int64), ColumnType(kind, unit=unit), capacity, layout, name)


def _from_arrow(
    values: pa.Array | pa.ChunkedArray,
    capacity: int,
    layout: Layout,
    name: Hashable,
    in_place: bool,
) -> Column:
    kind = values.type
    if _is_string(kind):
        return strings_from(values, capacity, layout, name)
    if _is_fixed_width(kind):
        return _from_fixed_width(values, capacity, layout, name, in_place)
    if isinstance(values, pa.ChunkedArray):
        values = _combined(values)
    if pa.types.is_dictionary(kind):
        codes = values.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
        # Arrow converts no strings at all to objects.
        dtype = "str" if _is_string(values.dictionary.type) else None
        categories = Dictionary(pd.Index(values.dictionary.to_pandas(), dtype=dtype))
        category = ColumnType("category", categories, ordered=kind.ordered)
        return _placed(codes, category, capacity, layout, name)
    if is_record(kind):
        return _from_records(values, False, capacity, layout, name)
    if is_list(kind):
        form = ListType("array", shown_type(kind))
        return lists_from_arrow(values, form, capacity, layout, name, column_from)
    column = column_from(values.to_pandas(), capacity, layout, name)
    objects = column.type.dictionary
    if column.kind != "object" or not isinstance(objects, HostObjects):
        return column
    typed = dataclasses.replace(column.type, dictionary=HostObjects(objects.values, kind))
    return dataclasses.replace(column, type=typed)


def _from_records(
    records: pa.Array, shows_arrow: bool, capacity: int, layout: Layout, name: Hashable
) -> Column:
    """Structs and maps of Arrow, which the host holds."""
    codes = np.arange(len(records), dtype=np.int32)
    if records.null_count:
        codes[np.asarray(records.is_null())] = -1
    kind = ColumnType("object", ArrowObjects(records, shows_arrow))
    return _placed(codes, kind, capacity, layout, name)


def _is_fixed_width(kind: pa.DataType) -> bool:
    """Whether a type of Arrow has the values of a dtype of NumPy: numbers, bools and times."""
    return (
        pa.types.is_timestamp(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_duration(kind)
    )


def _from_fixed_width(
    values: pa.Array | pa.ChunkedArray,
    capacity: int,
    layout: Layout,
    name: Hashable,
    in_place: bool,
) -> Column:
    """Copies the chunks, once, to the memory that the column keeps, unless it may keep theirs."""
    dtype, kind = values.type.to_pandas_dtype(), NUMBER
    if isinstance(dtype, pd.DatetimeTZDtype):
        kind = ColumnType("datetime", unit=dtype.unit, zone=zone_label(values.type.tz))
        dtype = f"M8[{dtype.unit}]"
    dtype = np.dtype(dtype)
    if dtype.kind in "Mm" and kind is NUMBER:
        unit = np.datetime_data(dtype)[0]
        kind = ColumnType("datetime" if dtype.kind == "M" else "timedelta", unit=unit)
    check_width(np.dtype(np.int64) if kind.is_time else dtype, name, kind.named(dtype))
    kept = _as_it_is(values, capacity) if in_place else None
    if kept is not None:
        return Column(layout.place(kept.view(np.int64) if kind.is_time else kept), None, kind)
    has_mask = dtype.kind in "biu" and values.null_count > 0
    data = aligned_empty((capacity,), dtype)
    valid = aligned_empty((capacity,), np.dtype(np.bool_)) if has_mask else None
    start = 0
    for chunk in values.chunks if isinstance(values, pa.ChunkedArray) else [values]:
        rows = slice(start, start + len(chunk))
        if valid is not None:
            valid[rows] = chunk.is_valid().to_numpy(zero_copy_only=False)
            chunk = chunk.fill_null(False if dtype.kind == "b" else 0)
        data[rows] = chunk.to_numpy(zero_copy_only=False)
        start = rows.stop
    data[start:] = np.zeros((), dtype)
    placed = layout.place(data.view(np.int64) if kind.is_time else data)
    if valid is None:
        return Column(placed, None, kind)
    valid[start:] = False
    return Column(placed, layout.place(valid), kind)


def _as_it_is(values: pa.Array | pa.ChunkedArray, capacity: int) -> np.ndarray | None:
    """Arrow's memory, if JAX reads it in place: one chunk of `capacity` rows without nulls."""
    if isinstance(values, pa.ChunkedArray):
        if values.num_chunks != 1:
            return None
        values = values.chunk(0)
    # Arrow packs bools in bits.
    if len(values) != capacity or values.null_count or pa.types.is_boolean(values.type):
        return None
    data = values.to_numpy()
    return None if data.ctypes.data % ALIGNMENT else data


def _combined(values: pa.ChunkedArray) -> pa.Array:
    if values.num_chunks == 1:
        # combine_chunks() drops the dictionary of an empty chunk.
        return values.chunk(0)
    if pa.types.is_dictionary(values.type) and values.num_chunks:
        first, *others = values.chunks
        # Unifying dictionaries hashes each of them again.
        if not all(chunk.dictionary.equals(first.dictionary) for chunk in others):
            values = values.unify_dictionaries()
    return values.combine_chunks()


def _is_string(kind: pa.DataType) -> bool:
    return (
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def strings_from(values: object, capacity: int, layout: Layout, name: Hashable) -> Column:
    """Converts strings of pandas or Arrow, dictionary-encoded or not, to a column of strings."""
    codes, dictionary = encode_unless_near_unique(values)
    return _string_column(codes, dictionary, capacity, layout, name)


def _string_column(
    codes: np.ndarray, dictionary: Dictionary, capacity: int, layout: Layout, name: Hashable
) -> Column:
    kind = ColumnType("string", dictionary)
    return as_unencoded(_placed(codes, kind, capacity, layout, name))


def _placed(
    data: np.ndarray, kind: ColumnType, capacity: int, layout: Layout, name: Hashable
) -> Column:
    check_width(data.dtype, name, kind.named(data.dtype) if kind.is_counted else None)
    return Column(layout.place(_padded(data, capacity)), None, kind)


def _padded(data: np.ndarray, capacity: int) -> np.ndarray:
    """Copies values to memory of their own: JAX may read it for as long as the column lives."""
    padded = aligned_empty((capacity,), data.dtype)
    padded[: len(data)] = data
    padded[len(data) :] = np.zeros((), data.dtype)
    return padded


def _placed_on_device(
    values: jax.Array, capacity: int, layout: Layout, name: Hashable
) -> jax.Array:
    if values.ndim != 1:
        raise ValueError(
            f"JaxFrame: column {name!r} must be one-dimensional, got {jax.typeof(values)}."
        )
    padding = capacity - values.shape[0]
    padded = jnp.pad(values, (0, padding)) if padding else values
    if isinstance(padded, Tracer):
        return layout.constrain(padded)
    placed = layout.place(padded)
    if not padding:
        share_with_caller(placed)
    return placed


def check_width(dtype: Any, name: Hashable, shown: str | None = None) -> None:
    """Raises if JAX would narrow the dtype, which errors call `shown`, without its x64 mode."""
    dtype = np.dtype(dtype)
    wide = dtype.itemsize > 8 if dtype.kind == "c" else dtype.itemsize == 8
    if wide and not is_x64_enabled():
        where = "" if name is None else f" in {name!r}"
        raise TypeError(
            f"JaxFrame: values of 64 bits need JAX's x64 mode, got {shown or dtype}{where}. "
            'Call jax.config.update("jax_enable_x64", True) first, or cast to 32 bits.'
        )
    if dtype.kind not in "biufc" or dtype.itemsize > 16 or dtype == np.longdouble:
        raise _unsupported(dtype, name, "astype of a dtype that JAX has")


def _unsupported(dtype: DtypeLike, name: Hashable, remedy: str) -> NotImplementedError:
    return NotImplementedError(
        f"JaxFrame: column {name!r} must be of a dtype that the device holds, got {dtype}. "
        f"Convert it first: {remedy}."
    )
