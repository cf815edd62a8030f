# SPDX-License-Identifier: Apache-2.0
"""Batches in Arrow, with metadata that hold for the whole file."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from ..io._construction import columns_with_holes, table_of_arrow
from ..table._layout import Layout
from ..table._ndframe import FrameBase
from ..table._nullable import Family
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


def frame_of_arrow(
    rows: pa.Table,
    layout: Layout,
    least: int = 0,
    families: Mapping[str, Family] | None = None,
) -> Any:
    """A frame of rows of a frame that come back; see `table_of_arrow`.

    Bools that miss values in other rows are those of a frame that does, also without a null.
    """
    table, labels = table_of_arrow(
        rows, layout, least=least, backend=families, nulls=columns_with_holes(rows.schema)
    )
    return FrameBase.frame_class._of(table, labels)


def in_schema(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A batch with the types of the first one."""
    _check_objects([schema, table.schema])
    try:
        return table.cast(schema)
    except (pa.ArrowInvalid, ValueError) as error:
        raise TypeError(
            "to_parquet: all batches must have the types of the first one, "
            f"{dict(zip(schema.names, map(str, schema.types), strict=True))}: {error}. Call "
            "astype() first."
        ) from error


def joined_rows(tables: Sequence[pa.Table]) -> pa.Table:
    """The rows of several tables in one, in common types."""
    _check_objects([table.schema for table in tables])
    return pa.concat_tables(tables, promote_options="permissive")


def _check_objects(schemas: Sequence[pa.Schema]) -> None:
    """Raises if the objects of a column are strings in one batch and numbers in another.

    Raises:
        NotImplementedError: they are.
    """
    first = schemas[0]
    if all(schema.equals(first) for schema in schemas):
        return
    for place, name in enumerate(first.names):
        types = [schema.types[place] for schema in schemas]
        if any(map(_is_text, types)) and any(map(_is_number, types)):
            raise NotImplementedError(
                f"over batches: the objects of column {name!r} must be of one type, got "
                f"{' and '.join(sorted(set(map(str, types))))}. Cast it with astype('str') or "
                "astype('float64') first, or use collect() without a limit of rows or memory."
            )


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
