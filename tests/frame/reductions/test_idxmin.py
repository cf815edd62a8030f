# SPDX-License-Identifier: Apache-2.0
"""idxmin."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def named_rows():
    return pd.DataFrame(
        {"i": [4, 1, 9, 1], "x": [np.nan, 2.5, -np.inf, -np.inf]},
        index=pd.Index(["p", "q", "r", "s"], name="row"),
    )


def test_gives_the_label_of_the_first_of_equal_values():
    assert_parity(lambda f: (f.idxmin(), f.i.idxmin(), f.x.idxmin()), named_rows(), ways=["eager"])
    times = pd.date_range("2020-01-01", periods=4)
    assert_parity(
        lambda f: (f.i.idxmin(), f.idxmin()), named_rows().set_axis(times), ways=["eager"]
    )
    assert_parity(lambda f: f.idxmin(), named_rows().set_axis([7, 5, 7, 5]), ways=["eager"])


def test_the_row_of_that_label_holds_the_minimum():
    ours = on_device(mixed_frame())
    for label in ("i", "x", "t"):
        column = ours[label]
        (value,) = column[column.index == column.idxmin()].tolist()
        assert value == column.min()


def test_missing_values_are_refused_unless_they_are_left_out():
    frame = named_rows()
    assert_same_error(lambda f: f.x.idxmin(skipna=False), frame)
    assert_same_error(lambda f: f.idxmin(skipna=False), frame)
    assert_same_error(lambda f: f.x[:1].idxmin(), frame)
    assert_same_error(lambda f: f[:0].idxmin(), frame)
    assert_parity(lambda f: f.i.idxmin(skipna=False), frame, ways=["eager"])


def test_numbers_only():
    frame = mixed_frame()[["s", "i"]]
    assert_parity(lambda f: f.idxmin(numeric_only=True), frame, ways=["eager"])
    assert_same_error(lambda f: f.i.idxmin(axis=1), frame)
    assert_same_error(lambda f: f.i.idxmin(numeric_only=True), frame)
