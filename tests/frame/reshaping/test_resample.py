# SPDX-License-Identifier: Apache-2.0
"""resample."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def timed(num_rows=37):
    minutes = np.sort(np.random.default_rng(0).integers(0, 100 * 24 * 60, num_rows))
    times = pd.to_datetime("2024-01-30") + pd.to_timedelta(minutes, unit="min")
    frame = mixed_frame(num_rows)[["k", "x", "f", "s", "b"]]
    return frame.set_axis(times.as_unit("us"), axis=0).rename_axis("time")


def test_bins_with_and_without_rows():
    assert_parity(
        lambda f: (
            f.k.resample("D").sum(),
            f.k.resample("D").min(),
            f[["k", "x"]].resample("D").mean(),
            f.resample("D").count(),
            f.resample("D").size(),
        ),
        timed(),
        ways=["eager"],
        ulps=64,
    )
    assert_parity(lambda f: f.k.resample("D").sum(), timed(), ways=["mesh"])


@pytest.mark.parametrize("rule", ["ME", "MS", "W", "2h", "QE", "36h", "YE", "W-WED"])
def test_rules(rule):
    assert_parity(
        lambda f: (
            f.k.resample(rule).sum(),
            f.k.resample(rule, closed="left", label="left").max(),
            f.k.resample(rule, closed="right", label="right").size(),
        ),
        timed(),
        ways=["eager"],
    )


def test_several_functions():
    assert_parity(
        lambda f: (
            f.resample("W").agg({"k": ["sum", "max"], "x": "count"}),
            f.resample("W").k.agg(["min", "count"]),
            f.k.resample("W").ohlc(),
            f[["k", "s"]].resample("W").first(),
            f.resample("W")[["k", "x"]].max(),
        ),
        timed(),
        ways=["eager"],
    )


def test_origins_columns_and_few_rows():
    assert_parity(
        lambda f: (
            f.k.resample("5h", origin="epoch").sum(),
            f.k.resample("5h", offset="3h").sum(),
            f.k.resample("5h", origin="end").sum(),
            f.reset_index().resample("W", on="time")[["k"]].sum(),
            f.set_index("s", append=True).k.resample("W", level=0).sum(),
            f.k[:0].resample("D").sum(),
            f.x[:1].resample("D").max(),
        ),
        timed(),
        ways=["eager"],
    )


def test_missing_times_belong_to_no_bin():
    frame = mixed_frame()[["k", "t"]]
    assert_parity(lambda f: f.resample("YE", on="t").k.sum(), frame, ways=["eager"])


def test_wrong_uses():
    frame = timed()
    assert_same_error(lambda f: f.reset_index(drop=True).resample("D"), frame)
    assert_same_error(lambda f: f.resample("none"), frame)
    ours = on_device(frame)
    with pytest.raises(NotImplementedError, match="ffill is not supported"):
        ours.resample("D").ffill()
    with pytest.raises(NotImplementedError, match="inside jit"):
        jax.jit(lambda f: f.resample("D").k.sum())(ours)
