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
    with pytest.raises(NotImplementedError, match="one level in windows of groups, got 2"):
        levels.groupby([0, 1] * 20 + [1, 2, 2]).ewm(span=2).cov()


def test_several_levels_of_column_labels():
    """pandas sorts the rows of these matrices by their labels."""
    frame = pairs()[["y", "x", "z"]][::-1]
    frame.columns = pd.MultiIndex.from_tuples(
        [("b", "u"), ("a", "v"), ("b", "a")], names=["c", "d"]
    )

    def found(f):
        return *both(f.rolling(4, 2)), *both(f.ewm(span=3)), *both(f.expanding(2), pairwise=True)

    assert_parity(found, frame, ways=["eager"], ulps=CLOSE)
    assert_parity(lambda f: both(f.rolling(2)), frame[:1], ways=["eager"], ulps=CLOSE)


GROUP_WINDOWS = {
    "rolling": lambda g: g.rolling(4, min_periods=2),
    "centered": lambda g: g.rolling(3, center=True),
    "expanding": lambda g: g.expanding(2),
    "ewm": lambda g: g.ewm(span=4),
    "ewm of rows": lambda g: g.ewm(alpha=0.3, adjust=False, ignore_na=True, min_periods=2),
}


def grouped(num_rows=43):
    rng = np.random.default_rng(9)
    frame = pairs()[:num_rows].assign(k=rng.integers(0, 4, num_rows), s="b")
    frame["s"] = np.where(rng.random(num_rows) < 0.4, "a", frame["s"])
    return frame


@pytest.mark.parametrize("name", GROUP_WINDOWS)
def test_windows_of_groups(name):
    windows = GROUP_WINDOWS[name]

    def found(f):
        numbers = f[["x", "y", "z", "k"]]
        return (
            *both(windows(numbers.groupby("k"))), *both(windows(f.groupby("s").x)),
            *both(windows(f.groupby(["s", "k"])[["z", "x"]])),
            *both(windows(f.groupby("k")[["y"]]), pairwise=False),
        )  # fmt: skip

    assert_parity(found, grouped(), ways=["eager"], ulps=CLOSE)


def test_few_rows_missing_keys_and_labels_of_groups():
    frame = grouped().rename_axis("row").drop(columns=["s", "i"])
    frame["k"] = frame.k.where(frame.k != 2)
    for rows in (frame, frame[:1], frame[frame.k == 3]):
        assert_parity(
            lambda f: (
                *both(f.groupby("k").rolling(3, 1)), *both(f.groupby("k", dropna=False).ewm(com=1))
            ),
            rows, ways=["eager"], ulps=CLOSE,
        )  # fmt: skip


def test_spans_of_time_of_groups():
    hours = np.sort(np.random.default_rng(0).integers(0, 90, 43))
    times = pd.DatetimeIndex(pd.to_datetime("2020") + pd.to_timedelta(hours, unit="h"), name="t")
    frame = grouped().set_index(times).drop(columns="s")
    assert_parity(
        lambda f: (*both(f.groupby("k").rolling("30h")), *both(f.groupby("k").y.rolling("9h"))),
        frame, ways=["eager"], ulps=CLOSE,
    )  # fmt: skip


def test_groups_inside_jit_and_on_meshes():
    frame = grouped()[["x", "y", "k"]]
    assert_parity(
        lambda f: (f.groupby("k").rolling(4, 2).corr(), f.groupby("k").ewm(span=3).cov()),
        frame, ways=["mesh"], ulps=CLOSE, num_devices=4,
    )  # fmt: skip
    assert_parity(lambda f: f.groupby("k").rolling(4, 2).corr(), frame, ways=["jit"], ulps=CLOSE)
