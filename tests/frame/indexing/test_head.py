# SPDX-License-Identifier: Apache-2.0
"""head."""

import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device

FRAME = mixed_frame()[["k", "s"]]


@pytest.mark.parametrize("n", [0, 7, 37])
def test_with_tail_it_makes_up_the_frame(n):
    ours = on_device(FRAME)
    assert_same(ours.head(n), FRAME[:n])
    assert_same(ours.tail(-n) if n else ours, FRAME[n:])


def test_of_head_it_is_the_shorter_one():
    def shorter(f):
        return f.head(9).head(4), f.head(4).head(9), f.head(-30).head(), f.head(10**9)

    assert_parity(shorter, FRAME, ways=["jit"])
    assert_parity(lambda f: (f.head(-99), f.s.head(0), f[[]].head(2)), FRAME, ways=["eager"])


def test_labels_come_along():
    series = mixed_frame().set_index(["s", "k"]).x
    assert_parity(lambda s: (s.head(3), s[:0].head(), s[:1].head(-1)), series, ways=["eager"])


@pytest.mark.checks_arguments
def test_n_must_be_an_integer():
    assert_same_error(lambda f: f.head("a"), FRAME)
    assert_same_error(lambda f: f.head(1, 2), FRAME)
