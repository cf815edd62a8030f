# SPDX-License-Identifier: Apache-2.0
"""Exact medians and quantiles of more values than memory holds."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame, scan_parquet
from jaxframes.frame.stream import _quantiles

NUM_ROWS = 3001
INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def rows():
    rng = np.random.default_rng(29)
    frame = pd.DataFrame(
        {
            "normal": rng.normal(size=NUM_ROWS),
            "single": rng.normal(size=NUM_ROWS).astype(np.float32),
            "large": rng.integers(-(2**40), 2**40, NUM_ROWS),
            "small": rng.integers(-3, 3, NUM_ROWS).astype(np.int8),
            "unsigned": rng.integers(0, 2**32, NUM_ROWS).astype(np.uint32),
            # Values that agree in most of their bits.
            "close": 1.0 + rng.integers(0, 2000, NUM_ROWS) * 2.0**-52,
            "hot": np.where(rng.random(NUM_ROWS) < 0.5, 5.25, rng.normal(size=NUM_ROWS)),
            "infinite": rng.choice([-np.inf, np.inf, 0.0, -0.0, 2.0], NUM_ROWS),
            "missing": np.nan,
            "huge": 2**60 + rng.permutation(NUM_ROWS),
            "flag": rng.random(NUM_ROWS) < 0.4,
            "time": pd.to_datetime(rng.integers(-(10**15), 10**15, NUM_ROWS), unit="us"),
            "span": pd.to_timedelta(rng.integers(-(10**6), 10**6, NUM_ROWS), unit="s"),
        }
    )
    frame.loc[rng.random(NUM_ROWS) < 0.2, ["time", "span"]] = pd.NaT
    frame.loc[rng.random(NUM_ROWS) < 0.2, "normal"] = np.nan
    return frame


FRAME = rows()


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    path = tmp_path_factory.mktemp("quantiles") / "rows.parquet"
    FRAME.to_parquet(path, row_group_size=500)
    return scan_parquet(path)


QUERIES = {
    "median": lambda f: f.drop(columns=["flag", "time", "span"]).median(),
    "median of a column": lambda f: f.large.median(),
    "median of some rows": lambda f: f[f.small > 0].hot.median(),
    "median of an expression": lambda f: (f.normal * 2 + f.small).median(),
    "median of nothing": lambda f: f[f.small > 9].unsigned.median(),
    "median of missing values": lambda f: f.missing.median(),
    "quantile": lambda f: f[["normal", "close", "large"]].quantile(q=0.3),
    "quantiles": lambda f: f[["single", "unsigned"]].quantile(q=[0.0, 0.25, 1.0]),
    "quantiles of one column": lambda f: f[["close"]].quantile(q=[0.1, 0.9]),
    "quantile of a column": lambda f: f.small.quantile(0.77),
    "quantiles of a series": lambda f: f.large.quantile([0.1, 0.9, 0.5]),
    "quantiles of an expression": lambda f: (f.normal * 2).quantile([0.5]),
    "median of bools": lambda f: f[["flag", "single"]].median(),
    "median of times": lambda f: f.time.median(),
    "median of no times": lambda f: f[f.small > 9].span.median(),
    "quantile of times": lambda f: f.time.quantile(0.3),
    "quantiles of spans": lambda f: f.span.quantile([0.0, 0.25, 0.8]),
    "quantile of a frame of times": lambda f: f[["time"]].quantile(q=0.6),
    "exact quantiles": lambda f: f[["huge", "normal"]].quantile(
        q=[0.2505, 1.0], interpolation="higher"
    ),
}


@pytest.mark.parametrize("name", QUERIES)
def test_quantiles_are_those_of_pandas(name, plan):
    assert_same(QUERIES[name](plan).collect(batch_rows=200), QUERIES[name](FRAME))


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_interpolations(interpolation, plan):
    for q in (0.1, 1 / 3, 0.5):
        for label in ("large", "single"):
            result = plan[label].quantile(q, interpolation=interpolation).collect(batch_rows=500)
            assert_same(result, FRAME[label].quantile(q, interpolation=interpolation))
    options = {"q": [0.2505, 0.75], "interpolation": interpolation}
    labels = ["large", "hot"]
    result = plan[labels].quantile(**options).collect(batch_rows=500)
    assert_same(result, FRAME[labels].quantile(**options))


def test_infinities_are_those_of_the_eager_method(plan):
    eager = scan_parquet(plan._plan.source.paths[0]).collect()
    for q in (0.1, 0.2, 0.5, 0.8):
        result = plan.infinite.quantile(q).collect(batch_rows=200)
        np.testing.assert_array_equal(result, eager.infinite.quantile(q))


def test_two_passes_serve_values_that_spread(plan, monkeypatch):
    passes = []
    end = _quantiles.RankSearch.end_pass

    def watched(self):
        passes.append(self)
        end(self)

    monkeypatch.setattr(_quantiles.RankSearch, "end_pass", watched)
    plan.normal.median().collect(batch_rows=200)
    assert len(passes) == 2
    passes.clear()
    # Values that agree in 48 bits: their last bits are counted.
    plan.close.median().collect(batch_rows=200)
    assert len(passes) == 4


def test_integers_with_missing_values_in_some_batches(tmp_path):
    values = pd.array(np.arange(1000) * 7 % 1000, dtype="Int64")
    values[300:350] = pd.NA
    frame = pd.DataFrame({"x": values})
    # Without pandas' notes they are float64, as everywhere else.
    table = pa.Table.from_pandas(frame).replace_schema_metadata()
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=100)
    plan, pandas = scan_parquet(tmp_path / "x.parquet"), frame.astype("float64")
    assert_same(plan.x.median().collect(batch_rows=100), pandas.x.median())
    assert_same(plan.quantile(q=0.9).collect(batch_rows=100), pandas.quantile(0.9))


@pytest.mark.parametrize("q", [1.5, [0.5, -0.1], np.nan])
def test_wrong_quantiles_raise_what_the_eager_method_raises(q, plan):
    with pytest.raises(ValueError, match=r"percentiles should all be in the interval \[0, 1\]"):
        plan.normal.quantile(q).collect(batch_rows=200)


def test_what_has_no_streamed_quantile(plan):
    with pytest.raises(NotImplementedError, match=r"median: .*collect\(\)"):
        plan.median(skipna=False).collect(batch_rows=200)


def test_times_with_a_zone_need_all_rows():
    times = pd.date_range("2020-03-28", periods=4, freq="D", tz="Europe/Berlin")
    plan = JaxFrame({"t": times}).lazy()["t"].quantile(0.3)
    with pytest.raises(NotImplementedError, match=r"quantile: .*collect\(\)"):
        plan.collect(batch_rows=2)
    assert plan.collect() == pd.Series(times).quantile(0.3)
