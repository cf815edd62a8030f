# SPDX-License-Identifier: Apache-2.0
"""rename_axis."""

import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error

FRAME = mixed_frame()[["k", "i", "s"]]
LEVELS = FRAME.set_index(["k", "s"])


def test_names_of_rows_and_columns():
    def named(f):
        return (
            f.rename_axis("rows"),
            f.rename_axis("columns", axis=1),
            f.rename_axis(index="r", columns="c"),
            f.rename_axis("rows").rename_axis(None),
            f.i.rename_axis("rows"),
        )

    assert_parity(named, FRAME, ways=["eager"])
    assert_parity(lambda f: f.rename_axis("rows"), FRAME, ways=["jit"])


def test_names_of_several_levels():
    def named(f):
        return (
            f.rename_axis(["u", None]),
            f.rename_axis(index={"s": "S", "absent": "x"}),
            f.rename_axis(index=str.upper),
        )

    assert_parity(named, LEVELS, ways=["eager"])


def test_a_name_becomes_that_of_a_column():
    def columns(f):
        return f.rename_axis("rows").reset_index(), f.rename_axis("g").i.to_frame().reset_index()

    assert_parity(columns, FRAME, ways=["eager"])


def test_wrong_uses_are_pandas_errors():
    assert_same_error(lambda f: f.rename_axis(["a", "b"]), FRAME)
    assert_same_error(lambda f: f.rename_axis("a"), LEVELS)
    assert_same_error(lambda f: f.rename_axis(rows="a"), FRAME)


def test_functions_rename_labels_and_not_names():
    frame = pd.DataFrame({"x": [1], "y": [2]})
    for axis in (0, 1):
        assert_same_error(lambda f, axis=axis: f.rename_axis(str.upper, axis=axis), frame)
        assert_same_error(lambda f, axis=axis: f.rename_axis({"x": "y"}, axis=axis), frame)
