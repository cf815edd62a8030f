# SPDX-License-Identifier: Apache-2.0
"""`sum` of strings: the concatenation of each group's strings, on the host."""

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
    """Concatenates the strings of each segment; missing by the rules of `min_count` and `skipna`.

    Raises:
        NotImplementedError: inside `jit`.
    """
    if is_traced(column.data, table.num_rows) or groups.is_traced:
        raise NotImplementedError(
            f"groupby: inside jit the strings of column {label!r} are not concatenated. "
            'Use "first", "nunique" or "count", or call sum outside jit.'
        )
    num_rows, num_segments = table.num_rows_on_host, groups.num_segments
    codes, segment_ids = (
        host_array(column.data)[:num_rows],
        host_array(groups.segment_ids)[:num_rows],
    )
    is_present = (segment_ids >= 0) & (codes >= 0)
    counts = np.bincount(segment_ids[is_present], minlength=num_segments)
    order = np.argsort(segment_ids[is_present], kind="stable")
    dictionary = pa.array(column.dictionary.values, pa.large_string(), from_pandas=True)
    words = dictionary.take(pa.array(codes[is_present][order]))
    # The words of a group are adjacent in the buffer, so their concatenation is a slice of it.
    lengths = pc.binary_length(words).to_numpy(zero_copy_only=False)  # pyright: ignore
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
    offsets = ends[np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])]
    text = words.buffers()[2] or pa.py_buffer(b"")
    strings = pa.LargeStringArray.from_buffers(num_segments, pa.py_buffer(offsets), text)
    is_missing = counts < spec.min_count
    if not spec.skipna:
        is_missing |= counts < np.bincount(segment_ids[segment_ids >= 0], minlength=num_segments)
    return pc.if_else(pa.array(is_missing), None, strings)  # pyright: ignore
