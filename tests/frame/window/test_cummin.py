# SPDX-License-Identifier: Apache-2.0
"""cummin."""

import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def test_of_strings_and_times_with_missing_ones_at_the_start():
    frame = pd.DataFrame(
        {
            "s": [None, "b", "c", "", "a"],
            "t": pd.to_datetime([None, "2020-01-02", "2020-01-03", None, "2020-01-01"]),
        }
    )
    assert_parity(lambda f: (f.cummin(), f.s[1:].cummin(skipna=False)), frame, ways=["jit"])
    assert_parity(lambda f: (f[:0].cummin(), f[:1].cummin()), frame, ways=["eager"])


def test_its_last_is_the_minimum_and_it_is_that_of_each_part():
    column = on_device(mixed_frame()).i
    lowest = column.cummin()
    assert int(lowest.iloc[-1]) == column.min()
    assert int(lowest.iloc[20]) == column[:21].min()
    assert lowest.is_monotonic_decreasing


def test_across_columns():
    frame = pd.DataFrame({"x": [1.0, None], "y": [2.0, 3.0], "z": [-1.0, 9.0]})
    assert_parity(lambda f: f.cummin(axis=1), frame, ways=["eager"])


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    unordered = frame.assign(c=frame.c.cat.as_unordered())
    assert_same_error(lambda f: f.cummin(), unordered[["k", "c"]])
    assert_same_error(lambda f: f.k.cummin(axis="columns"), frame)
