# SPDX-License-Identifier: Apache-2.0
"""Batches of what needs several rows: whole groups, windows, and series that are combined."""

import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame, from_pandas, scan_parquet
from jaxframes.frame.stream import _by_key


def rows(num_rows=300):
    rng = np.random.default_rng(5)
    return pd.DataFrame(
        {
            # One group has half of the rows.
            "k": np.where(rng.random(num_rows) < 0.5, 3.0, rng.integers(-2, 20, num_rows)),
            "m": rng.choice([1.0, np.nan, -2.0, 0.0], num_rows),
            "x": rng.integers(-40, 40, num_rows) / 8,
            "y": rng.integers(0, 9, num_rows).astype(np.int32),
            "s": pd.array(rng.choice(["a", "b", None], num_rows), dtype="str"),
            "t": pd.Timestamp("2024-01-01").as_unit("us")
            + pd.to_timedelta(rng.integers(0, 900, num_rows), unit="h").as_unit("us"),
        }
    )


FRAME = rows()
OTHER = pd.DataFrame({"k": [0.0, 1.0, 3.0], "z": [5, 6, 7]})

QUERIES = {
    "transform": lambda f, o: f.groupby("k")["x"].transform("sum"),
    "transform of all": lambda f, o: f[["k", "x", "y"]].groupby("k").transform("max"),
    "transform of missing keys": lambda f, o: f.groupby(["m", "s"])["x"].transform("mean"),
    "transform with missing keys": lambda f, o: f.groupby(["m", "s"], dropna=False)["x"].transform(
        "sum"
    ),
    "rank": lambda f, o: f.groupby("s")[["x", "y"]].rank(),
    "shift": lambda f, o: f.groupby("k")[["x", "t", "s"]].shift(1),
    "cumsum after a filter": lambda f, o: f[f.x > 0].groupby("s").x.cumsum(),
    "head": lambda f, o: f.groupby("k").head(2),
    "tail of columns": lambda f, o: f.groupby(["k", "s"])[["x", "y"]].tail(1),
    "median": lambda f, o: f.groupby("k").x.median(),
    "median, unsorted": lambda f, o: f.groupby("k", sort=False).x.median(),
    "median without index": lambda f, o: f[["s", "m", "x"]].groupby("s", as_index=False).median(),
    "unsorted with missing keys": lambda f, o: f.groupby(
        ["s", "m"], sort=False, dropna=False, as_index=False
    ).agg(a=("x", "median"), b=("y", "min")),
    "quantile": lambda f, o: f.groupby(["s", "m"]).x.quantile(0.3),
    "median of nothing": lambda f, o: f[f.x > 99].groupby("k").x.median(),
    "transform of nothing": lambda f, o: f[f.x > 99].groupby("k").x.transform("sum"),
    "rolling": lambda f, o: f[["x", "y"]].rolling(3).sum(),
    "rolling over more than a batch": lambda f, o: f[["x"]].rolling(130, min_periods=2).max(),
    "rolling over one row": lambda f, o: f[["y"]].rolling(1).mean(),
    "expanding": lambda f, o: f[["x", "m"]].expanding().max(),
    "expanding sum": lambda f, o: f[["y"]].expanding().sum(),
    "above the mean": lambda f, o: f[f.x > f.x.mean() * 1.1],
    "assigned": lambda f, o: f.assign(z=(f.x - f.x.mean()) / f.x.std(), r=f.y.max() - f.y),
    "a column of a reduction": lambda f, o: (f.x - f.x.min())[lambda c: c > 3],
    "a value of reductions": lambda f, o: (f.x.max() - f.x.min()) / f.y.sum(),
    "semi-join": lambda f, o: f[f.k.isin(o.k) & (f.x > 0)],
    "anti join of itself": lambda f, o: f[~f.y.isin(f[f.x > 3].y)],
    "share": lambda f, o: f.assign(share=f.y / f.groupby("k")["y"].transform("sum")),
    "rows of groups": lambda f, o: f[f.x >= f.groupby("s")["x"].transform("max")],
    "a filtered series": lambda f, o: f.x[f.x >= f.groupby("s")["x"].transform("mean")].sum(),
    "change": lambda f, o: f.assign(d=f.x - f.groupby("k")["x"].shift(1)).groupby("k").d.max(),
    "of a join": lambda f, o: (g := f.merge(o, on="k"))[
        g.z > g.groupby("s")["z"].transform("mean")
    ],
    "nothing left": lambda f, o: (g := f[f.x > 99])[g.x > g.groupby("k")["x"].transform("mean")],
}  # fmt: skip

UNSTREAMED = {
    "groupby.rank": lambda f, o: f.groupby(f.x > 0).x.rank(),
    "windows": lambda f, o: f[["x"]].expanding().mean(),
    "cumsum": lambda f, o: f.x.cumsum(),
    "filter": lambda f, o: f[f.x.cumsum() > f.x.mean()],
    "apply": lambda f, o: f[f.x > 0].x - f.x,
}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    FRAME.to_parquet(path, row_group_size=70)
    return path


@pytest.mark.parametrize("query", QUERIES)
def test_batches_give_what_pandas_gives(query, file):
    result = QUERIES[query](scan_parquet(file), from_pandas(OTHER).lazy())
    expected = QUERIES[query](FRAME, OTHER)
    assert_same(result.collect(batch_rows=100), expected, ulps=32)


@pytest.mark.parametrize("method", UNSTREAMED)
def test_what_needs_all_rows_raises_before_reading(method, file):
    plan = UNSTREAMED[method](scan_parquet(file), from_pandas(OTHER).lazy())
    with pytest.raises(NotImplementedError, match=rf"{method}: .*Call collect\(\) without"):
        plan.collect(batch_rows=100)


def test_groups_are_cut_between_keys():
    keys = pd.DataFrame({"a": [1.0, 1.0, 2.0, np.nan, np.nan], "s": ["x", "x", "x", None, None]})
    frame = from_pandas(keys)
    starts = [
        _by_key._last_start(before, frame.iloc[:stop], ["a", "s"])
        for before, stop in ((None, 2), (None, 3), (None, 5), (frame.iloc[:1], 2), (None, 1))
    ]
    assert starts == [0, 2, 3, None, 0]
    assert _by_key._last_start(frame.iloc[2:3], frame.iloc[3:], ["a", "s"]) == 0
    assert _by_key._last_start(frame.iloc[3:4], frame.iloc[4:], ["a", "s"]) is None


@pytest.mark.parametrize("batch_rows", [1, 2, 5])
@pytest.mark.parametrize("method", ["cummax", "cumsum", "ffill", "shift"])
def test_a_row_without_a_key_decides_the_dtype_of_all(method, batch_rows):
    frame = pd.DataFrame(
        {"k": [2.0, np.nan, 1, 2, 1], "i": np.arange(5) + 2**53, "b": [True, False] * 2 + [True]}
    )
    for rows in (frame, frame.dropna()):
        expected = getattr(rows.groupby("k")[["i", "b"]], method)()
        plan = getattr(JaxFrame(rows).lazy().groupby("k")[["i", "b"]], method)()
        assert_same(plan.collect(batch_rows=batch_rows), expected)
