# SPDX-License-Identifier: Apache-2.0
"""Conversion of frames and series to Arrow."""

import json
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pyarrow as pa

from ..table._column import NAT, Column, host_array, no_rows, without_rows
from ..table._column_labels import Labels
from ..table._row_index import RowIndex


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


def arrow_table(
    columns: Sequence[Column], labels: Labels, index: RowIndex, rows: slice
) -> pa.Table:
    """Converts rows of a frame to Arrow, with pandas' metadata for labels and index."""
    num_rows = len(range(*rows.indices(columns[0].capacity if columns else rows.stop)))
    names = [str(label) for label in labels]
    arrays = [arrow_of(column, rows, name) for column, name in zip(columns, names, strict=True)]
    empty = pd.DataFrame(
        {position: no_rows(column) for position, column in enumerate(columns)},
        index=_empty_index(index),
    )
    empty.columns = labels.index
    schema = pa.Schema.from_pandas(empty)
    metadata = json.loads(schema.metadata[b"pandas"])
    stored = metadata["index_columns"]
    if index.is_range:
        first = index.start + rows.start * index.step
        stored[0] |= {"start": first, "stop": first + num_rows * index.step, "step": index.step}
    else:
        levels = zip(index.levels, stored, strict=True)
        arrays += [arrow_of(level, rows, name) for level, name in levels]
        names += stored
    packed = {b"pandas": json.dumps(metadata).encode()}
    if not arrays:
        return pa.Table.from_pandas(pd.DataFrame(index=range(num_rows)))
    return pa.Table.from_arrays(arrays, names).replace_schema_metadata(packed)


def _empty_index(index: RowIndex) -> pd.Index:
    if index.is_range:
        return pd.RangeIndex(0, name=index.names[0])
    return RowIndex(tuple(map(without_rows, index.levels)), index.names).to_pandas(0)
