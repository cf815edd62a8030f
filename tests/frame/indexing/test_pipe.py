# SPDX-License-Identifier: Apache-2.0
"""pipe."""

from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device

FRAME = mixed_frame()[["k", "x"]]


def _above(limit, frame, column="k"):
    return frame[frame[column] > limit]


def test_the_frame_comes_first_or_where_a_word_says():
    def piped(f):
        return f.pipe(lambda g, n: g.head(n), n=3), f.pipe((_above, "frame"), 2, column="k")

    assert_parity(piped, FRAME, ways=["jit"])


def test_it_gives_whatever_the_function_gives():
    ours = on_device(FRAME)
    assert ours.pipe(len) == 37
    assert ours.pipe(lambda f: f) is ours
    assert ours.x.pipe(type) is type(ours.x)
    assert ours[:0].pipe(lambda f, *rest, **words: (rest, words), 1, a=2) == ((1,), {"a": 2})


def test_a_word_may_not_be_given_twice():
    assert_same_error(lambda f: f.pipe((_above, "frame"), 2, frame=f), FRAME)
    assert_same_error(lambda f: f.pipe("head"), FRAME)
