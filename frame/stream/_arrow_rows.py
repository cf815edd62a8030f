# SPDX-License-Identifier: Apache-2.0
"""Batches in Arrow, with metadata that hold for the whole file."""

import json
from typing import Any

import pyarrow as pa

from ..table._take import position


def arrow_of(frame: Any, is_default: bool) -> pa.Table:
    """The rows of a batch in Arrow. Labels of a range that is not 0, 1, ... become a column."""
    table = frame._table
    if not table.index.is_range:
        return frame.to_arrow()
    if not is_default:
        row_ids = position(table.capacity, table.layout)
        return frame._like(table.replace(index=table.index.at(row_ids))).to_arrow()
    rows = frame._with_range().to_arrow()
    metadata = json.loads(rows.schema.metadata[b"pandas"])
    # The metadata would hold the number of rows of this batch.
    metadata["index_columns"] = []
    return rows.replace_schema_metadata({b"pandas": json.dumps(metadata).encode()})


def in_schema(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A batch with the types of the first one."""
    try:
        return table.cast(schema)
    except (pa.ArrowInvalid, ValueError) as error:
        raise TypeError(
            "to_parquet: all batches must have the types of the first one, "
            f"{dict(zip(schema.names, map(str, schema.types), strict=True))}: {error}. Call "
            "astype() first."
        ) from error
