# SPDX-License-Identifier: Apache-2.0
"""groupby.ewm."""

import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error

FRAME = mixed_frame()[["k", "s", "x", "f"]].assign(
    x=lambda f: f.x.abs(), f=lambda f: f.f.abs(), g=lambda f: f.x.where(f.index % 3 > 0) + 100
)
WAYS = (
    {"alpha": 0.3},
    {"span": 4, "adjust": False},
    {"com": 2, "ignore_na": True, "min_periods": 2},
    {"halflife": 3, "adjust": False, "ignore_na": True},
)
# Relative 1e-9: variances subtract means that were computed in another order.
ULPS = 1 << 22


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_statistics(how):
    def all_of(f):
        windows = f.groupby("k")[["x", "f", "g"]].ewm(**how)
        found = [windows.mean(), windows.var(), windows.std(bias=True)]
        return tuple([*found, windows.sum()] if how.get("adjust", True) else found)

    assert_parity(all_of, FRAME, ways=["eager", "jit", "mesh"], ulps=ULPS)


def test_keys_and_series():
    few = FRAME.head(40)
    assert_parity(
        lambda f: (
            f.groupby("k").g.ewm(span=2).mean(),
            f.groupby("k", sort=False)[["x"]].ewm(span=2).mean(),
            f.groupby("k", dropna=False).x.ewm(span=2).var(),
            f.groupby(["s", "k"])[["x", "g"]].ewm(span=2).mean(),
            f.x.groupby(f.s).ewm(alpha=0.5).sum(),
            f.groupby("k", as_index=False)[["x"]].ewm(span=2).mean(),
            f[:0].groupby("k").x.ewm(span=2).mean(),
            f[:1].groupby("k").x.ewm(span=2).std(),
        ),
        few,
        ways=["eager"],
        ulps=ULPS,
    )


def test_wrong_uses_are_pandas_errors():
    assert_same_error(lambda f: f.groupby("k").x.ewm(alpha=2).mean(), FRAME)
    assert_same_error(lambda f: f.groupby("k").x.ewm(span=2, adjust=False).sum(), FRAME)


@pytest.mark.parametrize("adjust", [False, True])
@pytest.mark.parametrize("ignore_na", [False, True])
def test_means_by_time(adjust, ignore_na):
    seconds = np.random.default_rng(7).integers(0, 4000, len(FRAME)).cumsum()
    times = pd.Series(pd.Timestamp("2024-01-01") + pd.to_timedelta(seconds, "s"))
    frame = FRAME.assign(t=times.set_axis(FRAME.index))
    how = {"halflife": "30min", "adjust": adjust, "ignore_na": ignore_na}
    assert_parity(
        lambda f: (
            f.groupby("k")[["x", "f", "g"]].ewm(times=f.t, **how).mean(),
            f.groupby("s").g.ewm(times=f.t, **how).mean(),
        ),
        frame,
        ways=["eager", "jit", "mesh"],
        ulps=ULPS,
    )
    assert_same_error(lambda f: f.groupby("k").x.ewm(times=f.t, **how).std(), frame)
