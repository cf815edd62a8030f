# SPDX-License-Identifier: Apache-2.0
"""The strings of each group put one behind the other: new strings, which the host makes."""

from collections.abc import Hashable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..table._column import Column, host_array
from ..table._table import Table
from ..table._tracing import is_traced
from ._grouped_column import Reduction
from ._groups import Groups


def joined_strings(
    column: Column, label: Hashable, groups: Groups, table: Table, spec: Reduction
) -> pa.Array:
    """The string of each slot, missing where it has too few, or where a missing one spoils it.

    Raises:
        NotImplementedError: inside `jit`.
    """
    if is_traced(column.data, table.num_rows) or groups.is_traced:
        raise NotImplementedError(
            f"groupby: inside jit the strings of column {label!r} are not put together by sum. "
            'Use "first", "nunique" or "count", or call it outside.'
        )
    num_rows, num_slots = table.num_rows_on_host, groups.num_slots
    codes, slots = host_array(column.data)[:num_rows], host_array(groups.slots)[:num_rows]
    is_present = (slots >= 0) & (codes >= 0)
    counts = np.bincount(slots[is_present], minlength=num_slots)
    order = np.argsort(slots[is_present], kind="stable")
    dictionary = pa.array(column.dictionary.values, pa.large_string(), from_pandas=True)
    words = dictionary.take(pa.array(codes[is_present][order]))
    # The words of a group stand one behind the other in the buffer: as one they begin where the
    # first does, and end where the next group's first begins.
    lengths = pc.binary_length(words).to_numpy(zero_copy_only=False)  # pyright: ignore
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
    offsets = ends[np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])]
    text = words.buffers()[2] or pa.py_buffer(b"")
    strings = pa.LargeStringArray.from_buffers(num_slots, pa.py_buffer(offsets), text)
    is_missing = counts < spec.min_count
    if not spec.skipna:
        is_missing |= counts < np.bincount(slots[slots >= 0], minlength=num_slots)
    return pc.if_else(pa.array(is_missing), None, strings)  # pyright: ignore
