# SPDX-License-Identifier: Apache-2.0
"""Conversion of a column to Arrow."""

from collections.abc import Hashable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pyarrow as pa

from ._column import NAT, Column
from ._counted import arrow_of_counts
from ._dictionary import ArrowObjects, HostObjects
from ._to_host import host_array
from ._zones import arrow_zone


def arrow_of(column: Column, rows: slice, name: Hashable) -> pa.Array:
    """Converts rows of a column to Arrow, with nulls for missing values."""
    if column.kind == "list":
        return _arrow_lists(column, rows, name)
    column = column.stored
    data = host_array(column.data)[rows]
    match column.kind:
        case "string":
            strings = column.dictionary.take(data)
            return _whole(pa.array(strings, pa.large_string(), from_pandas=True))
        case "category":
            dictionary = pa.array(column.dictionary.values, from_pandas=True)
            return pa.DictionaryArray.from_arrays(
                _codes(data), _whole(dictionary), ordered=column.type.ordered
            )
        case "datetime":
            zone = arrow_zone(column.type.zone)
            times = pa.array(data, pa.int64(), mask=data == NAT)
            return times.cast(pa.timestamp(column.type.unit, zone))
        case "timedelta":
            return pa.array(data, pa.int64(), mask=data == NAT).cast(pa.duration(column.type.unit))
        case "object":
            objects = column.type.dictionary
            assert isinstance(objects, HostObjects)
            if isinstance(objects, ArrowObjects):
                return objects.arrow_of(data)
            try:
                return pa.array(objects.take(data), objects.arrow_type, from_pandas=True)
            except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
                raise TypeError(
                    f"to_arrow: column {name!r} must have objects of one type, got {error}. "
                    "Drop the column."
                ) from None
    if column.type.is_counted:
        return arrow_of_counts(data, column.type)
    if data.dtype.kind == "c":
        raise TypeError(
            f"to_arrow: column {name!r} must have a dtype of Arrow, got {data.dtype}. "
            "Convert its real and imaginary parts."
        )
    if column.valid is not None:
        return pa.array(data, mask=~host_array(column.valid)[rows])
    if data.dtype == jnp.bfloat16:
        # Arrow has no bfloat16.
        data = data.astype(np.float32)
    return pa.array(data, from_pandas=True)


def _codes(data: np.ndarray) -> pa.Array:
    return pa.array(data, pa.int32(), mask=data < 0)


def _whole(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def _arrow_lists(column: Column, rows: slice, name: Hashable) -> pa.Array:
    """Converts the lists of rows to Arrow: of their type, if they have one."""
    offsets, values, is_missing = packed_lists(column, rows)
    missing = pa.array(is_missing) if is_missing.any() else None
    packed = pa.LargeListArray.from_arrays(
        pa.array(offsets), arrow_of(values, slice(0, values.capacity), name), mask=missing
    )
    form = column.type.lists
    return packed if form is None or form.arrow is None else packed.cast(form.arrow)


def packed_lists(column: Column, rows: slice) -> tuple[np.ndarray, Column, np.ndarray]:
    """The lists of rows on the host: offsets, the values they are offsets of, and missing rows."""
    numbers = host_array(column.data)[rows]
    is_missing = numbers < 0
    at = np.where(is_missing, 0, numbers)
    lengths = np.where(is_missing, 0, host_array(column.lists.lengths)[at])
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    shifts = np.repeat(host_array(column.lists.starts)[at] - offsets[:-1], lengths)
    positions = shifts + np.arange(offsets[-1])
    values = column.lists.values
    data, valid = values.stored.arrays
    taken: Any = (
        host_array(data)[positions],
        None if valid is None else host_array(valid)[positions],
    )
    return offsets, values.moved(taken), is_missing
