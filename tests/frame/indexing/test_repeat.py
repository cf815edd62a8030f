# SPDX-License-Identifier: Apache-2.0
"""repeat."""

from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error


def test_rows():
    assert_parity(
        lambda f: (f.s.repeat(2), f.k.repeat([0, 2, 1]), f.k[:0].repeat(3)),
        mixed_frame(3)[["k", "s"]],
        ways=["eager"],
    )


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame(3)
    assert_same_error(lambda f: f.k.repeat([1, 2]), frame)
    assert_same_error(lambda f: f.k.repeat(-1), frame)
