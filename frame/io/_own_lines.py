# SPDX-License-Identifier: Apache-2.0
"""Each process reads its own part of the lines of a CSV file, with the types of all."""

import json
import os
from collections.abc import Sequence
from typing import BinaryIO

import jax
import pyarrow as pa
from pyarrow import csv

from ..table._layout import Layout
from ..table._types import Options
from ._csv_columns import with_pandas_types
from ._own_rows import messages_of_all

# Types that Arrow infers for other lines and that both kinds of lines can be read as.
_COMMON = (
    ({"int64", "uint64"}, "uint64"),
    ({"int64", "uint64", "double"}, "double"),
    ({"date32[day]", "timestamp[s]"}, "timestamp[s]"),
    ({"date32[day]", "timestamp[s]", "timestamp[ns]"}, "timestamp[ns]"),
)
_TYPES = {
    "null": pa.null(),
    "int64": pa.int64(),
    "uint64": pa.uint64(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "string": pa.string(),
    "date32[day]": pa.date32(),
    "time32[s]": pa.time32("s"),
    "timestamp[s]": pa.timestamp("s"),
    "timestamp[ns]": pa.timestamp("ns"),
}


def own_lines(
    path: str,
    names: Sequence[str] | None,
    labels: Sequence[str] | None,
    skiprows: int,
    parse: csv.ParseOptions,
    convert: Options,
    layout: Layout,
) -> pa.Table:
    """Reads this process's share of the bytes of a file, from line to line.

    `labels` are those of the first line, if the file has no `names` of its own.

    A column that Arrow takes for another type in the lines of another process is read again, as a
    type that holds both.
    """
    assert layout.mesh is not None
    devices = tuple(layout.mesh.devices.flat)
    own, count = jax.process_index(), jax.process_count()
    with open(path, "rb") as file:
        for _ in range(skiprows):
            file.readline()
        if names is None:
            file.readline()
            names = labels
        assert names is not None
        start, size = file.tell(), os.fstat(file.fileno()).st_size
        first, last = (
            _next_line(file, start, start + (size - start) * i // count) for i in (own, own + 1)
        )
        file.seek(first)
        lines = file.read(last - first)

    def read_as(chosen: Options) -> pa.Table:
        options = {**convert, **chosen}
        conversion = csv.ConvertOptions(**options)
        if not lines.strip():
            # Arrow reads no file without lines.
            wanted = convert.get("include_columns") or names
            kinds = [options["column_types"].get(name, pa.null()) for name in wanted]
            return pa.schema(list(zip(wanted, kinds, strict=True))).empty_table()
        return csv.read_csv(
            pa.BufferReader(lines),
            read_options=csv.ReadOptions(column_names=list(names)),
            parse_options=parse,
            convert_options=conversion,
        )

    def read(types: Options) -> pa.Table:
        known = {**types, **convert["column_types"]}
        return with_pandas_types(read_as, known, pa.BufferReader(lines), "read_csv")

    table = read({})
    found = {field.name: str(field.type) for field in table.schema}
    message = json.dumps((found, table.num_rows)).encode()
    told = [json.loads(one) for one in messages_of_all(message, devices)]
    of_all, has_rows = [one for one, _ in told], any(num_rows for _, num_rows in told)
    given = convert["column_types"]
    types = {
        name: _common({types[name] for types in of_all})
        for name in found
        if name not in given and len({types[name] for types in of_all}) > 1
    }
    if has_rows:
        # As in pandas, a column without a value is one of floats.
        for name in found:
            if name not in given and all(one[name] == "null" for one in of_all):
                types[name] = pa.float64()
    return read(types) if types else table


def _next_line(file: BinaryIO, start: int, position: int) -> int:
    """The start of the first line that begins at or after a position."""
    if position <= start:
        return start
    file.seek(position - 1)
    file.readline()
    return file.tell()


def _common(types: set[str]) -> pa.DataType:
    known = types - {"null"}
    if len(known) == 1:
        return _TYPES.get(known.pop(), pa.string())
    for members, common in _COMMON:
        if known <= members:
            return _TYPES[common]
    return pa.string()
