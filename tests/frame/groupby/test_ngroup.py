# SPDX-License-Identifier: Apache-2.0
"""groupby.ngroup."""

from frame_examples import mixed_frame
from frame_parity import EVERYWHERE, assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def test_both_directions_add_up_to_the_greatest():
    grouped = JaxFrame(mixed_frame()[["k"]]).groupby("k")
    both = grouped.ngroup() + grouped.ngroup(ascending=False)
    assert set(both.tolist()) == {4}


def test_groups_are_numbered_as_they_are_shown():
    def numbers(f):
        return f.groupby("s", sort=False).ngroup(), f.groupby(["k", "s"], dropna=False).ngroup()

    assert_parity(numbers, mixed_frame()[["k", "s"]], ways=["jit"])


def test_rows_in_no_group_have_no_number():
    def numbers(f):
        return f.groupby("c").ngroup(), f.x.groupby(f.x).ngroup(ascending=False)

    for num_rows in (37, 1, 0):
        assert_parity(numbers, mixed_frame()[["c", "x"]][:num_rows], ways=["eager"])


def test_it_takes_one_argument():
    assert_same_error(lambda f: f.groupby("k").ngroup(True, True), mixed_frame()[["k"]])


def test_groups_are_numbered_among_those_that_have_rows():
    def numbers(f):
        grouped = f.groupby("c", observed=False), f.groupby(["c", "b"], observed=False)
        return tuple(one.ngroup(ascending=up) for one in grouped for up in (True, False))

    frame = mixed_frame()[["c", "b"]].query("c != c.cat.categories[1]")
    assert_parity(numbers, frame, ways=EVERYWHERE)
