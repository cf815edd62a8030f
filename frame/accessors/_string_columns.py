# SPDX-License-Identifier: Apache-2.0
"""Columns that string methods read, and columns of their results."""

import itertools
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pyarrow as pa

from ..table._column import NUMBER, Column, ColumnType, ListType, of_family
from ..table._dictionary import Dictionary, encode_each
from ..table._distinct_values import column_of_results, looked_up
from ..table._from_host import column_from
from ..table._host_column import HostColumn
from ..table._layout import ONE_DEVICE
from ..table._lists import column_of_lists
from ..table._lists_on_host import lists_from_arrow
from ..table._nullable import family_of
from ..table._recode import as_string, has_strings, look_up, look_up_few, renumbered
from ..table._table import Table

# Kinds of values with string methods, as pandas infers them. Mixed values include strings.
STRING_KINDS = ("string", "bytes", "mixed", "mixed-integer", "empty")


def kind_of_strings(column: Column) -> str:
    """The kind of the values, or of the categories that pandas' string methods accept."""
    if column.kind == "number":
        return {"b": "boolean", "f": "floating", "c": "complex"}.get(column.dtype.kind, "integer")
    if column.kind in ("category", "object"):
        assert column.type.dictionary is not None
        kind = pd.api.types.infer_dtype(column.type.dictionary.values, skipna=True)
        return kind if kind in STRING_KINDS else column.kind
    return column.kind


def with_strings(column: Column) -> Column:
    """Strings of categories, and objects as categories, as string methods see them."""
    if column.kind == "object":
        # Their values are no strings alone.
        values: Any = column.type.dictionary
        categories = Dictionary(pd.Index(values.values, dtype=object))
        return Column(column.data, None, ColumnType("category", categories))
    if not has_strings(column):
        return column
    strings = as_string(column)
    if column.kind != "category":
        return strings
    return of_family(strings, family_of(column.dictionary.values.dtype))


def results_of_rows(
    column: Column, results: pd.Series, missing_result: object, rows: Table
) -> Column:
    """Looks up the result for each row's code; `missing_result` if it is a bool, for no code."""
    if isinstance(missing_result, (bool, np.bool_)):
        if results.dtype == np.bool_:
            few = look_up_few(column, results.to_numpy(), missing_result)
            if few is not None:
                return HostColumn((few, None), NUMBER)
            return Column(look_up(column.data, results.to_numpy(), np.bool_(missing_result)))
        # Nullable flags are NA for no code, unless `na=` says what they are.
        column, results = _with_result_of_none(column, results, missing_result)
    if results.dtype == object:
        kind = pd.api.types.infer_dtype(results, skipna=True)
        if kind not in ("boolean", "string", "empty"):
            return lists_of_rows(column, results, rows)
        results = results if kind == "boolean" else results.astype("str")
    few = _few_strings(column, results)
    if few is not None:
        return few
    return looked_up(column_of_results(results, "str"), column.data, rows.num_rows, rows.layout)


# So many strings take less time in Python than to be made an array of Arrow and ranked.
MOST_SORTED = 256


def _few_strings(column: Column, results: pd.Series) -> Column | None:
    """The strings of few rows' codes, of a small dictionary; None if there is more to do."""
    is_small = len(results) <= MOST_SORTED and column.family is None
    dtype = results.dtype
    # Those that Python stores, by an option of pandas, stay so.
    if not is_small or dtype != "str" or getattr(dtype, "storage", None) != "pyarrow":
        return None
    strings = tuple(results)
    if not all(type(string) is str for string in strings):
        return None
    new_codes, dictionary = encode_each(strings)
    few = look_up_few(column, new_codes, np.int32(-1))
    return None if few is None else HostColumn((few, None), ColumnType("string", dictionary))


def _with_result_of_none(
    column: Column, results: pd.Series, result: object
) -> tuple[Column, pd.Series]:
    """The results with one more, which rows without a code get."""
    results = pd.concat([results, pd.Series([result], dtype=results.dtype)], ignore_index=True)
    codes = jnp.where(column.data < 0, np.int32(len(results) - 1), column.data)
    return column.with_arrays((codes, None)), results


def lists_of_rows(column: Column, results: pd.Series, rows: Table) -> Column:
    """Lists of strings as a column of lists, a list for each code; tuples as objects."""
    lists = [result for result in results if isinstance(result, list)]
    # Those of several groups of a pattern are tuples in lists, which would be lists in Arrow.
    is_tuple = any(isinstance(one, tuple) for one in itertools.chain(lists, *lists))
    if is_tuple or len(lists) < results.notna().sum():
        return tuples_of_rows(column, results, rows)
    arrow = pa.array(results, pa.large_list(pa.large_string()), from_pandas=True)
    form = {
        None: ListType(), "masked": ListType("nullable"),
        "arrow": ListType("arrow", pa.list_(pa.string())),
    }[column.family]  # fmt: skip
    lists = lists_from_arrow(
        arrow, form, rows.layout.capacity_for(len(arrow)), rows.layout, "str", column_from
    )
    if not arrow.null_count:
        return column_of_lists(column.data, lists.lists, form)
    numbers = np.where(arrow.is_null(), -1, np.arange(len(arrow)))
    return column_of_lists(renumbered(column.data, numbers), lists.lists, form)


def tuples_of_rows(column: Column, results: pd.Series, rows: Table) -> Column:
    """The object of each row's code."""
    if column.is_nullable:
        column, results = _with_result_of_none(column, results, pd.NA)
    return looked_up(of_objects(results), column.data, rows.num_rows, rows.layout)


def of_objects(results: pd.Series) -> Column:
    return column_from(results, ONE_DEVICE.capacity_for(len(results)), ONE_DEVICE)
