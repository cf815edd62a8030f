# SPDX-License-Identifier: Apache-2.0
"""bfill."""

import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device


@pytest.mark.parametrize("limit", [None, 1, 2])
def test_it_is_ffill_of_the_rows_in_reverse(limit):
    frame = mixed_frame()[["x", "y", "s", "t"]]
    backwards = on_device(frame).bfill(limit=limit)
    assert_same(backwards, frame[::-1].ffill(limit=limit)[::-1])


def test_with_ffill_nothing_is_missing_but_where_there_is_no_value():
    frame = mixed_frame()[["x", "c", "d"]].assign(none=np.nan)
    assert_parity(lambda f: f.ffill().bfill().isna().sum(), frame, ways=["eager"])


def test_a_value_fills_backwards_to_the_first_row():
    frame = pd.DataFrame({"x": [np.nan, np.nan, 3.0, np.nan], "i": [1, 2, 3, 4]})
    assert on_device(frame).bfill().x.tolist()[:3] == [3.0, 3.0, 3.0]
    assert_parity(lambda f: (f.bfill(limit=1), f.i.bfill()), frame, ways=["jit"])
    for num_rows in (0, 1):
        assert_parity(lambda f: f.bfill(), frame[:num_rows], ways=["eager"])


def test_wrong_arguments():
    frame = mixed_frame()[["x"]]
    assert_same_error(lambda f: f.bfill(limit=0), frame)
    assert_same_error(lambda f: f.bfill(limit="a"), frame)
