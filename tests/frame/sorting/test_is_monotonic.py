# SPDX-License-Identifier: Apache-2.0
"""is_monotonic_increasing and is_monotonic_decreasing."""

import numpy as np
import pandas as pd
from frame_examples import INTEGERS, floats, integers, mixed_frame
from frame_parity import assert_parity
from jaxframes.frame import JaxSeries


def ways_it_runs(s):
    return s.is_monotonic_increasing, s.is_monotonic_decreasing


def test_of_every_integer_type_up_down_and_neither():
    for dtype in INTEGERS:
        series = integers(dtype)
        for one in (series, series.sort_values(), series.sort_values(ascending=False)):
            assert_parity(ways_it_runs, one, ways=["eager"])


def test_missing_values_are_in_no_order():
    ascending = floats().sort_values()
    assert_parity(ways_it_runs, ascending, ways=["eager"])
    assert_parity(ways_it_runs, ascending.dropna(), ways=["eager"])
    assert_parity(ways_it_runs, ascending.dropna()[::-1], ways=["eager"])


def test_of_times_strings_and_bools():
    frame = mixed_frame()
    for label in ("t", "d", "s", "b"):
        column = frame[label].dropna().sort_values()
        assert_parity(ways_it_runs, column, ways=["eager"])
        assert_parity(ways_it_runs, frame[label], ways=["eager"])


def test_equal_values_no_values_and_one():
    for values in ([], [3.0], [3.0, 3.0], [np.nan], [0.0, -0.0, 0.0]):
        assert_parity(ways_it_runs, pd.Series(values, dtype=float), ways=["eager"])


def test_whether_values_are_in_order():
    for values in ([1, 2, 2], [3, 1, 1], [1.0, np.nan], [2.0], []):
        series = pd.Series(values, dtype=None if values else np.float64)
        ours = JaxSeries(series)
        assert ours.is_monotonic_increasing == series.is_monotonic_increasing
        assert ours.is_monotonic_decreasing == series.is_monotonic_decreasing


def test_categories_are_compared_by_code():
    for words in ([None, "a"], ["b", "a"], ["a", None], [None], ["b", "b", "a"]):
        series = pd.Series(pd.Categorical(words, ["b", "a"]))
        assert_parity(
            lambda s: (s.is_monotonic_increasing, s.is_monotonic_decreasing),
            series,
            ways=["eager", "mesh"],
        )
