# SPDX-License-Identifier: Apache-2.0
"""`str.cat`: strings of several columns, row by row."""

from typing import Any, cast

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ..align._align import repeats_labels, same_labels
from ..align._as_column import as_column
from ..table._arguments import listed
from ..table._by_pandas import by_pandas
from ..table._column import Column, of_family
from ..table._distinct_values import looked_up
from ..table._ndframe import FrameBase, SeriesBase
from ..table._recode import as_string, strings_at
from ..table._table import Table
from ..table._to_host import host_array
from ..table._tracing import at_once, is_traced
from ..table._user_functions import as_pandas
from ._string_columns import of_objects, with_strings


def concatenated(
    series: SeriesBase, column: Column, others: Any, sep: str | None, na_rep: str | None, join: str
) -> Any:
    """The strings of a series with those of others; see `StringMethods.cat`.

    Args:
        series: the series.
        column: its strings, as string methods see them.
        others: the others; None to concatenate all strings into one.
        sep: what stands between strings.
        na_rep: what stands for a missing string.
        join: how labels are aligned.
    """
    of, given = cast(Any, series), others
    if isinstance(others, str):
        raise ValueError("Did you mean to supply a `sep` keyword?")
    if others is None:
        if is_traced(of._table):
            raise NotImplementedError(
                "str.cat: without others it is not supported inside jit. Call it outside jit."
            )
        return of.to_pandas().str.cat(sep=sep, na_rep=na_rep)
    if isinstance(others, FrameBase):
        others = [others._series_at(at) for at in range(len(others._labels))]
    repeats = any(_repeats(of, one) for one in listed(others) if isinstance(one, SeriesBase))
    if join != "left" or repeats:
        theirs = given
        if isinstance(given, list):
            # A series that is given twice stays one, with one index.
            shown = {id(one): as_pandas(one) for one in given}
            theirs = [shown[id(one)] for one in given]
        return by_pandas(
            of,
            "str.cat: join=" if join != "left" else "str.cat: labels that repeat",
            "Align the series first.",
            lambda data: data.str.cat(as_pandas(theirs), sep, na_rep, join),
        )
    if isinstance(others, (list, tuple, np.ndarray)) and not len(others):
        own: Any = of._with_column(series._only if series._only.kind == "object" else column)
        return own.fillna(np.nan if na_rep is None else na_rep)
    if _are_strings(others):
        # By position; a list of columns has series.
        others = [pd.Series(list(others), dtype="str").array]
    for other in listed(others):
        column = _with_other(column, other, of._table, sep or "", na_rep)
    return of._with_column(column)


def _repeats(series: SeriesBase, other: SeriesBase) -> bool:
    """Whether two series differ in labels, and a label of the other one repeats."""
    return not same_labels(series._table, other._table) and repeats_labels(other)


def _with_other(column: Column, other: Any, table: Table, sep: str, na_rep: str | None) -> Column:
    """Appends the strings of `other`, row by row."""
    column = with_strings(column) if column.kind == "object" else column
    is_by_position = not isinstance(other, SeriesBase) and not is_traced(table.num_rows)
    if is_by_position and len(other) != table.num_rows_on_host:
        raise ValueError(
            "If `others` contains arrays or lists (or other list-likes without an index), these "
            "must all be of the same length as the calling Series/Index: str.cat got "
            f"{len(other)} and {table.num_rows_on_host} values."
        )
    right = as_column(other, table, "others")
    if right.kind not in ("string", "category", "object"):
        raise TypeError(
            "Concatenation requires list-likes containing only strings (or missing values). "
            f"Offending values found in column of {right.dtype_name}"
        )
    right = with_strings(right) if right.kind == "object" else as_string(right)
    if is_traced(column.data, right.data, table.num_rows):
        raise NotImplementedError(
            "str.cat: the pairs of strings are not known inside jit. Call it outside jit."
        )
    keys = column.data, right.data
    pairs = at_once(primitives.factorize, keys, num_valid=table.num_rows, **table.layout.on_mesh)
    count = int(pairs.count)
    # pandas raises for objects that are no strings, and gives the dtype of the left side.
    sides = [
        pd.Series(
            one.dictionary.take(host_array(codes)[:count]),
            dtype="str" if one.kind == "string" else object,
        )
        for one, codes in zip((column, right), pairs.unique_keys, strict=True)
    ]
    joined = sides[0].str.cat(sides[1], sep=sep, na_rep=na_rep)
    if column.kind == "string":
        return of_family(strings_at(jnp.asarray(pairs.group_ids), joined), column.family)
    return looked_up(of_objects(joined), pairs.group_ids, table.num_rows, table.layout)


def _are_strings(others: object) -> bool:
    """Whether values are one column of strings, missing ones among them."""
    return isinstance(others, (list, tuple, pd.Index, np.ndarray)) and all(
        isinstance(one, str) or (pd.api.types.is_scalar(one) and pd.isna(one)) for one in others
    )
