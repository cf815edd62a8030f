# SPDX-License-Identifier: Apache-2.0
"""drop_duplicates."""

import numpy as np
import pandas as pd
from frame_examples import floats, mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device

FRAME = mixed_frame()[["k", "s"]]


def test_what_is_left_is_what_duplicated_does_not_flag():
    ours = on_device(FRAME)
    for keep in ("last", False):
        flags = ours.duplicated(keep=keep).to_numpy()
        assert_same(ours.drop_duplicates(keep=keep), FRAME[~flags])


def test_zeros_are_equal_and_so_are_missing_values():
    series = pd.Series([0.0, -0.0, np.nan, 1.0, np.nan])
    assert on_device(series).drop_duplicates().isna().tolist() == [False, True, False]
    assert_parity(lambda s: (s.drop_duplicates(), s.drop_duplicates(keep=False)), floats(),
                  ways=["eager"])  # fmt: skip


def test_labels_stay_or_are_counted_anew():
    frame = FRAME.set_axis(np.arange(37) * 3)

    def distinct(f):
        return (
            f.drop_duplicates("k"), f.drop_duplicates(["k"], keep="last", ignore_index=True),
            f.k.drop_duplicates(keep="last", ignore_index=True),
        )  # fmt: skip

    assert_parity(distinct, frame, ways=["jit"])
    assert_parity(lambda f: f.drop_duplicates("k"), frame[:1], ways=["eager"])


def test_wrong_arguments():
    assert_same_error(lambda f: f.drop_duplicates(["k", "no"]), FRAME)
    assert_same_error(lambda s: s.drop_duplicates(keep="bogus"), FRAME["k"])
