# SPDX-License-Identifier: Apache-2.0
"""truncate and reorder_levels."""

from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error

FRAME = mixed_frame()[["k", "x", "b"]]


def test_rows_between_two_labels():
    assert_parity(
        lambda f: (
            f.truncate(3, 7),
            f.x.truncate(after=2),
            f[::-1].truncate(3, 7),
            f.truncate(),
            f[:0].truncate(1),
        ),
        FRAME,
        ways=["eager"],
    )


def test_levels():
    assert_parity(
        lambda f: (
            f.set_index(["k", "b"]).reorder_levels(["b", "k"]),
            f.set_index(["k", "b"]).x.reorder_levels([1, 0]),
            f.groupby("k").agg({"x": ["count", "max"]}).reorder_levels([1, 0], axis=1),
        ),
        FRAME,
        ways=["eager"],
    )


def test_wrong_uses_are_pandas_errors():
    assert_same_error(lambda f: f.truncate(7, 3), FRAME)
    assert_same_error(lambda f: f.set_index("k").truncate(1, 2), FRAME)
    assert_same_error(lambda f: f.set_index(["k", "b"]).reorder_levels(["b"]), FRAME)
