# SPDX-License-Identifier: Apache-2.0
"""copy."""

import copy

import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, on_device

FRAME = mixed_frame()[["k", "x", "s"]]


@pytest.mark.parametrize("deep", [True, False])
def test_a_copy_that_is_changed_leaves_the_frame_as_it_was(deep):
    ours = on_device(FRAME)
    other = ours.copy(deep=deep)
    assert_same(other, FRAME)
    other["k"] = other["k"] * 2
    other.columns = ["a", "b", "c"]
    assert_same(ours, FRAME)
    assert_same(other["a"], (FRAME["k"] * 2).rename("a"))


def test_python_copies_it_too():
    ours = on_device(FRAME)
    for copied in (copy.copy(ours), copy.deepcopy(ours)):
        del copied["x"]
        assert_same(copied, FRAME[["k", "s"]])
    assert_same(ours, FRAME)


def test_of_a_series_and_inside_jit():
    def copied(f):
        other = f.copy()
        other["x"] = 0.0
        return f, other, f.s.copy(deep=False).rename("t")

    assert_parity(copied, FRAME, ways=["jit"])
    assert_parity(lambda f: (f[:0].copy(), f.set_index("s").x.copy()), FRAME, ways=["eager"])


def test_frames_do_not_share_the_names_of_their_columns():
    ours = on_device(FRAME)
    copied, shown = ours.copy(), ours.columns
    ours.columns.name = "a"
    later, first = ours.copy(), ours.head(1)
    ours.columns.name, first.columns.name = "b", "c"
    assert shown is ours.columns
    assert [f.columns.name for f in (ours, copied, later, first)] == ["b", None, "a", "c"]
    assert [f.to_pandas().columns.name for f in (ours, later, first[["k"]])] == ["b", "a", "c"]
