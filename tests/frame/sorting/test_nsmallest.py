# SPDX-License-Identifier: Apache-2.0
"""nsmallest."""

from frame_examples import integers, mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device


def test_they_are_the_largest_of_the_opposites():
    series = mixed_frame()["i"]
    assert_same(on_device(series).nsmallest(7), -(-series).nlargest(7))


def test_all_of_them_are_the_values_in_order():
    series = mixed_frame()["f"]
    expected = series.dropna().sort_values(kind="stable")
    assert_same(on_device(series).nsmallest(99).dropna(), expected)
    assert_parity(lambda s: s.nsmallest(4), integers("int8"), ways=["jit"])


def test_equal_rows_by_place_or_all():
    frame = mixed_frame()[["k", "i"]]

    def smallest(f):
        return tuple(f.nsmallest(5, "k", keep=keep) for keep in ("first", "last", "all"))

    assert_parity(smallest, frame, ways=["eager"])
    for num_rows in (0, 1):
        assert_parity(lambda f: f.nsmallest(5, "k"), frame[:num_rows], ways=["eager"])


def test_wrong_arguments():
    frame = mixed_frame()[["k", "s"]]
    assert_same_error(lambda f: f.nsmallest(2, ["s"]), frame)
    assert_same_error(lambda s: s.nsmallest(2, keep="bogus"), frame["k"])
