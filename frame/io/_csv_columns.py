# SPDX-License-Identifier: Apache-2.0
"""The columns of a file of comma-separated values: their labels and types."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from ..table._nullable import Family
from ..table._types import Options

# pyarrow.compute has no types.
_compute: Any = pc

# A larger read takes no less time for a byte.
_BYTES_AT_ONCE = 1 << 20

# What one read of the file takes: options for types and columns.
Read = Callable[[dict[str, Any]], Any]


class Header(NamedTuple):
    """The labels of the columns of a file, and how Arrow reads the rows below them.

    Attributes:
        labels: a label for each column.
        options: of Arrow.
        unnamed: the labels of columns that the file has no name for.
    """

    labels: list[str]
    options: csv.ReadOptions
    unnamed: tuple[str, ...] = ()


def header_of(
    open_file: Callable[[], object],
    names: Sequence[str] | None,
    skiprows: int,
    parse: object,
    encoding: str = "utf8",
) -> Header:
    """Reads the header of a file, unless `names` are given for a file without one.

    Raises:
        ValueError: names are repeated.
    """
    if names is not None:
        if len(set(names)) < len(names):
            raise ValueError("Duplicate names are not allowed.")
        return Header(list(names), _options(encoding, skiprows, list(names)))
    with csv.open_csv(
        open_file(), read_options=_options(encoding, skiprows), parse_options=parse
    ) as reader:
        found = reader.schema.names
    labels = distinct_labels(found)
    if labels == found:
        return Header(labels, _options(encoding, skiprows))
    options = _options(encoding, skiprows, labels)
    options.skip_rows_after_names = 1
    unnamed = tuple(label for label, name in zip(labels, found, strict=True) if not name)
    return Header(labels, options, unnamed)


def _options(encoding: str, skiprows: int, names: list[str] | None = None) -> csv.ReadOptions:
    return csv.ReadOptions(encoding=encoding, skip_rows=skiprows, column_names=names)


def distinct_labels(names: Sequence[str]) -> list[str]:
    """pandas' labels for the names of a header: a, a.1, a.2 for equal ones."""
    labels = [name or f"Unnamed: {at}" for at, name in enumerate(names)]
    counts: dict[str, int] = {}
    # As in pandas, columns without a name get the labels that are left.
    for at in sorted(range(len(names)), key=lambda at: not names[at]):
        label = name = labels[at]
        count = counts.get(name, 0)
        while count > 0:
            counts[name] = count + 1
            label = f"{name}.{count}"
            count = count + 1 if label in labels else counts.get(label, 0)
        labels[at] = label
        counts[label] = count + 1
    return labels


def chosen_labels(labels: Sequence[str], usecols: Any) -> list[str]:
    """The labels that `usecols` selects by label or by position, in the order of the file."""
    listed = list(usecols)
    if listed and all(isinstance(one, int) for one in listed):
        listed = [labels[at] if 0 <= at < len(labels) else at for at in listed]
    absent = [one for one in listed if one not in labels]
    if absent:
        raise ValueError(
            f"Usecols do not match columns, columns expected but not found: {absent}. "
            f"The file has {list(labels)}."
        )
    return [label for label in labels if label in listed]


def with_pandas_types(read: Read, types: Options, source: object, caller: str) -> Any:
    """Reads a file; see `wide_integers` and `hexadecimals`.

    Args:
        read: reads the rows.
        types: the types of columns that are known.
        source: the path or the buffer of the file.
        caller: the name for errors.

    Raises:
        NotImplementedError: pandas would make objects or strings of the integers of a column.
    """
    table = read({"column_types": types})
    others = {
        **wide_integers(table, read, types, caller),
        **hexadecimals(table.schema, read, types, source),
    }
    return read({"column_types": {**types, **others}}) if others else table


def with_numbers_for_nulls(
    table: pa.Table, given: Collection[str], families: Mapping[str, Family]
) -> pa.Table:
    """The rows with numbers for columns without a value: as in pandas, float64 or Int64."""
    if not table.num_rows:
        return table
    for at, field in enumerate(table.schema):
        family = families.get(field.name)
        if pa.types.is_null(field.type) and field.name not in given and family != "arrow":
            kind = pa.float64() if family is None else pa.int64()
            table = table.set_column(at, field.name, table.column(at).cast(kind))
    return table


def hexadecimals(
    schema: pa.Schema, read: Read, given: Collection[str], source: object
) -> dict[str, Any]:
    """String types for columns of numbers such as 0x1f, which Arrow reads as integers."""
    names = [
        field.name for field in schema if pa.types.is_int64(field.type) and field.name not in given
    ]
    if not names or not _has_hexadecimals(source):
        return {}
    found: dict[str, Any] = {}
    for name in names:
        texts = read({"include_columns": [name], "column_types": {name: pa.string()}}).column(name)
        if _compute.any(_compute.match_substring_regex(texts, r"^\s*[+-]?0[xX]")).as_py():
            found[name] = pa.string()
    return found


def _has_hexadecimals(source: Any) -> bool:
    """Whether a file has a prefix of hexadecimal numbers anywhere."""
    stream = pa.input_stream(source) if isinstance(source, str) else source
    with stream:
        last = b""
        while part := stream.read(_BYTES_AT_ONCE):
            if b"0x" in part or b"0X" in part or last + part[:1] in (b"0x", b"0X"):
                return True
            last = part[-1:]
    return False


# The types that Arrow tries for a column, in its order.
_TRIED = (
    pa.null(),
    pa.int64(),
    pa.bool_(),
    pa.date32(),
    pa.time32("s"),
    pa.timestamp("s"),
    pa.timestamp("s", "UTC"),
    pa.timestamp("ns"),
    pa.timestamp("ns", "UTC"),
    pa.float64(),
)


def is_open(kind: pa.DataType) -> bool:
    """Whether rows after the first ones may well have another type than this."""
    return kind in _TRIED[:-1]


def type_of_all_rows(read_as: Callable[[pa.DataType], object], first: pa.DataType) -> pa.DataType:
    """The type that Arrow gives a column by all rows, where the first ones have a type."""
    for kind in _TRIED[_TRIED.index(first) :]:
        try:
            read_as(kind)
        except pa.ArrowInvalid:
            continue
        return kind
    return pa.string()


def wide_integers(rows: object, read: Read, given: Collection[str], caller: str) -> dict[str, Any]:
    """The types of columns whose integers Arrow rounds to floats in rows that it has read."""
    wide: dict[str, Any] = {}
    for name in _large_floats(rows, given):
        texts = read({"include_columns": [name], "column_types": {name: pa.string()}}).column(name)
        if not _compute.all(_compute.match_substring_regex(texts, r"^\s*[+-]?\d+\s*$")).as_py():
            continue
        try:
            read({"include_columns": [name], "column_types": {name: pa.uint64()}})
        except pa.ArrowInvalid:
            are_wide = False
        else:
            are_wide = not texts.null_count
        if not are_wide:
            raise NotImplementedError(
                f"{caller}: column {name!r} has integers beyond 64 bits, or some from 2**63 on "
                "beside negative or missing ones. Pass a dtype of 'str' or 'float64' for it to "
                "read_csv."
            )
        wide[name] = pa.uint64()
    return wide


def _large_floats(rows: Any, given: Collection[str]) -> Iterable[str]:
    for name in rows.schema.names:
        column = rows.column(name)
        if name in given or not pa.types.is_float64(column.type):
            continue
        largest = _compute.max(_compute.abs(column)).as_py()
        if largest is not None and largest >= 2.0**63:
            yield name
