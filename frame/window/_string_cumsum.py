# SPDX-License-Identifier: Apache-2.0
"""`cumsum` of strings: the concatenation of the values up to each row, on the host."""

from collections.abc import Hashable

import jax.numpy as jnp
import numpy as np
import pyarrow as pa

from ..table._column import Column, ColumnType, host_array
from ..table._dictionary import Dictionary, string_index
from ..table._table import Table
from ..table._tracing import is_traced


def concatenated_so_far(column: Column, label: Hashable, skipna: bool, table: Table) -> Column:
    """Concatenates the strings up to each row.

    The dictionary of the result holds every prefix, so its size is quadratic in the number of rows.

    Raises:
        NotImplementedError: inside `jit`.
    """
    if is_traced(column.data, table.num_rows):
        raise NotImplementedError(
            f"cumsum: inside jit the strings of column {label!r} are not concatenated. "
            "Call cumsum outside jit."
        )
    codes = host_array(column.data)[: table.num_rows_on_host]
    is_present = codes >= 0
    if not skipna:
        is_present = np.logical_and.accumulate(is_present)
    words = column.dictionary.values.to_numpy(object)
    lengths = np.array([len(word) for word in words], np.int64)
    ends = np.cumsum(lengths[codes[is_present]])
    # All results are prefixes of one string, and prefixes sort by their lengths.
    text = "".join(words[codes[is_present]])
    prefix_ends, prefix_codes = np.unique(ends, return_inverse=True)
    prefixes = pa.array([text[:end] for end in prefix_ends], pa.large_string())
    result = np.full(column.data.shape[0], -1, np.int32)
    result[: len(codes)][is_present] = prefix_codes
    type = ColumnType("string", Dictionary(string_index(prefixes)))
    return Column(table.layout.place(jnp.asarray(result)), None, type)
