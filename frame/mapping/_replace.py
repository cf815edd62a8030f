# SPDX-License-Identifier: Apache-2.0
"""`replace`: other values in place of given ones."""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd

from ..table._arguments import listed_labels
from ..table._column import Column, inverse
from ..table._distinct_values import through_values
from ..table._holes import assumes_holes
from ..table._in_place import with_inplace
from ..table._ndframe import FrameBase, NDFrame
from ..table._table import Table
from ..table._tracing import is_traced
from ..table._user_functions import as_pandas
from ._choices import choose_scalar
from ._isin import flags_in
from ._lookup import host_values
from ._missing import missing_flags


class Replace(NDFrame):
    """`replace` of a frame or a series."""

    @with_inplace
    def replace(
        self,
        to_replace: Any = None,
        value: object = ...,
        *,
        inplace: bool = False,
        regex: Any = False,
    ) -> Self:
        """Replaces values, given as scalars, lists or a dict.

        Regular expressions are matched on the host, once for each distinct string.

        Differences from pandas:
            Values must be numbers or strings.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries(["a", "b"]).replace({"a": "c"}).tolist()
            ['c', 'b']
        """
        if not isinstance(regex, (bool, np.bool_)):
            if to_replace is not None:
                raise ValueError("'to_replace' must be 'None' if 'regex' is not a bool")
            to_replace, regex = regex, True
        to_replace, value = _as_dict(to_replace), _as_dict(value)
        is_frame = isinstance(self, FrameBase)
        if not is_frame and isinstance(to_replace, Mapping) and value is not ...:
            raise ValueError(
                "to_replace and value cannot be dict-like for Series.replace. Pass one dict of old "
                "and new values, or two lists."
                if isinstance(value, Mapping)
                else "Series.replace cannot specify both a dict-like 'to_replace' and a 'value'. "
                "Pass a list of old values."
            )
        pairs = _by_column(to_replace, value) if is_frame else None
        if pairs is None and isinstance(value, Mapping) and not isinstance(to_replace, Mapping):
            raise ValueError(
                "Series.replace cannot use dict-value and non-None to_replace. Pass a dict of old "
                "and new values as to_replace."
            )
        columns = []
        for label, column in zip(self._names, self._table.columns, strict=True):
            pair = (to_replace, value) if pairs is None else pairs.get(label)
            if pair is not None:
                column = _replaced(column, *pair, regex, self._table)
            columns.append(column)
        return self._with_columns(columns)


def _as_dict(values: Any) -> Any:
    """A series as a dict by label; other values as they are."""
    values = as_pandas(values)
    return dict(values.items()) if isinstance(values, pd.Series) else values


def _by_column(old: Any, new: Any) -> dict[Any, tuple[Any, Any]] | None:
    """What is replaced in the column of each label, and by what; None for the same in all."""
    if isinstance(old, Mapping):
        if new is ... and not all(isinstance(one, Mapping) for one in old.values()):
            return None
        if isinstance(new, Mapping):
            return {label: (old[label], new[label]) for label in old if label in new}
        return {label: (one, new) for label, one in old.items()}
    if isinstance(new, Mapping) and not pd.api.types.is_list_like(old):
        return {label: (old, one) for label, one in new.items()}
    return None


def _replaced(column: Column, old: Any, new: Any, regex: Any, table: Table) -> Column:
    if regex:
        if column.kind not in ("string", "object", "category"):
            # A pattern matches no number.
            return column
        words = {} if new is ... else {"value": host_values(new)}
        return through_values(
            column, table.num_rows, table.layout,
            lambda shown: shown.replace(host_values(old), regex=regex, **words), "replace",
        )  # fmt: skip
    if old is None and new is not ...:
        raise TypeError(
            "'regex' must be a string or a compiled regular expression or a list or dict of "
            "strings or regular expressions, you passed a 'bool'. To replace missing values use "
            "fillna."
        )
    old, new = host_values(old), host_values(new)
    keys, values = _as_pairs(old, new)
    is_string = column.kind == "string"
    # Numbers beside None, NA or NaT are objects, which programs do not have: there these are
    # missing numbers.
    makes_objects = (None,) if is_string or column.is_nullable else (None, pd.NA, pd.NaT)
    has_none = any(any(value is one for one in makes_objects) for value in values) and (
        is_string or not is_traced(column, table.num_rows)
    )
    if not has_none and (is_string or (column.is_numeric and not column.is_bool)):
        # A key of another type matches nothing.
        pairs = [
            (_weak(key, column), value)
            for key, value in zip(keys, values, strict=True)
            if (_is_string(key) if is_string else _is_number(key))
            or (key is pd.NA and column.is_nullable)
        ]
        if not is_string or all(isinstance(value, str) or pd.isna(value) for _, value in pairs):
            return _replace_each(column, pairs, table) if pairs else column
    words = {} if new is ... else {"value": new}

    def replaced(shown: pd.Series) -> pd.Series:
        result = shown.replace(old, **words)
        if assumes_holes() and not column.type.has_codes:
            # A row may have a key: its value decides the dtype.
            result = result.astype(_of_dtype(keys, shown.dtype).replace(old, **words).dtype)
        return result

    return through_values(column, table.num_rows, table.layout, replaced, "replace")


def _of_dtype(keys: Sequence[Any], dtype: Any) -> pd.Series:
    """The keys that a column of a dtype can hold."""
    held = pd.Series(dtype=dtype)
    for key in keys:
        with contextlib.suppress(TypeError, ValueError):
            held = pd.concat([held, pd.Series([key], dtype=dtype)])
    return held


def _is_string(key: object) -> bool:
    return isinstance(key, str) or bool(pd.isna(key))


def _is_number(key: object) -> bool:
    """Whether a key is a number: NaN is, but None, NaT and NA are not, as in pandas."""
    accepted = (int, float, complex, np.number)
    return isinstance(key, accepted) and not isinstance(key, (bool, np.bool_))


def _weak(key: object, column: Column) -> Any:
    """A Python float in the dtype of a column of floats, as NumPy compares it."""
    if type(key) is not float or not column.is_float:
        return key
    with np.errstate(over="ignore"):
        cast = column.dtype.type(key)
    return key if np.isinf(cast) else cast


def _as_pairs(old: Any, new: Any) -> tuple[Sequence[Any], Sequence[Any]]:
    if isinstance(old, Mapping):
        return list(old.keys()), list(old.values())
    if new is ...:
        raise ValueError(
            "Series.replace must specify either 'value', a dict-like 'to_replace', or dict-like "
            "'regex'"
        )
    keys = listed_labels(old)
    if not pd.api.types.is_list_like(new):
        return keys, [new] * len(keys)
    if len(new) != len(keys):
        raise ValueError(
            f"Replacement lists must match in length. Expecting {len(keys)} got {len(new)} "
        )
    return keys, list(new)


def _replace_each(column: Column, pairs: Sequence[tuple[Any, Any]], table: Table) -> Column:
    (missing,) = missing_flags([column])
    is_key = [
        missing if pd.isna(key) else flags_in(column, [key], table, "replace") for key, _ in pairs
    ]
    for flags, (_, value) in zip(is_key, pairs, strict=True):
        column = choose_scalar(inverse(flags), column, value, table, "replace")
    return column
