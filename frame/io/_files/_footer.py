# SPDX-License-Identifier: Apache-2.0
"""Reads the footer of a Parquet file, and checks what Arrow trusts in it.

Arrow ends the process where a column's statistics do not fit its type, if it is asked for the
statistics or the sizes of a row group alone. So this is checked before: a footer that passes is
safe to ask. The format is Thrift's compact protocol.
"""

import collections
import contextlib
import hashlib
import io
import itertools
from typing import Any

import pyarrow as pa

# The numbers of fields, as parquet.thrift gives them.
_ROW_GROUPS, _COLUMNS, _METADATA = 4, 1, 3
_TYPE, _NUM_VALUES, _UNCOMPRESSED_BYTES, _STATISTICS, _SIZES = 1, 5, 6, 12, 16
_EXTREMES = (1, 2, 5, 6)
_STRING_BYTES, _REPETITIONS, _DEFINITIONS = 1, 2, 3

_PHYSICAL_TYPES = (
    "BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY",
)  # fmt: skip
_BYTES = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}


class Malformed(pa.ArrowInvalid):
    """A file that breaks its format."""


# The digests of footers that were sound, the newest last.
_sound: collections.OrderedDict[bytes, None] = collections.OrderedDict()
# A digest has 32 bytes; a folder of more files checks its footers again.
_MOST_KNOWN = 1024


def check_footer(metadata: object) -> None:
    """Raises `Malformed` as `column_chunks` does; a footer that was sound is not read again."""
    digest = hashlib.blake2b(_footer_of(metadata)).digest()
    if digest not in _sound:
        column_chunks(metadata)
    _sound[digest] = None
    while len(_sound) > _MOST_KNOWN:
        with contextlib.suppress(KeyError):
            _sound.popitem(last=False)


def column_chunks(metadata: Any) -> list[list[tuple[int, int]]]:
    """The sizes of the column chunks of each row group, of a file whose footer is sound.

    Args:
        metadata: the `pyarrow.parquet.FileMetaData` of a file.

    Returns:
        For each row group the number of values and the uncompressed bytes of each column.

    Raises:
        Malformed: the footer does not follow the format, or its statistics do not fit the schema.
    """
    schema = metadata.schema
    columns = [schema.column(position) for position in range(len(schema.names))]
    try:
        footer, _ = _struct(_footer_of(metadata), 0)
        return [
            [
                _checked(chunk[_METADATA], column)
                for chunk, column in zip(group[_COLUMNS], columns, strict=True)
            ]
            for group in footer[_ROW_GROUPS]
        ]
    except (IndexError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise Malformed(f"the footer does not follow the format: {error!r}") from None


def _footer_of(metadata: Any) -> bytes:
    # The words of the file, written again: the file itself is not read twice.
    written = io.BytesIO()
    metadata.write_metadata_file(written)
    data = written.getvalue()
    num_bytes = int.from_bytes(data[-8:-4], "little")
    return data[len(data) - 8 - num_bytes : -8]


def _checked(chunk: dict[int, Any], column: Any) -> tuple[int, int]:
    physical_type = _PHYSICAL_TYPES[chunk[_TYPE]]
    if physical_type != column.physical_type:
        raise ValueError(f"column {column.path!r} has two types")
    num_bytes = _BYTES.get(physical_type, 0)
    if physical_type == "FIXED_LEN_BYTE_ARRAY":
        num_bytes = column.length
    statistics = chunk.get(_STATISTICS, {})
    for extreme in _EXTREMES:
        if extreme in statistics and len(statistics[extreme]) < num_bytes:
            raise ValueError(f"a statistic of column {column.path!r} is too short")
    sizes = chunk.get(_SIZES, {})
    if _STRING_BYTES in sizes and physical_type != "BYTE_ARRAY":
        raise ValueError(f"column {column.path!r} has a size of strings")
    for field, most in (
        (_REPETITIONS, column.max_repetition_level),
        (_DEFINITIONS, column.max_definition_level),
    ):
        if len(sizes.get(field, ())) not in (0, most + 1):
            raise ValueError(f"the levels of column {column.path!r} are not counted")
    return chunk[_NUM_VALUES], chunk[_UNCOMPRESSED_BYTES]


def _struct(data: bytes, at: int) -> tuple[dict[int, Any], int]:
    """Reads a struct: its fields by number, and the position after it."""
    fields: dict[int, Any] = {}
    number = 0
    while head := data[at]:
        at += 1
        kind = head & 15
        if head >> 4:
            number += head >> 4
        else:
            number, at = _integer(data, at)
        if kind <= 2:
            fields[number] = kind == 1
        else:
            fields[number], at = _value(data, at, kind)
    return fields, at + 1


def _value(data: bytes, at: int, kind: int) -> tuple[Any, int]:
    match kind:
        case 1 | 2 | 3:
            return data[at], at + 1
        case 4 | 5 | 6:
            return _integer(data, at)
        case 7:
            return None, at + 8
        case 8:
            size, at = _unsigned(data, at)
            if size > len(data) - at:
                raise IndexError("a string is longer than the footer")
            return data[at : at + size], at + size
        case 9 | 10:
            size, of = data[at] >> 4, data[at] & 15
            at += 1
            if size == 15:
                size, at = _unsigned(data, at)
            values = []
            # A wrong size ends at the end of the footer: each value has a byte at least.
            for _ in itertools.repeat(None, size):
                value, at = _value(data, at, of)
                values.append(value)
            return values, at
        case 12:
            return _struct(data, at)
    raise ValueError(f"there is no type {kind}")


def _integer(data: bytes, at: int) -> tuple[int, int]:
    """Reads a signed number, in zigzag form."""
    bits, at = _unsigned(data, at)
    return bits >> 1 ^ -(bits & 1), at


def _unsigned(data: bytes, at: int) -> tuple[int, int]:
    """Reads a number of 7 bits a byte, the lowest first."""
    byte = data[at]
    at += 1
    bits, shift = byte & 127, 7
    while byte & 128:
        byte = data[at]
        at += 1
        bits |= (byte & 127) << shift
        shift += 7
    return bits, at
