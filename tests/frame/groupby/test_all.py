# SPDX-License-Identifier: Apache-2.0
"""groupby.all."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error


def test_of_no_values_it_is_true():
    frame = pd.DataFrame({"k": [1, 1, 2, 3], "x": [np.nan, np.nan, 0.0, 2.0]})
    assert_parity(
        lambda f: (f.groupby("k").all(), f.groupby("k").all(skipna=False)), frame, ways=["jit"]
    )
    for num_rows in (0, 1):
        assert_parity(lambda f: f.groupby("k").all(), frame[:num_rows], ways=["eager"])


def test_a_missing_string_is_true_where_skipna_is_false():
    frame = pd.DataFrame({"k": [1, 1, 2, 3], "s": pd.array(["a", None, "", None], "str")})
    assert_parity(
        lambda f: (f.groupby("k").s.all(), f.groupby("k").s.all(skipna=False)),
        frame,
        ways=["eager"],
    )


def test_datetimes_are_neither_true_nor_false():
    frame = mixed_frame()[["k", "t"]]
    assert "'t'" in assert_same_error(lambda f: f.groupby("k").all(), frame)
    assert_same_error(lambda f: f.groupby("k").all(min_count=1), frame)
