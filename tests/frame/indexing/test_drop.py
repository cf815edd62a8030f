# SPDX-License-Identifier: Apache-2.0
"""drop."""

import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error

FRAME = mixed_frame()[["k", "x", "s"]]


def test_columns_are_named_in_three_ways():
    def dropped(f):
        return (
            f.drop(columns="x"), f.drop("x", axis="columns"), f.drop(labels=["x"], axis=1),
            f.drop(columns=["s", "k", "s"]), f.drop(columns=[]),
        )  # fmt: skip

    assert_parity(dropped, FRAME, ways=["jit"])


def test_the_other_columns_and_all_rows_stay():
    def dropped(f):
        return f.drop(columns=f.columns), f[:0].drop(columns="k"), f[:1].drop(columns=["x", "s"])

    assert_parity(dropped, FRAME.set_index("s", drop=False), ways=["eager"])


def test_a_label_that_stands_twice_is_dropped_twice():
    twice = FRAME.set_axis(["a", "b", "a"], axis=1)
    assert_parity(lambda f: (f.drop(columns="a"), f.drop(columns=["b"])), twice, ways=["eager"])


def test_wrong_labels():
    assert_same_error(lambda f: f.drop(columns=["x", "no"]), FRAME)
    assert_same_error(lambda f: f.drop("x", axis=1, columns="x"), FRAME)
    assert_parity(lambda f: f.drop(columns=["no"], errors="ignore"), FRAME, ways=["eager"])


WAYS = ["eager", "mesh"]


@pytest.mark.parametrize("unit", ["s", "ns"])
def test_texts_of_times(unit):
    times = pd.DatetimeIndex(["2000-01-03", "2000-01-04", "2000-01-05"]).as_unit(unit)
    frame = pd.DataFrame({"a": [1, 2, 3]}, times)
    for labels in ("2000-01-03", ["2000-01-04"], ["2000-01-03", "2000-01-04"]):
        assert_parity(lambda f, labels=labels: (f.drop(labels), f.a.drop(labels)), frame, ways=WAYS)
    assert_parity(lambda f: f.drop("1999-01-01", errors="ignore"), frame, ways=WAYS)
    for labels in ("1999-01-01", "no time"):
        assert_same_error(lambda f, labels=labels: f.drop(labels), frame)


def test_axis_is_that_of_labels():
    frame = pd.DataFrame({"x": [1], "y": [2]}, index=["r"])
    for how in ({"index": "r"}, {"columns": "x"}):
        message = assert_same_error(lambda f, how=how: f.drop(axis=1, **how), frame)
        assert message.startswith("Cannot specify both 'axis' and 'index'/'columns'")


def test_a_tuple_is_one_label():
    frame = pd.DataFrame({"x": [1, 2]}, index=["r", "s"])
    for labels in (("r",), ("r", "s")):
        assert "not found in axis" in assert_same_error(lambda f, r=labels: f.drop(r), frame)
        assert "not found in axis" in assert_same_error(lambda f, r=labels: f.x.drop(r), frame)
