# SPDX-License-Identifier: Apache-2.0
"""Columns of Python objects: keys by hash and `==`, operators on the host; pandas is the oracle."""

import datetime
import decimal
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
import pandas as pd
import pytest
from frame_parity import (
    EVERYWHERE,
    assert_parity,
    assert_same,
    assert_same_error,
    on_device,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from jaxframes.frame import (
    JaxFrame,
    JaxSeries,
    concat,
    get_dummies,
    merge,
    read_parquet,
    to_numeric,
)

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
@settings(max_examples=2, deadline=None)
@given(data=st.data())
def test_series(pool, data):
    values = objects(data.draw(_drawn(pool)), "k")
    for name, operation in OF_SERIES.items():
        with _naming(name, values):
            assert_same_outcome(operation, values)


@pytest.mark.parametrize("pool", POOLS)
@settings(max_examples=2, deadline=None)
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


WITH_CODES: dict[str, Callable[[Any], Any]] = {
    "compared": lambda f: (f.k == "a", f.k != 1, f.k == f.k.shift(1)),
    "isin": lambda f: f.k.isin([1, None]),
    "isna": lambda f: (f.k.isna(), f.k.count(), f.k.nunique()),
    "rows": lambda f: f[f.k.notna()].sort_values("v", ascending=False),
    "where": lambda f: (f.k.where(f.g > 0, "z"), f.k.fillna(0), f.k.ffill()),
    "duplicates": lambda f: (f.drop_duplicates(["k", "g"]), f.k.duplicated()),
    "groups": lambda f: f.groupby("k", sort=False).v.sum().reset_index(drop=True),
    "groups of two keys": lambda f: f.groupby(["g", "k"]).v.max().reset_index(drop=True),
    "transform": lambda f: f.groupby("k").v.transform("sum"),
    "map": lambda f: f.k.map({"a": 1.5, 1: 2.5}),
    "concat": lambda f: _joined([f.k, f.g > 0]),
}
VALUES = ["a", 1, None, "b", "a", np.nan, 2, 1]


@pytest.mark.parametrize("name", WITH_CODES)
def test_codes_are_traced_and_sharded(name):
    assert_parity(WITH_CODES[name], frame_of(VALUES), ways=EVERYWHERE)


def test_the_order_of_two_columns_inside_jit():
    frame = pd.DataFrame({"k": objects(["b", "a", None, "c"]), "l": objects(["a", "a", "x", None])})
    assert_parity(lambda f: (f.k < f.l, f.k >= f.l, f.k != f.l), frame, ways=EVERYWHERE)


@pytest.mark.parametrize("how", ["inner", "left"])
def test_merges_inside_jit_and_on_a_mesh(how):
    left, right = frame_of(VALUES), frame_of([2, "a", None]).drop(columns="g")

    def merged(a: Any, b: Any) -> Any:
        if isinstance(a, JaxFrame):
            return merge(a, b, on="k", how=how, capacity=64)
        return pd.merge(a, b, on="k", how=how)

    assert_parity(merged, left, right, ways=EVERYWHERE)


def test_objects_sort_inside_jit():
    frame = frame_of(["b", "a", None, "c", "a"])
    assert_parity(lambda f: f.sort_values("k"), frame, ways=EVERYWHERE)
    assert_parity(lambda f: f.k.rank(), frame, ways=EVERYWHERE)


def test_what_needs_the_objects_of_rows_raises_inside_jit():
    frame = on_device(frame_of(VALUES))
    for operation in (
        lambda f: f.k + f.k,
        lambda f: f.k.cummax(),
        lambda f: f.groupby("g").k.min(),
        lambda f: f.v.astype(object),
    ):
        with pytest.raises(NotImplementedError, match="jit"):
            jax.jit(operation)(frame)


def test_the_first_of_equal_values_counts():
    values = objects([1, True, 1.0, "a", False, 0])
    for operation in (
        lambda s: s.unique(),
        lambda s: s[s != 1].unique(),
        lambda s: s.iloc[1:].drop_duplicates(),
        lambda s: s.iloc[::-1].value_counts().index.to_numpy(),
    ):
        got, expected = operation(on_device(values)), operation(values)
        got = got.to_pandas() if isinstance(got, JaxSeries) else got
        assert [(type(x), x) for x in got] == [(type(x), x) for x in expected]


def test_values_without_a_hash_are_carried_and_no_keys():
    frame = pd.DataFrame({"k": objects([[1], {"a": 2}, [1], None]), "v": [1, 2, 3, 4]})
    assert_parity(lambda f: (f[f.v > 1], f.k.isna(), f.sort_values("v")), frame, ways=EVERYWHERE)
    for operation in (
        lambda f: f.groupby("k").v.sum(),
        lambda f: f.k.nunique(),
        lambda f: f.merge(f, on="k"),
    ):
        assert "unhashable" in assert_same_error(operation, frame)
    # Those of dropped rows have no part in it.
    numbers = frame_of([[1], 2, 2, "b"])
    assert_parity(lambda f: f[f.v > 0].groupby("k").size(), numbers, ways=["eager"])
    assert_parity(lambda f: f[f.v > 0].k.nunique(), numbers, ways=["eager"])


def test_other_dtypes_become_objects():
    frame = pd.DataFrame({
        "i": [1, 2, 3], "x": [0.5, np.nan, 1.0], "b": [True, False, True], "s": ["a", None, "b"],
        "t": pd.to_datetime(["2020-01-01", None, "2021-01-01"]),
        "c": pd.Categorical(["u", "v", "u"]),
    })  # fmt: skip
    assert_parity(lambda f: f.astype(object), frame, ways=["eager", "mesh"])
    assert_parity(lambda f: f[["b", "s", "c"]].astype(object), frame)
    assert_parity(lambda f: f.i.where(f.b, "z"), frame, ways=["eager"])
    assert_parity(lambda f: (f.s.where(f.b, 1), f.s.where(f.b, f.i)), frame, ways=["eager"])
    assert_parity(lambda f: _joined([f.i, f.s, f.t]), frame, ways=["eager", "mesh"])


@pytest.mark.parametrize("data", [[1, None], ["a", 2], [True, None], [(1, 2), 3]])
def test_series_of_objects(data):
    assert_same(JaxSeries(data, dtype=object), pd.Series(data, dtype=object))
    given = JaxFrame({"k": objects(data)})
    assert given.k.dtype == object
    assert_same(given, pd.DataFrame({"k": objects(data)}))


def test_plans_have_the_dtype_of_their_schema():
    frame = frame_of(VALUES)
    plan = JaxFrame(frame).lazy()
    plan = plan[plan.k.notna()].groupby("k", sort=False).v.sum().reset_index()
    expected = frame[frame.k.notna()].groupby("k", sort=False).v.sum().reset_index()
    for options in ({}, {"batch_rows": 3}):
        got = plan.collect(**options)
        assert str(got.k.dtype) == str(plan.schema["k"]) == "object"
        assert_same(got, expected)


def test_parquet_holds_what_arrow_infers(tmp_path):
    frame = pd.DataFrame({"y": objects([b"a", None, b"b"]), "d": objects([1, None, 3])})
    path = str(tmp_path / "objects.parquet")
    JaxFrame(frame).to_parquet(path)
    assert_same(read_parquet(path).to_pandas(), pd.read_parquet(path))
    with pytest.raises(TypeError, match="'m'"):
        JaxFrame({"m": objects([1, "a"])}).to_parquet(path)


def test_labels_that_are_objects_align():
    left, right = frame_of(["b", 1, "a"]).set_index("k"), frame_of([1, "b"]).set_index("k")
    assert_parity(lambda f: f.v + f.g, left, ways=["eager"])
    assert_parity(lambda a, b: a.reindex(b.index), left, right, ways=["eager"])
    assert_parity(lambda f: (f.loc[["a"]], f.loc["b"].v), left, ways=["eager"])


def test_bools_that_are_objects_select_rows():
    frame = pd.DataFrame({"k": objects([True, False, True]), "v": [1, 2, 3]})
    assert_parity(lambda f: f[f.k], frame, ways=["eager"])
    holed = pd.DataFrame({"k": objects([True, None, True]), "v": [1, 2, 3]})
    assert "NaN" in assert_same_error(lambda f: f[f.k], holed)


def test_bytes():
    frame = pd.DataFrame({"y": objects([b"a", None, b"bc"]), "s": ["a", "é", None]})
    assert_parity(lambda f: (f.y.str.len(), f.y.str.decode("utf8")), frame, ways=["eager"])
    assert_parity(lambda f: f.s.astype(object).str.encode("utf8"), frame, ways=["eager"])
    assert_parity(lambda f: f.y.astype("category").str.len(), frame, ways=["eager"])


def test_csv_has_the_text_of_objects():
    frame = frame_of([1, "a", None, datetime.date(2020, 2, 29)])[["k", "g"]]
    assert JaxFrame(frame).to_csv(index=False) == frame.to_csv(index=False)


@pytest.mark.parametrize("op", ["sum", "min", "any", "nunique"])
def test_rows_with_objects(op):
    frame = pd.DataFrame({"a": objects([1, None, 3]), "b": objects([2.5, 1, 2]), "c": [1, 2, 3]})
    assert_parity(lambda f: getattr(f, op)(axis=1), frame, ways=["eager", "mesh"])


def test_exports_hold_distinct_objects():
    keyed = on_device(frame_of(["b", 1, None, "b"])).groupby("k").v.sum().reset_index()
    exported = jax.export.export(jax.jit(lambda f: f.assign(v=f.v + 1)))(keyed)
    again = jax.export.deserialize(exported.serialize())
    assert_same(again.call(keyed), keyed.assign(v=keyed.v + 1).to_pandas())
