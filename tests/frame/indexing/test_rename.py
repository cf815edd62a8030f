# SPDX-License-Identifier: Apache-2.0
"""rename."""

import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device

FRAME = mixed_frame()[["k", "x", "s"]]


def test_labels_change_by_dict_or_function():
    def renamed(f):
        return (
            f.rename(columns={"k": "x", "x": "k"}), f.rename(columns=str.upper),
            f.rename({"k": 0, "no": 1}, axis="columns"), f.rename(columns=lambda label: label * 2),
            f.rename(columns={}), f.rename(columns={"s": ("t", 1)}),
        )  # fmt: skip

    assert_parity(renamed, FRAME, ways=["jit"])


def test_two_columns_may_get_one_label():
    assert_parity(lambda f: f.rename(columns={"k": "x"}), FRAME, ways=["eager"])


def test_a_series_takes_any_scalar_as_its_name():
    def renamed(s):
        return s.rename("z"), s.rename(3), s.rename(None), s.rename(("a", 1)), s[:0].rename("z")

    assert_parity(renamed, FRAME["x"], ways=["eager"])
    assert on_device(FRAME["x"]).rename("z").name == "z"


def test_wrong_arguments():
    assert_same_error(lambda f: f.rename(columns={"no": "z"}, errors="raise"), FRAME)
    assert_same_error(lambda f: f.rename(), FRAME)
    assert_same_error(lambda f: f.rename({"k": "z"}, columns={"k": "z"}), FRAME)
    assert_same_error(lambda f: f.x.rename([1]), FRAME)


def test_axis_is_that_of_the_mapper():
    frame = pd.DataFrame({"x": [1], "y": [2]}, index=["r"])
    for rename in (
        lambda f: f.rename(index=str.upper, axis=1),
        lambda f: f.rename(columns=str.upper, axis="columns"),
        lambda f: f.rename(columns=str.upper, axis=0),
        lambda f: f.rename(str.upper, index=str.upper, axis=1),
    ):
        message = assert_same_error(rename, frame)
        assert message.startswith("Cannot specify both 'axis' and any of 'index' or 'columns'")
        assert "Leave out axis" in message
