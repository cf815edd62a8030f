# SPDX-License-Identifier: Apache-2.0
"""Conversion of a column to Arrow."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pyarrow as pa

from ._column import NAT, Column, host_array


def arrow_of(column: Column, rows: slice, name: Any) -> pa.Array:
    """Converts rows of a column to Arrow, with nulls for missing values."""
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
            return pa.array(data, pa.int64(), mask=data == NAT).cast(pa.timestamp(column.type.unit))
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
