# SPDX-License-Identifier: Apache-2.0
"""groupby.pct_change."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame

FRAME = mixed_frame()[["k", "i", "x"]]


def test_periods_of_either_sign():
    def changes(f):
        grouped = f.groupby("k")
        return grouped[["i", "x"]].pct_change(), grouped.x.pct_change(-2), grouped.i.pct_change(0)

    assert_parity(changes, FRAME, ways=["jit"], ulps=4)
    for num_rows in (0, 1):
        assert_parity(changes, FRAME[:num_rows], ways=["eager"])


def test_it_is_the_change_of_each_group_alone():
    changes = JaxFrame(FRAME).groupby("k").x.pct_change().to_pandas()
    for _, group in FRAME.groupby("k"):
        pd.testing.assert_series_equal(changes[group.index], group.x.pct_change(), rtol=1e-15)


def test_of_zero_and_of_no_group():
    frame = pd.DataFrame(
        {"k": [1.0, 1.0, None, 1.0, 1.0], "x": [0.0, 2.0, 7.0, np.inf, 0.0], "i": [0, 0, 1, 2, 4]}
    )
    for periods in (1, 0):
        assert_parity(lambda f, n=periods: f.groupby("k").pct_change(n), frame, ways=["eager"])


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()[["k", "x", "s"]]
    assert "'s'" in assert_same_error(lambda f: f.groupby("k").s.pct_change(), frame)
    assert_same_error(lambda f: f.groupby("k").x.pct_change("a"), frame)
    assert_same_error(lambda f: f.groupby("k").x.pct_change(fill_method="ffill"), frame)
