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


def test_wrong_uses():
    frame = timed()
    assert_same_error(lambda f: f[::-2][::-1].sort_values("k").rolling("2h").sum(), frame)
    assert_same_error(lambda f: f.rolling("ME").sum(), frame)
    assert_same_error(lambda f: f.reset_index(drop=True).rolling("2h"), frame)
    with pytest.raises(NotImplementedError, match="closed"):
        on_device(frame).rolling("2h", closed="left")
    with pytest.raises(NotImplementedError, match="step"):
        on_device(frame).rolling("2h", step=2)
