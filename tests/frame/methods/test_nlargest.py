# SPDX-License-Identifier: Apache-2.0
"""nlargest."""

from frame_examples import floats, integers, mixed_frame
from frame_parity import assert_parity, assert_same_error


def test_missing_values_are_never_among_them():
    def largest(s):
        return s.nlargest(3), s.nlargest(30), s.nlargest(0), s.nlargest(-1), s[:1].nlargest(2)

    assert_parity(largest, floats()[floats() != 0], ways=["eager"])


def test_extremes_of_integers():
    assert_parity(lambda s: s.nlargest(12), integers("uint64"), ways=["eager"])
    assert_parity(lambda s: s.nlargest(12, keep="last"), integers("int64"), ways=["eager"])


def test_a_second_column_decides_where_the_first_is_equal():
    frame = mixed_frame()[["k", "i", "s"]]
    assert_parity(lambda f: f.nlargest(9, ["k", "i"]), frame, ways=["jit"])
    assert_parity(lambda f: f.nlargest(9, ["k"])[:0], frame, ways=["eager"])


def test_wrong_arguments():
    frame = mixed_frame()[["k", "s"]]
    assert_same_error(lambda f: f.nlargest(2, ["k", "no"]), frame)
    assert_same_error(lambda f: f.nlargest(2, "k", keep="bogus"), frame)
    assert_same_error(lambda f: f.nlargest(2), frame)
