# SPDX-License-Identifier: Apache-2.0
"""Conversion of a column to Arrow."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pyarrow as pa

from ._column import NAT, Column, host_array
from ._zones import arrow_zone


def arrow_of(column: Column, rows: slice | np.ndarray, name: Any) -> pa.Array:
    """Converts rows of a column, a slice or positions, to Arrow; nulls are missing values."""
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
            assert column.type.dictionary is not None
            try:
                return pa.array(column.type.dictionary.take(data), from_pandas=True)
            except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
                raise TypeError(
                    f"to_arrow: column {name!r} must have objects of one type, got {error}. "
                    "Drop the column."
                ) from None
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


def _arrow_lists(column: Column, rows: slice | np.ndarray, name: Any) -> pa.Array:
    """Converts the lists of rows to Arrow: of their type, if they have one."""
    numbers = host_array(column.data)[rows]
    lists = column.lists
    is_missing = numbers < 0
    at = np.where(is_missing, 0, numbers)
    lengths = np.where(is_missing, 0, host_array(lists.lengths)[at])
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    shifts = np.repeat(host_array(lists.starts)[at] - offsets[:-1], lengths)
    values = arrow_of(lists.values, shifts + np.arange(offsets[-1]), name)
    missing = pa.array(is_missing) if is_missing.any() else None
    packed = pa.LargeListArray.from_arrays(pa.array(offsets), values, mask=missing)
    form = column.type.lists
    return packed if form is None or form.arrow is None else packed.cast(form.arrow)
