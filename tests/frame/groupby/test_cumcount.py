# SPDX-License-Identifier: Apache-2.0
"""groupby.cumcount."""

from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def test_both_directions_add_up_to_the_size_less_one():
    grouped = JaxFrame(mixed_frame()[["k"]]).groupby("k")
    forward, backward = grouped.cumcount(), grouped.cumcount(ascending=False)
    sizes = JaxFrame(mixed_frame()[["k", "x"]]).groupby("k").x.transform("size")
    assert (forward + backward + 1).tolist() == sizes.tolist()


def test_labels_of_rows_stay_and_the_name_is_none():
    def numbers(f):
        return f.groupby("k").cumcount(), f.groupby(["k", "x"], dropna=False).x.cumcount()

    assert_parity(numbers, mixed_frame()[["k", "x", "s"]].set_index("s"), ways=["jit"])


def test_rows_in_no_group_have_no_number():
    def numbers(f):
        return f.groupby("x").cumcount(), f.groupby("x", sort=False).cumcount(ascending=False)

    for num_rows in (37, 1, 0):
        assert_parity(numbers, mixed_frame()[["x"]][:num_rows], ways=["eager"])


def test_it_takes_one_argument():
    assert_same_error(lambda f: f.groupby("k").cumcount(True, True), mixed_frame()[["k"]])
