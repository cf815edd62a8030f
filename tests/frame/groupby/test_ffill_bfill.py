# SPDX-License-Identifier: Apache-2.0
"""groupby.ffill and bfill."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity
from jaxframes.frame import JaxFrame


def test_bfill_is_the_ffill_of_the_rows_in_reverse():
    frame = mixed_frame()[["k", "x", "s"]]
    reverse = JaxFrame(frame[::-1]).groupby("k").ffill().to_pandas()[::-1]
    pd.testing.assert_frame_equal(JaxFrame(frame).groupby("k").bfill().to_pandas(), reverse)


def test_a_group_without_a_value_stays_missing_beside_one_that_has_some():
    frame = pd.DataFrame({"k": [1, 2, 1, 2, 2], "x": [None, 1.0, None, None, None]})
    assert_parity(
        lambda f: (f.groupby("k").ffill(), f.groupby("k").bfill(), f.groupby("k").ffill(limit=1)),
        frame,
        ways=["jit"],
    )


def test_limits_and_few_rows():
    def filled(f):
        grouped = f.groupby("b")
        return grouped.ffill(limit=2), grouped.x.bfill(limit=100)

    frame = mixed_frame()[["b", "x", "c", "t"]]
    for num_rows in (37, 1, 0):
        assert_parity(filled, frame[:num_rows], ways=["eager"])


def test_limits_below_zero():
    frame = pd.DataFrame({"k": [1, 1, 1, 2], "x": [1.0, None, None, None]})
    for limit in (0, -1, -2, 1.5):
        assert_parity(lambda f, n=limit: f.groupby("k").ffill(limit=n), frame, ways=["eager"])


def test_objects_that_stand_for_none_are_filled():
    words = pd.Series([None, "a", np.nan, pd.NaT, "b"], dtype=object)
    frame = JaxFrame({"k": [1, 1, 1, 2, 2], "o": words})
    assert frame.groupby("k").o.bfill().tolist()[:2] == ["a", "a"]
    assert frame.groupby("k").o.bfill().tolist()[3:] == ["b", "b"]
    assert frame.groupby("k").o.ffill().tolist()[1:3] == ["a", "a"]
