# SPDX-License-Identifier: Apache-2.0
"""ffill."""

import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device

GAPS = pd.Series([np.nan, 1.0, np.nan, np.nan, np.nan, 2.0, np.nan, np.inf, np.nan])


def test_a_limit_counts_from_the_last_value():
    assert (
        on_device(GAPS).ffill(limit=2).isna().tolist()
        == [True] + [False] * 3 + [True] + [False] * 4
    )
    assert_parity(
        lambda s: tuple(s.ffill(limit=limit) for limit in (1, 3, 99)), GAPS, ways=["eager"]
    )


def test_only_rows_before_the_first_value_stay_missing():
    frame = mixed_frame()
    filled = on_device(frame).ffill().to_pandas()
    for label in frame:
        first = frame[label].first_valid_index()
        assert filled[label].isna().sum() == first
    assert_same(on_device(filled).ffill(), filled)


def test_each_type_has_its_own_missing_value():
    frame = mixed_frame(20)[["s", "c", "t", "d", "b"]]
    assert_parity(lambda f: (f.ffill(limit=1), f.c.ffill()), frame, ways=["jit"])


def test_labels_play_no_part():
    assert_parity(lambda s: s.ffill(), GAPS.set_axis(list("ihgfedcba")), ways=["eager"])
    for num_rows in (0, 1):
        assert_parity(lambda s: s.ffill(limit=1), GAPS[:num_rows], ways=["eager"])


def test_wrong_arguments():
    assert_same_error(lambda s: s.ffill(limit=-1), GAPS)
    assert_same_error(lambda s: s.ffill(axis=2), GAPS)
    with pytest.raises(ValueError, match="Invalid limit_area value 'bogus'"):
        on_device(GAPS).ffill(limit_area="bogus")
