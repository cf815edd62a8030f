# SPDX-License-Identifier: Apache-2.0
"""Columns of few rows stay in the memory of the host until a program needs them."""

import copy
import pickle

import jax
import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame, JaxSeries
from jaxframes.frame import concat as jaxframes_concat
from jaxframes.frame.table import _host_column
from jaxframes.frame.table._host_column import HostColumn

PANDAS = pd.DataFrame(
    {
        "x": [1.5, np.nan, -4.0, np.nan, 2.0, 0.5],
        "i": np.array([5, 3, 8, 1, 9, 7], np.int16),
        "b": [True, False, True, True, False, True],
        "s": ["b", "a", None, "c", "a", "d"],
        "c": pd.Categorical(["u", "v", None, "u", "u", "v"]),
        "t": pd.to_datetime(
            ["2024-01-02", "2024-01-01", None, "2024-03-01", "2024-01-05", "2024-01-06"]
        ),
        "n": pd.array([1, None, 3, 4, 5, 6], "Int64"),
        "o": [1, "a", None, 2.5, (1, 2), "b"],
    }
)


def columns_of(frame):
    table = frame._stored
    return [column.stored for column in (*table.columns, *table.index.stored)]


def are_on_host(frame):
    """Whether all columns are on the host, and nowhere else."""
    return all(
        isinstance(column, HostColumn) and column.placed_array is None
        for column in columns_of(frame)
    )


SELECTIONS = {
    "a slice": lambda f: f.iloc[1:4],
    "the end": lambda f: f.iloc[2:],
    "no rows": lambda f: f.iloc[3:3],
    "the first rows": lambda f: f.head(2),
    "the last rows": lambda f: f.tail(2),
    "a slice of a slice": lambda f: f.iloc[1:5].iloc[1:3],
    "positions": lambda f: f.take([4, 0, -1]),
    "repeated positions": lambda f: f.iloc[[1, 1, 2]],
    "no positions": lambda f: f.take([]),
    "every second row": lambda f: f.iloc[::2],
    "rows in reverse": lambda f: f.iloc[::-1],
    "a slice of positions": lambda f: f.take([4, 0, 2, 1]).iloc[1:3],
}


@pytest.mark.parametrize("labels", ["range", "strings", "a part of a range"])
@pytest.mark.parametrize("name", SELECTIONS)
def test_selected_rows_stay_on_the_host(name, labels):
    data = PANDAS
    if labels == "strings":
        data = data.set_index(pd.Index(list("pqrstu"), name="label"))
    frame = JaxFrame(data)
    if labels == "a part of a range":
        data, frame = data.iloc[[5, 1, 2, 0]], frame.take([5, 1, 2, 0])
        if name.startswith(("positions", "repeated", "a slice of positions")):
            data, frame = pd.concat([data, data]), frame.take([0, 1, 2, 3, 0, 1, 2, 3])
    select = SELECTIONS[name]
    got = select(frame)
    assert are_on_host(got)
    assert_same(got, select(data))
    # Reading does not place them.
    assert are_on_host(got)
    assert_same(got["x"] * 2, select(data)["x"] * 2)
    assert_same(jax.jit(lambda f: f)(got), select(data))


def test_a_series_is_selected_on_the_host():
    got = JaxSeries(PANDAS["s"]).iloc[1:4]
    assert are_on_host(got)
    assert_same(got, PANDAS["s"].iloc[1:4])


def test_many_rows_are_selected_on_the_device(monkeypatch):
    monkeypatch.setattr(_host_column, "MOST_ROWS", 5)
    got = JaxFrame(PANDAS).iloc[1:4]
    assert not any(isinstance(column, HostColumn) for column in columns_of(got))
    assert_same(got, PANDAS.iloc[1:4])


def test_rows_of_another_device_stay_there():
    device = jax.devices()[1]
    frame = jax.device_put(JaxFrame(PANDAS[["x", "i"]]), device)
    for got in (frame.iloc[1:4], frame.take([3, 1])):
        assert {column.data.device for column in got._table.columns} == {device}


def test_arrays_are_placed_once_and_told_when_they_are_gone():
    got = JaxFrame(PANDAS[["x", "i"]]).iloc[1:4]
    leaves = jax.tree.leaves(got)
    assert all(a is b for a, b in zip(leaves, jax.tree.leaves(got), strict=True))
    assert_same(got, PANDAS[["x", "i"]].iloc[1:4])
    jax.jit(lambda f: f + 1, donate_argnums=0)(got)
    with pytest.raises(RuntimeError, match="has lost its arrays"):
        got.to_pandas()


def test_rows_are_captured_by_a_trace():
    got = JaxFrame(PANDAS[["x", "i"]]).iloc[1:4]
    total = jax.jit(lambda factor: (got["x"] * factor).sum())(2.0)
    assert float(total) == -8.0
    # What a trace placed is not its own.
    assert_same(got["x"] + 1, PANDAS["x"].iloc[1:4] + 1)


def test_what_is_read_cannot_be_written():
    got = JaxFrame(PANDAS).iloc[1:4]
    values = got["i"].to_numpy()
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 100


def test_copies():
    got = JaxFrame(PANDAS).iloc[1:4]
    for again in (copy.copy, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))):
        assert_same(again(got), PANDAS.iloc[1:4])


WITH_HOLES = PANDAS.assign(f=np.array([1, np.nan, 2, 3, np.nan, 4], np.float32))
METHODS = {
    "fillna of floats": lambda f: f[["x", "f", "i", "b"]].fillna(2),
    "fillna of a float": lambda f: f["x"].fillna(-1.5),
    "fillna of nothing": lambda f: f["i"].fillna("a"),
    "fillna by missing": lambda f: f["x"].fillna(np.nan),
    "fillna of strings": lambda f: f["s"].fillna("z"),
    "fillna of nullable": lambda f: f["n"].fillna(7),
    "isna": lambda f: f.isna(),
    "notna": lambda f: f.notna(),
    "isna of objects": lambda f: f["o"].isna(),
    "dropna": lambda f: f[["x", "s"]].dropna(),
    "dropna of all": lambda f: f[["x", "s", "t"]].dropna(how="all"),
    "dropna of many": lambda f: f.dropna(thresh=7),
    "dropna of a column": lambda f: f["x"].dropna(),
    "a mask": lambda f: f[f["i"] > 4],
    "no rows by a mask": lambda f: f[f["i"] > 400],
    "drop_duplicates": lambda f: f.drop_duplicates("c"),
    "drop_duplicates of strings": lambda f: f["s"].drop_duplicates(),
    "drop_duplicates, last": lambda f: f.drop_duplicates("b", keep="last"),
    "drop_duplicates of floats": lambda f: f["x"].drop_duplicates(ignore_index=True),
    "unique integers": lambda f: f["i"].unique(),
    "unique bools": lambda f: f["b"].unique(),
    "unique strings": lambda f: f["s"].unique(),
    "unique numbers far apart": lambda f: (f["i"].astype("int64") * 2**40).unique(),
    "unique floats": lambda f: f["x"].unique(),
    "cumsum": lambda f: f[["x", "f", "i", "b"]].cumsum(),
    "cumsum past a NaN": lambda f: f["x"].cumsum(skipna=False),
    "cumprod": lambda f: f[["x", "i"]].cumprod(),
    "cummax": lambda f: f[["x", "i", "b"]].cummax(),
    "cummin of times": lambda f: f["t"].cummin(),
    "a row": lambda f: f[["x", "i", "b", "s", "o"]].iloc[2],
    "a row of strings": lambda f: f[["s"]].iloc[0],
    "a row of numbers": lambda f: f[["x", "i"]].iloc[-1],
    "a row with a mask": lambda f: f[["n"]].iloc[1],
    "upper": lambda f: f["s"].str.upper(),
    "equal results": lambda f: f["s"].str.replace("[ab]", "-", regex=True),
    "contains": lambda f: f["s"].str.contains("a"),
    "startswith": lambda f: f["s"].str.startswith("b", na=True),
    "len": lambda f: f["s"].str.len(),
    "an absent part": lambda f: f["s"].str.get(3),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_are_those_of_pandas_and_of_programs(monkeypatch, name):
    call = METHODS[name]
    expected = call(WITH_HOLES)
    assert_same(call(JaxFrame(WITH_HOLES)), expected)
    monkeypatch.setattr(_host_column, "MOST_ROWS", 0)
    assert_same(call(JaxFrame(WITH_HOLES)), expected)


def test_scans_have_the_bits_of_programs(monkeypatch):
    rng = np.random.default_rng(0)
    values = rng.standard_normal(16000) * 10.0 ** rng.integers(-300, 300, 16000)
    values[rng.random(16000) < 0.01] = np.nan
    narrow = rng.standard_normal(9000).astype(np.float32)
    series = [JaxSeries(values), JaxSeries(narrow)]
    calls = [lambda s: s.cumsum(), lambda s: s.cummin(), lambda s: s.cumprod()]
    got = [call(one) for call in calls for one in series]
    assert all(map(are_on_host, got))
    monkeypatch.setattr(_host_column, "MOST_ROWS", 0)
    expected = [call(one) for call in calls for one in series]
    for one, other in zip(got, expected, strict=True):
        assert one.to_numpy().tobytes() == other.to_numpy().tobytes()


def test_unique_integers_in_the_order_of_rows():
    rng = np.random.default_rng(0)
    for dtype in (np.int8, np.uint8, np.int32, np.int64, np.uint64):
        info = np.iinfo(dtype)
        for low, high in ((info.min, info.min + 99), (info.max - 99, info.max)):
            values = rng.integers(low, high, 300, dtype=dtype, endpoint=True)
            assert_same(JaxSeries(values).unique(), pd.Series(values).unique())
            assert_same(JaxSeries(values).drop_duplicates(), pd.Series(values).drop_duplicates())


CONCATENATED = {
    "frames": lambda concat, f: concat([f, f.iloc[1:3]]),
    "numbers": lambda concat, f: concat([f[["x", "i"]], f[["i", "x"]]]),
    "new labels": lambda concat, f: concat([f, f], ignore_index=True),
    "of other dtypes": lambda concat, f: concat([f["i"], f["x"]]),
    "bools and numbers": lambda concat, f: concat([f["b"], f["i"]]),
    "with absent columns": lambda concat, f: concat([f[["x", "s"]], f[["i", "t"]]]),
    "with keys": lambda concat, f: concat([f["x"], f["x"]], keys=["a", "b"]),
    "one after the other": lambda concat, f: concat([f.iloc[:2], f.iloc[2:]]),
    "without rows": lambda concat, f: concat([f.iloc[:0], f]),
}


@pytest.mark.parametrize("name", CONCATENATED)
def test_rows_are_concatenated_on_the_host(monkeypatch, name):
    call = CONCATENATED[name]
    expected = call(pd.concat, WITH_HOLES)
    assert_same(call(jaxframes_concat, JaxFrame(WITH_HOLES)), expected)
    monkeypatch.setattr(_host_column, "MOST_ROWS", 0)
    assert_same(call(jaxframes_concat, JaxFrame(WITH_HOLES)), expected)


def test_wide_numbers_keep_their_dtype_when_x64_mode_is_turned_off():
    data = pd.DataFrame({"i": [1, 2**40, -(2**50)], "x": [0.1, 1e300, np.nan]})
    frame = JaxFrame(data)
    rows = frame.iloc[1:]
    with jax.enable_x64(False):
        assert [leaf.dtype.name for leaf in jax.tree.leaves(rows._table.columns)] == [
            "int64",
            "float64",
        ]
        assert_same(rows, data.iloc[1:])
        # As by a program.
        for call in (lambda f: f.iloc[1:], lambda f: f.take([2]), lambda f: f["i"].isin([2**40])):
            with pytest.raises(TypeError, match="need JAX's x64 mode"):
                call(frame)
        assert_same(frame["i"].astype("float32"), data["i"].astype("float32"))
    assert_same(rows + 1, data.iloc[1:] + 1)


@pytest.mark.parametrize("call", [JaxSeries.cumsum, JaxSeries.sum], ids=["scan", "sum"])
def test_nans_that_the_host_computes_are_found(call):
    series = JaxSeries([np.inf, -np.inf])
    assert np.isnan(call(series)).any()
    with jax.debug_nans(True), pytest.raises(FloatingPointError):
        call(series)
