# SPDX-License-Identifier: Apache-2.0
"""mask."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device


def test_it_is_where_of_the_opposite():
    frame = mixed_frame()[["x", "i", "s", "t"]]
    ours, flags = on_device(frame), frame.i > 0
    for label, other in (("x", 1.5), ("i", 7), ("s", "new"), ("t", pd.Timestamp(0))):
        masked = ours[label].mask(flags.to_numpy(), other)
        assert_same(masked, frame[label].where(~flags, other))


def test_with_itself_nothing_changes():
    frame = mixed_frame()[["k", "f", "s"]]
    ours = on_device(frame)
    assert_same(ours.mask(ours.k > 1, ours), frame)
    assert_same(ours.f.mask(ours.k < 0), frame.f)


def test_conditions_are_flags_frames_or_functions():
    frame = mixed_frame()[["k", "x"]]

    def masked(f):
        return (
            f.mask(f < 1), f.mask(lambda g: g > 0, 9), f.x.mask(f.k == 2, f.k),
            f.mask(f.k == 2, -f), f.k.mask(f.k.isin([1, 3]), -1),
        )  # fmt: skip

    assert_parity(masked, frame, ways=["jit"])
    flags = np.arange(37) % 3 == 0
    assert_parity(lambda f: (f.x.mask(flags), f.k.mask(list(flags), 0)), frame, ways=["eager"])


def test_missing_conditions_and_few_rows():
    frame = mixed_frame()[["x", "k"]]
    for num_rows in (0, 1):
        assert_parity(lambda f: f.mask(f.x > f.k, 5), frame[:num_rows], ways=["eager"])
    assert_parity(lambda f: f.x.mask(f.x.isna(), f.x.min()), frame, ways=["eager"])


def test_wrong_arguments():
    frame = mixed_frame()[["k", "x", "c"]]
    assert_same_error(lambda f: f.x.mask(f.k), frame)
    assert_same_error(lambda f: f.x.mask([True, False]), frame)
    assert_same_error(lambda f: f.c.mask(f.k > 1, "bogus"), frame)
