# SPDX-License-Identifier: Apache-2.0
"""case_when, first_valid_index and last_valid_index."""

from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error

FRAME = mixed_frame()[["k", "x", "y"]]


def test_the_first_condition_that_is_true():
    assert_parity(
        lambda f: (
            f.k.case_when([(f.k > 3, 0), (f.k > 1, 9)]),
            f.x.case_when([(lambda s: s > 0, f.y), (f.k == 0, 0.5)]),
        ),
        FRAME,
    )


def test_first_and_last_valid_labels():
    assert_parity(
        lambda f: (
            f.x.first_valid_index(),
            f.x.last_valid_index(),
            f[["x"]].first_valid_index(),
            f[["x", "y"]].last_valid_index(),
            f.x[:0].first_valid_index(),
        ),
        FRAME,
        ways=["eager"],
    )


def test_wrong_uses_are_pandas_errors():
    assert_same_error(lambda f: f.k.case_when([]), FRAME)
    assert_same_error(lambda f: f.k.case_when((f.k > 1, 0)), FRAME)
