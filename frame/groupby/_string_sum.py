# SPDX-License-Identifier: Apache-2.0
"""`sum` of strings: the concatenation of each group's strings, on the host."""

from collections.abc import Hashable

import numpy as np
import pyarrow as pa

from ..table._column import Column, of_family
from ..table._from_host import column_from
from ..table._layout import ONE_DEVICE
from ..table._table import Table
from ..table._to_host import host_array
from ..table._tracing import is_traced
from ..table._untyped import untyped_compute
from ._grouped_column import Groups, Reduction


def joined_strings(
    column: Column, label: Hashable, groups: Groups, table: Table, spec: Reduction, by_segment: bool
) -> Column:
    """Concatenates the strings of each group; missing by the rules of `min_count` and `skipna`."""
    if is_traced(column.data, table.num_rows) or groups.is_traced:
        raise NotImplementedError(
            f"groupby: inside jit the strings of column {label!r} are not concatenated. "
            'Use "first", "nunique" or "count", or call sum outside jit.'
        )
    num_rows = table.num_rows_on_host
    codes = host_array(column.data)[:num_rows]
    num_groups = groups.num_segments if by_segment else int(groups.count)
    group_ids = groups.segments.ids if by_segment else groups.group_ids
    group_ids = host_array(group_ids)[:num_rows]
    is_present = (group_ids >= 0) & (codes >= 0)
    counts = np.bincount(group_ids[is_present], minlength=num_groups)
    order = np.argsort(group_ids[is_present], kind="stable")
    dictionary = pa.array(column.dictionary.values, pa.large_string(), from_pandas=True)
    words = dictionary.take(pa.array(codes[is_present][order]))
    # The words of a group are adjacent in the buffer, so their concatenation is a slice of it.
    lengths = untyped_compute.binary_length(words).to_numpy(zero_copy_only=False)
    ends = np.append(0, np.cumsum(lengths, dtype=np.int64))
    offsets = ends[np.append(0, np.cumsum(counts))]
    text = words.buffers()[2] or pa.py_buffer(b"")
    strings = pa.LargeStringArray.from_buffers(num_groups, pa.py_buffer(offsets), text)
    is_missing = counts < spec.min_count
    if not spec.skipna:
        is_missing |= counts < np.bincount(group_ids[group_ids >= 0], minlength=num_groups)
    strings = untyped_compute.if_else(pa.array(is_missing), None, strings)
    capacity, layout = groups.capacity, groups.layout
    if by_segment:
        capacity, layout = num_groups, ONE_DEVICE
    return of_family(column_from(strings, capacity, layout), column.family)
