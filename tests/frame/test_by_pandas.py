# SPDX-License-Identifier: Apache-2.0
"""Arguments that pandas computes on the host, and those that few people pass."""

import re

import jax
import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_parity, on_device

FRAME = pd.DataFrame(
    {
        "a": [1, 2, 3, 4],
        "x": [0.5, np.nan, 1.5, -2.0],
        "y": [1.0, 3.0, 2.0, 5.0],
        "s": ["a", "b", None, "ab"],
        "k": ["u", "v", "u", "v"],
    }
)
NUMBERS = FRAME[["a", "x", "y"]]
DAYS = NUMBERS.set_axis(pd.date_range("2024-01-01", periods=4))
OF_DAYS = DAYS.rename_axis("t").reset_index()
GAPS = pd.Series([np.nan, 1.0, np.nan, np.nan, 4.0, np.nan])


@pytest.mark.parametrize(
    "run",
    [
        lambda f: f.corr(method="spearman"),
        lambda f: f.corr(method="kendall", min_periods=2),
        lambda f: f.a.corr(f.y, method="spearman"),
        lambda f: f.quantile(0.5, axis=1),
        lambda f: f[["a", "y"]].quantile([0.25], interpolation="nearest", method="table"),
        lambda f: f.rename(index={0: 10, 3: 30}),
        lambda f: f.rename(index=lambda label: label * 2, columns={"a": "b"}),
        lambda f: f.a.rename({0: 10}),
        lambda f: f.fillna(0.0, limit=1),
        lambda f: f.ffill(axis=1),
        lambda f: f.isin(f[["a", "y"]]),
        lambda f: f.isin(f["a"]),
        lambda f: f.sort_index(key=lambda labels: -labels),
        lambda f: f.sort_values(0, axis=1),
        lambda f: f.clip(lower=f["a"], axis=0),
        lambda f: f.interpolate("nearest"),
        lambda f: f.combine(f[["x", "a"]] * 2, np.minimum),
        lambda f: f.combine(f[["x"]][1:], lambda s, t: s if s.sum() < t.sum() else t, 0.5),
        lambda f: f.combine(f[["x", "y"]] * 2, lambda s, t: s + t, overwrite=False),
        lambda f: f.a.combine(f.y, max),
        lambda f: f.x.combine(f.a[1:], lambda x, y: x + y, fill_value=3),
        lambda f: f.y.combine(2.5, min),
    ],
)
def test_frames_of_numbers(run):
    assert_parity(run, NUMBERS, ways=["eager"])


@pytest.mark.parametrize(
    "run",
    [
        lambda f: f.s.replace("^a", "z", regex=True),
        lambda f: f.replace(regex={"^a": "z"}),
        lambda f: f.replace({"s": {"^a": "z"}}, regex=True),
        lambda f: f.s.str.cat(f.k[1:], join="outer", na_rep="-"),
        lambda f: f.s.str.get_dummies(dtype=bool),
        lambda f: f.groupby("k").x.agg("ohlc"),
        lambda f: f.groupby("k")[["a", "y"]].quantile([0.25, 0.5]),
        lambda f: f.set_index(["k", "a"]).drop(("u", 1)),
        lambda f: f.groupby(lambda label: label % 2).a.sum(),
        lambda f: f.set_index("k").groupby(str.upper).a.sum(),
        lambda f: f.groupby({0: "p", 1: "p", 2: "q"}).a.sum(),
        lambda f: f.groupby(pd.Grouper(key="k")).a.sum(),
    ],
)
def test_frames_of_strings(run):
    assert_parity(run, FRAME, ways=["eager"])


@pytest.mark.parametrize(
    "run",
    [
        lambda f: f.groupby(pd.Grouper(key="t", freq="2D")).a.sum(),
        lambda f: f.groupby([f.a % 2, pd.Grouper(key="t", freq="2D")]).y.sum(),
        lambda f: f[::-1].groupby(["a", pd.Grouper(key="t", freq="2D")]).y.sum(),
        lambda f: f.assign(t=f.t.where(f.a != 2)).groupby(pd.Grouper(key="t", freq="2D")).y.sum(),
        lambda f: f.resample("2D", on="t", group_keys=True).sum(),
    ],
)
def test_bins_of_time(run):
    assert_parity(run, OF_DAYS, ways=["eager"])


def test_labels_of_time():
    assert_parity(lambda f: f.groupby(pd.Grouper(freq="2D")).sum(), DAYS, ways=["eager"])
    assert_parity(lambda f: f.groupby([pd.Grouper(freq="12h")]).sum(), DAYS, ways=["eager"])
    assert_parity(lambda f: f.shift(1, freq="D"), DAYS, ways=["eager"])
    assert_parity(lambda f: f.x.interpolate("time"), DAYS, ways=["eager"])


@pytest.mark.parametrize("limit_area", ["inside", "outside"])
def test_filling_between_values_or_outside(limit_area):
    for limit in (None, 1):
        how = {"limit": limit, "limit_area": limit_area}
        assert_parity(lambda s, h=how: (s.ffill(**h), s.bfill(**h)), GAPS, ways=["eager", "jit"])


def test_update():
    def run(frame):
        changed = frame.copy()
        changed.update(frame[["x"]] * 2)
        series = frame["y"].copy()
        series.update(frame["x"])
        return changed, series

    assert_parity(run, NUMBERS, ways=["eager"])


def test_attrs_go_with_the_data():
    ours = on_device(FRAME)
    ours.attrs["source"] = "till"
    assert ours.head(2).attrs == ours["x"].attrs == ours[ours.a > 1].attrs == {"source": "till"}
    part = ours.head(2)
    part.attrs["source"] = "other"
    assert ours.attrs == {"source": "till"}


def test_inside_jit_there_is_no_host():
    for run in (lambda f: f.corr(method="kendall"), lambda f: f.quantile(axis=1)):
        with pytest.raises(NotImplementedError, match=r"needs rows on the host .* Use "):
            jax.jit(run)(on_device(NUMBERS))


def test_a_warning_says_that_pandas_computes():
    message = "corr: method= is computed by pandas on the host, from a copy of the rows. Use rank"
    with pytest.warns(pd.errors.PerformanceWarning, match=re.escape(message)):
        on_device(NUMBERS).corr(method="spearman")


def test_a_warning_says_that_pandas_adds_a_row():
    ours = on_device(NUMBERS)
    message = "is computed by pandas on the host, from a copy of the rows. Use concat() to add rows"
    with pytest.warns(pd.errors.PerformanceWarning, match=re.escape(message)):
        ours.loc[4] = [5, 0.5, 1.5]
    assert len(ours) == 5
