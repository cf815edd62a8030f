# SPDX-License-Identifier: Apache-2.0
"""groupby.expanding."""

import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_parity, assert_same_error, on_device

# Sums of these are exact.
FRAME = pd.DataFrame(
    {
        "k": [3.0, 1.0, 3.0, np.nan, 1.0, 3.0, 8.0, 3.0],
        "j": list("abaabbab"),
        "x": [0.25, np.nan, -3.5, 8.0, 8.0, np.nan, 1.75, np.inf],
        "i": [4, -2, 7, 0, 1, 5, 5, 9],
    },
    index=list("qrstuvwx"),
)
NAMES = ("sum", "mean", "min", "max", "var", "std", "count")


@pytest.mark.parametrize("least", [0, 1, 3])
def test_every_statistic_once_there_are_enough_values(least):
    def statistics(f):
        windows = f.groupby("k")[["x", "i"]].expanding(least)
        return tuple(getattr(windows, name)() for name in NAMES)

    assert_parity(statistics, FRAME, ways=["eager"], ulps=64)
    for num_rows in (0, 1):
        assert_parity(statistics, FRAME[:num_rows], ways=["eager"], ulps=64)


def test_orders_keys_and_labels():
    def expanded(f):
        some = f[["k", "x", "i"]]
        return (
            some.groupby("k", sort=False).expanding().sum(),
            some.groupby("k", dropna=False).x.expanding().max(),
            some.groupby("k", as_index=False).expanding(2).min(),
            f.groupby(["j", "k"]).expanding().sum(),
            f.x.groupby(f.j).expanding().mean(),
            f.groupby("j").expanding().i.count(),
        )

    assert_parity(expanded, FRAME, ways=["eager"], ulps=2)


def test_in_jit_and_on_a_mesh():
    frame = FRAME[["k", "x", "i"]]
    assert_parity(lambda f: f.groupby("k").expanding().max(), frame, ways=["jit", "mesh"])


def test_it_says_what_cumulative_methods_say():
    ours = on_device(FRAME[["k", "i"]].dropna().sort_values("k", kind="stable"))
    assert ours.groupby("k").i.expanding().sum().tolist() == ours.groupby("k").i.cumsum().tolist()


def test_wrong_uses_are_pandas_errors():
    assert_same_error(lambda f: f.groupby("k").expanding().mean(), FRAME)
    assert_same_error(lambda f: f.groupby("k").expanding(-1), FRAME)
    assert_same_error(lambda f: f.groupby("k").expanding("2"), FRAME)


def test_repr_is_that_of_pandas():
    windows = on_device(FRAME).groupby("k").expanding(2)
    assert repr(windows) == repr(FRAME.groupby("k").expanding(2))
