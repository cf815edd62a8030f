# SPDX-License-Identifier: Apache-2.0
"""Columns of Python objects: keys by hash and `==`, operators on the host; pandas is the oracle."""

import datetime
import decimal
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_same, on_device
from hypothesis import given, settings
from hypothesis import strategies as st
from jaxframes.frame import JaxFrame, JaxSeries, concat, get_dummies, merge, to_numeric

POOLS: dict[str, Sequence[Any]] = {
    "mixed": [None, np.nan, pd.NA, pd.NaT, True, 1, 1.0, 2**70, "a", b"b", (1, "a"), "b"],
    "strings": ["b", "a", "", "é", None],
    "integers": [3, 1, -2, 0, None],
    "floats": [0.5, -1.5, np.nan, 2.0],
    "bools": [True, False, None],
    "dates": [datetime.date(2020, 2, 29), datetime.date(1970, 1, 1), None],
    "decimals": [decimal.Decimal("1.50"), decimal.Decimal("-2"), decimal.Decimal("0.25")],
    "numbers and strings": [1, "a", 2, "b", 0.5],
}


def objects(values: Sequence[Any], name: Any = None) -> pd.Series:
    """A series of objects, each as it is."""
    array = np.empty(len(values), object)
    for row, value in enumerate(values):
        array[row] = value
    return pd.Series(array, dtype=object, name=name)


def _joined(parts: list[Any]) -> Any:
    return (concat if isinstance(parts[0], (JaxFrame, JaxSeries)) else pd.concat)(parts)


def _dummies(data: Any) -> Any:
    return (get_dummies if isinstance(data, JaxSeries) else pd.get_dummies)(data)


def _numbers(data: Any) -> Any:
    return (to_numeric if isinstance(data, JaxSeries) else pd.to_numeric)(data, errors="coerce")


OF_SERIES: dict[str, Callable[[Any], Any]] = {
    "unique": lambda s: s.unique(),
    "nunique": lambda s: (s.nunique(), s.nunique(dropna=False)),
    "value_counts": lambda s: s.value_counts(),
    "value_counts with missing ones": lambda s: s.value_counts(dropna=False, sort=False),
    "duplicated": lambda s: s.duplicated(keep=False),
    "drop_duplicates": lambda s: s.drop_duplicates(keep="last"),
    "is_unique": lambda s: s.is_unique,
    "factorize": lambda s: s.factorize()[0],
    "argsort": lambda s: s.dropna().argsort(),
    "sort_values": lambda s: s.sort_values(kind="stable", na_position="first").astype(object),
    "rank": lambda s: s.rank(),
    "compared with a value": lambda s: (s == 1, s != "a", s == True),  # noqa: E712
    "less than a value": lambda s: s < "b",
    "compared with itself": lambda s: (s == s, s != s.shift(1)),
    "less than itself": lambda s: s <= s.shift(1),
    "isin": lambda s: (s.isin([1, "a", None]), s.isin([datetime.date(1970, 1, 1)])),
    "map": lambda s: (s.map({1: "x", "a": 2}), s.map(lambda value: type(value).__name__)),
    "replace": lambda s: s.replace("a", 5),
    "fillna": lambda s: (s.fillna(0), s.fillna("x")),
    "ffill": lambda s: s.ffill().isna(),
    "dropna": lambda s: s.dropna(),
    "where": lambda s: (s.where(s.isna(), 7), s.mask(s.isna(), "q"), s.where(s.notna(), s)),
    "astype": lambda s: (s.astype(object), s.isna().astype(object)),
    "astype str": lambda s: s.dropna().astype(str),
    "infer_objects": lambda s: s.infer_objects(),
    "concat": lambda s: _joined([s, s.isna(), s]),
    "add": lambda s: s + s,
    "add a value": lambda s: s + 1,
    "multiply": lambda s: s * 2,
    "negative": lambda s: -s,
    "count": lambda s: s.count(),
    "sum": lambda s: s.sum(),
    "min": lambda s: s.min(),
    "max": lambda s: s.max(),
    "any": lambda s: bool(s.any()),
    "idxmin": lambda s: s.idxmin(),
    "cummax": lambda s: s.cummax(),
    "shift": lambda s: s.shift(1),
    "equals": lambda s: (s.equals(s), s.equals(s.shift(1))),
    "str": lambda s: (s.str.upper(), s.str.len()),
    "get_dummies": _dummies,
    "to_numeric": _numbers,
    "rows": lambda s: (s.iloc[::-1], s.head(2), s[s.notna()]),
}

OF_FRAMES: dict[str, Callable[[Any], Any]] = {
    "groupby": lambda f: (f.groupby("k").v.sum(), f.groupby("k", sort=False).v.max()),
    "groupby size": lambda f: f.groupby("k").size(),
    "groupby two keys": lambda f: f.groupby(["k", "g"]).v.sum(),
    "groupby as columns": lambda f: f.groupby("k", as_index=False).v.mean(),
    "transform": lambda f: (f.groupby("k").v.transform("sum"), f.groupby("k").cumcount()),
    "count of objects": lambda f: (f.groupby("g").k.count(), f.groupby("g").k.nunique()),
    "extremes of objects": lambda f: (f.groupby("g").k.min(), f.groupby("g").k.max()),
    "sum of objects": lambda f: f.groupby("g").k.sum(),
    "drop_duplicates": lambda f: f.drop_duplicates("k"),
    "duplicated": lambda f: f.duplicated(["k", "g"]),
    "sort_values": lambda f: f.sort_values(["g", "k"], kind="stable"),
    "merge": lambda f: _merged(f, f.head(2), "inner"),
    "merge of all": lambda f: _merged(f.head(3), f.tail(3), "left"),
    "outer merge": lambda f: _merged(f.head(3), f.tail(3), "outer"),
    "set_index": lambda f: f.set_index("k").v,
    "where": lambda f: f.where(f.g > 0),
    "equal": lambda f: f == 1,
    "nunique": lambda f: f.nunique(),
    "minimum": lambda f: f.min(),
    "describe": lambda f: f.count(),
}


def _merged(left: Any, right: Any, how: str) -> Any:
    return (merge if isinstance(left, JaxFrame) else pd.merge)(left, right, on="k", how=how)


def frame_of(values: Sequence[Any]) -> pd.DataFrame:
    rows = np.arange(len(values))
    return pd.DataFrame({"k": objects(values), "v": rows * 0.5, "g": rows % 2})


def assert_same_outcome(operation: Callable[[Any], Any], data: Any) -> None:
    """The operation gives what pandas gives, or raises an error of the same class."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = operation(data)
        except Exception as error:
            with pytest.raises(type(error).__mro__[-3]):
                operation(on_device(data))
        else:
            assert_same(operation(on_device(data)), expected)


def _drawn(pool: str) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from(POOLS[pool]), min_size=2, max_size=6)


@pytest.mark.parametrize("pool", POOLS)
@settings(max_examples=3, deadline=None)
@given(data=st.data())
def test_series(pool, data):
    values = objects(data.draw(_drawn(pool)), "k")
    for name, operation in OF_SERIES.items():
        with _naming(name, values):
            assert_same_outcome(operation, values)


@pytest.mark.parametrize("pool", POOLS)
@settings(max_examples=3, deadline=None)
@given(data=st.data())
def test_frames(pool, data):
    frame = frame_of(data.draw(_drawn(pool)))
    for name, operation in OF_FRAMES.items():
        with _naming(name, frame.k):
            assert_same_outcome(operation, frame)


class _naming:
    """Says in an error which operation failed, and for which values."""

    def __init__(self, name: str, values: pd.Series):
        self._note = f"{name} of {values.tolist()}"

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is not None:
            error.add_note(self._note)
