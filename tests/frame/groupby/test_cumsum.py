# SPDX-License-Identifier: Apache-2.0
"""groupby.cumsum."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def test_the_last_of_a_group_is_its_sum():
    grouped = JaxFrame(mixed_frame()[["k", "i", "d"]]).groupby("k")
    ours = JaxFrame(mixed_frame()[["k"]]).assign(i=grouped.i.cumsum(), d=grouped.d.cumsum())
    last = ours.groupby("k").last().to_pandas()
    pd.testing.assert_frame_equal(last, grouped.sum().to_pandas())


def test_without_skipna_all_behind_a_missing_value_is_missing():
    frame = pd.DataFrame({"k": [1, 2, 1, 1, 2], "x": [1.0, 2.0, np.nan, 4.0, 8.0]})
    frame["d"] = pd.to_timedelta(frame.x, unit="s")

    def sums(f):
        grouped = f.groupby("k")
        return grouped.cumsum(skipna=False), grouped.cumsum()

    assert_parity(sums, frame, ways=["jit"])
    for num_rows in (0, 1):
        assert_parity(sums, frame[:num_rows], ways=["eager"])


def test_integers_wrap_around_no_narrow_dtype():
    frame = pd.DataFrame({"k": [1, 1, 1], "u": np.array([255, 255, 255], np.uint8)})
    found = JaxFrame(frame).groupby("k").u.cumsum()
    assert found.dtype == np.uint64
    assert found.tolist() == [255, 510, 765]


def test_strings_and_datetimes_have_no_sum_so_far():
    frame = mixed_frame()[["k", "s", "t"]]
    assert_same_error(lambda f: f.groupby("k").cumsum(), frame)
    assert "'t'" in assert_same_error(lambda f: f.groupby("k").t.cumsum(skipna=False), frame)
