# SPDX-License-Identifier: Apache-2.0
import pandas as pd
import pytest
from frame_examples import floats, integers, mixed_frame
from frame_parity import assert_parity, assert_same_error


def test_of_series():
    frame = mixed_frame()
    for label in ("k", "x", "t"):
        assert_parity(
            lambda s: (s.nlargest(6), s.nsmallest(6, keep="last"), s.nlargest(99)),
            frame[label],
            ways=["eager"],
        )
    assert_parity(lambda s: s.nlargest(6), frame["k"], ways=["jit"])


def test_of_frames():
    frame = mixed_frame()[["k", "i", "s"]]
    assert_parity(lambda f: f.nlargest(7, "k"), frame)
    assert_parity(lambda f: f.nsmallest(7, ["k", "i"]), frame, ways=["eager"])
    assert_parity(lambda f: f.nlargest(7, "k", keep="last"), frame, ways=["eager"])


def test_wrong_arguments_are_pandas_errors():
    frame = mixed_frame()
    assert_same_error(lambda s: s.nlargest(1), frame["s"])
    assert "'s'" in assert_same_error(lambda f: f.nlargest(1, "s"), frame)
    assert_same_error(lambda s: s.nlargest(1, keep="bogus"), frame["k"])
    assert_same_error(lambda f: f.nlargest(1, "bogus"), frame)


@pytest.mark.parametrize("num_rows", [0, 1])
def test_few_rows(num_rows):
    assert_parity(lambda s: s.nlargest(2), mixed_frame()["x"][:num_rows], ways=["eager"])


def test_all_that_are_equal_to_the_last():
    frame = mixed_frame()[["k", "i", "x"]].assign(r=lambda f: f.i // 500)

    def largest(f):
        return (
            f.nlargest(3, "k", keep="all"),
            f.nsmallest(3, ["k", "r"], keep="all"),
            f.k.nsmallest(1, keep="all"),
            f.x.nlargest(2, keep="all"),
        )

    assert_parity(largest, frame, ways=["jit"])
    assert_parity(lambda f: f.nlargest(3, "k", keep="all"), frame, ways=["eager"])


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


@pytest.mark.parametrize("keep", ["first", "last", "all"])
def test_equal_and_missing_values(keep):
    """Missing values are in the order of rows, and so are equal ones if all rows are taken."""
    frame = pd.DataFrame({"x": [3, 1, 1, 2, 1, 2, 3, 0], "f": [2, None, 1, 2, None, 1, 2, None]})
    frame["t"] = pd.to_datetime(frame.f, unit="D")

    def best(f):
        series = [f.x.nlargest(n, keep) for n in (0, 1, 3, 7, 8, 9)]
        series += [one.nsmallest(n, keep) for one in (f.f, f.t) for n in (3, 5, 6, 7, 8, 9)]
        return *series, f.nlargest(6, "f", keep=keep), f.nsmallest(8, ["f"], keep=keep)

    assert_parity(best, frame, ways=["eager", "jit"])
    assert_parity(lambda f: f.nsmallest(6, "f", keep=keep), frame, ways=["mesh"])
