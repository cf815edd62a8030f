# SPDX-License-Identifier: Apache-2.0
"""reindex of columns."""

import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device

FRAME = mixed_frame()[["k", "x", "s"]]


def test_columns_come_in_the_order_asked_for_and_new_ones_are_filled():
    def reindexed(f):
        return (
            f.reindex(columns=["s", "new", "k"]), f.reindex(["x"], axis=1),
            f.reindex(columns=["k", "new"], fill_value=0), f.reindex(columns=["k", "k"]),
        )  # fmt: skip

    assert_parity(reindexed, FRAME, ways=["jit"])


def test_its_own_columns_change_nothing():
    assert_parity(lambda f: f.reindex(columns=f.columns), FRAME, ways=["eager"])
    for num_rows in (0, 1):
        assert_parity(lambda f: f.reindex(columns=["x", "new"]), FRAME[:num_rows], ways=["eager"])


def test_wrong_arguments():
    twice = FRAME[["k", "x"]].set_axis(["a", "a"], axis=1)
    assert_same_error(lambda f: f.reindex(columns=["a", "b"]), twice)
    with pytest.raises(NotImplementedError, match="Merge"):
        on_device(FRAME).reindex(index=[2, 1])
