# SPDX-License-Identifier: Apache-2.0
"""Concatenates the strings of two columns, once for each distinct pair."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ..align._as_column import as_column
from ..table._column import Column, ColumnType, host_array
from ..table._dictionary import encode_strings
from ..table._recode import as_string, look_up
from ..table._table import Table
from ..table._tracing import at_once, is_traced


def concatenated(column: Column, other: Any, table: Table, sep: str, na_rep: str | None) -> Column:
    """Appends the strings of `other`, row by row.

    Raises:
        NotImplementedError: inside `jit`.
        TypeError: `other` does not contain strings.
    """
    right = as_column(other, table, "others")
    if right.kind not in ("string", "category"):
        raise TypeError(
            "Concatenation requires list-likes containing only strings (or missing values). "
            f"Offending values found in column of {right.dtype_name}"
        )
    right = as_string(right)
    if is_traced(column.data, right.data, table.num_rows):
        raise NotImplementedError(
            "str.cat: the pairs of strings are not known inside jit. Call it outside jit."
        )
    keys = column.data, right.data
    pairs = at_once(primitives.factorize, keys, num_valid=table.num_rows, **table.layout.on_mesh)
    count = int(pairs.count)
    sides = [
        pd.Series(one.dictionary.take(host_array(codes)[:count]), dtype="str")
        for one, codes in zip((column, right), pairs.unique_keys, strict=True)
    ]
    joined = sides[0].str.cat(sides[1], sep=sep, na_rep=na_rep)
    codes, dictionary = encode_strings(joined.array)
    data = look_up(jnp.asarray(pairs.group_ids), codes.astype(np.int32), np.int32(-1))
    return Column(data, None, ColumnType("string", dictionary))
