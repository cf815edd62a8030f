# SPDX-License-Identifier: Apache-2.0
"""expanding."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device

# Sums of these are exact.
QUARTERS = pd.Series([0.25, np.nan, -3.5, 8.0, 8.0, np.nan, 1.75], name="x")


def test_every_statistic_once_there_are_enough_values():
    def statistics(s):
        windows = s.expanding(), s.expanding(min_periods=3)
        names = "sum", "mean", "min", "max", "var", "std", "count"
        return tuple(getattr(each, name)() for each in windows for name in names)

    assert_parity(statistics, QUARTERS, ways=["eager"], ulps=64)
    for num_rows in (0, 1):
        assert_parity(statistics, QUARTERS[:num_rows], ways=["eager"], ulps=64)


def test_columns_of_a_frame_in_jit():
    frame = mixed_frame()[["k", "b", "i"]]
    assert_parity(lambda f: (f.expanding(2).max(), f.expanding().sum()), frame, ways=["jit"])


def test_it_says_what_cumulative_methods_say():
    ours = on_device(QUARTERS.dropna())
    assert ours.expanding().sum().tolist() == ours.cumsum().tolist()
    assert ours.expanding().max().tolist() == ours.cummax().tolist()


def test_wrong_uses_are_pandas_errors():
    assert_same_error(lambda f: f.expanding().mean(), mixed_frame()[["s"]])
    assert_same_error(lambda s: s.expanding(-1), QUARTERS)
    assert_same_error(lambda s: s.expanding("2"), QUARTERS)
