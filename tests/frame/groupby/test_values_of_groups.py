# SPDX-License-Identifier: Apache-2.0
"""is_monotonic_increasing, is_monotonic_decreasing and unique of grouped series; ohlc."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def ordered_frame(num_rows=40):
    """Groups whose values ascend, descend, are equal, have a missing value, or are one."""
    rng = np.random.default_rng(0)
    k = rng.integers(0, 6, num_rows)
    i = np.arange(num_rows) // 3
    i = np.where(k == 1, -i, np.where(k == 2, 7, np.where(k == 3, rng.integers(0, 9), i)))
    x = i.astype(float)
    x[np.flatnonzero(k == 4)[1]] = np.nan
    frame = pd.DataFrame({"k": k, "i": i, "x": x, "b": i > 5})
    frame["s"] = pd.array([f"{n:03d}" for n in i - i.min()], "str")
    frame["c"] = frame["s"].astype("category")
    frame["t"] = pd.to_datetime(x, unit="D")
    return frame


def both(grouped):
    return grouped.is_monotonic_increasing, grouped.is_monotonic_decreasing


def test_order_of_every_kind():
    assert_parity(
        lambda f: tuple(one for name in "ixbsct" for one in both(f.groupby("k")[name])),
        ordered_frame(),
        ways=["eager"],
    )


def test_keys_and_ways():
    def found(f):
        return (
            *both(f.groupby("k").x), *both(f.groupby("k", as_index=False).i),
            *both(f.groupby("k", sort=False, group_keys=False).i), *both(f.i.groupby(f.s)),
        )  # fmt: skip

    frame = ordered_frame().assign(k=lambda f: f.k.where(f.k < 5))
    assert_parity(found, frame, ways=["eager", "jit"])
    for num_devices in (1, 4):
        assert_parity(
            lambda f: both(f.groupby("k").x), frame, ways=["mesh"], num_devices=num_devices
        )
    assert_parity(found, frame.dropna()[:1], ways=["eager"])
    assert_parity(
        lambda f: both(f.groupby("c", observed=False).i),
        frame.assign(c=frame.c.cat.add_categories("none")),
        ways=["eager"],
    )
    missing = frame[:3].assign(x=np.nan)
    assert_parity(lambda f: both(f.groupby("k").x), missing, ways=["eager"])


def assert_same_arrays(got, expected):
    """The arrays, and the labels; pandas compares no columns of arrays."""
    if isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(got.iloc[:, :-1], expected.iloc[:, :-1])
        got, expected = got.iloc[:, -1], expected.iloc[:, -1]
    pd.testing.assert_index_equal(got.index, expected.index)
    assert (got.name, got.dtype) == (expected.name, expected.dtype)
    for one, other in zip(got, expected, strict=True):
        assert type(one) is type(other)
        pd.testing.assert_series_equal(pd.Series(one), pd.Series(other))


@pytest.mark.parametrize("name", ["i", "x", "y", "f", "b", "s", "c", "t", "d"])
def test_distinct_values(name):
    for frame in (mixed_frame(), mixed_frame()[:1]):
        for how in ({}, {"sort": False}, {"as_index": False}, {"dropna": False}):
            got = on_device(frame).groupby("s", **how)[name]
            if name == "s":
                continue
            assert_same_arrays(got.unique().to_pandas(), frame.groupby("s", **how)[name].unique())
    got = on_device(mixed_frame()).groupby("k")[name].unique().to_pandas()
    assert_same_arrays(got, mixed_frame().groupby("k")[name].unique())


def test_distinct_values_need_known_groups():
    with pytest.raises(NotImplementedError, match=r"nunique\(\)"):
        jax.jit(lambda f: f.groupby("k").i.unique())(on_device(mixed_frame()))


def test_ohlc():
    frame = mixed_frame()[["k", "i", "x", "f", "b"]]
    assert_parity(
        lambda f: (
            f.groupby("k").x.ohlc(), f.groupby("k").ohlc(), f.groupby("k").b.ohlc(),
            f.groupby("k", as_index=False)[["i", "x"]].ohlc(), f[:1].groupby("k").ohlc(),
        ),
        frame,
        ways=["eager", "mesh"],
    )  # fmt: skip
    assert_parity(lambda f: f.groupby("k")[["i", "x"]].ohlc(), frame, ways=["jit"])
    assert_same_error(lambda f: f.groupby("k").s.ohlc(), mixed_frame())
    assert_same_error(lambda f: f.groupby("k").t.ohlc(), mixed_frame())


def test_ohlc_among_other_reductions():
    frame = mixed_frame()[["k", "i", "x", "s"]]
    assert_parity(
        lambda f: (
            f.groupby("k").agg({"x": "ohlc", "i": "sum"}),
            f.groupby("k", as_index=False).agg({"i": "max", "x": "ohlc"}),
            f.groupby("k").x.agg(["sum", "ohlc"]),
            f.groupby("k")[["i", "x"]].agg(["ohlc", "min"]),
            f.groupby("k").agg({"x": ["ohlc", "sum"], "i": ["max", "ohlc"]}),
            f.groupby("k").x.agg([("a", "ohlc"), ("b", "sum")]),
        ),
        frame,
    )
    assert_same_error(lambda f: f.groupby("k").agg({"s": "ohlc", "i": "sum"}), frame)


def test_ohlc_of_bins_beside_a_sum():
    times = pd.date_range("2024-01-01", periods=5, freq="9h")
    frame = pd.DataFrame({"price": [3.0, 5, 1, 4, 2], "size": [1, 2, 3, 4, 5]}, index=times)
    assert_parity(
        lambda f: f.resample("D").agg({"price": "ohlc", "size": "sum"}), frame, ways=["eager"]
    )
