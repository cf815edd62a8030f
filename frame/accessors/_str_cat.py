# SPDX-License-Identifier: Apache-2.0
"""Strings of two columns put together, once for each distinct pair."""

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
    """The strings of a column with those of another behind them.

    Raises:
        NotImplementedError: inside `jit`.
        TypeError: the other one holds no strings.
    """
    behind = as_column(other, table, "others")
    if behind.kind not in ("string", "category"):
        raise TypeError(
            "Concatenation requires list-likes containing only strings (or missing values). "
            f"Offending values found in column of {behind.dtype_name}"
        )
    behind = as_string(behind)
    if is_traced(column.data, behind.data, table.num_rows):
        raise NotImplementedError(
            "str.cat: inside jit nobody knows which pairs of strings there are. Call it before."
        )
    keys = column.data, behind.data
    pairs = at_once(primitives.factorize, keys, num_valid=table.num_rows, **table.layout.on_mesh)
    count = int(pairs.count)
    sides = [
        pd.Series(one.dictionary.take(host_array(codes)[:count]), dtype="str")
        for one, codes in zip((column, behind), pairs.unique_keys, strict=True)
    ]
    made = sides[0].str.cat(sides[1], sep=sep, na_rep=na_rep)
    codes, dictionary = encode_strings(made.array)
    data = look_up(jnp.asarray(pairs.group_ids), codes.astype(np.int32), np.int32(-1))
    return Column(data, None, ColumnType("string", dictionary))
