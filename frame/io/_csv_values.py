# SPDX-License-Identifier: Apache-2.0
"""Values of a CSV file that Arrow does not parse: times in other formats, thousands, categories."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ..table._arguments import listed
from ..table._untyped import untyped_pandas as _pandas
from ._csv_options import FALSE_WORDS, TRUE_WORDS

# pyarrow.compute has no types.
_compute: Any = pc
_BOOLS = dict.fromkeys(TRUE_WORDS, True) | dict.fromkeys(FALSE_WORDS, False)


def columns_of_times(parse_dates: object, labels: Sequence[object], index_col: object) -> list[Any]:
    """The labels of the columns that `parse_dates` names."""
    if parse_dates is None or parse_dates is False:
        return []
    if parse_dates is True:
        if index_col is None or index_col is False:
            return []
        given = listed(index_col)
    elif isinstance(parse_dates, (list, tuple)):
        given = list(parse_dates)
    else:
        raise TypeError(
            "Only booleans and lists are accepted for the 'parse_dates' parameter, got "
            f"{type(parse_dates).__name__}"
        )
    if any(isinstance(one, (list, tuple)) for one in given):
        raise NotImplementedError(
            "read_csv: parse_dates must name single columns. Add the columns, and call "
            "to_datetime()."
        )
    named = [labels[one] if isinstance(one, int) and one not in labels else one for one in given]
    absent = [str(one) for one in named if one not in labels]
    if absent:
        raise ValueError(f"Missing column provided to 'parse_dates': '{', '.join(absent)}'")
    return named


def with_times(
    table: pa.Table, labels: Sequence[Any], date_format: Any, *, dayfirst: bool
) -> pa.Table:
    """The table with columns of text parsed as times; those that are none stay text."""
    for label in labels:
        at = table.schema.get_field_index(label)
        if at < 0:
            continue
        how = date_format.get(label) if isinstance(date_format, Mapping) else date_format
        texts = table.column(at).to_pandas()
        try:
            times = pd.to_datetime(texts, format=how, dayfirst=dayfirst)
        except (ValueError, TypeError):
            continue
        table = table.set_column(at, label, pa.Array.from_pandas(times))
    return table


def with_thousands(
    table: pa.Table, thousands: str, decimal: str, given: Mapping[Any, Any]
) -> pa.Table:
    """The table with columns of numbers whose digits are grouped by a mark as numbers."""
    mark = f"\\{thousands}" if thousands in ".|^$*+?()[]{}\\" else thousands
    point = f"\\{decimal}"
    pattern = rf"^\s*[+-]?[0-9][0-9{mark}]*({point}[0-9]*)?([eE][+-]?[0-9]+)?\s*$"
    for at, field in enumerate(table.schema):
        if field.name in given or not _is_text(field.type):
            continue
        texts = table.column(at)
        if not _compute.all(_compute.match_substring_regex(texts, pattern)).as_py():
            continue
        plain = _compute.replace_substring(texts, thousands, "")
        plain = _compute.utf8_trim_whitespace(_compute.replace_substring(plain, decimal, "."))
        for kind in (pa.int64(), pa.float64()):
            try:
                numbers = plain.cast(kind)
            except pa.ArrowInvalid:
                continue
            table = table.set_column(at, field.name, numbers)
            break
    return table


def with_categories(table: pa.Table, dtypes: Mapping[str, pd.CategoricalDtype]) -> pa.Table:
    """The table with columns of text as categories: numbers if all their words are."""
    for label, dtype in dtypes.items():
        at = table.schema.get_field_index(label)
        if at >= 0:
            categories = pa.Array.from_pandas(_category(table.column(at), dtype))
            table = table.set_column(at, label, categories)
    return table


def _category(texts: pa.ChunkedArray, dtype: pd.CategoricalDtype) -> Any:
    encoded: Any = _compute.dictionary_encode(texts.combine_chunks())
    words = pd.Series(encoded.dictionary.to_pandas(), dtype="str")
    categories = _pandas.Categorical(_as_values(words, dtype.categories))
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    of_rows = np.append(categories.codes, np.int8(-1))[codes]
    found = _pandas.Categorical.from_codes(of_rows, categories.categories)
    if dtype.categories is None:
        return found
    return found.set_categories(dtype.categories, ordered=dtype.ordered)


def _as_values(words: pd.Series, known: Any) -> Any:
    """The words as values of the dtype of categories; without any, as numbers if all are."""
    if known is None or pd.api.types.is_numeric_dtype(known.dtype):
        if known is not None and pd.api.types.is_bool_dtype(known.dtype):
            return words.map(_BOOLS)
        try:
            return pd.to_numeric(words)
        except ValueError:
            if known is not None:
                return pd.to_numeric(words, errors="coerce")
            return words.map(_BOOLS) if words.isin(list(_BOOLS)).all() else words
    if known.dtype.kind == "M":
        return pd.to_datetime(words, errors="coerce")
    return pd.to_timedelta(words, errors="coerce") if known.dtype.kind == "m" else words


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)
