# SPDX-License-Identifier: Apache-2.0
"""groupby.nlargest and groupby.nsmallest of a series."""

import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def test_largest_and_smallest_of_every_kind():
    def best(f):
        grouped = f.groupby("k")
        return grouped.x.nlargest(3), grouped.i.nsmallest(2), grouped.x.nlargest(1, keep="last")

    frame = mixed_frame()[["k", "x", "i"]]
    for num_rows in (37, 1):
        assert_parity(best, frame[:num_rows], ways=["eager"])
    assert_parity(lambda f: f.groupby("k").x.nlargest(2), frame, ways=["jit"])


@pytest.mark.parametrize("keep", ["first", "last"])
def test_ties_are_those_of_the_first_or_the_last_rows(keep):
    frame = pd.DataFrame({"k": [0, 1] * 6, "x": [3, 1, 3, 1, 2, 1, 3, 0, 3, 0, 2, 1]})
    assert_parity(
        lambda f: (f.groupby("k").x.nlargest(2, keep=keep), f.groupby("k").x.nsmallest(1, keep)),
        frame, ways=["eager"],
    )  # fmt: skip


def test_groups_by_first_row_and_labels_of_rows():
    frame = mixed_frame()[["k", "x", "s"]].assign(when=pd.date_range("2024", periods=37)[::-1])
    assert_parity(
        lambda f: f.groupby("s", sort=False).when.nsmallest(2), frame.set_index("k"), ways=["eager"]
    )


def test_more_than_a_group_has_and_none():
    def best(f):
        grouped = f.groupby("k", dropna=False).x
        return grouped.nlargest(99), grouped.nlargest(0), grouped.nlargest(-1)

    assert_parity(best, mixed_frame()[["k", "x"]], ways=["eager"])


def test_errors():
    frame = mixed_frame()[["k", "x", "s"]]
    assert_same_error(lambda f: f.groupby("k").s.nlargest(1), frame)
    assert_same_error(lambda f: f.groupby("k").x.nlargest(1, keep="bogus"), frame)
    with pytest.raises(NotImplementedError, match="groupby: nlargest needs rows on one device"):
        on_device(frame).groupby("k").x.nlargest(1, keep="all")
