# SPDX-License-Identifier: Apache-2.0
"""rolling over spans of time."""

import datetime

import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device

SPANS = ("2h", "1D", datetime.timedelta(hours=5), "365D")


def timed():
    hours = np.sort(np.random.default_rng(0).integers(-40, 40, 37))
    times = pd.to_datetime("1970-01-02") + pd.to_timedelta(hours, unit="h")
    frame = mixed_frame()[["k", "x", "f"]].set_axis(times.as_unit("us"), axis=0)
    return frame.assign(x=frame.x.where(frame.k != 4, np.inf))


@pytest.mark.parametrize("span", SPANS, ids=str)
def test_windows_hold_the_rows_of_a_span(span):
    def reduced(f):
        windows = f.rolling(span)
        return (
            windows.sum(), windows.mean(), windows.min(), windows.max(), windows.count(),
            windows.var(), windows["x"].std(ddof=0),
        )  # fmt: skip

    # Differences of sums: pandas adds what enters and subtracts what leaves.
    assert_parity(lambda f: reduced(f.abs()), timed(), ways=["eager"], ulps=2**14)


def test_inside_jit_and_on_meshes():
    frame = timed()
    assert_parity(lambda f: f.k.rolling("3h", closed="both").max(), frame, ways=["jit"])
    assert_parity(lambda f: f.k.rolling("3h").sum(), frame, ways=["mesh"])


def test_options_and_few_rows():
    assert_parity(
        lambda f: (
            f.k.rolling("3h", min_periods=3).sum(),
            f.k.rolling("3h", min_periods=3, closed="both").count(),
            f.x.rolling("3h", min_periods=0).sum(),
            f[:1].rolling("3h").max(),
            f[:0].k.rolling("3h").sum(),
        ),
        timed(),
        ways=["eager"],
        ulps=64,
    )


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("closed", ["right", "left", "both", "neither"])
def test_which_ends_belong_to_windows(closed, center):
    def reduced(f):
        options = {"closed": closed, "center": center}
        return (
            f.k.rolling("2h", **options).sum(),
            f.k.rolling("4h", min_periods=0, **options).sum(),
            f.rolling("6h", min_periods=2, **options).max(),
            f.rolling("36D", **options).max(),
        )

    ways = ["eager"] + ["jit", "mesh"] * (closed == "left" and not center)
    assert_parity(reduced, timed(), ways=ways, ulps=2**14)


def test_times_of_a_column():
    frame = timed().rename_axis(index="t").reset_index().assign(s=timed().k.astype(str).to_numpy())
    spans = frame.assign(t=frame.t - frame.t.iloc[0])[["k", "t", "x"]]

    def reduced(f):
        windows = f[["k", "t", "x"]].rolling("3h", on="t", closed="both")
        return (
            windows.sum(), windows.k.max(), windows["x"].max(), windows[["x", "k"]].sum(),
            windows[["x", "t", "k"]].sum(), windows.agg("sum"),
            f.rolling("3h", on="t").sum(numeric_only=True),
            f[["t", "k"]].rename_axis(index="t").rolling("3h", on="t").count(),
        )  # fmt: skip

    assert_parity(reduced, frame, ways=["eager"], ulps=2**14)
    assert_parity(
        lambda f: f.rolling("3h", on="t").max(), frame[["k", "t", "x"]], ways=["jit", "mesh"]
    )
    assert_parity(lambda f: f.rolling("3h", on="t").max(), spans, ways=["eager"])
    assert_parity(lambda f: f.set_index("t").rolling("3h").max(), spans, ways=["eager"])


def test_rows_beside_a_column():
    frame = timed().rename_axis(index="t").reset_index()
    assert_parity(
        lambda f: (
            f.rolling(2, on="t").sum(),
            f.rolling(3, on="k", min_periods=1, step=2)[["f", "x"]].max(),
            f[["k", "t", "x"]].rolling(2, on="t")[["x", "t"]].max(),
        ),
        frame.assign(f=1.0),
        ways=["eager"],
    )


def test_wrong_uses():
    frame = timed()
    assert_same_error(lambda f: f[::-2][::-1].sort_values("k").rolling("2h").sum(), frame)
    assert_same_error(lambda f: f.rolling("ME").sum(), frame)
    assert_same_error(lambda f: f.reset_index(drop=True).rolling("2h"), frame)
    assert_same_error(lambda f: f.rolling("2h", closed="none"), frame)
    assert_same_error(lambda f: f.rolling("2h", on="none"), frame)
    assert_same_error(lambda f: f.k.rolling("2h", on="k"), frame)
    assert_same_error(lambda f: f.rolling("2h", on="k"), frame)
    holes = frame.reset_index(names="t").assign(t=mixed_frame().t.sort_values().to_numpy())
    assert "t values must not have NaT" in assert_same_error(
        lambda f: f.rolling("2h", on="t"), holes
    )
    assert_same_error(lambda f: f.rolling("2h", on="t").s, holes.assign(t=frame.index))
    with pytest.raises(ValueError, match="t values must be monotonic"):
        on_device(holes.assign(t=frame.index[::-1])).rolling("2h", on="t")
    with pytest.raises(NotImplementedError, match="label of a column"):
        on_device(frame).rolling("2h", on=frame.index)
    seconds = frame.set_axis(frame.index.as_unit("s"), axis=0)
    with pytest.raises(NotImplementedError, match=r"finer unit by dt.as_unit"):
        on_device(seconds).rolling("3s", center=True)
    with pytest.raises(NotImplementedError, match="step"):
        on_device(frame).rolling("2h", step=2)
