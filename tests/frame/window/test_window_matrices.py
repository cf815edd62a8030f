# SPDX-License-Identifier: Apache-2.0
"""cov and corr of pairs of columns, in rolling, expanding and exponentially weighted windows."""

import numpy as np
import pandas as pd
import pytest
from frame_examples import pairs
from frame_parity import Bound, assert_parity, assert_same, assert_same_error, on_device

# pandas adds and subtracts the products of values that enter and leave.
CLOSE = Bound(2**20, 1.0)
WINDOWS = {
    "rolling": lambda f: f.rolling(5),
    "few periods": lambda f: f.rolling(9, min_periods=2, center=True),
    "expanding": lambda f: f.expanding(3),
    "ewm": lambda f: f.ewm(span=4, min_periods=2),
    "ewm of rows": lambda f: f.ewm(alpha=0.3, adjust=False, ignore_na=True),
}


def both(windows, *other, **options):
    return windows.cov(*other, **options), windows.corr(*other, **options)


def labelled():
    frame = pairs().rename_axis("row")
    frame.index = frame.index // 3
    return frame.rename_axis("column", axis=1)


@pytest.mark.parametrize("name", WINDOWS)
def test_all_pairs_of_columns(name):
    windows = WINDOWS[name]

    def found(f):
        return (
            *both(windows(f)), *both(windows(f), pairwise=False), *both(windows(f[["y"]])),
            *both(windows(f[["x", "i"]]), f[["z"]], True), *both(windows(f[["z", "x"]]), f),
            *both(windows(f.x), pairwise=True), *both(windows(f[["x", "z"]]), f.y, pairwise=True),
        )  # fmt: skip

    assert_parity(found, pairs(), ways=["eager"], ulps=CLOSE)


@pytest.mark.parametrize("name", ["rolling", "ewm"])
def test_labels_and_few_rows(name):
    windows, frame = WINDOWS[name], labelled()

    def found(f):
        other = f[["z"]].rename(columns={"z": "w"})
        return *both(windows(f)), *both(windows(f[["y", "x"]]), other, pairwise=True)

    assert_parity(found, frame, ways=["eager"], ulps=CLOSE)
    for num_rows in (0, 1):
        assert_parity(
            lambda f: (*both(windows(f)), *both(windows(f[["x"]]), pairwise=False)),
            frame[:num_rows],
            ways=["eager"],
        )


def test_inside_jit_and_on_meshes():
    def found(f):
        return f.rolling(6, 2).corr(), f.ewm(span=3).cov(f[["y"]], pairwise=True)

    assert_parity(found, pairs()[["x", "y"]], ways=["jit", "mesh"], ulps=CLOSE, num_devices=4)


def test_spans_of_time_and_a_column_of_times():
    hours = np.sort(np.random.default_rng(0).integers(0, 40, 43))
    times = pd.to_datetime("2020") + pd.to_timedelta(hours, unit="h")
    timed = pairs().assign(t=times)

    def found(f):
        return (
            *both(f.rolling("9h", on="t")), *both(f.rolling("9h", on="t", closed="left"), f.y),
            *both(f.rolling(6, on="t")), *both(f.rolling("9h", on="t").x, f.y),
        )  # fmt: skip

    assert_parity(found, timed, ways=["eager"], ulps=CLOSE)


def test_other_columns():
    frame = pairs().assign(s="a", b=True)
    assert_parity(
        lambda f: (f.rolling(4).cov(numeric_only=True), f.ewm(span=2).corr(numeric_only=True),
                   f.z.ewm(span=2).cov(f, numeric_only=True)),
        frame.drop(columns="b"), ways=["eager"], ulps=CLOSE,
    )  # fmt: skip
    for windows in (lambda f: f[["s"]].rolling(2), lambda f: f[["s"]].ewm(span=2)):
        assert_same_error(lambda f, windows=windows: windows(f).cov(numeric_only=True), frame)
    for numeric_only in (False, True):
        with pytest.raises((pd.errors.DataError, ValueError)):
            on_device(frame[["s"]]).rolling(2).cov(numeric_only=numeric_only)


def test_a_column_is_itself_correlated_by_one():
    frame = pairs(200, seed=3)
    for windows in (on_device(frame).rolling(7), on_device(frame).ewm(span=3)):
        got = windows.corr(pairwise=False).to_pandas()
        assert got.isin([1, np.nan]).all(axis=None)
    # As in pandas, rounding gives rolling windows no correlation above one.
    frame["y"] = frame.x * 3 + 1
    got = on_device(frame).rolling(7).corr().to_pandas()
    assert (got.abs().max() == 1).all()


def test_a_chain_of_windows_and_reductions():
    frame = pairs()[["x", "y"]]
    got = on_device(frame).rolling(8).corr().dropna().max()
    assert_same(got, frame.rolling(8).corr().dropna().max(), ulps=CLOSE)


def test_wrong_uses():
    frame = pairs()
    ours = on_device(frame)
    assert_same_error(lambda f: f.rolling(2).cov("x"), frame)
    assert_same_error(lambda f: f.rolling(2, step=2).corr(), frame)
    twice = frame[["x", "x"]]
    assert_same_error(lambda f: f.rolling(2).cov(f[["x"]], pairwise=False), twice)
    with pytest.raises(NotImplementedError, match=r"align\(\)"):
        ours.rolling(2).corr(ours[["y"]][5:])
    levels = on_device(pd.concat([frame], axis=1, keys=["a"]))
    with pytest.raises(NotImplementedError, match="column labels must have one level, got 2"):
        levels.ewm(span=2).cov()
