# SPDX-License-Identifier: Apache-2.0
"""Conversion of frames and series to Arrow."""

import json
from collections.abc import Sequence

import pandas as pd
import pyarrow as pa

from ..table._column import Column
from ..table._column_labels import Labels
from ..table._row_index import RowIndex
from ..table._to_arrow import arrow_of
from ..table._to_host import no_rows, without_rows


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
        first = index.first + rows.start * index.step
        stored[0] |= {"start": first, "stop": first + num_rows * index.step, "step": index.step}
    else:
        levels = zip(index.levels, stored, strict=True)
        arrays += [arrow_of(level, rows, name) for level, name in levels]
        names += stored
    for one, column in zip(metadata["columns"], (*columns, *index.levels), strict=False):
        if column.kind == "decimal" and column.is_nullable:
            # pandas has no name for the dtype, and reads objects.
            one["metadata"]["family"] = column.family
        if column.is_bool and not column.is_nullable and column.valid is not None:
            # These rows may miss none; see `columns_with_holes`.
            one["metadata"] = {"has_holes": True}
    packed = {b"pandas": json.dumps(metadata).encode()}
    if not arrays:
        return pa.Table.from_pandas(pd.DataFrame(index=range(num_rows)))
    return pa.Table.from_arrays(arrays, names).replace_schema_metadata(packed)


def _empty_index(index: RowIndex) -> pd.Index:
    if index.is_range:
        return pd.RangeIndex(0, name=index.names[0])
    return RowIndex(tuple(map(without_rows, index.levels)), index.names).to_pandas(0)
