# SPDX-License-Identifier: Apache-2.0
"""The size of batches: given in rows, or derived from a memory limit."""

import re

from ..plan._node import Scan
from ..table._ndframe import NDFrame

# Compiled programs, threads and the readers' buffers, however many rows there are.
FIXED_BYTES = 224 * 2**20
# Copies of a batch at one time: decoded ahead, on the device, the results of its stages, and
# partial states and sides of merges of one or two batches. Measured with groups, sorts, joins and
# distinct rows of 8 to 32 bytes (`make bench-disk`): at most 50.
COPIES = 64
# In a join of two files with one key in half of the rows near 80.
COPIES_OF_SEVERAL = 96
# Smaller batches would save little memory and take many calls.
LEAST_BATCH_ROWS = 1024
# The assumed length of a string in bytes, with its code.
STRING_BYTES = 24

_UNITS = {"": 1, "K": 10, "M": 20, "G": 30, "T": 40}


def as_bytes(limit: object) -> int:
    """Converts a memory limit such as 2**31, "2GiB" or "500MB" to bytes."""
    if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0:
        return limit
    text = limit if isinstance(limit, str) else ""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B", text)
    if match is None or not float(match[1]):
        raise ValueError(
            f"memory_limit: must be a positive number of bytes or a text such as '2GiB', got "
            f"{limit!r}."
        )
    number, unit, is_binary = match.groups()
    exponent = _UNITS[unit]
    scale = 2**exponent if is_binary else 1000 ** (exponent // 10) if unit else 1
    return int(float(number) * scale)


def rows_of_batches(scans: list[Scan], batch_rows: object, memory_limit: object) -> int:
    """The number of rows of a batch.

    Raises:
        ValueError: both arguments are given, or one is not positive.
    """
    if batch_rows is not None:
        if memory_limit is not None:
            raise ValueError("collect: give batch_rows= or memory_limit=, not both.")
        if not isinstance(batch_rows, int) or batch_rows < 1:
            raise ValueError(f"batch_rows: must be a positive integer, got {batch_rows!r}.")
        return batch_rows
    row_bytes = max((row_bytes_of(scan.empty) for scan in scans), default=1)
    limit = as_bytes(memory_limit)
    # A limit below what is fixed cannot be kept: small batches keep it as far as possible.
    for_rows = max(limit - FIXED_BYTES, limit // 8)
    copies = COPIES if len(scans) < 2 else COPIES_OF_SEVERAL
    return max(for_rows // (copies * max(row_bytes, 1)), LEAST_BATCH_ROWS)


def row_bytes_of(frame: NDFrame) -> int:
    """The bytes of a row, of strings by their assumed length."""
    columns = (*frame._table.columns, *frame._table.index.stored)
    return sum(
        STRING_BYTES if column.kind in ("string", "object") else column.dtype.itemsize
        for column in columns
    )
