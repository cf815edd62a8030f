# SPDX-License-Identifier: Apache-2.0
"""filter."""

import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame, col

FRAME = mixed_frame()[["k", "x", "y", "s"]].set_axis(["ab", "b", "ba", "é"], axis=1)


def test_columns_by_name_part_or_pattern():
    def filtered(f):
        return (
            f.filter(["é", "no", "b"]), f.filter(like="b"), f.filter(regex="^b"),
            f.filter(regex="a$|é"), f.filter(("ab",), axis=1),
        )  # fmt: skip

    assert_parity(filtered, FRAME, ways=["jit"])
    assert_parity(filtered, FRAME[:0], ways=["eager"])


def test_labels_that_are_no_strings_are_read_as_such():
    frame = FRAME.set_axis([1, 10, 2.5, "1"], axis=1)
    assert_parity(lambda f: (f.filter(like="1"), f.filter([10])), frame, ways=["eager"])


def test_wrong_arguments():
    assert_same_error(lambda f: f.filter(), FRAME)
    assert_same_error(lambda f: f.filter(["b"], like="b"), FRAME)
    assert_same_error(lambda f: f.filter(regex="("), FRAME)


def test_rows_by_label():
    frame = mixed_frame().set_index("s")[["k", "x"]].sort_index()
    assert_parity(
        lambda f: (
            f.k.filter(like="a"),
            f.filter(regex="^.$", axis=0),
            f.k.reset_index(drop=True).filter([3, 1, 99]),
            f.reset_index(drop=True).filter(like="1", axis="index"),
            f.k[:0].filter(like="b"),
        ),
        frame.dropna(),
        ways=["eager", "mesh"],
    )
    assert_same_error(lambda f: f.k.filter(), frame)
    assert_same_error(lambda f: f.k.filter(["a"], like="b"), frame)
    assert_same_error(lambda f: f.k.filter(like="b", axis=1), frame)


def test_expressions_select_rows_only():
    frame = JaxFrame({"x": [1, 2]})
    for axis in (1, "columns"):
        with pytest.raises(ValueError, match=r"^Expressions such as .* Leave out axis"):
            frame.filter(col("x") > 1, axis=axis)
    assert frame.filter(col("x") > 1, axis=0).x.tolist() == [2]
